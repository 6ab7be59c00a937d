"""A formula in a file, in the form that the file's extension asks for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import sympy

from torchalu.export import to_c, to_json, to_latex, to_python
from torchalu.train.files import write_atomic

_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?")

FORMULA_EXTENSIONS = (".py", ".tex", ".c", ".json")
"""What a formula can be written as: a Python function, LaTeX, a C function, a JSON tree."""


def readable(formula: object) -> str:
    """A formula as text for the eye: its real constants with six digits.

    Args:
        formula: a SymPy expression, or its text.

    Example:
        >>> readable(sympy.Symbol("x10") * 1.23456789)
        '1.23457*x10'
    """
    return _LONG_NUMBER.sub(lambda match: f"{float(match[0]):.6g}", str(formula))


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
