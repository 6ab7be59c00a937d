"""What a learned algorithm gets right, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from torchalu.tasks.table_names import printable

if TYPE_CHECKING:
    from torchalu.zoo import LearnedAlgorithm, Measurement

Checkpoint = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="CHECKPOINT")]
"""A file, or a name in the zoo."""

VERBATIM: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
_LONGEST, _BEFORE = 60, 20


def measured_grid(title: str, measured: Sequence[Measurement]) -> Grid:
    """A table of what was measured.

    Args:
        title: of the table.
        measured: its rows.

    Example:
        >>> from torchalu.zoo import Measurement
        >>> console = Console(width=60, color_system=None)
        >>> with console.capture() as text:
        ...     console.print(measured_grid("badd", [Measurement(20, 100, 98)]))
        >>> text.get().split()[-9:]
        ['20', 'random', '98', 'of', '100', '98.0%', '93.0', 'to', '99.4%']
    """
    grid = Grid(box=box.SIMPLE_HEAD, title=Text(title), title_justify="left")
    grid.add_column("length", justify="right")
    grid.add_column("strings")
    for name in ("right", "rate", "95% interval"):
        grid.add_column(name, justify="right")
    for row in measured:
        low, high = row.interval
        if row.rate is None or low is None or high is None:
            continue
        grid.add_row(
            str(row.length),
            Text(row.kind),
            f"{row.right} of {row.count}",
            f"{row.rate:.1%}",
            f"{100 * low:.1f} to {high:.1%}",
        )
    return grid


def failure_lines(learned: LearnedAlgorithm, label: str, texts: list[str]) -> list[str]:
    """A line for each string that is wrong: input, answer, and the right answer.

    Of long ones it shows the beginning of the input, and what is around the first wrong symbol.
    Zeros or padding that are asked for behind an answer may be all that is wrong.

    Args:
        learned: what is wrong.
        label: of the strings.
        texts: the strings.
    """
    lines = []
    for text, answer in zip(texts, learned.run(texts), strict=True):
        right = learned.task.solve(text)
        pairs = zip_longest(answer, right)
        wrong = [place for place, (found, wanted) in enumerate(pairs) if found != wanted]
        if not wrong:
            lines.append(f"{label}: {_around(text, 0)} is right but for the symbols behind it")
            continue
        found, wanted = (_around(symbols, wrong[0]) for symbols in (answer, right))
        lines.append(
            f"{label}: {_around(text, 0)} gives {found}, right is {wanted} "
            f"({len(wrong)} wrong, the first at position {wrong[0]})"
        )
    return lines


def print_lines(console: Console, lines: Sequence[str]) -> None:
    """Prints lines as they are.

    Args:
        console: where to.
        lines: what to print.
    """
    for line in lines:
        console.print(line, **VERBATIM)


def _around(text: str, place: int) -> str:
    """A string, or the part of it around a place."""
    if len(text) <= _LONGEST:
        return printable(text) or "nothing"
    start = max(0, place - _BEFORE)
    end = start + _LONGEST
    shown = printable(text[start:end])
    return f"{'...' if start else ''}{shown}{'...' if end < len(text) else ''}"
