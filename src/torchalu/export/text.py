"""A formula as LaTeX, as a Python function and as a C function."""

import json
import re
from collections.abc import Sequence
from typing import Any

import sympy
from sympy import Basic, Expr
from sympy.core.alphabets import greeks
from sympy.printing.latex import LatexPrinter

from torchalu.export.dialects import CDialect, PythonDialect
from torchalu.export.identifiers import check_function_name, identifiers
from torchalu.export.operators import CosPi, walk
from torchalu.export.source import statements

_LATEX_ESCAPES = {
    "\\": r"\backslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\wedge{}",
    "~": r"\sim{}",
    " ": r"\ ",
}


def to_latex(expr: Expr) -> str:
    """Write a formula in LaTeX's mathematics mode.

    A name of one letter, or of a letter and digits, or of a Greek letter is written as SymPy
    does; any other one stands upright, letter by letter as it is, with what LaTeX would take
    for a command escaped. A bracket such as [x < 0] is 1 where its condition holds, else 0.

    Args:
        expr: the formula.

    Returns:
        The LaTeX text, without dollar signs.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: a part of the formula is no operator that torchalu writes.

    Example:
        >>> a, v = sympy.symbols("a orbit_speed")
        >>> print(to_latex(sympy.sqrt(a) / v))
        \\frac{\\sqrt{a}}{\\mathrm{orbit\\_speed}}
    """
    symbols = [part for part in walk(expr) if isinstance(part, sympy.Symbol)]
    upright = {
        symbol: rf"\mathrm{{{_latex_escaped(symbol.name)}}}"
        for symbol in symbols
        if not re.fullmatch(r"[A-Za-z][0-9]*", symbol.name) and symbol.name not in greeks
    }
    return _Latex({"symbol_names": upright}).doprint(expr)


def to_python(expr: Expr, name: str = "formula", names: Sequence[str] | None = None) -> str:
    """Write a formula as a Python function of numbers.

    The text imports `math` and nothing else. Names that Python or C cannot use are mapped to
    legal ones, all different; the function's docstring says which argument is which column.

    Where the value is not a finite real number, the function raises what Python raises:
    ZeroDivisionError for a division by 0, ValueError for the logarithm or the root of a negative
    number, OverflowError for a power that is too large. An exponential stops at e^709, so that
    a gate that is shut is 0. Of a NaN it makes NaN; maximum, minimum, sign and step are helpers
    above it, since those of the language would drop it, and so is the cosine of pi times
    something, which is exactly 0 at half of an odd number.

    Args:
        expr: the formula.
        name: the function's name.
        names: the columns in the order of the arguments; those that the formula does not use
            become arguments too. By default those that it uses, in alphabetical order, with
            numbers inside names in the order of numbers.

    Returns:
        The module's text.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: `name` is not a legal name, `names` lacks a symbol of the formula, or a part
            of the formula is no operator that torchalu writes.

    Example:
        >>> print(to_python(sympy.sympify("a*b/c**2") + sympy.Symbol("a b"), "force"))
        import math
        <BLANKLINE>
        <BLANKLINE>
        def force(a, a_b, b, c):
            \"\"\"Evaluate the formula at one row.
        <BLANKLINE>
            Args:
                a: "a"
                a_b: "a b"
                b: "b"
                c: "c"
            \"\"\"
            return a_b + a * b / c**2
        <BLANKLINE>
    """
    arguments = _arguments(expr, name, names)
    dialect = PythonDialect(arguments, _helper_names(name))
    assignments, value = statements(expr, dialect)
    lines = ["import math", "", ""]
    for helper in dialect.used_helpers(expr):
        lines += [helper, "", ""]
    lines += [f"def {name}({', '.join(arguments.values())}):"]
    lines += ['    """Evaluate the formula at one row.']
    if arguments:
        lines += ["", "    Args:"]
    lines += [f"        {word}: {json.dumps(column)}" for column, word in arguments.items()]
    lines += ['    """']
    lines += [f"    {temporary} = {text}" for temporary, text in assignments]
    return "\n".join([*lines, f"    return {value}", ""])


