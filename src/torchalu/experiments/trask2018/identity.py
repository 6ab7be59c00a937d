"""Figure 1 and table 5: autoencoders learn the identity function only where they are trained."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

import polars as pl
import torch
import tyro
from torch import Tensor, nn

from torchalu.arguments import check_positive, check_positive_integers
from torchalu.experiments.seeds import check_first_seed, one_thread
from torchalu.experiments.setting import choose
from torchalu.experiments.trask2018.arithmetic_models import UNITS
from torchalu.experiments.trask2018.arithmetic_training import RAMP
from torchalu.experiments.trask2018.identity_summaries import (
    SHOWN,
    curves,
    errors_beyond,
    which_to_pick,
)
from torchalu.experiments.trask2018.replicas import (
    Examples,
    Replicas,
    blocks,
    in_a_name,
    started,
    train_replicas,
)
from torchalu.train import JSON, Chunk, Part, Report, TrainingConfiguration

HIDDEN = 8
TRAINED, TESTED = 5, 1000
"""Numbers up to which models are trained, and table 5 is measured."""

_NONLINEAR: dict[str, Callable[[], nn.Module]] = {
    "Hardtanh": nn.Hardtanh,
    "ReLU6": nn.ReLU6,
    "Softsign": nn.Softsign,
    "Tanh": nn.Tanh,
    "Sigmoid": nn.Sigmoid,
    "Threshold": lambda: nn.Threshold(0.1, 20.0),
    "SELU": nn.SELU,
    "ELU": nn.ELU,
    "Softshrink": nn.Softshrink,
    "ReLU": nn.ReLU,
    "LeakyReLU": nn.LeakyReLU,
    "Tanhshrink": nn.Tanhshrink,
    "Softplus": nn.Softplus,
    "PReLU": nn.PReLU,
    "None": nn.Identity,
}

MODELS = (*_NONLINEAR, *(name for name in UNITS if name != "NMRU"))
"""The fifteen of table 5 in its order, and units, which need no nonlinearity; an NMRU takes the
reciprocal of the number 0, whatever its weights are."""


@dataclass(frozen=True)
class IdentityRuns:
    """How many autoencoders are trained, and how.

    Args:
        seeds: of each model.
        first_seed: the number of the first.
        steps: optimizer steps.
        learning_rate: of Adam.
        together: seeds that are trained side by side, in one chunk.

    Raises:
        ValueError: a number that is not positive or not finite, a seed below 0.

    Example:
        >>> IdentityRuns(seeds=0)
        Traceback (most recent call last):
        ValueError: seeds is 0; give a positive integer
    """

    seeds: int = 100
    first_seed: int = 0
    steps: int = 10_000
    learning_rate: float = 0.01
    together: int = 100

    def __post_init__(self) -> None:
        check_positive_integers(seeds=self.seeds, steps=self.steps, together=self.together)
        check_positive(learning_rate=self.learning_rate)
        check_first_seed(self.first_seed, self.seeds)

    @property
    def blocks(self) -> list[range]:
        """The seeds of each chunk."""
        return blocks(self.first_seed, self.seeds, self.together)


IdentityOptions: TypeAlias = Annotated[IdentityRuns, tyro.conf.arg(name="")]
"""`IdentityRuns` as a parameter: each field is an option of the command line."""


@dataclass
class IdentityStudy:
    """Autoencoders times seeds; the seeds of a chunk are trained side by side.

    Args:
        models: names of nonlinearities or units.
        runs: seeds, steps, learning rate.

    Raises:
        ValueError: a name that is unknown, or none.

    Example:
        >>> IdentityStudy(("ReLU", "None"), IdentityRuns()).chunks()[0].name
        'ReLU-seed0'
    """

    models: tuple[str, ...]
    runs: IdentityRuns
    name: str = "trask2018.table5"
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("model", "seed")
    extent: ClassVar[frozenset[str]] = frozenset({"models", "seeds", "first_seed", "together"})

    def __post_init__(self) -> None:
        choose("models", self.models, MODELS)
        described = {"models": list(self.models), "hidden_size": HIDDEN, **asdict(self.runs)}
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """All models of the first seeds, then of the next, and so on."""
        return [
            Chunk(f"{in_a_name(model)}-seed{block[0]}", float(len(block)))
            for block in self.runs.blocks
            for model in self.models
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train and test the autoencoders of some seeds; see `torchalu.train.Study`."""
        model, seeds = next(
            (model, block)
            for block in self.runs.blocks
            for model in self.models
            if f"{in_a_name(model)}-seed{block[0]}" == chunk.name
        )
        replicas = started(partial(autoencoder, model), seeds)
        seen = _numbers(TRAINED, len(seeds))
        unit = UNITS.get(model)
        numbers = TrainingConfiguration(
            steps=self.runs.steps,
            learning_rate=self.runs.learning_rate,
            penalty=unit.penalty if unit else 0.0,
            penalty_start=RAMP[0] * self.runs.steps,
            penalty_end=RAMP[1] * self.runs.steps,
            seed=seeds[0],
        )
        with one_thread():
            records = train_replicas(
                replicas,
                lambda _: seen,
                seen,
                numbers,
                clip_norm=unit.clip_norm if unit else math.inf,
                folder=scratch,
                report=report,
            )
            errors = replicas.errors(_numbers(TESTED, len(seeds)), _distance)[:, 0]
            curves = [_distances(replicas, seed) for seed in range(len(seeds))]
        outcomes = pl.DataFrame(
            {
                "model": [model] * len(seeds),
                "seed": list(seeds),
                "validation_loss": replicas.best_loss[:, 0].tolist(),
                "error": errors.tolist(),
                "errors": curves,
                "best_step": replicas.best_step[:, 0].tolist(),
            }
        )
        named = records.select(
            pl.lit(model).alias("model"),
            (pl.col("seed_index") + seeds[0]).alias("seed"),
            pl.all().exclude("seed_index", "task_index"),
        )
        weights = {name: value[:, 0].clone() for name, value in replicas.best().items()}
        return Part(named, outcomes, weights)

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Table 5, figure 1, and which model to pick; see `identity_summaries`.

        Args:
            outcomes: of all chunks.
        """
        table = errors_beyond(outcomes, MODELS)
        return {
            "table5": table,
            "figure1": curves(outcomes, MODELS),
            "table5_picks": which_to_pick(table),
        }


def table5(
    runs: IdentityOptions = IdentityRuns(), *, models: tuple[str, ...] = MODELS
) -> IdentityStudy:
    """Table 5 and figure 1: the identity function, by autoencoders with fifteen nonlinearities.

    Args:
        runs: seeds, steps, learning rate.
        models: names of nonlinearities as in table 5, or of units for layers of them.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Trask et al. 2018, section 1.1 and appendix A. Departures: see
        `docs/trask2018/arithmetic.md`.

    Example:
        >>> len(table5().chunks())
        22
    """
    return IdentityStudy(models, runs)


figure1 = table5
"""Figure 1 has the autoencoders of table 5."""


def autoencoder(model: str) -> nn.Sequential:
    """A network from one number to one number, by three hidden layers of eight.

    NMU and RealNPU are its last layer alone, behind layers of NAU: products of products would be
    powers of hundreds.

    Args:
        model: one of `MODELS`.

    Example:
        >>> autoencoder("NAU")
        Sequential(
          (0): NAU(in_features=1, out_features=8)
          (1): NAU(in_features=8, out_features=8)
          (2): NAU(in_features=8, out_features=8)
          (3): NAU(in_features=8, out_features=1)
        )
    """
    sizes = [(1, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, HIDDEN)]
    if unit := UNITS.get(model):
        return nn.Sequential(*(unit.first(*size) for size in sizes), unit.last(HIDDEN, 1))
    layers = [layer for size in sizes for layer in (nn.Linear(*size), _NONLINEAR[model]())]
    return nn.Sequential(*layers, nn.Linear(HIDDEN, 1))


def _numbers(limit: int, seeds: int) -> Examples:
    """The whole numbers from -limit to limit, for each seed."""
    column = torch.arange(-limit, limit + 1, dtype=torch.float32).unsqueeze(1)
    return Examples(column.expand(seeds, -1, 1), column.expand(seeds, 1, -1, 1))


def _distance(answers: Tensor, targets: Tensor) -> Tensor:
    """The absolute error."""
    return (answers - targets).abs()


def _distances(replicas: Replicas, seed: int) -> list[float]:
    """The absolute error on each number of figure 1."""
    kept: list[Tensor] = []

    def keep(answers: Tensor, targets: Tensor) -> Tensor:
        kept.append(_distance(answers, targets))
        return kept[0]

    replicas.error(seed, _numbers(SHOWN, 1), keep)
    return kept[0].flatten().tolist()
