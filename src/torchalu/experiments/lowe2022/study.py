"""The study of networks that classify: settings times seeds, and who is significantly better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import nn

from torchalu.evaluate import compare
from torchalu.experiments.lowe2022.activations import BASELINE, label
from torchalu.experiments.lowe2022.data import ClassificationData, Source
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.networks import count_parameters, start
from torchalu.experiments.lowe2022.training import ClassificationRuns, measure, train_classifier
from torchalu.experiments.setting import Label
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.train import JSON, Part, Report

_RUNS = ClassificationRuns()
_PREPARATION = 0.9  # of a chunk that prepares its data, for the progress bar
_TRAINING_SAMPLES = 10_000  # of which the training loss is measured at the end


@dataclass(frozen=True)
class ClassificationSetting:
    """A network, how it is trained, and on what.

    Args:
        labels: the columns that tell this setting's results apart, "activation" among them.
        build: makes the network; its parameters are drawn anew.
        hyperparameters: learning rate and weight decay.
        data: what is learned.
        cost: of one training sample, in any unit, for the progress bar alone; the number of
            parameters if left out.
        observe: more columns of the outcomes, from the setting, a seed and the trained network.
        runs: epochs and batch size; a study gives its own.

    Example:
        >>> from torchalu.experiments.lowe2022.data import MNIST
        >>> from torchalu.experiments.lowe2022.networks import mlp
        >>> setting = ClassificationSetting(
        ...     {"activation": "relu"}, lambda: mlp(4, (4,), 2, "relu"), Hyperparameters(), MNIST
        ... )
        >>> setting.parameters
        30
    """

    labels: Mapping[str, Label]
    build: Callable[[], nn.Module]
    hyperparameters: Hyperparameters
    data: Source
    cost: float | None = None
    observe: Callable[[ClassificationSetting, int, nn.Module], Mapping[str, Any]] | None = None
    runs: ClassificationRuns = _RUNS

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return tuple(self.labels)

    @property
    def parameters(self) -> int:
        """How many numbers training changes."""
        with torch.device("meta"):
            return count_parameters(self.build())

    @property
    def work(self) -> float:
        """The expected cost, in any unit."""
        return float(self.cost or self.parameters)

    def network(self, seed: int) -> nn.Module:
        """The network with the start of one seed.

        Args:
            seed: settles the start.
        """
        word = np.random.SeedSequence([0, seed]).generate_state(1, np.uint64)[0]
        network = self.build()
        start(network, torch.Generator().manual_seed(int(word) >> 1))
        return network

    def describe(self) -> dict[str, JSON]:
        """What settles its results, for the configuration of a study."""
        return {
            "labels": dict(self.labels),
            "hyperparameters": asdict(self.hyperparameters),
            "parameters": self.parameters,
            "data": self.data.name,
            "epochs": self.runs.epochs,
            "batch_size": self.runs.batch_size,
        }

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train one network; see `torchalu.train.Study`."""
        prepared = 0.0

        def preparing(fraction: float) -> None:
            nonlocal prepared
            prepared = _PREPARATION * fraction
            report(prepared)

        def training(fraction: float) -> None:
            report(prepared + (1 - prepared) * fraction)

        if self.data.prepare is not None:
            self.data.prepare(preparing)
        network, data = self.network(seed), self.data.load()
        result = train_classifier(
            network, data, self.hyperparameters, self.runs, seed, scratch, training
        )
        labels = {**self.labels, "seed": seed}
        network.eval()
        outcome = labels | {
            "parameters": self.parameters,
            **measured(network, data),
            "steps": result.steps,
            "status": result.status,
            "epochs": self.runs.epochs,
            "batch_size": self.runs.batch_size,
            **asdict(self.hyperparameters),
        }
        if self.observe is not None:
            outcome |= self.observe(self, seed, network)
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = result.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        return Part(records, pl.DataFrame([outcome], infer_schema_length=None))


