"""A candidate as a SymPy expression, and its constants with their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Add, Expr, Mul, Pow

from torchalu.estimators.selection import Candidate, make_candidate
from torchalu.estimators.structures import Factor, Structure, Term
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
        free: whether the value is the fitted one; else it is a simple number that lies within four
            standard errors of what would be fitted.
    """

    value: float
    low: float
    high: float
    free: bool


def to_expression(candidate: Candidate, names: Sequence[str]) -> Expr:
    """The candidate as a formula in the columns' names.

    A constant before a sum stays before it: it is not multiplied out.
    """
    symbols = [sympy.Symbol(name) for name in names]
    values = [
        sympy.Float(float(value)) if fixed is None else sympy.Rational(*fixed.as_integer_ratio())
        for value, fixed in zip(candidate.fit.values, candidate.fixed, strict=True)
    ]
    structure = candidate.structure
    terms = [term_expression(term, symbols) for term in structure.multiplied]
    parts = [_scaled(value, term) for value, term in zip(values, terms, strict=True)]
    inside = len(structure.summands)
    return Add(Pow(Add(*parts[:inside]), _rational(structure.power)), *parts[inside:])


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


def _rational(power: Fraction) -> Expr:
    """A power as SymPy has it."""
    return sympy.Rational(power.numerator, power.denominator)


def constants_of(
    candidate: Candidate, table: CanonicalTable, names: Sequence[str]
) -> dict[str, Constant]:
    """The candidate's constants by name, each with the interval that all rows give it.

    One term has a `scale`, several have a `coefficient of` each; then comes the `offset`. What
    stands beside a root or a reciprocal has an `added coefficient of`, or is the `added constant`.
    A column whose name is not one word stands in backticks, as in the printed formula. The interval
    of a constant holds that of a fit in which it is free, so that a simple number can be compared
    with what the rows say, and that of a fit in which all are, so that it allows for the rounding
    of the others.
    """
    labels = _labels(candidate.structure, [sympy.Symbol(quoted(name)) for name in names])
    constants = {}
    all_free = make_candidate(candidate.structure, table)
    for index, label in enumerate(labels):
        fixed = candidate.fixed
        alone = candidate
        if fixed[index] is not None:
            others = (*fixed[:index], None, *fixed[index + 1 :])
            alone = make_candidate(candidate.structure, table, others)
        fits = [one.fit.interval(index) for one in (alone, all_free) if one is not None]
        low = min((low for low, _ in fits), default=-math.inf)
        high = max((high for _, high in fits), default=math.inf)
        value = float(candidate.fit.values[index])
        constants[label] = Constant(value, low, high, fixed[index] is None)
    return constants


def _labels(structure: Structure, symbols: Sequence[sympy.Symbol]) -> list[str]:
    """The name of each constant."""
    labels = [f"coefficient of {term_expression(term, symbols)}" for term in structure.terms]
    labels = ["scale"] if len(labels) == 1 else labels
    if structure.offset:
        labels.append("offset")
    for term in structure.beside:
        added = f"coefficient of {term_expression(term, symbols)}" if term.factors else "constant"
        labels.append(f"added {added}")
    return labels
