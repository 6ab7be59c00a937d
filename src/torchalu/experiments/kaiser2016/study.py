"""The study of networks that learn algorithms: settings times seeds, tested on long strings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.experiments.kaiser2016.learner import Learner
from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings, measure_strings
from torchalu.experiments.kaiser2016.summaries import (
    adversarial,
    by_length,
    labels_of,
    learning,
)
from torchalu.experiments.seeds import Seeds, one_thread, weights
from torchalu.experiments.setting import Label
from torchalu.tasks import AlgorithmicTask
from torchalu.train import JSON, Chunk, Part, Report

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
    def name(self) -> str:
        """The labels as part of the name of a file."""
        return "-".join(str(value) for value in self.labels.values())


@dataclass
class AlgorithmStudy:
    """Settings times seeds, a chunk for each of them.

    The best weights of each are the part's weights, so that they can be loaded later.

    Args:
        name: such as "kaiser2016.table1"; its last word names the summary.
        settings: what is trained; they agree in the names of their labels.
        seeds: of each.

    Raises:
        ValueError: no settings, or two with the same labels.
    """

    name: str
    settings: Sequence[AlgorithmSetting]
    seeds: Seeds
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not self.settings:
            raise ValueError("settings is empty; give at least one")
        names = [setting.name for setting in self.settings]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"settings holds {twice} twice; give each once")
        self.keys = (*self.settings[0].labels, "seed", "strings", "length")
        described = {
            "settings": {setting.name: setting.describe() for setting in self.settings},
            "seeds": [self.seeds.numbers[0], self.seeds.numbers[-1]],
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """All settings of the first seed, then of the second, and so on."""
        return [
            Chunk(f"{setting.name}-seed{seed}", setting.work)
            for seed in self.seeds.numbers
            for setting in self.settings
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train and test one network; see `torchalu.train.Study`."""
        name, _, number = chunk.name.rpartition("-seed")
        setting = next(setting for setting in self.settings if setting.name == name)
        with one_thread():
            return self._part(setting, int(number), scratch, report)

    def _part(self, setting: AlgorithmSetting, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test one network."""
        trained = setting.learner.train(
            setting.task, seed, scratch, lambda done: report(_TRAINING * done)
        )
        rows = measure_strings(
            trained.module,
            setting.task,
            setting.strings,
            most_symbols=setting.learner.most_symbols,
            folder=scratch,
            report=lambda done: report(_TRAINING + (1 - _TRAINING) * done),
        )
        labels = {**setting.labels, "seed": seed}
        common = {
            name: getattr(trained, name)
            for name in ("validation_loss", "best_step", "steps", "status", "seconds")
        }
        common |= {
            "solved_at_step": trained.solved_at_step,
            "solved_at_seconds": trained.solved_at_seconds,
            "parameters": sum(p.numel() for p in trained.module.parameters()),
        }
        outcomes = pl.DataFrame([labels | row | common for row in rows], schema_overrides=_TYPES)
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = trained.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        return Part(records, outcomes, weights(trained.module))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """What is right by length, and how many seeds learn.

        Args:
            outcomes: of all chunks.

        Returns:
            A table under the study's name, of random strings, a row a setting and length;
            `..._adversarial`, a row a setting and kind of strings; `..._learning`, a row a
            setting.
        """
        short, labels = self.name.rpartition(".")[2], labels_of(self.keys)
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
}
