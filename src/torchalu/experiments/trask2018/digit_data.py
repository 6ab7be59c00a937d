"""Series of digits to train and to measure on, and how far answers are from their targets."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from torchalu.experiments.trask2018.digit_networks import SeriesNetwork
from torchalu.tasks import Digits, SequenceOperation, SequentialMNIST, load_mnist, normalize

TRAIN_LENGTHS: dict[SequenceOperation, int] = {"count": 10, "sum": 10, "product": 2}
"""Digits in a training series."""

TEST_LENGTHS: dict[SequenceOperation, tuple[int, ...]] = {
    "count": (1, 10, 100, 1000),
    "sum": (1, 10, 100, 1000),
    "product": (1, 2, 3, 5, 10),
}
"""Digits in a test series."""

_VALIDATION_SEED, _TEST_SEED = 1, 2
_LEAST_TEST_SERIES = 100
_IMAGES_AT_ONCE = 500


class Errors(NamedTuple):
    """How far answers are from the targets, over all series and numbers.

    Attributes:
        mae: mean absolute error.
        mse: mean square error.
        accuracy: of single digits, the share read right; of longer series that of answers that
            round to the target.
    """

    mae: float
    mse: float
    accuracy: float


class SeriesData:
    """The series to train on, and those to measure on, which are the same for all seeds.

    Args:
        operation: "count", "sum" or "product".
        batch_size: series in a batch.
        seed: of the training series.
        train_length: digits in a training series; `TRAIN_LENGTHS` if left out.
        device: where the digits lie.
        splits: digits for training, validation and test; MNIST, found by `load_mnist`, if left out.

    Source:
        Trask et al. 2018, section 4.2. Departures: the last 5,000 training digits validate; test
        series of a length use each test digit once, and are cut anew until there are 100.
    """

    def __init__(
        self,
        operation: SequenceOperation,
        batch_size: int,
        seed: int,
        *,
        train_length: int | None = None,
        device: str = "cpu",
        splits: tuple[Digits, Digits, Digits] | None = None,
    ) -> None:
        loaded = splits or (load_mnist("train"), load_mnist("validation"), load_mnist("test"))
        train, validation, self.test_digits = (
            Digits(images.to(device), labels.to(device)) for images, labels in loaded
        )
        self.operation: SequenceOperation = operation
        self.batch_size = batch_size
        self.length = train_length or TRAIN_LENGTHS[operation]
        self.train = SequentialMNIST(operation, self.length, train, seed, recut=True)
        self.validation = SequentialMNIST(operation, self.length, validation, _VALIDATION_SEED)

    @property
    def epoch_steps(self) -> int:
        """Steps in an epoch."""
        return self.train.epoch_steps(self.batch_size)

    def variance(self) -> float:
        """The error on validation series of an answer that is always their targets' mean."""
        return self.validation.targets()[:, -1].var(0, correction=0).mean().item()

    def test_series(
        self, length: int
    ) -> tuple[Int64[Tensor, "rows length"], Float[Tensor, "rows out"]]:
        """Series of test digits, as their numbers, and the targets at their end.

        Args:
            length: digits in a series.
        """
        rows, targets = [], []
        cut = SequentialMNIST(self.operation, length, self.test_digits, _TEST_SEED)
        cuts = -(-min(_LEAST_TEST_SERIES, len(self.test_digits.labels)) // len(cut))
        for seed in range(_TEST_SEED, _TEST_SEED + cuts):
            cut = SequentialMNIST(self.operation, length, self.test_digits, seed)
            rows.append(cut.sequences)
            targets.append(cut.targets()[:, -1])
        return torch.cat(rows), torch.cat(targets)

    @torch.no_grad()
    def validate(self, module: nn.Module) -> dict[str, float]:
        """Errors on the validation series.

        Args:
            module: a `SeriesNetwork` in evaluation mode.
        """
        assert isinstance(module, SeriesNetwork)
        features = read_features(module, self.validation.digits)[self.validation.sequences]
        found = errors(module.accumulator(features), self.validation.targets()[:, -1])
        return {"validation_loss": found.mse, "validation_mae": found.mae}

    @torch.no_grad()
    def measure(self, network: SeriesNetwork, lengths: tuple[int, ...]) -> dict[int, Errors]:
        """Errors on the test series of each length, with every image read once.

        Args:
            network: in evaluation mode.
            lengths: digits in a series.
        """
        features = read_features(network, self.test_digits)
        sign = self.reading_sign(network)
        found = {}
        for length in lengths:
            rows, targets = self.test_series(length)
            answers = network.accumulator(features[rows])
            found[length] = errors(sign**length * answers, targets)
        return found

    @torch.no_grad()
    def reading_sign(self, network: SeriesNetwork) -> int:
        """The sign that makes readings of validation digits positive on average; 1 but of products.

        A product of two readings does not tell d from -d. No label is used, and no test digit.

        Args:
            network: in evaluation mode.
        """
        if self.operation != "product":
            return 1
        features = read_features(network, self.validation.digits)
        return 1 if network.accumulator(features.unsqueeze(1)).mean() >= 0 else -1


def errors(answers: Float[Tensor, "rows out"], targets: Float[Tensor, "rows out"]) -> Errors:
    """How far answers are from targets, in float64.

    Args:
        answers: one or ten numbers a row.
        targets: likewise; of a count, which is right if the most counted digit of a single one is.

    Example:
        >>> errors(torch.tensor([[2.4], [9.0]]), torch.tensor([[2.0], [8.0]]))
        Errors(mae=0.70..., mse=0.58..., accuracy=0.5)
    """
    difference = answers.double() - targets.double()
    if targets.shape[-1] > 1 and targets.sum(-1).eq(1).all():
        right = answers.argmax(-1).eq(targets.argmax(-1))
    else:
        right = answers.round().eq(targets).all(-1)
    return Errors(
        difference.abs().mean().item(),
        difference.square().mean().item(),
        right.double().mean().item(),
    )


@torch.no_grad()
def read_features(network: SeriesNetwork, digits: Digits) -> Float[Tensor, "digits 10"]:
    """What a network reads from each image.

    Args:
        network: in evaluation mode.
        digits: the images, wherever they lie.
    """
    device = next(network.parameters()).device
    parts = digits.images.to(device).split(_IMAGES_AT_ONCE)
    return torch.cat([network.features(normalize(part).unsqueeze(1)) for part in parts])
