"""Covertype: an MLP on a table, against gradient-boosted trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl
import torch

from torchalu.experiments.lowe2022.activations import FIGURE5, check_activations
from torchalu.experiments.lowe2022.boosting import BOOSTING, Boosting, boost
from torchalu.experiments.lowe2022.data import ClassificationData, Samples, Source
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.perceptrons import perceptrons
from torchalu.experiments.lowe2022.study import (
    ClassificationSetting,
    ClassificationStudy,
    measured,
)
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import Label, check_positive, choose
from torchalu.tasks import load_covertype, split_covertype
from torchalu.train import Chunk, Part, Report

Split = Literal["random", "published"]

WIDTHS = (32, 128, 512)

FAMILY = perceptrons(54, 7)
"""The networks, by the width of ReLU's hidden layers."""

_DEALT = 2022  # seed of the random split, the same for all seeds
_RUNS = ClassificationRuns(seeds=5, epochs=10, batch_size=256)
_BOOSTING = Boosting()
_BOOSTING_WORK = 100_000.0  # in parameters of a network that takes as long


class CovertypeStudy(ClassificationStudy):
    """Networks, and for each split and seed gradient-boosted trees.

    Args:
        settings: the networks.
        runs: seeds, epochs and batch size.
        boosting: the numbers of the trees.
    """

    def __init__(
        self,
        settings: Sequence[ClassificationSetting],
        runs: ClassificationRuns,
        boosting: Boosting,
    ) -> None:
        super().__init__("lowe2022.covertype", settings, runs, varied="width")
        self.boosting = boosting
        self._splits = {str(s.labels["split"]): s.data for s in settings}
        trees = [
            {"labels": {"split": split, "activation": BOOSTING, "width": 0}, **asdict(boosting)}
            for split in self._splits
            if boosting.iterations
        ]
        described: Any = self.configuration["settings"]
        self.configuration = {**self.configuration, "settings": [*described, *trees]}

    def chunks(self) -> list[Chunk]:
        """Those of the networks, then those of the trees."""
        if not self.boosting.iterations:
            return super().chunks()
        return super().chunks() + [
            Chunk(f"{split}-{BOOSTING}-seed{seed}", _BOOSTING_WORK)
            for seed in self.seeds.numbers
            for split in self._splits
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train one network, or fit trees; see `torchalu.train.Study`."""
        split, _, rest = chunk.name.partition(f"-{BOOSTING}-seed")
        if not rest:
            return super().run(chunk, scratch, report)
        data, seed = self._splits[split].load(), int(rest)
        trees = boost(data.train, data.validation, self.boosting, seed, report)
        labels = {"split": split, "activation": BOOSTING, "width": 0, "seed": seed}
        numbers = {"parameters": None, **measured(trees, data)}
        outcome = labels | numbers | {"steps": trees.iterations, "status": "finished"}
        outcome |= {"epochs": None, "batch_size": None}
        outcome |= {"learning_rate": self.boosting.learning_rate, "weight_decay": self.boosting.l2}
        counts: Any = dict.fromkeys(("parameters", "epochs", "batch_size"), pl.Int64)
        table = pl.DataFrame([outcome], schema_overrides=counts)
        return Part(pl.DataFrame([labels]), table)

    def compared(self, outcomes: pl.DataFrame, within: list[str]) -> pl.DataFrame:
        """Activations, compared among themselves, and the trees' accuracies beside them."""
        is_network = pl.col("activation") != BOOSTING
        parts = [outcomes.filter(is_network), outcomes.filter(~is_network)]
        tables = [super(CovertypeStudy, self).compared(part, within) for part in parts if len(part)]
        table = pl.concat(tables, how="diagonal_relaxed")
        nothing = [pl.when(is_network).then(name).alias(name) for name in ("p_best", "p_baseline")]
        return table.with_columns(*nothing, pl.when(is_network).then("marks").otherwise(pl.lit("")))


def covertype(
    runs: ClassificationOptions = _RUNS,
    *,
    activations: tuple[str, ...] = FIGURE5,
    widths: tuple[int, ...] = WIDTHS,
    splits: tuple[Split, ...] = ("random",),
    boosting: Boosting = _BOOSTING,
) -> CovertypeStudy:
    """Covertype: MLPs of two hidden layers on a table of forests, and gradient-boosted trees.

    Args:
        runs: seeds, epochs, and hyperparameters where the search's are not wanted.
        activations: their names, as `torchalu.nn.activation` takes them.
        widths: of both hidden layers with ReLU; the other activations have the widths with
            which they come nearest to as many parameters.
        splits: "random", 70% to train on and 15% to validate, the same rows for all seeds;
            "published", 11,340 and 3,780 rows.
        boosting: the numbers of the trees.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Lowe et al. 2022, section 4.6, which refers to appendix A.12 for tables; this was not at
        hand. Ours are split, network and training; and the trees, which the paper has not.

    Example:
        >>> study = covertype(activations=("relu",), widths=(32,))
        >>> [chunk.name for chunk in study.chunks()][4:6]
        ['random-relu-32-seed4', 'random-gradient_boosting-seed0']
    """
    activations = check_activations(activations)
    check_positive("widths", widths)
    choose("splits", splits, get_args(Split))
    rates = runs.learning_rate, runs.weight_decay
    settings = [
        covertype_setting(name, chosen("covertype", name, *rates), width, split)
        for split in splits
        for width in widths
        for name in activations
    ]
    return CovertypeStudy(settings, runs, boosting)


def covertype_setting(
    name: str,
    hyperparameters: Hyperparameters,
    width: int,
    split: Split,
    more: Mapping[str, Label] | None = None,
) -> ClassificationSetting:
    """An MLP on Covertype.

    Args:
        name: of the activation.
        hyperparameters: learning rate and weight decay.
        width: with ReLU; with others, what comes nearest to as many parameters.
        split: "random" or "published".
        more: labels.

    Example:
        >>> covertype_setting("or_ail", Hyperparameters(), 32, "random").parameters
        2990
    """
    return ClassificationSetting(
        {"split": split, "activation": name, "width": width, **(more or {})},
        partial(FAMILY.build, FAMILY.widths(width, name), name),
        hyperparameters,
        _SOURCES[split],
    )


@cache
def _load(split: Split) -> ClassificationData:
    """Covertype, dealt in one of two ways."""
    generator = torch.Generator().manual_seed(_DEALT) if split == "random" else None
    train, validation, test = split_covertype(load_covertype(), generator)
    return ClassificationData(Samples(*train), Samples(*validation), Samples(*test))


_SOURCES = {
    split: Source(f"Covertype, {split} split", partial(_load, split)) for split in get_args(Split)
}
