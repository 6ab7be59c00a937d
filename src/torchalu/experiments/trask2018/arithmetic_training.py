"""Training and tests of many small networks on sums: natively where it can be, else batched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import polars as pl
import torch
import tyro
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.engine import Result, Run, TrainingInterrupted, train_together
from torchalu.engine.stack import KINDS
from torchalu.experiments.seeds import check_first_seed
from torchalu.experiments.trask2018.arithmetic_data import ArithmeticData, Form
from torchalu.experiments.trask2018.arithmetic_models import ArithmeticModel
from torchalu.experiments.trask2018.checks import check_rates
from torchalu.experiments.trask2018.replicas import (
    Replicas,
    blocks,
    squared,
    started,
    train_replicas,
)
from torchalu.train import Report, Stopped, TrainingConfiguration

MEASURED = ("validation_loss", "interpolation_error", "extrapolation_error")
"""What is measured of a network as trained and, with `snapped_` in front, once it is snapped."""

RAMP = (0.2, 0.4)
"""Where penalties set in, and where they are whole, in parts of the steps."""


@dataclass(frozen=True)
class ArithmeticRuns:
    """How many networks are trained on sums, for how long, and how.

    Args:
        seeds: of each model, operation and learning rate; each has sections, inputs and a start of
            its own.
        first_seed: the number of the first.
        steps: optimizer steps.
        learning_rates: of Adam; the best is chosen for each model and operation by validation.
        batch_size: rows in a batch.
        evaluate_every: steps from one evaluation to the next.
        rows: of each seed for validation and each test.
        together: seeds that are trained side by side, in one chunk.

    Raises:
        ValueError: a count that is not positive, a seed below 0, no learning rates, or one that is
            there twice, not positive or not finite.

    Example:
        >>> [list(block) for block in ArithmeticRuns(seeds=5, together=2).blocks]
        [[0, 1], [2, 3], [4]]
    """

    seeds: int = 20
    first_seed: int = 0
    steps: int = 50_000
    learning_rates: tuple[float, ...] = (0.01, 0.001)
    batch_size: int = 128
    evaluate_every: int = 1000
    rows: int = 1000
    together: int = 20

    def __post_init__(self) -> None:
        check_positive_integers(
            seeds=self.seeds,
            steps=self.steps,
            batch_size=self.batch_size,
            evaluate_every=self.evaluate_every,
            rows=self.rows,
            together=self.together,
        )
        check_first_seed(self.first_seed, self.seeds)
        check_rates(self.learning_rates)

    @property
    def blocks(self) -> list[range]:
        """The seeds of each chunk."""
        return blocks(self.first_seed, self.seeds, self.together)


ArithmeticOptions: TypeAlias = Annotated[ArithmeticRuns, tyro.conf.arg(name="")]
"""`ArithmeticRuns` as a parameter: each field is an option of the command line."""


def start(model: ArithmeticModel, form: Form, seeds: Sequence[int], tasks: int) -> Replicas:
    """Untrained networks, each start a function of model and seed alone.

    Args:
        model: what they are.
        form: of the task.
        seeds: their numbers.
        tasks: operations of each seed.
    """
    return started(lambda: model.build(form.in_features), seeds, tasks)


def is_native(module: nn.Module, form: Form) -> bool:
    """Whether the native trainer takes a network on a task.

    Args:
        module: the network.
        form: of the task.

    Example:
        >>> from torchalu.experiments.trask2018.arithmetic_data import STATIC
        >>> from torchalu.nn import NALU
        >>> others = nn.Linear(100, 1), nn.Tanh()
        >>> [is_native(nn.Sequential(*layers), STATIC) for layers in ([NALU(100, 1)], others)]
        [True, False]
    """
    return form.name == "static" and all(type(layer) in KINDS for layer in module.children())


def learn(
    model: ArithmeticModel,
    data: ArithmeticData,
    seeds: Sequence[int],
    rate: float,
    runs: ArithmeticRuns,
    folder: Path | None = None,
    report: Report | None = None,
) -> tuple[Replicas, pl.DataFrame]:
    """Train one model, on each operation and seed of the data.

    Args:
        model: what is trained.
        data: of the same seeds.
        seeds: their numbers.
        rate: the learning rate.
        runs: the other numbers.
        folder: for checkpoints.
        report: takes the fraction that is done.

    Returns:
        Replicas with their best parameters, and a row an evaluation: seed_index, task_index,
        step, training_loss, validation_loss.
    """
    replicas = start(model, data.form, seeds, len(data.operations))
    if is_native(model.build(data.form.in_features), data.form):
        return replicas, _learn_natively(replicas, model, data, seeds, rate, runs, report)
    records = train_replicas(
        replicas,
        data.batch,
        data.validation(),
        _configuration(model, rate, runs, seeds[0]),
        clip_norm=model.clip_norm,
        folder=folder,
        report=report,
    )
    return replicas, records


def measure(
    replicas: Replicas, data: ArithmeticData, parameters: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """The mean squared errors on both tests.

    Args:
        replicas: trained.
        data: of the same seeds.
        parameters: of all replicas, by name; those of the lowest validation loss if left out.
    """
    seeds = range(replicas.shape[0])
    beyond = [replicas.error(seed, data.extrapolation(seed), squared, parameters) for seed in seeds]
    return {
        "interpolation_error": replicas.errors(data.interpolation(), squared, parameters),
        "extrapolation_error": torch.stack(beyond),
    }


def measure_snapped(replicas: Replicas, data: ArithmeticData) -> dict[str, Tensor]:
    """The same, and the validation loss, of the last parameters with those of units snapped.

    Args:
        replicas: trained.
        data: of the same seeds.

    Returns:
        NaN for networks without units, and for replicas that have diverged.
    """
    parameters = replicas.snapped()
    if parameters is None:
        missing = torch.full(replicas.shape, math.nan)
        return {f"snapped_{name}": missing for name in MEASURED}
    found = {"validation_loss": replicas.errors(data.validation(), squared, parameters)}
    found |= measure(replicas, data, parameters)
    return {f"snapped_{name}": found[name] for name in MEASURED}


def _configuration(
    model: ArithmeticModel, rate: float, runs: ArithmeticRuns, seed: int
) -> TrainingConfiguration:
    """The numbers of the general loop."""
    return TrainingConfiguration(
        steps=runs.steps,
        learning_rate=rate,
        penalty=model.penalty,
        penalty_start=RAMP[0] * runs.steps,
        penalty_end=RAMP[1] * runs.steps,
        evaluate_every=runs.evaluate_every,
        seed=seed,
    )


def _learn_natively(
    replicas: Replicas,
    model: ArithmeticModel,
    data: ArithmeticData,
    seeds: Sequence[int],
    rate: float,
    runs: ArithmeticRuns,
    report: Report | None,
) -> pl.DataFrame:
    """Train seed by seed, all operations of a seed on the same inputs."""
    records = []
    for index, seed in enumerate(seeds):
        if report is not None:
            report(index / len(seeds))
        settings = [
            Run(
                list(model.build(data.form.in_features).children()),
                data.function(index, operation),
                learning_rate=rate,
                penalty=model.penalty,
                penalty_start=RAMP[0] * runs.steps,
                penalty_end=RAMP[1] * runs.steps,
                clip_norm=model.clip_norm,
                initial={name: value[index, task] for name, value in replicas.current().items()},
            )
            for task, operation in enumerate(data.operations)
        ]
        for task, result in enumerate(_together(settings, seed, runs, report, index, len(seeds))):
            _take(replicas, index, task, result)
            records.append(
                result.records.select(
                    pl.lit(index, dtype=pl.Int64).alias("seed_index"),
                    pl.lit(task, dtype=pl.Int64).alias("task_index"),
                    pl.col("step").cast(pl.Int64),
                    "training_loss",
                    "validation_loss",
                )
            )
    return pl.concat(records)


def _together(
    settings: Sequence[Run],
    seed: int,
    runs: ArithmeticRuns,
    report: Report | None,
    index: int,
    count: int,
) -> list[Result]:
    """The native trainer on the operations of one seed."""
    stopped: list[Stopped] = []
    total = runs.steps * len(settings)

    def poll(steps: int) -> bool:
        if report is None:
            return True
        try:
            report(min((index + steps / total) / count, 1.0))
        except Stopped as reason:
            stopped.append(reason)
        return not stopped

    try:
        return train_together(
            settings,
            steps=runs.steps,
            replicas=[seed],
            batch_size=runs.batch_size,
            evaluate_every=runs.evaluate_every,
            threads=1,
            poll=poll,
        )
    except TrainingInterrupted:
        if stopped:
            raise stopped[0] from None
        raise


@torch.no_grad()
def _take(replicas: Replicas, index: int, task: int, result: Result) -> None:
    """Put what the native trainer has found among the replicas."""
    for parameters, found in (
        (replicas.best(), result.best_parameters),
        (replicas.current(), result.parameters),
    ):
        for name, value in found.items():
            parameters[name][index, task] = value[0]
    finite = result.records.filter(pl.col("validation_loss").is_finite())
    if finite.height:
        best = finite.sort("validation_loss", "step").row(0, named=True)
        replicas.best_loss[index, task] = best["validation_loss"]
        replicas.best_step[index, task] = best["step"]