def to_c(expr: Expr, name: str = "formula", names: Sequence[str] | None = None) -> str:
    """Write a formula as a C99 function of doubles.

    The text includes `math.h` and nothing else, and links with the mathematics library (`-lm`).
    Names that Python or C cannot use are mapped to legal ones, all different; the comment says
    which argument is which column. Where the value is not a finite real number, it is an
    infinity or NaN, as C has it; maximum, minimum, sign and step are helpers above it, since C's
    would drop a NaN, and so is the cosine of pi times something, which is exactly 0 at half of an
    odd number.

    Args:
        expr: the formula.
        name: the function's name.
        names: the columns in the order of the arguments, as for :func:`to_python`.

    Returns:
        The file's text.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: `name` is not a legal name, `names` lacks a symbol of the formula, or a part
            of the formula is no operator that torchalu writes.

    Example:
        >>> print(to_c(sympy.sympify("a**(3/2)"), "period"))
        #include <math.h>
        <BLANKLINE>
        /* Evaluate the formula at one row.
         *
         * a: "a"
         */
        double period(double a)
        {
            return pow(a, 3.0 / 2.0);
        }
        <BLANKLINE>
    """
    arguments = _arguments(expr, name, names)
    dialect = CDialect(arguments, _helper_names(name))
    assignments, value = statements(expr, dialect)
    parameters = ", ".join(f"double {word}" for word in arguments.values()) or "void"
    lines = ["#include <math.h>", ""]
    for helper in dialect.used_helpers(expr):
        lines += [helper, ""]
    lines += ["/* Evaluate the formula at one row."]
    if arguments:
        lines += [" *"]
    lines += [f" * {word}: {_c_quoted(column)}" for column, word in arguments.items()]
    lines += [" */", f"double {name}({parameters})", "{"]
    used = _used(expr)
    lines += [f"    (void){word};" for column, word in arguments.items() if column not in used]
    lines += [f"    const double {temporary} = {text};" for temporary, text in assignments]
    return "\n".join([*lines, f"    return {value};", "}", ""])


class _Latex(LatexPrinter):
    """SymPy's LaTeX, with a bracket that is 1 where its condition holds."""

    def _print_Heaviside(self, expr: sympy.Heaviside, exp: str | None = None) -> str:
        """[x > 0], or [x < 0] of the negative argument."""
        argument: Any = expr.args[0]
        relation = ">"
        if argument.could_extract_minus_sign():
            argument, relation = -argument, "<"
        bracket = rf"\left[{self._print(argument)} {relation} 0\right]"
        return bracket if exp is None else f"{bracket}^{{{exp}}}"


def _arguments(expr: Expr, name: str, names: Sequence[str] | None) -> dict[str, str]:
    """The arguments' identifiers, by column."""
    check_function_name(name)
    used = sorted(_used(expr), key=_order)
    columns = used if names is None else list(names)
    missing = [column for column in used if column not in columns]
    if missing or len(set(columns)) != len(columns):
        raise ValueError(
            f"names is {columns!r}; allowed: different names, among them those of the formula, "
            f"{used!r}"
        )
    return identifiers(columns, taken=[name, *_helper_names(name).values()])


def _helper_names(name: str) -> dict[type[Basic], str]:
    """What the helpers of a function are called, so that those of several stand in one file."""
    words: dict[type[Basic], str] = {
        sympy.Max: "max",
        sympy.Min: "min",
        sympy.sign: "sign",
        sympy.Heaviside: "step",
        CosPi: "cos_pi",
    }
    return {function: f"{name}_{word}" for function, word in words.items()}


def _used(expr: Expr) -> set[str]:
    """The names of the formula's symbols."""
    return {part.name for part in walk(expr) if isinstance(part, sympy.Symbol)}


def _order(name: str) -> list[tuple[int, int, str]]:
    """Alphabetical order in which x2 comes before x10."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(p), p) if p.isdecimal() and p.isascii() else (1, 0, p) for p in pieces]


def _c_quoted(column: str) -> str:
    """A column's name in quotes that cannot end the comment that it stands in."""
    return json.dumps(column).replace("*/", "*\\/").replace("/*", "/\\*")


def _latex_escaped(name: str) -> str:
    """A name that LaTeX shows as it is."""
    return "".join(
        _LATEX_ESCAPES.get(letter, letter if letter.isprintable() else r"\ ") for letter in name
    )
