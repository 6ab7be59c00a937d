"""`torchalu algorithm eval`: how many strings a learned algorithm gets whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from torchalu.cli.algorithm_result import (
    Checkpoint,
    failure_lines,
    measured_grid,
    print_lines,
)
from torchalu.cli.console import Output
from torchalu.tasks.table_names import printable

if TYPE_CHECKING:
    from torchalu.evaluate import StringAccuracy
    from torchalu.zoo import LearnedAlgorithm

_SHOWN = 3
_GENERATIONS = 8
"""Of neighbors, in a search."""


@dataclasses.dataclass(frozen=True)
class Evaluate:
    """Count the strings that are right as a whole, with the interval of their rate."""

    checkpoint: Checkpoint
    """A file that `torchalu algorithm train` wrote, or a name in the zoo."""

    length: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")]
    """Lengths of the strings, as the task counts them: digits of an operand in arithmetic."""

    count: Annotated[int, tyro.conf.arg(metavar="N")] = 100
    """Random strings of each length; of your own rows each is tried once at most."""

    seed: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Of the random strings."""

    adversarial: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Try the strings too that learned algorithms fail on first, kind by kind; a task of your own
    has none."""

    search: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Search for wrong strings among so many new ones of each length, and then among neighbors of
    those that are nearest to being wrong; 0 searches none."""

    task: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Rows to draw strings from, for a task of your own: best ones it was not trained on."""

    quiet: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show no bar."""

    def run(self) -> int:
        """Measures and prints.

        Returns:
            The exit status, 0, whether or not the strings are right.

        Raises:
            ValueError: for a checkpoint or a number that cannot be used.
            OSError: if a file cannot be read.
        """
        from torchalu.arguments import check_integers_from_zero
        from torchalu.tasks import StringFileTask, read_task_file
        from torchalu.zoo import Measurement, find

        check_integers_from_zero(**{"--search": self.search})
        if not self.length:
            raise ValueError("--length names no length; give at least one")
        own = None if self.task is None else read_task_file(self.task)
        learned = find(self.checkpoint, own)
        if own is None and isinstance(learned.task, StringFileTask):
            raise ValueError(
                f"{self.checkpoint!r} is of a task of your own, {learned.task.name!r}, whose rows "
                "are not in it; give some by --task FILE"
            )
        measured, lines = [], []
        for length, kind, texts in self._strings(learned):
            result = self._accuracy(learned, f"{kind} strings of length {length}", texts)
            measured.append(Measurement.of(length, kind, texts, result))
            wrong = [texts[place] for place in result.failures[:_SHOWN]]
            lines += failure_lines(learned, f"{kind}, length {length}", wrong)
        if self.adversarial and isinstance(learned.task, StringFileTask):
            lines.append(
                f"--adversarial adds nothing: {printable(learned.task.name)} is a task of your "
                "own, whose hard cases are those among its rows"
            )
        console = Output()
        console.print(measured_grid(learned.task.name, measured))
        print_lines(console, lines)
        for length in self.length if self.search else ():
            print_lines(console, self._searched(learned, length))
        return 0

    def _strings(self, learned: LearnedAlgorithm) -> Iterator[tuple[int, str, list[str]]]:
        """Length, kind and strings of each row of the result; all are drawn before any is run."""
        from torchalu.evaluate.strings import check_strings
        from torchalu.zoo import RANDOM

        rows = []
        for length in self.length:
            if self.search and length > 0:
                symbols = learned.task.symbols(length)
                check_strings(learned.module, symbols, self.search, f"--search is {self.search}")
            rows.append((length, RANDOM, learned.test_strings(length, self.count, self.seed)))
            if self.adversarial:
                kinds = learned.adversarial(length)
                rows += [(length, kind, texts) for kind, texts in kinds.items()]
        yield from rows

    def _accuracy(self, learned: LearnedAlgorithm, label: str, texts: list[str]) -> StringAccuracy:
        """The accuracy on some strings, with a bar."""
        from torchalu.engine.progress import watch
        from torchalu.evaluate import string_accuracy

        with watch(not self.quiet, len(texts), label) as step:
            return string_accuracy(
                learned.module, learned.task, texts, progress=lambda done, _: step(done)
            )

    def _searched(self, learned: LearnedAlgorithm, length: int) -> list[str]:
        """What a search has found, in a few lines."""
        import numpy as np

        from torchalu.engine.progress import watch
        from torchalu.evaluate import find_counterexamples

        with watch(
            not self.quiet, (1 + _GENERATIONS) * self.search, f"search, length {length}"
        ) as step:
            found = find_counterexamples(
                learned.module,
                learned.task,
                length,
                count=self.search,
                generations=_GENERATIONS,
                rng=np.random.default_rng(self.seed),
                progress=lambda done, _: step(done),
            )
        line = f"search, length {length}: {found.wrong[0]} of {found.tried[0]} new strings wrong"
        if len(found.tried) > 1:
            line += f", {sum(found.wrong[1:])} of {sum(found.tried[1:])} neighbors of the hardest"
        line += f"; least margin {found.margins[0]:.3g}"
        return [line, *failure_lines(learned, f"search, length {length}", found.texts[:_SHOWN])]
