"""Sequences of handwritten digits, and the sum or the product of each prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int64

from torchalu.tasks.mnist import Digits, normalize

if TYPE_CHECKING:
    from torch import Tensor

SequenceOperation = Literal["sum", "product"]


class SequenceBatch(NamedTuple):
    """Sequences of images, and what each of their prefixes comes to.

    Attributes:
        images: normalized gray values.
        targets: the sum or product of the digits up to each one.
    """

    images: Float[Tensor, "batch length 1 28 28"]
    targets: Float[Tensor, "batch length 1"]


class SequentialMNIST:
    r"""Digits one after the other; the target after each is the sum or product so far.

    .. math:: t_k = t_{k - 1} \circ z_k, \qquad z_k \text{ the digit on image } k

    The digits are put in an order that follows from the seed and cut into sequences; a digit
    belongs to one sequence at most, and those left over at the end to none. An epoch goes once
    through the sequences, in an order that follows from the seed and the number of the epoch.

    Args:
        operation: "sum" of the digits 0 to 9, or "product" of the digits 1 to 9.
        length: digits in a sequence.
        digits: what `load_mnist` gives.
        seed: settles the sequences and their order.

    Raises:
        ValueError: an unknown operation; a length that is not positive, or greater than the number
            of digits.

    Source:
        Madsen & Johansen 2020, section 4.2, appendices D.1 and D.2; the cut into fixed sequences
        as in the authors' program.

    Example:
        >>> import torch
        >>> digits = Digits(torch.zeros(6, 28, 28, dtype=torch.uint8), torch.arange(6))
        >>> task = SequentialMNIST("product", 2, digits, seed=0)
        >>> len(task), task.epoch_steps(batch_size=2)
        (2, 1)
        >>> task.batch(0, batch_size=2).images.shape
        torch.Size([2, 2, 1, 28, 28])
    """

    def __init__(
        self, operation: SequenceOperation, length: int, digits: Digits, seed: int = 0
    ) -> None:
        if operation not in get_args(SequenceOperation):
            allowed = ", ".join(get_args(SequenceOperation))
            raise ValueError(f"operation is {operation!r}; choose from {allowed}")
        allowed = digits.labels.ne(0) if operation == "product" else digits.labels.ge(0)
        usable = allowed.nonzero().flatten()
        if not 1 <= length <= len(usable):
            raise ValueError(
                f"length is {length}; give a whole number from 1 to {len(usable)}, the number of "
                f"digits that a {operation} is made of"
            )
        self.operation: SequenceOperation = operation
        self.length = length
        self.digits = digits
        self.seed = seed
        order = _permutation(len(usable), seed, 0, usable)
        rows = len(usable) // length
        self.sequences: Int64[Tensor, "rows length"] = usable[order][: rows * length].reshape(
            rows, length
        )
        self._epoch = -1, order

    def __len__(self) -> int:
        return len(self.sequences)

    def epoch_steps(self, batch_size: int) -> int:
        """Batches in an epoch; the last one may be smaller.

        Args:
            batch_size: sequences in a batch.

        Raises:
            ValueError: `batch_size` is not positive.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; give a positive integer")
        return -(-len(self) // batch_size)

    def batch(self, step: int, batch_size: int = 64) -> SequenceBatch:
        """The batch of a training step; which epoch it belongs to follows from its number.

        Args:
            step: the number of the step, from 0.
            batch_size: sequences in a batch.

        Raises:
            ValueError: `batch_size` is not positive.
        """
        epoch, number = divmod(step, self.epoch_steps(batch_size))
        if self._epoch[0] != epoch:
            self._epoch = epoch, _permutation(len(self), self.seed, 1 + epoch, self.sequences)
        rows = self._epoch[1][number * batch_size : (number + 1) * batch_size]
        return self._make(self.sequences[rows])

    def batches(self, batch_size: int = 64) -> Iterator[SequenceBatch]:
        """All sequences once, in a fixed order.

        Args:
            batch_size: sequences in a batch.
        """
        for rows in self.sequences.split(batch_size):
            yield self._make(rows)

    def targets(self) -> Float[Tensor, "rows length 1"]:
        """The targets of all sequences, in the order of `sequences`, in float64."""
        return self._prefixes(self.sequences)

    def _make(self, sequences: Int64[Tensor, "batch length"]) -> SequenceBatch:
        """Images and targets of some sequences."""
        images = normalize(self.digits.images[sequences]).unsqueeze(2)
        return SequenceBatch(images, self._prefixes(sequences).float())

    def _prefixes(self, sequences: Int64[Tensor, "batch length"]) -> Float[Tensor, "..."]:
        """Sums or products of all prefixes; float64 holds what 64-bit integers do not."""
        values = self.digits.labels[sequences].double()
        prefixes = values.cumsum(1) if self.operation == "sum" else values.cumprod(1)
        return prefixes.unsqueeze(-1)


def _permutation(count: int, seed: int, stream: int, like: Tensor) -> Int64[Tensor, " count"]:
    """The numbers below `count` in an order that follows from seed and stream alone."""
    order = np.random.default_rng([seed, stream]).permutation(count)
    return like.new_tensor(order)
