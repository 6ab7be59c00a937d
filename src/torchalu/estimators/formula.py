"""A candidate as a SymPy expression, and its constants with their names."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Add, Expr, Mul, Pow

from torchalu.estimators.constants import Multiple
from torchalu.estimators.selection import Candidate, make_candidate
from torchalu.estimators.simple_numbers import PiMultiple, Simple, take_out
from torchalu.estimators.squares import Square, complete_squares
from torchalu.estimators.structures import (
    Factor,
    Structure,
    Term,
    divided,
    make_term,
    shared_factors,
)
from torchalu.estimators.table import CanonicalTable
from torchalu.tasks.table_names import quoted


@dataclass(frozen=True)
class Constant:
    """A constant of a formula.

    Args:
        value: what stands in the formula.
        low: lower end of the 95% Student-t interval that the rows give it, wide enough for a fit
            with the other constants as they are and for one in which all are free.
        high: upper end.
        free: whether the value is the fitted one; else it is a simple number, or another constant
            times one, that lies within four standard errors of what would be fitted.
    """

    value: float
    low: float
    high: float
    free: bool


def to_expression(
    candidate: Candidate, names: Sequence[str], positive: Collection[int] = (), sign: int = 1
) -> Expr:
    """The candidate as a formula in the columns' names.

    A constant before a sum stays before it: it is not multiplied out. Powers of columns that terms
    of a power of a sum or above a sum have stand before it where that is shorter to write, as in
    `c**2*m/sqrt(1 - v**2/c**2)`, and so do powers of sums that all terms have in common, a constant
    of which all others are multiples, and what simple numbers in a root or a reciprocal have in
    common, as in `pi*r*sqrt(h**2 + r**2)`. In these squares are completed, as in
    `sqrt((a - b)**2 + (c - d)**2)`.

    Args:
        candidate: what is to be written.
        names: of the columns.
        positive: columns above 0 on all rows: the root of such a column's square is the column.
        sign: 1, or -1 for the opposite of what the candidate says.
    """
    symbols = [sympy.Symbol(name) for name in names]
    structure = candidate.structure
    before, scale, values = _numbers(candidate, names)
    common, summands = _common_powers(candidate, positive)
    others = (*structure.beside, *structure.below)
    terms = [term_expression(term, symbols) for term in (*summands, *others)]
    parts = [_scaled(value, term) for value, term in zip(values, terms, strict=True)]
    inside = len(summands)
    raised = Add(*parts[:inside])
    if structure.power != 1:
        squares, left = complete_squares(values[:inside], summands)
        raised = Add(*(parts[k] for k in left), *(_square(square, symbols) for square in squares))
    power = Pow(_scaled(scale, raised), _rational(structure.power))
    product = Mul(before, term_expression(common, symbols), power)
    if structure.below:
        below = Add(*parts[inside:])
        total = product / (sympy.sqrt(below) if structure.root_below else below)
    else:
        total = Add(product, *parts[inside:])
    return -total if sign < 0 else total


def _numbers(candidate: Candidate, names: Sequence[str]) -> tuple[Expr, Expr, list[Expr]]:
    """What stands before the power, what before the sum, and the numbers in it, beside or below.

    Where a column is called pi, the number that bears this name is written in digits.
    """
    structure, fixed = candidate.structure, list(candidate.fixed)
    inside = len(structure.summands)
    before, scale = sympy.Integer(1), sympy.Integer(1)
    shared = _shared_constant(candidate)
    if shared is not None:
        scale = sympy.Float(float(candidate.fit.values[shared]))
        ratios = [own.ratio if isinstance(own, Multiple) else Fraction(1) for own in fixed[:inside]]
        fixed[:inside] = ratios
    known = [own for own in fixed[:inside] if isinstance(own, Simple)]
    values = [float(value) for value in candidate.fit.values]
    if shared is None and structure.power != 1 and len(known) == inside > 1:
        outside, known = take_out(known, structure.power)
        before = _written(outside, float(outside), names)
        fixed[:inside], values[:inside] = known, map(float, known)
    written = [_written(own, value, names) for own, value in zip(fixed, values, strict=True)]
    return before, scale, written


def _written(number: Simple | Multiple | None, value: float, names: Sequence[str]) -> Expr:
    """A simple number as SymPy has it, or the value in digits."""
    if isinstance(number, Fraction):
        return _rational(number)
    if isinstance(number, PiMultiple) and "pi" not in names:
        return _rational(number.fraction) * sympy.pi**number.power
    return sympy.Float(value)


def _shared_constant(candidate: Candidate) -> int | None:
    """The place of the constant of a sum of which all others of it are multiples, if there is."""
    fixed = candidate.fixed[: len(candidate.structure.summands)]
    of = {own.of if isinstance(own, Multiple) else None for own in fixed}
    places = [place for place, own in enumerate(fixed) if own is None]
    simple = any(isinstance(own, Simple) for own in fixed)
    return places[0] if len(fixed) > 1 and not simple and of == {None, *places} else None


def _common_powers(candidate: Candidate, positive: Collection[int]) -> tuple[Term, list[Term]]:
    """What may stand before the sum or its power, and what that leaves of each of its summands.

    Before the sum itself only powers of other sums, unless a constant stands there too: its terms
    stay products.
    """
    structure = candidate.structure
    several = len(structure.summands) > 1
    common = shared_factors(structure.summands, structure.power) if several else []
    plain = structure.power == 1 and not structure.below
    if plain and _shared_constant(candidate) is None:
        common = [factor for factor in common if not factor.is_column]
    if structure.power.denominator != 1:
        columns = [[(j, 1)] for j in positive]
        common = [f for f in common if f.constant == 0 and list(f.coefficients) in columns]
    before = make_term(replace(f, power=f.power * structure.power) for f in common)
    return before or Term(()), [divided(term, common) for term in structure.summands]


def _square(square: Square, symbols: Sequence[sympy.Symbol]) -> Expr:
    """A number times the square of a sum as an expression."""
    first, second = (term_expression(term, symbols) for term in (square.first, square.second))
    return square.number * Pow(first + square.ratio * second, 2)


def _scaled(scale: Expr, expression: Expr) -> Expr:
    """The scale times the expression, a sum left in parentheses."""
    if scale == 1:
        return expression
    if isinstance(expression, Add):
        return Mul(scale, expression, evaluate=False)
    return scale * expression


def term_expression(term: Term, symbols: Sequence[sympy.Symbol]) -> Expr:
    """A term as an expression."""
    return Mul(*(_factor_expression(factor, symbols) for factor in term.factors))


def _factor_expression(factor: Factor, symbols: Sequence[sympy.Symbol]) -> Expr:
    base = Add(*(k * symbols[j] for j, k in factor.coefficients), sympy.Integer(factor.constant))
    return Pow(base, _rational(factor.power))


def _rational(number: Fraction) -> Expr:
    """A fraction as SymPy has it."""
    return sympy.Rational(number.numerator, number.denominator)


def constants_of(
    candidate: Candidate,
    table: CanonicalTable,
    names: Sequence[str],
    positive: Collection[int] = (),
    sign: int = 1,
) -> dict[str, Constant]:
    """The candidate's constants by name, each with the interval that all rows give it.

    One term has a `scale`, several have a `coefficient of` each; then comes the `offset`. The terms
    are those of the formula as `to_expression` writes it. What stands beside a root or a reciprocal
    has an `added coefficient of`, or is the `added constant`; what stands below has a `denominator
    coefficient of`, or is the `denominator constant`, but for the one in whose unit the others are.
    A column whose name is not one word stands in backticks, as in the printed formula. The
    interval of a constant holds that of a fit in which it is free, so that a simple number can be
    compared with what the rows say, and that of a fit in which all are, so that it allows for the
    rounding of the others. A sign is that of the constants of a sum, and of those beside a power of
    a sum, before which it stands.

    Args:
        candidate: whose constants they are.
        table: all rows.
        names: of the columns.
        positive: columns above 0 on all rows.
        sign: 1, or -1 for those of the opposite of what the candidate says.
    """
    structure, fixed = candidate.structure, candidate.fixed
    _, summands = _common_powers(candidate, positive)
    labels = _labels(structure, summands, [sympy.Symbol(quoted(name)) for name in names])
    constants = {}
    inside = len(summands)
    above = len(labels) - len(structure.below)
    unit = next((k for k in range(above, len(labels)) if fixed[k] in (1, -1)), None)
    given = tuple(value if k == unit else None for k, value in enumerate(fixed))
    all_free = make_candidate(structure, table, given)
    for index, label in enumerate(labels):
        if index == unit:
            continue
        alone = candidate
        if fixed[index] is not None:
            others = (*fixed[:index], None, *fixed[index + 1 :])
            alone = make_candidate(structure, table, others)
        fits = [one.fit.interval(index) for one in (alone, all_free) if one is not None]
        low = min((low for low, _ in fits), default=-math.inf)
        high = max((high for _, high in fits), default=math.inf)
        value = float(candidate.fit.values[index])
        if sign < 0 and (index < inside) == (structure.power == 1):
            value, low, high = -value, -high, -low
        constants[label] = Constant(value, low, high, fixed[index] is None)
    return constants


def _labels(
    structure: Structure, summands: Sequence[Term], symbols: Sequence[sympy.Symbol]
) -> list[str]:
    """The name of each constant."""
    names = [f"coefficient of {term_expression(term, symbols)}" for term in summands]
    several = sum(bool(term.factors) for term in summands) > 1
    labels = [
        "offset" if not term.factors else name if several else "scale"
        for term, name in zip(summands, names, strict=True)
    ]
    for kind, others in (("added", structure.beside), ("denominator", structure.below)):
        for term in others:
            own = f"coefficient of {term_expression(term, symbols)}" if term.factors else "constant"
            labels.append(f"{kind} {own}")
    return labels
