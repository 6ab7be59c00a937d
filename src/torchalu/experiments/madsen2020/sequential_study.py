"""The study of sequences of digits: chunks, outcomes, and success against the reference."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl
from polars import selectors as cs

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import summarize, t_upper
from torchalu.experiments.madsen2020.sequential_networks import (
    MODELS,
    REFERENCE,
    sequential_model,
)
from torchalu.experiments.madsen2020.sequential_training import (
    SequentialData,
    SequentialTraining,
    train_network,
)
from torchalu.experiments.seeds import check_first_seed
from torchalu.experiments.setting import choose
from torchalu.tasks import SequenceOperation
from torchalu.train import JSON, Chunk, Part, Report, TrainingResult, seeded

_LEAST_EXPLAINED = 0.9
_FIGURES: dict[str, tuple[str, ...]] = {
    "figure4": ("NAC*,NMU", "NAC*,sigma", "NAC*", "LSTM", "NALU", "NMU"),
    "figure15": ("NAC*,NMU, no Rz", "NAC*,sigma", "NAC*", "LSTM", "NALU", "NMU, no Rz"),
    "figure13": ("NAC+,Rz", "NAC+", "LSTM", "NALU", "NAU"),
    "figure14": ("NAC+,Rz", "NAC+", "LSTM", "NALU", "NAU, no Rz"),
}
"""The models that each figure shows; 15 is of the products of 4, and 14 of the sums of 13."""


@dataclass
class SequentialStudy:
    """Models times seeds on sequences of digits, and the reference that settles success.

    Whether a run is solved depends on the reference runs, so that the outcomes of a chunk hold
    its errors at all evaluations, and `summarize` decides.

    Args:
        figure: its name, such as "figure4".
        operation: "sum" or "product".
        models: names of models.
        seeds: how many.
        training: the numbers.
        first_seed: the number of the first.
        reference_seeds: runs of the reference.

    Raises:
        ValueError: a count that is not positive, a seed below 0, a name that is unknown.

    Source:
        Madsen & Johansen 2020, section 4.2 and appendix D. A run is solved, for a length, if its
        error on sequences of that length is below the upper 1% confidence limit of the
        reference's, both at the lowest validation error. Departures: the limit has n - 1 degrees
        of freedom where the authors' program has 8 for any n; reference runs that have not
        learned to read digits are left out where they explain less than 90% of the targets'
        variance, where the authors' program names their seeds.

    Example:
        >>> from torchalu.experiments import get
        >>> study = get("madsen2020.figure4")(seeds=2, models=("NMU",))
        >>> [chunk.name for chunk in study.chunks()][:3]
        ['reference-seed0', 'NMU-seed0', 'reference-seed1']
    """

    figure: str
    operation: SequenceOperation
    models: tuple[str, ...]
    seeds: int
    training: SequentialTraining
    first_seed: int = 0
    reference_seeds: int = 10
    name: str = field(init=False)
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(init=False, default=("model", "length", "seed"))
    extent: ClassVar[frozenset[str]] = frozenset({"settings", "models", "seeds", "first_seed"})
    interpreted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        choose("models", self.models, MODELS[self.operation])
        check_positive_integers(seeds=self.seeds)
        if self.reference_seeds < 2:
            raise ValueError(
                f"reference_seeds is {self.reference_seeds}; a confidence limit needs 2 at least"
            )
        check_first_seed(self.first_seed, self.seeds)
        self.name = f"madsen2020.{self.figure}"
        described = {
            "operation": self.operation,
            "models": list(self.models),
            "seeds": self.seeds,
            "first_seed": self.first_seed,
            "reference_seeds": self.reference_seeds,
            "settings": [
                {"labels": {"model": name}, "training": dataclasses.asdict(self.training)}
                for name in (REFERENCE, *self.models)
            ],
        }
        self.configuration = json.loads(json.dumps(described))  # tuples become lists

    def chunks(self) -> list[Chunk]:
        """The reference and all models of the first seed, then of the second, and so on."""
        return [
            Chunk(f"{_safe(name)}-seed{seed}", float(self.training.epochs))
            for name, seed in self._runs()
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train one network; see `torchalu.train.Study`."""
        name, seed = next(
            (name, seed) for name, seed in self._runs() if f"{_safe(name)}-seed{seed}" == chunk.name
        )
        data = SequentialData(self.operation, self.training, seed)
        with seeded(seed):
            network = sequential_model(self.operation, name).network(
                self.operation, self.training.lstm_size, self.training.input_penalty
            )
        result = train_network(network, data, self.training, seed, scratch, report)
        records = _long(result.records, name, seed)
        return Part(records, _outcomes(records, result, data), result.best_state)

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Success by model and length, and the thresholds by length.

        Args:
            outcomes: of all chunks, the reference's among them.

        Returns:
            A table for each figure that shows one of the models.

        Raises:
            ValueError: fewer than two runs of the reference have learned to read digits.
        """
        limits = thresholds(outcomes)
        judged = judge(outcomes.filter(pl.col("model") != REFERENCE), limits)
        table = summarize(judged, by=["model", "length"]).sort("model", "length")
        table = table.join(limits, on="length", how="left", maintain_order="left")
        known = set(MODELS[self.operation])
        shown = {
            figure: table.filter(pl.col("model").is_in(models))
            for figure, models in _FIGURES.items()
            if known.issuperset(models)
        }
        return {figure: rows for figure, rows in shown.items() if rows.height}

    def _runs(self) -> list[tuple[str, int]]:
        end = self.first_seed + max(self.seeds, self.reference_seeds)
        return [
            (name, seed)
            for seed in range(self.first_seed, end)
            for name in (REFERENCE, *self.models)
            if seed - self.first_seed < (self.reference_seeds if name == REFERENCE else self.seeds)
        ]


def thresholds(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The greatest error that counts as solved, by length, from the runs of the reference.

    Args:
        outcomes: as `SequentialStudy.run` gives them.

    Returns:
        The columns length, threshold, blind_error (of the best answers that look at no image),
        reference_runs, and reference_failed of these.

    Raises:
        ValueError: fewer than two runs of the reference have learned to read digits.
    """
    rows = []
    references = outcomes.filter(pl.col("model") == REFERENCE)
    for (length,), group in references.group_by("length", maintain_order=True):
        good = group.filter(pl.col("explained").fill_nan(None) >= _LEAST_EXPLAINED)
        if good.height < 2:
            raise ValueError(
                f"{good.height} of {group.height} reference runs explain {_LEAST_EXPLAINED:.0%} "
                "of the variance; a threshold takes 2: train for more epochs or more seeds"
            )
        limit = t_upper(good["extrapolation_loss"].to_list(), confidence=0.99)
        blind = group["blind_error"][0]
        rows.append((length, limit, blind, group.height, group.height - good.height))
    if not rows:
        raise ValueError("outcomes holds no run of the reference; run its chunks first")
    columns = ["length", "threshold", "blind_error", "reference_runs", "reference_failed"]
    return pl.DataFrame(rows, schema=columns, orient="row").sort("length")


