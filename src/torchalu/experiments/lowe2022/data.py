"""Labeled samples to train on, to validate and to test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from torchalu.tasks import load_mnist, normalize

Part = Literal["train", "validation", "test"]

_AT_ONCE = 1000
_MNIST_VALIDATION = 10_000


class Samples(NamedTuple):
    """Samples and what they are.

    Attributes:
        inputs: as they are stored, such as bytes.
        labels: classes from 0, or 0 and 1 where the network has one output.
    """

    inputs: Tensor
    labels: Int64[Tensor, " samples"]


class Batch(NamedTuple):
    """Samples as a network takes them.

    Attributes:
        inputs: prepared.
        labels: as in `Samples`.
    """

    inputs: Float[Tensor, "batch ..."]
    labels: Int64[Tensor, " batch"]


@dataclass(frozen=True)
class ClassificationData:
    """Samples to train on, to validate and to test.

    An epoch goes once through the training samples, in an order that follows from the seed and
    the number of the epoch; those that do not fill a batch are left out.

    Args:
        train: what is learned from.
        validation: what hyperparameters are chosen by.
        test: what is judged by.
        prepare: makes numbers of stored inputs.

    Example:
        >>> samples = Samples(torch.arange(10), torch.arange(10) % 2)
        >>> data = ClassificationData(samples, samples, samples)
        >>> data.epoch_steps(batch_size=4)
        2
        >>> data.batch(0, batch_size=4, seed=0).inputs.shape
        torch.Size([4])
    """

    train: Samples
    validation: Samples
    test: Samples
    prepare: Callable[[Tensor], Tensor] = Tensor.float

    def epoch_steps(self, batch_size: int) -> int:
        """Batches in an epoch.

        Args:
            batch_size: samples in a batch; all of them, where there are fewer.
        """
        return max(1, len(self.train.labels) // batch_size)

    def batch(self, step: int, batch_size: int, seed: int) -> Batch:
        """The batch of a training step; which epoch it belongs to follows from its number.

        Args:
            step: the number of the step, from 0.
            batch_size: samples in a batch.
            seed: of the order.
        """
        epoch, number = divmod(step, self.epoch_steps(batch_size))
        order = _order(len(self.train.labels), seed, epoch)
        rows = order[number * batch_size : (number + 1) * batch_size]
        return Batch(self.prepare(self.train.inputs[rows]), self.train.labels[rows])

    def batches(self, part: Part, most: int | None = None) -> Iterator[Batch]:
        """Samples of a part in their order.

        Args:
            part: "train", "validation" or "test".
            most: how many of them; all if left out.

        Raises:
            ValueError: an unknown part.
        """
        if part not in get_args(Part):
            raise ValueError(f"part is {part!r}; choose from {', '.join(get_args(Part))}")
        inputs, labels = (tensor[:most] for tensor in getattr(self, part))
        pairs = zip(inputs.split(_AT_ONCE), labels.split(_AT_ONCE), strict=True)
        for some, their in pairs:
            yield Batch(self.prepare(some), their)


class Source(NamedTuple):
    """Where data come from.

    Attributes:
        name: settles what `load` gives; it is part of a study's configuration.
        load: gives the data, the same at each call.
        prepare: makes what `load` needs where that takes long, and is told where to report the
            fraction that is done; None where nothing takes long.
    """

    name: str
    load: Callable[[], ClassificationData]
    prepare: Callable[[Callable[[float], object]], object] | None = None


@cache
def load_mnist_data() -> ClassificationData:
    """MNIST: 50,000 digits to train on, the last 10,000 of the training file to validate.

    Raises:
        FileNotFoundError: it has not been fetched.
        torchalu.tasks.DataError: a file is not the published one.

    Source:
        Lowe et al. 2022, section 4.3.
    """
    parts = load_mnist("train"), load_mnist("validation")
    images, labels = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
    first, last = slice(None, -_MNIST_VALIDATION), slice(-_MNIST_VALIDATION, None)
    return ClassificationData(
        Samples(images[first], labels[first]),
        Samples(images[last], labels[last]),
        Samples(*load_mnist("test")),
        one_channel,
    )


MNIST = Source("MNIST, the last 10,000 of the training file to validate", load_mnist_data)


def one_channel(images: Tensor) -> Float[Tensor, "batch 1 height width"]:
    """Gray images of digits as a network takes them.

    Args:
        images: bytes.

    Example:
        >>> one_channel(torch.zeros(2, 28, 28, dtype=torch.uint8)).shape
        torch.Size([2, 1, 28, 28])
    """
    return normalize(images).unsqueeze(1)


@lru_cache(maxsize=16)
def _order(count: int, seed: int, epoch: int) -> Int64[Tensor, " count"]:
    """The numbers below `count`, in an order that follows from seed and epoch."""
    return torch.from_numpy(np.random.default_rng([seed, epoch]).permutation(count))
