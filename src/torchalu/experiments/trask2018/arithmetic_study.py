"""The study of arithmetic: models and learning rates times seeds, relative to a random start."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from torchalu.experiments.seeds import one_thread
from torchalu.experiments.setting import choose
from torchalu.experiments.trask2018.arithmetic_data import ArithmeticData, Form
from torchalu.experiments.trask2018.arithmetic_models import HIDDEN, arithmetic_model
from torchalu.experiments.trask2018.arithmetic_summaries import raw, relative, which_to_pick
from torchalu.experiments.trask2018.arithmetic_training import (
    ArithmeticRuns,
    learn,
    measure,
    measure_snapped,
    start,
)
from torchalu.experiments.trask2018.replicas import Replicas, in_a_name
from torchalu.tasks.recurrent_function import RecurrentOperation
from torchalu.train import JSON, Chunk, Part, Report

_TABLES = {"static": ("table6", "table7"), "recurrent": ("table8", "table9")}
_WORK = {"static": 1.0, "recurrent": 5.0}


@dataclass
class ArithmeticStudy:
    """Models and learning rates times seeds; a chunk trains one model on all operations.

    Seeds of a chunk are trained side by side, and but for the rounding of sums have no effect on
    each other. Their best weights are the part's, under the names of the layers, with seeds and
    operations in front.

    Args:
        form: of the task, static or recurrent.
        models: names of models.
        operations: what is learned.
        runs: seeds, steps, learning rates.

    Raises:
        ValueError: a name that is unknown or no name.

    Example:
        >>> from torchalu.experiments import get
        >>> study = get("trask2018.table6")(models=("NMU", "NALU"), operations=("mul",))
        >>> [chunk.name for chunk in study.chunks()]
        ['NMU-0.01-seed0', 'NMU-0.001-seed0', 'NALU-0.01-seed0', 'NALU-0.001-seed0']
    """

    form: Form
    models: tuple[str, ...]
    operations: tuple[RecurrentOperation, ...]
    runs: ArithmeticRuns
    name: str = field(init=False)
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(
        init=False, default=("model", "operation", "learning_rate", "seed")
    )
    extent: ClassVar[frozenset[str]] = frozenset(
        {"models", "operations", "learning_rates", "seeds", "first_seed", "together"}
    )

    def __post_init__(self) -> None:
        choose("operations", self.operations, self.form.operations)
        if not self.models:
            raise ValueError("models is empty; give at least one")
        for model in self.models:
            arithmetic_model(self.form.name, model)
        self.name = f"trask2018.{_TABLES[self.form.name][0]}"
        described = {
            "form": asdict(self.form),
            "models": list(self.models),
            "operations": list(self.operations),
            "hidden_size": HIDDEN,
            **asdict(self.runs),
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """All models and learning rates of the first seeds, then of the next, and so on."""
        work = self.runs.steps * _WORK[self.form.name]
        return [
            Chunk(f"{in_a_name(model)}-{rate}-seed{block[0]}", work * len(block))
            for block in self.runs.blocks
            for model in self.models
            for rate in self.runs.learning_rates
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train and test a model at one learning rate; see `torchalu.train.Study`."""
        model, rate, seeds = next(
            (model, rate, block)
            for block in self.runs.blocks
            for model in self.models
            for rate in self.runs.learning_rates
            if f"{in_a_name(model)}-{rate}-seed{block[0]}" == chunk.name
        )
        data = ArithmeticData(
            self.form, self.operations, seeds, self.runs.batch_size, self.runs.rows
        )
        network = arithmetic_model(self.form.name, model)
        with one_thread():
            replicas, records = learn(network, data, seeds, rate, self.runs, scratch, report)
            outcomes = self._outcomes(replicas, records, data, seeds)
        labels = [pl.lit(model).alias("model"), pl.lit(rate).alias("learning_rate")]
        records = records.with_columns(
            pl.col("seed_index").replace_strict(dict(enumerate(seeds))).alias("seed"),
            pl.col("task_index")
            .replace_strict(dict(enumerate(self.operations)))
            .alias("operation"),
        ).drop("seed_index", "task_index")
        best = {name: value.clone() for name, value in replicas.best().items()}
        return Part(self._labeled(records, labels), self._labeled(outcomes, labels), best)

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Errors, errors relative to a random start, and which model to pick.

        Args:
            outcomes: of all chunks.

        Returns:
            The paper's two tables of this form, a row an operation, test and model: see
            `arithmetic_summaries.raw` and `arithmetic_summaries.relative`; and `..._picks`, a row
            an operation.
        """
        first, second = _TABLES[self.form.name]
        return {
            first: raw(outcomes, self.form),
            second: relative(outcomes, self.form),
            f"{second}_picks": which_to_pick(outcomes, self.form),
        }

    def _labeled(self, frame: pl.DataFrame, labels: Sequence[pl.Expr]) -> pl.DataFrame:
        """With the columns that tell rows apart in front."""
        return frame.with_columns(labels).select(*self.keys, pl.all().exclude(*self.keys))

    def _outcomes(
        self,
        replicas: Replicas,
        records: pl.DataFrame,
        data: ArithmeticData,
        seeds: Sequence[int],
    ) -> pl.DataFrame:
        """A row a seed and operation: errors as trained, once snapped, and of a random start.

        Those that diverged have the status "nan"; the native trainer ends them there.
        """
        baseline = arithmetic_model(self.form.name, self.form.baseline)
        untrained = measure(start(baseline, self.form, seeds, len(self.operations)), data)
        columns = {
            "validation_loss": replicas.best_loss,
            **measure(replicas, data),
            **{f"{name.removesuffix('error')}random": errors for name, errors in untrained.items()},
            **measure_snapped(replicas, data),
            "best_step": replicas.best_step,
        }
        ended = records.sort("step", maintain_order=True)
        ended = ended.group_by("seed_index", "task_index").last()
        ended = ended.sort("seed_index", "task_index")
        finite = pl.Series(replicas.finite().flatten().tolist())
        fine = finite & ended["training_loss"].is_finite()
        frame = pl.DataFrame(
            {
                "seed": [seed for seed in seeds for _ in self.operations],
                "operation": list(self.operations) * len(seeds),
                **{name: values.flatten().tolist() for name, values in columns.items()},
            }
        )
        measured = pl.selectors.float()
        return frame.with_columns(
            pl.when(measured.is_finite()).then(measured),
            ended["step"].alias("steps"),
            pl.Series("status", ["finished" if each else "nan" for each in fine]),
        )
