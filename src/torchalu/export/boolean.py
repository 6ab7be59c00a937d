"""Boolean formulas: their values, and a short one for a table of truth values."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sympy import And, Not, Or, Symbol, Xor
from sympy.logic import POSform, SOPform, false, true
from sympy.logic.boolalg import Boolean

Cube = tuple[tuple[int, bool], ...]
"""Literals joined by AND: which input, and whether it stands as it is or negated."""

_MOST_MINIMIZED = 7
_MOST_TERMS = 1000

_OPERATORS: Mapping[Any, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    And: np.logical_and,
    Or: np.logical_or,
    Xor: np.logical_xor,
}


def evaluate_boolean(formula: Any, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The values of a Boolean formula at every row.

    Args:
        formula: made of symbols, And, Or, Xor, Not, true and false.
        columns: the bits of each symbol, by its name; a number counts as true unless it is 0.

    Returns:
        Bits, in the shape of a column.

    Raises:
        TypeError: a part of the formula is something else.
        ValueError: a symbol has no column, a column has NaN, or there are no columns.

    Example:
        >>> from sympy.abc import a, b
        >>> columns = {"a": np.array([False, True]), "b": np.array([True, True])}
        >>> evaluate_boolean(a ^ b, columns)
        array([ True, False])
    """
    if not columns:
        raise ValueError("columns is empty; allowed: a column of bits for each input")
    shape = np.shape(next(iter(columns.values())))
    known: dict[Any, np.ndarray] = {true: np.ones(shape, bool), false: np.zeros(shape, bool)}

    def value(part: Any) -> np.ndarray:
        if part not in known:
            known[part] = fresh(part)
        return known[part]

    def fresh(part: Any) -> np.ndarray:
        if isinstance(part, Symbol):
            if part.name not in columns:
                raise ValueError(f"formula has the symbol {part}; allowed: {', '.join(columns)}")
            column = np.asarray(columns[part.name])
            if column.dtype.kind in "fc" and np.isnan(column).any():
                raise ValueError(f"columns has NaN in {part.name!r}; allowed: bits or numbers")
            return column.astype(bool)
        if isinstance(part, Not):
            return ~value(part.args[0])
        if type(part) not in _OPERATORS:
            raise TypeError(
                f"formula has the part {part}, which is {type(part).__name__}; allowed: symbols, "
                "And, Or, Xor, Not, true and false of SymPy"
            )
        return reduce(_OPERATORS[type(part)], map(value, part.args))

    return value(formula)


def short_formula(values: np.ndarray, symbols: Sequence[Symbol]) -> Boolean:
    """A short formula of a table of truth values.

    Inputs that make no difference are left out, and those that an AND, OR or XOR joins to the
    rest are split off, one by one. What is left is written as an OR of ANDs, as an AND of ORs or as
    an XOR of ANDs, in whichever form symbols occur the fewest times. Of the first two no part can
    be left out, but shorter formulas of other forms may exist.

    Args:
        values: 2^n bits, in the order in which the inputs count in binary, the first of them
            the highest.
        symbols: the n inputs.

    Returns:
        The formula; of equally short forms the first in the order above.

    Raises:
        ValueError: each form has more than 1000 terms.

    Source:
        The method of Quine and McCluskey for up to 7 inputs that matter, that of Minato (1992)
        for more; the transform of Reed and Muller for the XOR.

    Example:
        >>> from sympy.abc import a, b, c
        >>> short_formula(np.array([0, 1, 1, 0, 1, 0, 0, 1], bool), [a, b, c])
        a ^ b ^ c
        >>> short_formula(np.array([0, 0, 0, 1, 0, 1, 1, 1], bool), [a, b, c])
        (a & b) | (a & c) | (b & c)
        >>> short_formula(np.array([0, 1, 1, 0, 0, 0, 0, 0], bool), [a, b, c])
        ~a & (b ^ c)
    """
    values, used = _without_idle(np.asarray(values, dtype=bool), symbols)
    if not used:
        return true if values.item() else false
    split = _split_off(values, used)
    if split is not None:
        join, literal, rest, others = split
        return join(literal, short_formula(rest, others))
    forms: list[Boolean] = []
    if len(used) <= _MOST_MINIMIZED:
        rows = [int(row) for row in np.flatnonzero(values)]
        forms += [SOPform(used, rows), POSform(used, rows)]
    else:
        cover, complement = _cover(values), _cover(~values)
        if cover is not None:
            forms.append(Or(*(And(*_literals(cube, used, True)) for cube in cover)))
        if complement is not None:
            forms.append(And(*(Or(*_literals(cube, used, False)) for cube in complement)))
    monomials = _monomials(values)
    if len(monomials) <= _MOST_TERMS:
        factors = [
            [symbol for symbol, bit in zip(used, row, strict=True) if bit] for row in monomials
        ]
        forms.append(Xor(*(And(*product) for product in factors)))
    if not forms:
        raise ValueError(
            f"the function of {len(used)} inputs has no short formula: its OR of ANDs, AND of ORs "
            f"and XOR of ANDs all have more than {_MOST_TERMS} terms; take the table itself"
        )
    return min(forms, key=formula_length)


