"""How a network is trained on sequences of digits, and what is measured meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.experiments.madsen2020.sequential_networks import SequenceNetwork
from torchalu.experiments.seeds import one_thread
from torchalu.tasks import Digits, SequenceOperation, SequentialMNIST, load_mnist, normalize
from torchalu.train import TrainingConfiguration, TrainingResult, fit

_VALIDATION_SEED, _TEST_SEED = 1, 2
_IMAGES_AT_ONCE = 500
_EPOCHS = 1000  # of the paper, to whose penalty all others are scaled


@dataclass(frozen=True)
class SequentialTraining:
    """The numbers of the training on sequences of digits.

    Args:
        train_length: digits in a training sequence.
        test_lengths: digits in a test sequence; one set of sequences for each.
        epochs: how often the training digits are gone through.
        evaluate_every: epochs from one evaluation to the next.
        batch_size: sequences in a batch.
        learning_rate: of Adam.
        penalty: factor of the unit's own penalty.
        penalty_start: step at which the penalty sets in; by default 10,000 of 1000 epochs, and as
            large a part of fewer or more.
        penalty_end: step from which on it is whole; by default 100,000 of 1000 epochs.
        input_penalty: factor of R_z, for the models that have it.
        lstm_size: units of the LSTM, for the model of that name.

    Raises:
        ValueError: a count that is not positive, or no test lengths.

    Source:
        The program of Madsen & Johansen 2020; the paper gives the form of R_z.

    Example:
        >>> SequentialTraining(train_length=2, test_lengths=(1, 20)).epochs
        1000
    """

    train_length: int
    test_lengths: tuple[int, ...]
    epochs: int = _EPOCHS
    evaluate_every: int = 5
    batch_size: int = 64
    learning_rate: float = 1e-3
    penalty: float = 10.0
    penalty_start: float | None = None
    penalty_end: float | None = None
    input_penalty: float = 1.0
    lstm_size: int = 16

    def __post_init__(self) -> None:
        check_positive_integers(
            train_length=self.train_length,
            epochs=self.epochs,
            evaluate_every=self.evaluate_every,
            batch_size=self.batch_size,
            lstm_size=self.lstm_size,
        )
        if not self.test_lengths or min(self.test_lengths) < 1:
            raise ValueError(
                f"test_lengths is {self.test_lengths}; give one or more positive integers"
            )

    @property
    def penalty_ramp(self) -> tuple[float, float]:
        """The steps at which the penalty sets in and is whole."""
        part = self.epochs / _EPOCHS
        start = 1e4 * part if self.penalty_start is None else self.penalty_start
        return start, 1e5 * part if self.penalty_end is None else self.penalty_end


class SequentialData:
    """The digits to train on and the fixed sequences to measure on.

    Args:
        operation: "sum" or "product".
        training: the lengths and the batch size.
        seed: of the training sequences; the others are the same for all.
        splits: digits for training, validation and test; MNIST, found by `load_mnist`, if left out.

    Source:
        Madsen & Johansen 2020, section 4.2: the validation digits are the last 5,000 of the
        training file; sequences that are measured are the same for all seeds, as in the program.
    """

    def __init__(
        self,
        operation: SequenceOperation,
        training: SequentialTraining,
        seed: int,
        splits: tuple[Digits, Digits, Digits] | None = None,
    ) -> None:
        train, validation, test = splits or (
            load_mnist("train"),
            load_mnist("validation"),
            load_mnist("test"),
        )
        length = training.train_length
        self.batch_size = training.batch_size
        self.train = SequentialMNIST(operation, length, train, seed)
        self.validation = SequentialMNIST(operation, length, validation, _VALIDATION_SEED)
        self.tests = {
            length: SequentialMNIST(operation, length, test, _TEST_SEED)
            for length in training.test_lengths
        }

    @property
    def epoch_steps(self) -> int:
        """Steps in an epoch."""
        return self.train.epoch_steps(self.batch_size)

    def variance(self) -> float:
        """Variance of the validation targets: the error of an answer that is always their mean."""
        return self.validation.targets().var(correction=0).item()

    def blind_errors(self) -> dict[int, float]:
        """By test length, the error of the best answers that look at no image.

        They are the targets' means over all sequences, one for each step. A threshold above that
        says nothing: of products of many digits a few hold most of the error.
        """
        return {
            length: task.targets().var(0, correction=0).mean().item()
            for length, task in self.tests.items()
        }

    @torch.no_grad()
    def measure(self, module: nn.Module) -> dict[str, float]:
        """Mean square errors over all steps, with every image read once.

        Args:
            module: a `SequenceNetwork`.
        """
        assert isinstance(module, SequenceNetwork)
        first = next(iter(self.tests.values()))
        numbers = {
            "validation_loss": _error(module, self.validation, self._read(module, self.validation))
        }
        values = self._read(module, first)
        for length, task in self.tests.items():
            numbers[f"extrapolation_loss_{length}"] = _error(module, task, values)
        return numbers | {"sparsity_error": module.sparsity_error()}

    def _read(self, module: SequenceNetwork, task: SequentialMNIST) -> Float[Tensor, "digits 1"]:
        """What the network reads from each image of a split."""
        images = task.digits.images.split(_IMAGES_AT_ONCE)
        return torch.cat([module.reader(normalize(part).unsqueeze(1)) for part in images])


def train_network(
    network: SequenceNetwork,
    data: SequentialData,
    training: SequentialTraining,
    seed: int,
    folder: Path | None = None,
    report: Callable[[float], None] | None = None,
) -> TrainingResult:
    """Train a network end to end, on one core.

    Args:
        network: changed in place.
        data: as of the same training and seed.
        training: the numbers.
        seed: of the training loop.
        folder: for checkpoints.
        report: takes the fraction that is done.

    Source:
        Madsen & Johansen 2020, section 4.2 and appendix D.
    """
    steps = training.epochs * data.epoch_steps
    start, end = training.penalty_ramp
    configuration = TrainingConfiguration(
        steps=steps,
        learning_rate=training.learning_rate,
        penalty=training.penalty,
        penalty_start=start,
        penalty_end=end,
        evaluate_every=training.evaluate_every * data.epoch_steps,
        checkpoint_every=data.epoch_steps,
        seed=seed,
    )
    with one_thread():
        return fit(
            network,
            lambda step, _: data.train.batch(step, training.batch_size),
            lambda module, batch: module.loss(*batch),  # pyright: ignore
            configuration,
            evaluate=data.measure,
            optimizer=partial(torch.optim.Adam, fused=True),
            folder=folder,
            report=None if report is None else lambda step: report(step / steps),
        )


def _error(
    module: SequenceNetwork, task: SequentialMNIST, values: Float[Tensor, "digits 1"]
) -> float:
    """The mean square error on sequences of images that have been read."""
    states = module.accumulator(values[task.sequences])
    return (states.double() - task.targets()).square().mean().item()
