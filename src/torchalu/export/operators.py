"""What a formula may consist of, and the one way in which all forms walk through it."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy
from sympy import Basic, Expr

FUNCTIONS: dict[str, type[Basic]] = {
    "add": sympy.Add,
    "mul": sympy.Mul,
    "pow": sympy.Pow,
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "heaviside": sympy.Heaviside,
    "exp": sympy.exp,
    "log": sympy.log,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "tanh": sympy.tanh,
    "max": sympy.Max,
    "min": sympy.Min,
}
"""The operators of a formula, by the name that they bear in JSON."""

CONSTANTS: dict[str, Expr] = {"pi": sympy.pi, "e": sympy.E}
"""The constants that have a name."""

_LARGEST_SIMPLIFIED = 32

OPERATOR_NAMES: dict[type[Basic], str] = {function: name for name, function in FUNCTIONS.items()}
CONSTANT_NAMES: dict[Basic, str] = {constant: name for name, constant in CONSTANTS.items()}


class CosPi(Basic):
    """Stands for a cosine of pi times something, which is exact at half turns; see `half_turns`."""


def half_turns(part: Basic) -> tuple[Expr, ...] | None:
    """The factors q of a cosine of pi q; None of another part.

    A double of pi q is no multiple of pi / 2, and its cosine not 0 where that of pi q is.

    Args:
        part: of a formula.

    Example:
        >>> x = sympy.Symbol("x")
        >>> half_turns(sympy.cos(5 * sympy.pi * x / 2)), half_turns(sympy.cos(x))
        ((5/2, x), None)
    """
    if not isinstance(part, sympy.cos):
        return None
    (angle,) = part.args
    if not (isinstance(angle, sympy.Mul) and sympy.pi in angle.args):
        return None
    return tuple(factor for factor in angle.args if factor != sympy.pi)  # pyright: ignore[reportReturnType]


def walk(expr: Expr) -> list[Expr]:
    """Every different part of a formula once, each after the parts that it consists of.

    A stack of units shares its inner sums and products; a walk through the tree would visit a
    shared part as often as it is used, which is exponential in the depth.

    Args:
        expr: the formula.

    Returns:
        The parts; the last one is the formula itself.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: a part is neither a real number, a symbol nor one of the operators, or two
            different symbols bear one name.

    Example:
        >>> x = sympy.Symbol("x")
        >>> walk((x + 1) ** 2)
        [1, x, x + 1, 2, (x + 1)**2]
    """
    if not isinstance(expr, Expr):
        raise TypeError(
            f"expr is {type(expr).__name__}; allowed: a SymPy expression; of a list from "
            "to_sympy() take one output at a time"
        )
    done: dict[Expr, None] = {}
    pending: list[tuple[Basic, Iterator[Basic]]] = [(expr, _children(expr))]
    while pending:
        part, children = pending[-1]
        child = next((child for child in children if child not in done), None)
        if child is None:
            done[part] = None  # pyright: ignore[reportArgumentType]
            pending.pop()
        else:
            pending.append((child, _children(child)))
    parts = list(done)
    _check_symbols(parts)
    return parts


def apply(function: type[Basic], *arguments: Expr) -> Expr:
    """Apply a function, with SymPy's simplification where the arguments are small.

    To simplify a magnitude or a step, SymPy asks for the sign of the argument, which takes time
    that is exponential in the depth of a stack.

    Args:
        function: one of the operators.
        arguments: its arguments.

    Returns:
        The value.

    Example:
        >>> x = sympy.Symbol("x", positive=True)
        >>> apply(sympy.Abs, x), apply(sympy.Heaviside, -x, sympy.Integer(0))
        (x, 0)
    """
    small = sum(len(walk(argument)) for argument in arguments) <= _LARGEST_SIMPLIFIED
    build: Any = function
    return build(*arguments, evaluate=small)


def exact_fraction(value: Expr) -> Fraction:
    """The value of a rational or of a float, exactly.

    Example:
        >>> exact_fraction(sympy.Float(0.1, 17)) == Fraction(0.1)
        True
    """
    rational: Any = sympy.Rational(value)
    return Fraction(int(rational.p), int(rational.q))


def _children(part: Basic) -> Iterator[Basic]:
    """The arguments of an allowed operator; none of a number or symbol; raises for others."""
    if isinstance(part, (sympy.Rational, sympy.Float)) or type(part) is sympy.Symbol:
        return iter(())
    if part in CONSTANT_NAMES:
        return iter(())
    if type(part) in OPERATOR_NAMES:
        if isinstance(part, sympy.Heaviside) and part.args[1] != 0:
            raise ValueError(f"{part} has the value {part.args[1]} at 0; allowed: Heaviside(x, 0)")
        return iter(part.args)
    if part is sympy.zoo:
        raise ValueError(
            "the formula divides by 0, which has no value: a negative power or a "
            "reciprocal takes what is always 0; with keep_eps=True it is finite"
        )
    raise ValueError(
        f"{part} is {type(part).__name__}, which has no text form; allowed: finite real numbers, "
        f"plain symbols, {', '.join(CONSTANTS)} and {', '.join(FUNCTIONS)}"
    )


def _check_symbols(parts: list[Expr]) -> None:
    """Raise where two symbols differ in their assumptions only."""
    names = [part.name for part in parts if isinstance(part, sympy.Symbol)]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(
                f"two different symbols are called {name!r}; give them different names, or the "
                "same assumptions"
            )
