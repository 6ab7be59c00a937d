"""A fit on the terminal: formula, constants, certificate, and what came close."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from torchalu.report.formulas import readable
from torchalu.tasks.table_names import quoted

_COLUMNS = ("formula", "error", "complexity", "exact")
_RUNNERS_UP = 8
_NARROW = 60
_FEWEST_DIGITS, _MOST_DIGITS = 6, 15


def print_fit(console: Console, target: str, model: Any, *, runners_up: int = _RUNNERS_UP) -> None:
    """Prints what a regressor found.

    Args:
        console: where to.
        target: the target's name; in backticks where it is not one word, as in the formula.
        model: a fitted regressor: `formula_`, `constants_`, `certificate_`, `candidates_`.
        runners_up: the most candidates to list.

    Example:
        >>> from types import SimpleNamespace
        >>> model = SimpleNamespace(
        ...     formula_="2*a", constants_={}, certificate_="exact: yes", candidates_=None
        ... )
        >>> print_fit(Console(width=60, color_system=None), "y", model)
        y = 2*a
        <BLANKLINE>
        exact: yes
    """
    digits = max(map(_digits, model.constants_.values()), default=_FEWEST_DIGITS)
    formula = readable(model.formula_, digits)
    console.print(f"{quoted(target)} = {formula}", style="bold", **_VERBATIM)
    for line in constant_lines(model.constants_):
        console.print(line, **_VERBATIM)
    console.print()
    console.print(str(model.certificate_), **_VERBATIM)
    if model.candidates_ is not None and len(model.candidates_) > 0:
        console.print()
        console.print(candidates_grid(model.candidates_, runners_up))


_VERBATIM: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}


def constant_lines(constants: Mapping[str, Any]) -> list[str]:
    """A line for each constant of a formula, with the interval that the rows give it.

    Args:
        constants: what a regressor holds as `constants_`: by name, an object with `value`, `low`,
            `high` and `free`.

    Returns:
        The lines, with as many digits as the interval tells apart; a constant whose interval has no
        width, or one that rounding alone makes, stands without one.

    Example:
        >>> from types import SimpleNamespace
        >>> constant_lines({"scale": SimpleNamespace(value=2.0, low=1.9, high=2.1, free=True)})
        ['scale = 2, 95% interval [1.9, 2.1]']
    """
    lines = []
    for name, constant in constants.items():
        digits = _digits(constant)
        line = f"{name} = {constant.value:.{digits}g}"
        low, high = (f"{end:.{digits}g}" for end in (constant.low, constant.high))
        if low != high:
            inside = constant.low <= constant.value <= constant.high
            how = "" if constant.free or not inside else "the simplest number in its "
            line += f", {how}95% interval [{low}, {high}]"
        lines.append(line)
    return lines


def _digits(constant: Any) -> int:
    """Significant digits that show the interval's half width with two of its own."""
    half, value = (constant.high - constant.low) / 2, abs(constant.value)
    if not 0 < half < value:
        return _MOST_DIGITS if half == 0 and not float(value).is_integer() else _FEWEST_DIGITS
    needed = math.floor(math.log10(value)) - math.floor(math.log10(half)) + 2
    return min(max(needed, _FEWEST_DIGITS), _MOST_DIGITS)


def candidates_grid(candidates: Any, rows: int = _RUNNERS_UP) -> Grid:
    """The best candidates as a table for the terminal.

    Args:
        candidates: a data frame with columns `formula`, `error`, `complexity` and others.
        rows: the most candidates to list.

    Returns:
        The table.

    Example:
        >>> from io import StringIO
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"formula": ["a*b"], "error": [0.5], "complexity": [3]})
        >>> text = StringIO()
        >>> Console(width=60, color_system=None, file=text).print(candidates_grid(frame))
        >>> text.getvalue().split()[:4]
        ['candidates', 'formula', 'error', 'complexity']
    """
    grid = Grid(box=box.SIMPLE_HEAD, title="candidates", title_justify="left")
    columns = [name for name in _COLUMNS if name in candidates.columns]
    for name in columns:
        grid.add_column(name, justify="left" if name == "formula" else "right", overflow="fold")
    for _, row in candidates.head(rows).iterrows():
        grid.add_row(*(Text(_cell(row[name])) for name in columns))
    return grid


def _cell(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, float):
        return f"{value:.3g}"
    text = readable(value)
    return text if len(text) <= _NARROW else f"{text[: _NARROW - 1]}…"