def xor(*operands: Any) -> Boolean:
    """XOR of formulas, with the negations of all of them drawn in front.

    Example:
        >>> from sympy.abc import a, b, c
        >>> xor(~(a ^ b), ~c), xor(a, ~b)
        (a ^ b ^ c, ~(a ^ b))
    """
    negated = [operand for operand in operands if isinstance(operand, Not)]
    plain = [operand for operand in operands if not isinstance(operand, Not)]
    total = Xor(*plain, *(operand.args[0] for operand in negated))
    return Not(total) if len(negated) % 2 else total


def formula_length(formula: Any) -> int:
    """How often symbols occur in a formula.

    Example:
        >>> from sympy.abc import a, b, c
        >>> formula_length((a & b) | (a & ~c))
        4
    """
    lengths: dict[Any, int] = {}

    def length(part: Any) -> int:
        if part not in lengths:
            lengths[part] = 1 if isinstance(part, Symbol) else sum(map(length, part.args))
        return lengths[part]

    return length(formula)


def _without_idle(values: np.ndarray, symbols: Sequence[Symbol]) -> tuple[np.ndarray, list[Symbol]]:
    """The table without the inputs that make no difference, flat, and the inputs that are left."""
    table = values.reshape((2,) * len(symbols))
    used = list(symbols)
    for axis in reversed(range(len(symbols))):
        low, high = np.take(table, 0, axis), np.take(table, 1, axis)
        if np.array_equal(low, high):
            table = low
            del used[axis]
    return table.reshape(-1), used


def _split_off(
    values: np.ndarray, symbols: Sequence[Symbol]
) -> tuple[Callable[..., Boolean], Boolean, np.ndarray, list[Symbol]] | None:
    """An input that an operator joins to a function of the others: all four of them.

    None where there is no such input.
    """
    table = values.reshape((2,) * len(symbols))
    for axis, symbol in enumerate(symbols):
        low, high = np.take(table, 0, axis).reshape(-1), np.take(table, 1, axis).reshape(-1)
        others = [other for other in symbols if other != symbol]
        if not low.any():
            return And, symbol, high, others
        if not high.any():
            return And, Not(symbol), low, others
        if high.all():
            return Or, symbol, low, others
        if low.all():
            return Or, Not(symbol), high, others
        if np.array_equal(low, ~high):
            return xor, symbol, low, others
    return None


def _monomials(values: np.ndarray) -> np.ndarray:
    """The terms of the XOR of products: for each the bits of the inputs that it multiplies."""
    inputs = len(values).bit_length() - 1
    table = values.reshape((2,) * inputs).copy()
    for axis in range(inputs):
        halves = np.moveaxis(table, axis, 0)
        halves[1] ^= halves[0]
    return np.argwhere(table)


class _TooManyError(Exception):
    """A cover has more cubes than anybody would read."""


def _cover(values: np.ndarray) -> list[Cube] | None:
    """Cubes that together are true where the table is, none of which can be left out.

    None where there are too many of them.
    """
    cubes: list[Cube] = []
    try:
        _extend_cover(cubes, values, values, 0, ())
    except _TooManyError:
        return None
    return cubes


def _extend_cover(
    cubes: list[Cube], needed: np.ndarray, allowed: np.ndarray, depth: int, prefix: Cube
) -> np.ndarray:
    """Add cubes that cover what is needed within what is allowed; say what they cover."""
    if not needed.any():
        return needed
    if allowed.all():
        if len(cubes) == _MOST_TERMS:
            raise _TooManyError
        cubes.append(prefix)
        return allowed
    (needed_0, needed_1), (allowed_0, allowed_1) = (
        table.reshape(2, -1) for table in (needed, allowed)
    )
    negated, plain = (*prefix, (depth, False)), (*prefix, (depth, True))
    covered_0 = _extend_cover(cubes, needed_0 & ~allowed_1, allowed_0, depth + 1, negated)
    covered_1 = _extend_cover(cubes, needed_1 & ~allowed_0, allowed_1, depth + 1, plain)
    left = (needed_0 & ~covered_0) | (needed_1 & ~covered_1)
    shared = _extend_cover(cubes, left, allowed_0 & allowed_1, depth + 1, prefix)
    return np.concatenate([covered_0 | shared, covered_1 | shared])


def _literals(cube: Cube, symbols: Sequence[Symbol], positive: bool) -> list[Boolean]:
    """The literals of a cube, or their negations."""
    return [symbols[i] if bit == positive else Not(symbols[i]) for i, bit in cube]
