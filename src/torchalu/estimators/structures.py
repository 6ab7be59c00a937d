"""The shapes a formula can take: sums of products of powers of sums of columns, and their powers.

Every family of formulas is a power of a linear combination of terms that hold no real constant,
perhaps with other terms beside that power, or below it, where a root may be taken of them::

    y = (c_1 T_1(x) + c_2 T_2(x) + ... + c_0) ** q + d_1 B_1(x) + ...
    y = (c_1 T_1(x) + c_2 T_2(x) + ... + c_0) / (e_1 S_1(x) + e_2 S_2(x) + ...) ** r
    T(x), B(x), S(x) = prod_f (k_f0 + sum_j k_fj x_j) ** p_f        k integers, p and q rational

so whatever the discrete part is, the real constants are linear in an equation with the target or a
power of it, and least squares finds them. A sum is one term with one factor, a product of powers
has factors of one column, a product of sums has several factors, a sum of products has several
terms, and all of these have q = 1 and nothing beside or below. A ratio of sums has a factor of
power -1, or terms below with r = 1. A power of a sum has another q, or r = 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

_MENTION = 2 * math.log(6)

FAMILIES = (
    "sum",
    "powers",
    "product_of_sums",
    "sum_of_products",
    "ratio_of_sums",
    "power_of_sum",
)
"""Names of the families, in the order in which they are tried."""


@dataclass(frozen=True, order=True)
class Factor:
    """A sum of columns with integer coefficients and an integer constant, raised to a power."""

    coefficients: tuple[tuple[int, int], ...]
    constant: int = 0
    power: Fraction = Fraction(1)

    @property
    def is_column(self) -> bool:
        """Whether the base is one bare column."""
        return len(self.coefficients) == 1 and self.constant == 0 and self.coefficients[0][1] == 1

    def base(self, X: np.ndarray) -> np.ndarray:
        """The sum, before it is raised to the power; one value a row."""
        total = np.full(len(X), float(self.constant))
        for column, coefficient in self.coefficients:
            total = total + coefficient * X[:, column]
        return total


def raise_to(base: np.ndarray, power: Fraction) -> np.ndarray:
    """`base ** power` with real values: NaN where there is none, infinity for 1/0."""
    with np.errstate(all="ignore"):
        whole, part = power.numerator, power.denominator
        if part == 1:
            return base if whole == 1 else 1.0 / base if whole == -1 else base**whole
        if part == 2 and abs(whole) == 1:
            root = np.sqrt(base)
            return root if whole > 0 else 1.0 / root
        return base ** float(power)


@dataclass(frozen=True, order=True)
class Term:
    """A product of factors, in canonical order; made by `make_term`. Of no factors it is 1."""

    factors: tuple[Factor, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is a product of powers of columns, and no factor of it is a sum."""
        return all(factor.is_column for factor in self.factors)

    def values(self, X: np.ndarray) -> np.ndarray:
        """The term on each row; NaN or infinity outside its domain."""
        product = np.ones(len(X))
        with np.errstate(all="ignore"):
            for factor in self.factors:
                product = product * raise_to(factor.base(X), factor.power)
        return product


