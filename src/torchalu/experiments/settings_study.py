"""A study of settings times seeds, each of which trains and tests on its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

import polars as pl
import torch

from torchalu.experiments.seeds import Seeds
from torchalu.experiments.setting import Label
from torchalu.train import JSON, Chunk, Part, Report


class SeedSetting(Protocol):
    """What is trained for each seed."""

    @property
    def labels(self) -> Mapping[str, Label]:
        """The columns that tell this setting's results apart."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart, the labels among them."""
        ...

    @property
    def work(self) -> float:
        """The expected cost, in any unit."""
        ...

    def describe(self) -> Mapping[str, JSON]:
        """What settles its results."""
        ...

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train and test one seed; see `torchalu.train.Study`."""
        ...


@dataclass
class SettingsStudy:
    """Settings times seeds, a chunk for each of them.

    Args:
        name: such as "trask2018.table2".
        settings: what is trained; they agree in their keys.
        seeds: of each.
        tables: makes the summaries from the outcomes of all chunks.

    Raises:
        ValueError: no settings, or two with the same labels.
    """

    name: str
    settings: Sequence[SeedSetting]
    seeds: Seeds
    tables: Callable[[pl.DataFrame], dict[str, pl.DataFrame]]
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(init=False)
    extent: ClassVar[frozenset[str]] = frozenset({"settings", "seeds"})
    interpreted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.settings:
            raise ValueError("settings is empty; give at least one")
        names = [_name(setting) for setting in self.settings]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"settings holds {twice} twice; give each once")
        self.keys = (*self.settings[0].keys, "seed")
        described = {
            "settings": [setting.describe() for setting in self.settings],
            "seeds": [self.seeds.numbers[0], self.seeds.numbers[-1]],
        }
        self.configuration = json.loads(json.dumps(described))

    def chunks(self) -> list[Chunk]:
        """All settings of the first seed, then of the second, and so on."""
        return [
            Chunk(f"{_name(setting)}-seed{seed}", setting.work)
            for seed in self.seeds.numbers
            for setting in self.settings
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train and test one seed of a setting; see `torchalu.train.Study`."""
        name, _, number = chunk.name.rpartition("-seed")
        setting = next(setting for setting in self.settings if _name(setting) == name)
        return setting.run(int(number), scratch, report)

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The tables of the study.

        Args:
            outcomes: of all chunks.
        """
        return self.tables(outcomes)


def check_device(device: str) -> None:
    """Refuse a device that is not there.

    Args:
        device: "cpu", "cuda", or "cuda:0" and so on.

    Raises:
        ValueError: it is not there, or is of another kind.

    Example:
        >>> check_device("cpu")
    """
    if re.fullmatch(r"cpu|cuda(:[0-9]+)?", device) is None:
        raise ValueError(f"device is {device!r}; give cpu, or cuda with a GPU")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"device is {device!r}: {reason}; give cpu, or cuda with a GPU") from None


def _name(setting: SeedSetting) -> str:
    """The labels as part of the name of a file."""
    return "-".join(str(value) for value in setting.labels.values())