def judge(outcomes: pl.DataFrame, limits: pl.DataFrame) -> pl.DataFrame:
    """Fill in whether each run was solved, and at which evaluation first.

    Args:
        outcomes: as `SequentialStudy.run` gives them.
        limits: as `thresholds` gives them.

    Returns:
        The outcomes without the columns that hold all evaluations.
    """
    keys = ["model", "length", "seed"]
    joined = outcomes.drop("solved", "solved_at_step").join(
        limits.select("length", "threshold"), on="length", how="left"
    )
    solved = (pl.col("extrapolation_loss") < pl.col("threshold")) & (pl.col("status") != "nan")
    judged = joined.with_columns(solved.fill_null(False).alias("solved"))
    first = (
        judged.filter("solved")
        .explode("evaluation_steps", "extrapolation_losses")
        .filter(pl.col("extrapolation_losses") < pl.col("threshold"))
        .group_by(keys)
        .agg(pl.col("evaluation_steps").min().alias("solved_at_step"))
    )
    rest = judged.drop("threshold", "blind_error", "evaluation_steps", "extrapolation_losses")
    return rest.join(first, on=keys, how="left", maintain_order="left")


def _long(records: pl.DataFrame, model: str, seed: int) -> pl.DataFrame:
    """A row an evaluation and length, of a row an evaluation."""
    prefix = "extrapolation_loss_"
    return (
        records.unpivot(
            cs.starts_with(prefix),
            index=["step", "training_loss", "validation_loss", "sparsity_error"],
            variable_name="length",
            value_name="extrapolation_loss",
        )
        .with_columns(
            pl.lit(model).alias("model"),
            pl.lit(seed, dtype=pl.Int64).alias("seed"),
            pl.col("length").str.strip_prefix(prefix).cast(pl.Int64),
            pl.col("sparsity_error").fill_nan(None),
        )
        .select(
            "model",
            "length",
            "seed",
            "step",
            "training_loss",
            "validation_loss",
            "extrapolation_loss",
            "sparsity_error",
        )
    )


def _outcomes(records: pl.DataFrame, result: TrainingResult, data: SequentialData) -> pl.DataFrame:
    """A row a length: the errors at the lowest validation error, and at all evaluations."""
    chosen = records.filter(pl.col("step") == result.best_step)
    if chosen.is_empty():  # it diverged before the first finite evaluation
        chosen = records.filter(pl.col("step") == pl.col("step").max())
    best = chosen.unique("length", keep="first")
    every = records.group_by("length").agg(
        pl.col("step").alias("evaluation_steps"),
        pl.col("extrapolation_loss").alias("extrapolation_losses"),
    )
    return (
        best.rename({"step": "best_step"})
        .select(
            "model",
            "length",
            "seed",
            pl.lit(None, dtype=pl.Boolean).alias("solved"),
            pl.lit(None, dtype=pl.Int64).alias("solved_at_step"),
            "sparsity_error",
            "best_step",
            "validation_loss",
            "extrapolation_loss",
            pl.lit(result.steps, dtype=pl.Int64).alias("steps"),
            pl.lit(result.status).alias("status"),
            (1 - pl.col("validation_loss") / data.variance()).alias("explained"),
            pl.col("length").replace_strict(data.blind_errors()).alias("blind_error"),
        )
        .join(every, on="length")
        .sort("length")
    )


def _safe(name: str) -> str:
    """The name of a model as part of the name of a file."""
    return (
        name.replace("*", "mul")
        .replace("+", "add")
        .replace(", ", ",")
        .replace(",", "-")
        .replace(" ", "-")
    )
