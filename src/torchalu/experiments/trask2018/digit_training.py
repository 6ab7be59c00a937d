"""How a network is trained on series of digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import torch
import tyro

from torchalu.arguments import check_from_zero, check_positive, check_positive_integers
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import check_device
from torchalu.experiments.trask2018.digit_data import SeriesData
from torchalu.experiments.trask2018.digit_models import MODELS, SeriesModel
from torchalu.experiments.trask2018.digit_networks import DigitFeatures, Output, SeriesNetwork
from torchalu.tasks import SequenceOperation
from torchalu.train import TrainingConfiguration, TrainingResult, fit, seeded
from torchalu.train.schedules import Schedule


@dataclass(frozen=True)
class SeriesTraining:
    """The numbers of the training on series of digits; the paper states none of them.

    Args:
        epochs: how often the training digits are gone through.
        settle_epochs: how many more with the units' weights snapped and held, while the learning
            rate rises for a tenth of them and then falls to 0 as a cosine does; 0 leaves it out.
        evaluate_every: epochs from one evaluation to the next.
        batch_size: series in a batch.
        learning_rate: of Adam.
        output: of the convolutional network: "linear", "log_softmax" or "softmax".
        dropout: whether the convolutional network has its dropouts.
        hidden_size: of the state of networks that are no units.
        keep_state: whether units start so that they keep their state, if they can; their own
            starts take long to leave an answer that is always the mean.
        penalty: a factor of the penalties that the models' authors state.
        penalty_ramp: the parts of the training at which the penalties set in and are whole.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, an unknown output, a ramp that is not one, a
            device that is not there.

    Example:
        >>> SeriesTraining(epochs=40).batch_size
        64
    """

    epochs: int = 100
    settle_epochs: int = 10
    evaluate_every: int = 5
    batch_size: int = 64
    learning_rate: float = 1e-3
    output: Output = "linear"
    dropout: bool = False
    hidden_size: int = 32
    keep_state: bool = True
    penalty: float = 1.0
    penalty_ramp: tuple[float, float] = (0.25, 0.75)
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_positive_integers(
            epochs=self.epochs,
            evaluate_every=self.evaluate_every,
            batch_size=self.batch_size,
            hidden_size=self.hidden_size,
        )
        check_positive(learning_rate=self.learning_rate)
        check_from_zero(penalty=self.penalty)
        if self.settle_epochs < 0:
            raise ValueError(f"settle_epochs is {self.settle_epochs}; give 0 or more")
        choose("output", [self.output], ("linear", "log_softmax", "softmax"))
        start, end = self.penalty_ramp
        if not 0 <= start < end <= 1:
            raise ValueError(
                f"penalty_ramp is {self.penalty_ramp}; give two parts of the training, "
                "0 <= start < end <= 1"
            )
        check_device(self.device)

    def network(self, operation: SequenceOperation, name: str, seed: int) -> SeriesNetwork:
        """The network with the start of one seed.

        Args:
            operation: what it is to learn.
            name: of the model.
            seed: settles the start.
        """
        model = MODELS[name]
        with seeded(seed):
            features = DigitFeatures(self.output, dropout=self.dropout, mean=model.features_mean)
            accumulator = model.accumulator(operation, self.hidden_size, keep_state=self.keep_state)
        factor = 0.0 if operation == "count" else self.penalty * model.input_penalty
        return SeriesNetwork(features, accumulator, factor).to(self.device)


SeriesOptions: TypeAlias = Annotated[SeriesTraining, tyro.conf.arg(name="")]
"""`SeriesTraining` as a parameter: each field is an option of the command line."""


def train_series(
    network: SeriesNetwork,
    model: SeriesModel,
    data: SeriesData,
    training: SeriesTraining,
    epochs: int,
    seed: int,
    folder: Path | None,
    report: Callable[[float], None],
    schedule: Callable[[int], Schedule] | None = None,
) -> TrainingResult:
    """Train a network end to end; parameters that need no gradient stay as they are.

    Args:
        network: changed in place.
        model: what it was made of.
        data: of the same operation.
        training: the numbers.
        epochs: how often the training digits are gone through.
        seed: of the training loop.
        folder: for checkpoints.
        report: takes the fraction that is done.
        schedule: gives the factor of the learning rate, from the number of steps; 1 if left out.

    Source:
        Trask et al. 2018, section 4.2: the mean square error at the end of each series.
    """
    steps = epochs * data.epoch_steps
    configuration = TrainingConfiguration(
        steps=steps,
        learning_rate=training.learning_rate,
        penalty=training.penalty * model.penalty,
        penalty_start=training.penalty_ramp[0] * steps,
        penalty_end=training.penalty_ramp[1] * steps,
        clip_norm=model.clip_norm,
        evaluate_every=training.evaluate_every * data.epoch_steps,
        checkpoint_every=data.epoch_steps,
        seed=seed,
    )
    return fit(
        network,
        lambda step, _: data.train.batch(step, training.batch_size),
        lambda module, batch: module.loss(batch),  # pyright: ignore
        configuration,
        evaluate=data.validate,
        optimizer=partial(torch.optim.Adam, fused=True),
        schedule=None if schedule is None else schedule(steps),
        folder=folder,
        report=lambda step: report(step / steps),
    )
