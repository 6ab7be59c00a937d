"""The study of networks that learn algorithms: settings times seeds, tested on long strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.experiments.kaiser2016.learner import Learner
from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings, measure_strings
from torchalu.experiments.kaiser2016.summaries import (
    adversarial,
    by_length,
    learning,
)
from torchalu.experiments.seeds import Seeds, one_thread, weights
from torchalu.experiments.setting import Label
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.tasks import AlgorithmicTask
from torchalu.train import Part, Report

_TRAINING = 0.7  # of a chunk, for the progress bar


@dataclass(frozen=True)
class AlgorithmSetting:
    """A network that learns a task, and what it is tested on.

    Args:
        labels: the columns that tell this setting's results apart, "task" among them.
        task: what is learned.
        learner: the network and its training.
        strings: which it is tested on.
        work: of training and tests, in any unit; for the progress bar alone.
    """

    labels: Mapping[str, Label]
    task: AlgorithmicTask
    learner: Learner
    strings: Strings
    work: float = 1.0

    def describe(self) -> dict[str, Any]:
        """What settles its results, for the configuration of a study."""
        return {
            "labels": dict(self.labels),
            "learner": self.learner.describe(),
            "filled": self.task.filled,
            "long_carries": getattr(self.task, "long_carries", 0.0),
            "strings": asdict(self.strings),
        }

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return (*self.labels, "strings", "length")

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test one seed; see `torchalu.train.Study`."""
        with one_thread():
            return self._part(seed, scratch, report)

    def _part(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test one network."""
        trained = self.learner.train(
            self.task, seed, scratch, lambda done: report(_TRAINING * done)
        )
        rows = measure_strings(
            trained.module,
            self.task,
            self.strings,
            most_symbols=self.learner.most_symbols,
            folder=scratch,
            report=lambda done: report(_TRAINING + (1 - _TRAINING) * done),
        )
        labels = {**self.labels, "seed": seed}
        common = {
            name: getattr(trained, name)
            for name in ("validation_loss", "best_step", "steps", "status", "seconds")
        }
        common |= {
            "solved_at_step": trained.solved_at_step,
            "solved_at_seconds": trained.solved_at_seconds,
            "parameters": sum(p.numel() for p in trained.module.parameters()),
            "levels": getattr(trained.module, "levels", None),
        }
        outcomes = pl.DataFrame([labels | row | common for row in rows], schema_overrides=_TYPES)
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = trained.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        return Part(records, outcomes, weights(trained.module))


class AlgorithmStudy(SettingsStudy):
    """Settings times seeds, a chunk for each of them.

    The best weights of each are the part's weights, so that they can be loaded later.

    Args:
        name: such as "kaiser2016.table1"; its last word names the summary.
        settings: what is trained; they agree in the names of their labels.
        seeds: of each.

    Raises:
        ValueError: no settings, or two with the same labels.
    """

    def __init__(self, name: str, settings: Sequence[AlgorithmSetting], seeds: Seeds) -> None:
        labels = tuple(settings[0].labels) if settings else ()
        super().__init__(name, settings, seeds, partial(length_tables, name, labels))


def length_tables(
    name: str, labels: Sequence[str], outcomes: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """What is right by length, and how many seeds learn.

    Args:
        name: of the study.
        labels: tell settings apart.
        outcomes: of all chunks.

    Returns:
        A table under the study's name, of random strings, a row a setting and length;
        `..._adversarial`, a row a setting and kind of strings; `..._learning`, a row a setting.
    """
    short = name.rpartition(".")[2]
    lengths = by_length(outcomes, labels)
    tables = {short: lengths.filter(pl.col("strings") == RANDOM).drop("strings")}
    others = adversarial(lengths, labels)
    if others.height:
        tables[f"{short}_adversarial"] = others
    return tables | {f"{short}_learning": learning(outcomes, labels)}


_TYPES = {
    "validation_loss": pl.Float64,
    "solved_at_step": pl.Int64,
    "solved_at_seconds": pl.Float64,
    "levels": pl.Int64,
}