@dataclass(frozen=True, order=True)
class Structure:
    """The discrete part of a formula.

    Args:
        terms: those of the sum.
        offset: whether a constant is added to them.
        power: that the sum is raised to.
        beside: terms added to the power; only where it is 1/2 or -1.
        below: terms of the sum that the other is divided by, two or more; only where the power is
            1 and nothing stands beside it. A common factor of the constants of both sums cancels.
        root_below: whether the other sum stands under a square root.
    """

    terms: tuple[Term, ...]
    offset: bool
    power: Fraction = Fraction(1)
    beside: tuple[Term, ...] = ()
    below: tuple[Term, ...] = ()
    root_below: bool = False

    @property
    def summands(self) -> tuple[Term, ...]:
        """What the sum's constants multiply: its terms, and 1 if there is an offset."""
        return (*self.terms, Term(())) if self.offset else self.terms

    @property
    def multiplied(self) -> tuple[Term, ...]:
        """What each constant multiplies: the sum's, then those beside its power or below it."""
        return (*self.summands, *self.beside, *self.below)

    def design(self, X: np.ndarray) -> np.ndarray:
        """The values of what each constant multiplies, a column a constant."""
        return np.stack([term.values(X) for term in self.multiplied], axis=1)

    def values(self, X: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """The formula on each row; NaN or infinity outside its domain.

        Args:
            X: the rows.
            constants: those of the sum, then those beside its power or below it.

        Shape:
            X: (rows, features); constants: (terms,), and one more if offset, and (beside,) or
            (below,).
        """
        inside, design = len(self.summands), self.design(X)
        with np.errstate(all="ignore"):
            total = design[:, :inside] @ constants[:inside]
            other = design[:, inside:] @ constants[inside:]
            if self.below:
                return total / (np.sqrt(other) if self.root_below else other)
            power = raise_to(total, self.power)
            return power + other if self.beside else power

    @property
    def columns(self) -> frozenset[int]:
        """The columns that the formula mentions."""
        return frozenset(
            column
            for term in self.multiplied
            for factor in term.factors
            for column, _ in factor.coefficients
        )


def make_factor(
    coefficients: Mapping[int, int], constant: int = 0, power: Fraction | int = 1
) -> Factor | None:
    """A factor in canonical form, or None where nothing but a number is left.

    The greatest common divisor moves into the scale, and so does a leading minus sign where the
    power is an integer (with another power the sign decides where the factor is real).
    """
    power = Fraction(power)
    kept = {column: int(value) for column, value in sorted(coefficients.items()) if value}
    if not kept or power == 0:
        return None
    divisor = math.gcd(*kept.values(), constant)
    if power.denominator == 1 and next(iter(kept.values())) < 0:
        divisor = -divisor
    scaled = tuple((column, value // divisor) for column, value in kept.items())
    return Factor(scaled, constant // divisor, power)


def make_term(factors: Iterable[Factor | None]) -> Term | None:
    """A term in canonical form: equal bases merged, factors sorted; None where nothing is left."""
    powers: dict[tuple, Fraction] = {}
    for factor in factors:
        if factor is not None:
            key = (factor.coefficients, factor.constant)
            powers[key] = powers.get(key, Fraction(0)) + factor.power
    merged = [make_factor(dict(base), constant, p) for (base, constant), p in powers.items()]
    kept = tuple(sorted(factor for factor in merged if factor is not None))
    return Term(kept) if kept else None


def make_structure(
    terms: Iterable[Term | None],
    offset: bool,
    power: Fraction = Fraction(1),
    beside: Iterable[Term] = (),
    below: Iterable[Term] = (),
    root_below: bool = False,
) -> Structure:
    """A structure in canonical form: terms sorted, repeated ones and empty ones dropped."""
    kept = tuple(sorted({term for term in terms if term is not None}))
    added, divisor = (tuple(sorted(set(one))) for one in (beside, below))
    return Structure(kept, offset, power, added, divisor, root_below)


def monomial(powers: Mapping[int, Fraction | int]) -> Term | None:
    """The product of powers of columns."""
    return make_term(make_factor({column: 1}, 0, power) for column, power in powers.items())


def shared_factors(terms: Sequence[Term], power: Fraction = Fraction(1)) -> list[Factor]:
    """What may be taken out of all terms of a sum, so that all powers are the shortest to write.

    Of each base that all of them mention it is one of the powers that they have it to, or none.

    Args:
        terms: of the sum.
        power: of the sum; what is taken out is raised to it.

    Example:
        >>> terms = [monomial({0: -4}), monomial({0: -6, 1: 2})]
        >>> shared_factors(terms, Fraction(-1, 2)) == [make_factor({0: 1}, 0, -4)]
        True
    """
    powers: dict[tuple[tuple[tuple[int, int], ...], int], list[Fraction]] = {}
    for term in terms:
        for factor in term.factors:
            powers.setdefault((factor.coefficients, factor.constant), []).append(factor.power)
    shared = []
    for (coefficients, constant), own in powers.items():
        if len(own) == len(terms):
            taken = min((Fraction(0), *own), key=partial(_taken_nats, own, power))
            if taken:
                shared.append(Factor(coefficients, constant, taken))
    return shared


def _taken_nats(own: list[Fraction], power: Fraction, taken: Fraction) -> float:
    """What it takes to write a base that terms have to some powers, if one is taken out."""
    written = [taken * power, *(one - taken for one in own)]
    return sum(_MENTION + _power_nats(one) for one in written if one)


def divided(term: Term, factors: Iterable[Factor]) -> Term:
    """What factors leave of a term that has them."""
    inverse = [replace(factor, power=-factor.power) for factor in factors]
    return make_term([*term.factors, *inverse]) or Term(())


def family_of(structure: Structure) -> str:
    """The name of the family that a structure belongs to (see `FAMILIES`)."""
    if structure.power != 1 or structure.root_below:
        return "power_of_sum"
    if structure.below:
        return "ratio_of_sums"
    factors = [factor for term in structure.terms for factor in term.factors]
    if all(len(term.factors) == 1 and term.factors[0].power == 1 for term in structure.terms):
        return "sum"
    if any(factor.power < 0 and not factor.is_column for factor in factors):
        return "ratio_of_sums"
    if len(structure.terms) > 1:
        return "sum_of_products"
    return "powers" if all(term.is_plain for term in structure.terms) else "product_of_sums"


def count_nodes(structure: Structure) -> int:
    """Size of the discrete part: columns, integers and operators as nodes of a tree."""
    sums = max(0, len(structure.terms) - 1) + len(structure.beside) + len(structure.below)
    nodes = sum(map(_term_nodes, structure.multiplied)) + sums
    return nodes + _power_nodes(structure.power) + 2 * structure.root_below


def _term_nodes(term: Term) -> int:
    """Nodes of one term: those of its factors and the products between them."""
    return sum(_factor_nodes(factor) for factor in term.factors) + max(0, len(term.factors) - 1)


def _factor_nodes(factor: Factor) -> int:
    """Nodes of one factor: a node a column or integer, one an operator."""
    summands = len(factor.coefficients) + (factor.constant != 0)
    multiples = sum(2 for _, k in factor.coefficients if abs(k) != 1)
    return 2 * summands - 1 + multiples + _power_nodes(factor.power)


def _power_nodes(power: Fraction) -> int:
    """Nodes of a power: none of 1, an operator of -1, and an exponent of others."""
    return 0 if power == 1 else 1 if power == -1 else 2


def inverses(structure: Structure) -> int:
    """How many of the structure's powers are negative."""
    powers = [factor.power for term in structure.multiplied for factor in term.factors]
    return sum(power < 0 for power in (*powers, structure.power)) + bool(structure.below)


@lru_cache(maxsize=4096)
def description_nats(structure: Structure, features: int) -> float:
    """Nats that name the discrete part: a choice of column or of operator a node.

    A column costs the logarithm of the number of columns, an operator that of six (sum,
    difference, product, quotient, power, end), an integer k that of k and two. Factors that all
    terms of a sum share are named once, before it and its power, where that is shorter.
    """
    operators = structure.offset + len(structure.beside) + len(structure.below)
    total = _power_nats(structure.power) + math.log(6) * operators
    total += _power_nats(Fraction(1, 2)) if structure.root_below else 0.0
    total += _sum_nats(structure.summands, structure.power, features)
    total += _sum_nats(structure.below, Fraction(1), features)
    return total + sum(_term_nats(term, features) for term in structure.beside)


def _sum_nats(terms: tuple[Term, ...], power: Fraction, features: int) -> float:
    """Nats of a sum's terms; factors that all share are named once, before the sum's power."""
    nats = sum(_term_nats(term, features) for term in terms)
    shared = shared_factors(terms, power) if len(terms) > 1 else []
    if not shared:
        return nats
    left = [divided(term, shared) for term in terms]
    before = Term(tuple(replace(factor, power=factor.power * power) for factor in shared))
    apart = _term_nats(before, features)
    return min(nats, apart + math.log(6) + sum(_term_nats(term, features) for term in left))


def _term_nats(term: Term, features: int) -> float:
    """Nats of a term's factors."""
    column, operator = math.log(features + 1), math.log(6)
    total = 0.0
    for factor in term.factors:
        integers = [abs(k) for _, k in factor.coefficients if abs(k) != 1]
        integers += [abs(factor.constant)] if factor.constant else []
        total += len(factor.coefficients) * (column + operator)
        total += sum(math.log(k + 2) + operator for k in integers)
        total += _power_nats(factor.power)
    return total


def _power_nats(power: Fraction) -> float:
    """Nats of a power: none of 1, an operator and the size of the exponent of others."""
    if power == 1:
        return 0.0
    return math.log(6) + math.log(abs(power.numerator) * power.denominator)
