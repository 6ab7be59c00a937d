"""Beyond the paper: what a trained network gains from more steps, and from a rounded state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import string_accuracy, wilson
from torchalu.experiments.kaiser2016.checkpoints import Checkpoints
from torchalu.experiments.seeds import one_thread
from torchalu.train import JSON, Chunk, Part, Report

_STREAM = 0x57E95


@dataclass
class InUseStudy:
    """Learned algorithms, each with several values of an option that changes no weight.

    Args:
        short: name of the experiment.
        option: of the module, "extra_steps" or "levels".
        checkpoints: names in the zoo, or files.
        values: of the option.
        lengths: of the strings, as the task counts them.
        count: random strings of each length.

    Raises:
        TypeError: a number is no integer.
        ValueError: there is no such checkpoint, two have learned the same task, or a number is out
            of its range.
        OSError: a file cannot be read.
    """

    short: str
    option: str
    checkpoints: Sequence[str]
    values: tuple[int, ...]
    lengths: tuple[int, ...]
    count: int
    name: str = field(init=False)
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(init=False)
    extent: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"kaiser2016.{self.short}"
        self.keys = "task", self.option, "length"
        self.extent = frozenset({"weights", self.option, "lengths", "count"})
        check_positive_integers(count=self.count)
        for length in self.lengths:
            check_positive_integers(length=length)
        for name, numbers in (("lengths", self.lengths), (self.option, self.values)):
            if not numbers or min(numbers) < 0 or len({*numbers}) < len(numbers):
                raise ValueError(f"{name} is {numbers}; give numbers from 0 up, each once")
        self._learned = Checkpoints(self.checkpoints)
        self.configuration = {
            "weights": self._learned.weights(),
            self.option: list(self.values),
            "lengths": list(self.lengths),
            "count": self.count,
        }

    def chunks(self) -> list[Chunk]:
        """Each task."""
        return self._learned.chunks()

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Test one network; see `torchalu.train.Study`."""
        learned = self._learned.load(chunk.name)
        rows = []
        pairs = [(length, value) for length in self.lengths for value in self.values]
        with one_thread():
            for number, (length, value) in enumerate(pairs):
                rng = np.random.default_rng([_STREAM, length])
                texts = learned.task.sample(length, self.count, rng)
                setattr(learned.module, self.option, value)
                right = string_accuracy(learned.module, learned.task, texts).right
                labels = {"task": chunk.name, self.option: value, "length": length}
                rows.append(labels | {"right": right, "count": self.count})
                report((number + 1) / len(pairs))
        return Part(pl.DataFrame(), pl.DataFrame(rows))

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """By task and length, and by the option's value.

        Args:
            outcomes: of all chunks.

        Returns:
            A table of the experiment's name: task, length, count, and how many strings are wrong
            with each value, a column each; and behind it with `_rates` the same, a row each, and
            the percentage that is right with its 95% interval.
        """
        ends = [wilson(*row) for row in outcomes.select("right", "count").iter_rows()]
        table = outcomes.with_columns(
            (pl.col("count") - pl.col("right")).alias("wrong"),
            (100 * pl.col("right") / pl.col("count")).alias("percent"),
            100 * pl.Series("low", [low for low, _ in ends], pl.Float64),
            100 * pl.Series("high", [high for _, high in ends], pl.Float64),
        )
        names = ("task", "length", self.option, "wrong", "count", "percent", "low", "high")
        rates = table.select(names).sort(self.option, "task", "length")
        wide = rates.pivot(self.option, index=["task", "length", "count"], values="wrong")
        return {
            self.short: wide.sort("task", "length"),
            f"{self.short}_rates": rates.sort("task", "length", self.option),
        }


def steps(
    checkpoints: tuple[str, ...] = ("bmul",),
    *,
    extra_steps: tuple[int, ...] = (0, 1, 2, 4, 8, 16, 32),
    lengths: tuple[int, ...] = (8, 20, 50),
    count: int = 2000,
) -> InUseStudy:
    """Beyond the paper: whole strings right, by how many steps more than symbols a network takes.

    A network that reads a string of n symbols answers after n steps. Where a carry comes into the
    last digits of a product in the last of them, some more mend it.

    Args:
        checkpoints: names in the zoo, or files; one of a task.
        extra_steps: how many more steps than a string has symbols.
        lengths: of the strings, as the task counts them; bits of an operand of bmul.
        count: random strings of each length.

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: there is no such checkpoint, two have learned the same task, or a number is out
            of its range.
        OSError: a file cannot be read.

    Source:
        Ours; Kaiser & Sutskever 2016 take n steps.
    """
    return InUseStudy("steps", "extra_steps", checkpoints, extra_steps, lengths, count)


def levels(
    checkpoints: tuple[str, ...] = ("badd", "bmul", "copy", "reverse", "duplicate", "sort"),
    *,
    levels: tuple[int, ...] = (0, 1, 2, 4, 8, 16),
    lengths: tuple[int, ...] = (20, 100),
    count: int = 1000,
) -> InUseStudy:
    """Beyond the paper: whole strings right, by how many levels a network's state is rounded to.

    Args:
        checkpoints: names in the zoo, or files; one of a task.
        levels: of the module, in steps of 1 / `levels`; 0 does not round.
        lengths: of the strings, as the task counts them.
        count: random strings of each length.

    Raises:
        TypeError: a number that has to be an integer is none.
        ValueError: there is no such checkpoint, two have learned the same task, or a number is out
            of its range.
        OSError: a file cannot be read.

    Source:
        Ours; see :class:`torchalu.nn.DiagonalNeuralGPU`.
    """
    return InUseStudy("levels", "levels", checkpoints, levels, lengths, count)
