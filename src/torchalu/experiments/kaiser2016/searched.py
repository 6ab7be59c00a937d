"""Beyond the paper: wrong strings that a search finds where random ones are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import find_counterexamples, wilson
from torchalu.experiments.kaiser2016.checkpoints import Checkpoints
from torchalu.experiments.seeds import one_thread
from torchalu.train import JSON, Chunk, Part, Report

_STREAM = 0x5EA7C4


@dataclass
class CounterexampleStudy:
    """Learned algorithms, in each of which wrong strings are searched for.

    Args:
        checkpoints: names in the zoo, or files.
        lengths: of the strings, as the task counts them.
        count: strings that are tried in a generation.
        generations: of neighbors.

    Raises:
        TypeError: a number is no integer.
        ValueError: there is no such checkpoint, two have learned the same task, or a number is out
            of its range.
        OSError: a file cannot be read.
    """

    checkpoints: Sequence[str]
    lengths: tuple[int, ...]
    count: int
    generations: int
    name: str = field(init=False, default="kaiser2016.counterexamples")
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = ("task", "length")
    extent: ClassVar[frozenset[str]] = frozenset({"weights", "lengths"})

    def __post_init__(self) -> None:
        check_positive_integers(count=self.count, generations=self.generations)
        if not self.lengths or min(self.lengths) < 1 or len({*self.lengths}) < len(self.lengths):
            raise ValueError(f"lengths is {self.lengths}; give positive integers, each once")
        self._learned = Checkpoints(self.checkpoints)
        self.configuration = {
            "weights": self._learned.weights(),
            "lengths": list(self.lengths),
            "count": self.count,
            "generations": self.generations,
        }

    def chunks(self) -> list[Chunk]:
        """Each task."""
        return self._learned.chunks()

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Search in one network; see `torchalu.train.Study`."""
        learned = self._learned.load(chunk.name)
        rows = []
        with one_thread():
            for number, length in enumerate(self.lengths):

                def progress(done: int, most: int, number: int = number) -> None:
                    report((number + done / most) / len(self.lengths))

                found = find_counterexamples(
                    learned.module,
                    learned.task,
                    length,
                    count=self.count,
                    generations=self.generations,
                    rng=np.random.default_rng([_STREAM, length]),
                    progress=progress,
                )
                rows.append(
                    {
                        "task": chunk.name,
                        "length": length,
                        "new": found.tried[0],
                        "wrong": found.wrong[0],
                        "neighbors": sum(found.tried[1:]),
                        "wrong_neighbors": sum(found.wrong[1:]),
                        "least_margin": found.margins[0],
                        "first": found.texts[0] if found.texts else "",
                    }
                )
        return Part(pl.DataFrame(), pl.DataFrame(rows))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """A row a task and length.

        Args:
            outcomes: of all chunks.

        Returns:
            `counterexamples`: how many new strings were tried and were wrong, with the 95%
            interval of the percentage, the same of the neighbors of the hardest, whose percentage
            says nothing of other strings, the least margin, and the first wrong string.
        """
        ends = [wilson(*row) for row in outcomes.select("wrong", "new").iter_rows()]
        table = outcomes.with_columns(
            100 * pl.Series("low", [low for low, _ in ends], pl.Float64),
            100 * pl.Series("high", [high for _, high in ends], pl.Float64),
        )
        return {
            "counterexamples": table.select(
                *("task", "length", "new", "wrong", "low", "high"),
                *("neighbors", "wrong_neighbors", "least_margin", "first"),
            ).sort("task", "length")
        }


def counterexamples(
    checkpoints: tuple[str, ...] = ("badd", "bmul", "copy", "reverse", "duplicate", "sort"),
    *,
    lengths: tuple[int, ...] = (20,),
    count: int = 5000,
    generations: int = 8,
) -> CounterexampleStudy:
    """Beyond the paper: wrong strings among new ones, and among the neighbors of the hardest.

    A quarter of the new strings consist of runs of equal symbols.

    Args:
        checkpoints: names in the zoo, or files; one of a task.
        lengths: of the strings, as the task counts them.
        count: strings that are tried in a generation.
        generations: of neighbors, behind the new ones.

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: there is no such checkpoint, two have learned the same task, or a number is out
            of its range.
        OSError: a file cannot be read.

    Source:
        Ours; see :func:`torchalu.evaluate.find_counterexamples`.
    """
    return CounterexampleStudy(checkpoints, lengths, count, generations)
