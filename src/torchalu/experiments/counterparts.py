"""Settings that two experiments train alike, each under labels of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from torchalu.experiments.registry import get
from torchalu.train import JSON


@dataclass(frozen=True)
class Counterparts:
    """The settings of one experiment that another has too.

    Attributes:
        pairs: the labels of each, in the one experiment and in the other.
        keys: the columns that tell outcomes of the other apart.

    Example:
        >>> both = counterparts("madsen2020.figure7", "madsen2020.figure3")
        >>> both.pairs[0][0]
        {'model': 'NMU', 'operation': 'mul', 'hidden_size': 2}
        >>> rows = pl.DataFrame({"model": "NMU", "operation": "mul", "hidden_size": 9, "seed": 5})
        >>> both.relabel(rows).row(0)
        ('NMU', 'mul', 9, 'U[1,2]', 5)
    """

    pairs: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    keys: tuple[str, ...]

    def relabel(self, outcomes: pl.DataFrame) -> pl.DataFrame:
        """Outcomes of the one experiment as those of the other; those of other settings are left.

        Args:
            outcomes: with the columns of the one's labels, `seed`, and others.

        Returns:
            The columns of the other's keys, then all others; rows in the order of the outcomes.
        """
        old = {name: f"{name} before" for name in self.pairs[0][0]}
        labels = pl.DataFrame(
            [{old[name]: one[name] for name in old} | dict(other) for one, other in self.pairs]
        )
        rows = outcomes.rename(old).join(labels, on=list(old.values()), maintain_order="left")
        return rows.drop(old.values()).select(*self.keys, pl.all().exclude(self.keys))

    def describe(self, settings: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
        """Settings of the one experiment with the labels of the other; those in both alone.

        Args:
            settings: as in the configuration of a study; they may differ from the experiment's own
                in all but their labels.
        """
        return [
            setting | {"labels": dict(other)}
            for setting in settings
            for one, other in self.pairs
            if setting["labels"] == one
        ]


def counterparts(one: str, other: str) -> Counterparts:
    """The settings that two experiments of the native trainer have in common.

    Two settings are the same if nothing but their labels differs: model, task and steps.

    Args:
        one: name of an experiment.
        other: name of another.

    Raises:
        ValueError: there is no experiment of that name, or they have no setting in common.

    Example:
        >>> len(counterparts("madsen2020.table2", "madsen2020.table6").pairs)
        30
    """
    mine, theirs = (_by_training(name) for name in (one, other))
    pairs = tuple((labels, theirs[how]) for how, labels in mine.items() if how in theirs)
    if not pairs:
        raise ValueError(f"{one!r} and {other!r} have no setting in common; name two that have")
    return Counterparts(pairs, get(other)().keys)


def _by_training(name: str) -> dict[str, Mapping[str, Any]]:
    """The labels of an experiment's settings, by all else that describes them."""
    described: Any = get(name)().configuration["settings"]
    return {
        json.dumps({k: v for k, v in setting.items() if k != "labels"}): setting["labels"]
        for setting in described
    }
