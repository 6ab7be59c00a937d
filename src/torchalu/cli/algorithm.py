"""`torchalu algorithm`: learn an algorithm from strings, run it, measure it, film it."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Annotated

import tyro

from torchalu.cli.algorithm_eval import Evaluate
from torchalu.cli.algorithm_result import Checkpoint
from torchalu.cli.algorithm_train import Train
from torchalu.tasks.table_names import printable


@dataclasses.dataclass(frozen=True)
class RunLearned:
    """Answer a text, least significant digit first where it is arithmetic."""

    checkpoint: Checkpoint
    """A file that `torchalu algorithm train` wrote, or a name in the zoo."""

    text: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TEXT")]
    """The input, such as 1101+0111."""

    check: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Ask with the operands of a sum or product in each order, and say whether the answers agree;
    if they do not, one at least is wrong."""

    film: Annotated[Path | None, tyro.conf.arg(metavar="GIF")] = None
    """Write a film of the mental image, a frame a step, into this file (extra `images`)."""

    def run(self) -> int:
        """Prints the answer, whether it is the same in each order, and writes the film.

        Returns:
            The exit status, 0, whether or not the answer is right.

        Raises:
            ValueError: for a checkpoint or text that cannot be used.
            OSError: if a file cannot be read or written.
            ImportError: if Pillow is needed and not installed.
        """
        from torchalu.zoo import find

        learned = find(self.checkpoint)
        if self.film is not None:
            learned.film(self.text, self.film)
        text = self.text
        answers = learned.answers(text) if self.check else {text: learned.run(text)}
        print(printable(answers[text]))
        if self.check:
            print(_agreement(list(answers.values())))
        if self.film is not None:
            print(f"wrote {self.film}")
        return 0


def _agreement(answers: list[str]) -> str:
    """Whether the answers to the operands in each order are the same, in a line."""
    first, *others = answers
    if not others:
        return "nothing to compare: the operands have one order"
    differing = [
        sum(found != wanted for found, wanted in itertools.zip_longest(first, other))
        for other in others
    ]
    if not any(differing):
        return "the same answer with the operands in each order"
    most = max(differing)
    amount = f"{'up to ' if others[1:] else ''}{most} symbol{'s' if most > 1 else ''}"
    return f"another answer with the operands in another order, by {amount}: one at least is wrong"


@dataclasses.dataclass(frozen=True)
class ListTasks:
    """List all tasks, an example of each, and whether the zoo has learned it."""

    def run(self) -> int:
        """Prints the list.

        Returns:
            The exit status, 0.
        """
        from torchalu.tasks import algorithm, algorithm_names
        from torchalu.zoo import names

        rows = [("task", "zoo", "what it is", "input", "answer")]
        for name in algorithm_names():
            task = algorithm(name)
            there = "yes" if name in names() else "-"
            rows.append((name, there, task.title, task.example, task.solve(task.example)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
        return 0


_Action = (
    Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[RunLearned, tyro.conf.subcommand("run")]
    | Annotated[Evaluate, tyro.conf.subcommand("eval")]
    | Annotated[ListTasks, tyro.conf.subcommand("list")]
)


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """Learn an algorithm from strings, run it, measure it, film it."""

    action: Annotated[tyro.conf.OmitSubcommandPrefixes[_Action], tyro.conf.arg(name="")]

    def run(self) -> int:
        """Does what is asked for.

        Returns:
            The exit status, 0.

        Raises:
            ValueError: for input that cannot be used.
            OSError: if a file cannot be read or written.
            ImportError: if an extra is needed that is not installed.
        """
        return self.action.run()
