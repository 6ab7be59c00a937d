"""Sequences of handwritten digits, and the sum, product or counts of each prefix."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int64

from torchalu.arguments import check_integers_from_zero, check_positive_integers
from torchalu.tasks.mnist import Digits, normalize

if TYPE_CHECKING:
    from torch import Tensor

SequenceOperation = Literal["sum", "product", "count"]


class SequenceBatch(NamedTuple):
    """Sequences of images, and what each of their prefixes comes to.

    Attributes:
        images: normalized gray values.
        targets: the sum or product of the digits up to each one, or how many of each of the ten
            there were.
    """

    images: Float[Tensor, "batch length 1 28 28"]
    targets: Float[Tensor, "batch length out"]

    @property
    def final(self) -> Float[Tensor, "batch out"]:
        """The targets of whole sequences, for models that answer at the end alone."""
        return self.targets[:, -1]


class SequentialMNIST:
    r"""Digits one after the other; the target after each is the sum, product or counts so far.

    .. math:: t_k = t_{k - 1} \circ z_k, \qquad z_k \text{ the digit on image } k

    The digits are put in an order that follows from the seed and cut into sequences; a digit
    belongs to one sequence at most, and those left over at the end to none. An epoch goes once
    through the sequences, in an order that follows from the seed and the number of the epoch.
    With `recut`, each epoch cuts the digits anew, so that no two epochs show the same sequences.

    Args:
        operation: "sum" of the digits 0 to 9, "product" of the digits 1 to 9, or "count", a target
            of ten numbers: how many zeros, ones, ... nines.
        length: digits in a sequence.
        digits: what `load_mnist` gives.
        seed: settles the sequences and their order.
        recut: whether each epoch has other sequences; `sequences`, `batches` and `targets` are
            those of the first cut in any case.

    Shape:
        - images: (batch, length, 1, 28, 28); targets: (batch, length, 1), or (batch, length, 10)
          for counts.

    Raises:
        TypeError: a seed that is no integer.
        ValueError: an unknown operation; a length that is no positive integer, or greater than the
            number of digits; a negative seed.

    Source:
        Madsen & Johansen 2020, section 4.2, appendices D.1 and D.2; the cut into fixed sequences
        as in the authors' program. Counting, and the targets at the end: Trask et al. 2018,
        section 4.2, which asks for randomly chosen series; `recut` gives those. Departure: within
        an epoch no digit is drawn twice.

    Example:
        >>> import torch
        >>> digits = Digits(torch.zeros(6, 28, 28, dtype=torch.uint8), torch.arange(6))
        >>> task = SequentialMNIST("product", 2, digits, seed=0)
        >>> len(task), task.epoch_steps(batch_size=2)
        (2, 1)
        >>> task.batch(0, batch_size=2).images.shape
        torch.Size([2, 2, 1, 28, 28])
        >>> SequentialMNIST("count", 6, digits).batch(0).final
        tensor([[1., 1., 1., 1., 1., 1., 0., 0., 0., 0.]])
    """

    def __init__(
        self,
        operation: SequenceOperation,
        length: int,
        digits: Digits,
        seed: int = 0,
        *,
        recut: bool = False,
    ) -> None:
        if operation not in get_args(SequenceOperation):
            allowed = ", ".join(get_args(SequenceOperation))
            raise ValueError(f"operation is {operation!r}; choose from {allowed}")
        allowed = digits.labels.ne(0) if operation == "product" else digits.labels.ge(0)
        usable = allowed.nonzero().flatten()
        check_integers_from_zero(seed=seed)
        if not isinstance(length, Integral) or not 1 <= length <= len(usable):
            raise ValueError(
                f"length is {length}; give a whole number from 1 to {len(usable)}, the number of "
                f"digits that a {operation} is made of"
            )
        self.operation: SequenceOperation = operation
        self.length = length
        self.digits = digits
        self.seed = seed
        self.recut = recut
        self._usable = usable
        self.sequences: Int64[Tensor, "rows length"] = self._cut(0)
        self._epoch = -1, self.sequences

    def __len__(self) -> int:
        return len(self.sequences)

    def epoch_steps(self, batch_size: int) -> int:
        """Batches in an epoch; the last one may be smaller.

        Args:
            batch_size: sequences in a batch.

        Raises:
            ValueError: `batch_size` is not positive.
        """
        check_positive_integers(batch_size=batch_size)
        return -(-len(self) // batch_size)

    def batch(self, step: int, batch_size: int = 64) -> SequenceBatch:
        """The batch of a training step; which epoch it belongs to follows from its number.

        Args:
            step: the number of the step, from 0.
            batch_size: sequences in a batch.

        Raises:
            ValueError: `step` is negative or `batch_size` not positive.
        """
        if step < 0:
            raise ValueError(f"step is {step}; give 0 or more")
        epoch, number = divmod(step, self.epoch_steps(batch_size))
        if self._epoch[0] != epoch:
            self._epoch = epoch, self._arrange(epoch)
        return self._make(self._epoch[1][number * batch_size : (number + 1) * batch_size])

    def batches(self, batch_size: int = 64) -> Iterator[SequenceBatch]:
        """All sequences once, in a fixed order.

        Args:
            batch_size: sequences in a batch.
        """
        for rows in self.sequences.split(batch_size):
            yield self._make(rows)

    def targets(self) -> Float[Tensor, "rows length out"]:
        """The targets of all sequences, in the order of `sequences`, in float64."""
        return self._prefixes(self.sequences)

    def _cut(self, stream: int) -> Int64[Tensor, "rows length"]:
        """All usable digits, in an order of their own for each stream, as sequences."""
        order = _permutation(len(self._usable), self.seed, stream, self._usable)
        rows = len(order) // self.length
        return self._usable[order][: rows * self.length].reshape(rows, self.length)

    def _arrange(self, epoch: int) -> Int64[Tensor, "rows length"]:
        """The sequences of an epoch in their order."""
        if self.recut:
            return self._cut(1 + epoch)
        return self.sequences[_permutation(len(self), self.seed, 1 + epoch, self.sequences)]

    def _make(self, sequences: Int64[Tensor, "batch length"]) -> SequenceBatch:
        """Images and targets of some sequences."""
        images = normalize(self.digits.images[sequences]).unsqueeze(2)
        targets = self._prefixes(sequences)
        if not targets.float().isfinite().all():
            raise ValueError(
                f"length is {self.length}, and the {self.operation} of such a sequence comes to "
                f"{targets.max():.3g}, which float32 does not hold; give shorter sequences"
            )
        return SequenceBatch(images, targets.float())

    def _prefixes(
        self, sequences: Int64[Tensor, "batch length"]
    ) -> Float[Tensor, "batch length out"]:
        """Targets of all prefixes; float64 holds what 64-bit integers do not."""
        labels = self.digits.labels[sequences]
        if self.operation == "count":
            return labels.unsqueeze(-1).eq(labels.new_tensor(range(10))).double().cumsum(1)
        values = labels.double()
        prefixes = values.cumsum(1) if self.operation == "sum" else values.cumprod(1)
        return prefixes.unsqueeze(-1)


def _permutation(count: int, seed: int, stream: int, like: Tensor) -> Int64[Tensor, " count"]:
    """The numbers below `count` in an order that follows from seed and stream alone."""
    order = np.random.default_rng([seed, stream]).permutation(count)
    return like.new_tensor(order)
