"""A formula in a file, in the form that the file's extension asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import sympy
from sympy.printing.str import StrPrinter

from torchalu.export import to_c, to_json, to_latex, to_python
from torchalu.tasks.table_names import quoted
from torchalu.train.files import write_atomic

_NAME_OR_LONG_NUMBER = re.compile(r"`[^`]*`|(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?")

FORMULA_EXTENSIONS = (".py", ".tex", ".c", ".json")
"""What a formula can be written as: a Python function, LaTeX, a C function, a JSON tree."""


def readable(formula: object, digits: int | None = 6) -> str:
    """A formula as text for the eye.

    A column's name that is not one word, such as `x-y`, stands in backticks, so that it cannot be
    taken for a part of the formula.

    Args:
        formula: a SymPy expression, or its text.
        digits: how many digits the real constants have; all of them if None.

    Example:
        >>> readable(sympy.Symbol("x10") * 1.23456789)
        '1.23457*x10'
        >>> readable(sympy.Symbol("x-y") / sympy.Symbol("mass"))
        '`x-y`/mass'
    """
    text = _Printer().doprint(formula)
    if digits is None:
        return text
    return _NAME_OR_LONG_NUMBER.sub(
        lambda match: match[0] if match[0][0] == "`" else f"{float(match[0]):.{digits}g}", text
    )


class _Printer(StrPrinter):
    """SymPy's text, with the names in backticks where they need them."""

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        return quoted(expr.name)


def write_formula(
    formula: sympy.Expr,
    names: Sequence[str],
    path: str | os.PathLike[str],
    *,
    name: str = "formula",
) -> None:
    """Writes a formula to a file.

    Args:
        formula: the formula.
        names: the table's columns; a function takes those that the formula needs, in this order.
        path: the file; its extension is one of `FORMULA_EXTENSIONS`.
        name: what a function is called.

    Raises:
        ValueError: if the extension is another one, or the formula cannot be written so.
        OSError: if the file cannot be written.

    Example:
        >>> import tempfile
        >>> a, b = sympy.symbols("a b")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_formula(a * b, ["b", "a"], Path(folder) / "area.tex")
        ...     (Path(folder) / "area.tex").read_text()
        'a b\\n'
    """
    path = Path(path)
    used = {str(symbol) for symbol in formula.free_symbols}
    columns = [column for column in names if column in used]
    match path.suffix.lower():
        case ".py":
            text = to_python(formula, name, columns)
        case ".tex":
            text = to_latex(formula)
        case ".c":
            text = to_c(formula, name, columns)
        case ".json":
            text = to_json(formula)
        case _:
            raise ValueError(
                f"path is {str(path)!r}; allowed: a name that ends in "
                f"{', '.join(FORMULA_EXTENSIONS)}"
            )
    write_atomic(path, text.rstrip("\n") + "\n")