class ClassificationStudy(SettingsStudy):
    """Settings times seeds, a chunk for each of them.

    Args:
        name: such as "lowe2022.figure5"; its last word names the summary.
        settings: what is trained; they agree in the names of their labels.
        runs: seeds, epochs and batch size.
        varied: the label, such as the width, that the best value is chosen of for each
            activation, by its validation accuracy.
        baseline: the activation that others are tested against, where it is among them.

    Raises:
        ValueError: no settings, or two with the same labels.
    """

    def __init__(
        self,
        name: str,
        settings: Sequence[ClassificationSetting],
        runs: ClassificationRuns,
        *,
        varied: str | None = None,
        baseline: str = BASELINE,
    ) -> None:
        settings = [replace(setting, runs=runs) for setting in settings]
        super().__init__(name, settings, runs, self._tables)
        self.varied, self.baseline = varied, baseline

    def _tables(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Accuracies and comparisons.

        Args:
            outcomes: of all chunks.

        Returns:
            A table under the study's name, a row a setting, with comparisons of activations that
            agree in all other labels; and, where something is varied, a table `..._best` in which
            the best value of each activation is compared.

        Raises:
            ValueError: what is to be compared was trained for other epochs or batch sizes.
        """
        self._check_alike(outcomes)
        short = self.name.rpartition(".")[2]
        tables = {short: self.compared(outcomes, _others(self.keys))}
        if self.varied is not None:
            within = [name for name in _others(self.keys) if name != self.varied]
            tables[f"{short}_best"] = self.compared(
                best_of(outcomes, [*within, "activation"], self.varied), within
            )
        return tables

    def _check_alike(self, outcomes: pl.DataFrame) -> None:
        """Refuse activations whose trainings were not equally long; older rows do not say."""
        within = [name for name in _others(self.keys) if name != self.varied]
        for name in {"epochs", "batch_size"}.intersection(outcomes.columns):
            known = outcomes.filter(pl.col(name).is_not_null())
            groups = known.group_by(within, maintain_order=True) if within else [((), known)]
            for labels, group in groups:
                found = sorted(group[name].unique())
                if len(found) > 1:
                    where = ", ".join(map(str, labels))
                    raise ValueError(
                        f"{name} is {' and '.join(map(str, found))} of networks that are to be "
                        f"compared{f' ({where})' if where else ''}; train all with one, or name "
                        "another folder for their results"
                    )

    def compared(self, outcomes: pl.DataFrame, within: list[str]) -> pl.DataFrame:
        """Activations that agree in some labels, compared, and the size of each.

        Args:
            outcomes: of a study.
            within: the labels.
        """
        there = self.baseline in outcomes["activation"]
        table = compare(
            outcomes,
            "activation",
            "test_accuracy",
            within=within,
            baseline=self.baseline if there else None,
            bounds=(0, 1),
        )
        keys = [*within, "activation"]
        more = [name for name in (self.varied, "parameters") if name and name not in keys]
        sizes = outcomes.group_by(keys, maintain_order=True).agg(
            *(pl.col(name).first() for name in more), pl.col("validation_accuracy").mean()
        )
        labels = pl.Series("label", [label(name) for name in table["activation"]])
        return table.join(sizes, on=keys, maintain_order="left").with_columns(labels)


def measured(network: nn.Module, data: ClassificationData) -> dict[str, float]:
    """What a trained network is judged by.

    Args:
        network: in evaluation mode.
        data: what it has learned.
    """
    return {
        "test_accuracy": measure(network, data.batches("test"))[1],
        "validation_accuracy": measure(network, data.batches("validation"))[1],
        "training_loss": measure(network, data.batches("train", _TRAINING_SAMPLES))[0],
    }


def best_of(outcomes: pl.DataFrame, groups: Sequence[str], varied: str) -> pl.DataFrame:
    """Of each group the outcomes with the value whose mean validation accuracy is highest.

    Args:
        outcomes: of a study.
        groups: the labels of a group.
        varied: the label whose value is chosen; of equals the smaller one.

    Example:
        >>> rows = {"activation": ["relu"] * 3, "width": [8, 16, 16]}
        >>> rows |= {"validation_accuracy": [0.9, 0.99, 0.95]}
        >>> best_of(pl.DataFrame(rows), ["activation"], "width")["width"].to_list()
        [16, 16]
    """
    means = outcomes.group_by([*groups, varied]).agg(pl.col("validation_accuracy").mean())
    best = (
        means.sort("validation_accuracy", varied, descending=[True, False])
        .unique(list(groups), keep="first", maintain_order=True)
        .select(*groups, varied)
    )
    return outcomes.join(best, on=[*groups, varied], how="semi", maintain_order="left")


def _others(keys: Sequence[str]) -> list[str]:
    """The labels beside the activation and the seed."""
    return [name for name in keys if name not in ("activation", "seed")]
