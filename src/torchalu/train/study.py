"""What a sweep carries out: a study, cut into chunks that each give a part of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import polars as pl
from torch import Tensor

JSON: TypeAlias = (
    "str | int | float | bool | Sequence[JSON] | Mapping[str, JSON] | None"  # what JSON can say
)

Report: TypeAlias = Callable[[float], None]


class Stopped(Exception):
    """Raised by a chunk's `report` when the chunk is to stop; the sweep goes on from it later."""


@dataclass(frozen=True)
class Chunk:
    """A piece of a study that one core carries out.

    Attributes:
        name: unique in the study, and safe as the name of a file: letters, digits, `.`, `_`, `-`.
        work: the expected cost, in any unit that is the same in all chunks of a study.

    Example:
        >>> Chunk("mul-NMU-0", work=5e6).name
        'mul-NMU-0'
    """

    name: str
    work: float = 1.0


@dataclass
class Part:
    """What a chunk gives.

    Attributes:
        records: a row a setting, replica and evaluation.
        outcomes: a row a setting and seed.
        weights: the best parameters, by name.

    Example:
        >>> Part(pl.DataFrame(), pl.DataFrame({"seed": [0], "solved": [True]})).outcomes.height
        1
    """

    records: pl.DataFrame
    outcomes: pl.DataFrame
    weights: dict[str, Tensor] = field(default_factory=dict)


class Study(Protocol):
    """A set of runs, told apart by keys, that a sweep carries out chunk by chunk.

    What a chunk gives depends on the configuration and on the chunk alone: not on the machine's
    other work, on the order of the chunks, nor on whether the chunk was broken off and begun again.

    Attributes:
        name: such as "madsen2020.table2".
        configuration: everything that settles the results; a run folder holds results of one.
        keys: the columns of the outcomes that tell rows apart, "seed" among them.
        interpreted: whether a chunk spends its time in Python, as torch's training loops do, and
            not in native code alone: on one machine such chunks are carried out in processes, not
            in threads. False if left out.
        extent: the names in the configuration that say how much is done, how many at a time or
            which rows: studies that differ in nothing else give rows of one table.
    """

    name: str
    configuration: Mapping[str, JSON]
    keys: tuple[str, ...]
    extent: Set[str]

    def chunks(self) -> Sequence[Chunk]:
        """The pieces of the study, in the order in which they are best begun."""
        ...

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Carries out a chunk.

        Args:
            chunk: one of `chunks()`.
            scratch: a folder of this chunk for checkpoints; what stands in it when the sweep is
                broken off is there when the chunk is begun again. Empty at first.
            report: takes the fraction that is done; call it a few times a second.

        Raises:
            Stopped: from `report`, when the chunk is to stop; let it pass.
        """
        ...

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The tables of the study from the outcomes of all parts, by file name without suffix."""
        ...
