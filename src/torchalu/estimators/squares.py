"""Sums as people write them: a**2 - 2 a b + b**2 is a square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from sympy import Expr, Rational

from torchalu.estimators.structures import Term, make_term


class Square(NamedTuple):
    """A number times the square of a sum: c (P + k Q)**2.

    Attributes:
        number: c.
        first: P.
        ratio: k.
        second: Q.
    """

    number: Expr
    first: Term
    ratio: Expr
    second: Term


def complete_squares(
    numbers: Sequence[Expr], terms: Sequence[Term]
) -> tuple[list[Square], list[int]]:
    """The squares that parts of a sum make up, and the places of the terms that are left.

    Three terms c P**2, 2 c k P Q and c k**2 Q**2 are a square where c and k are rational, and P and
    Q have whole powers.

    Args:
        numbers: before each term.
        terms: of the sum.

    Example:
        >>> from sympy import Integer
        >>> from torchalu.estimators.structures import monomial
        >>> terms = [monomial({0: 2}), monomial({0: 1, 1: 1}), monomial({1: 2}), monomial({2: 1})]
        >>> squares, left = complete_squares([Integer(k) for k in (3, -6, 3, 5)], terms)
        >>> squares[0].number, squares[0].ratio, left
        (3, -1, [3])
    """
    places = {term: place for place, term in enumerate(terms)}
    left = dict.fromkeys(range(len(terms)))
    squares: list[Square] = []
    for i, j in combinations(range(len(terms)), 2):
        first, second = _root(terms[i]), _root(terms[j])
        if first is None or second is None:
            continue
        middle = places.get(make_term([*first.factors, *second.factors]) or Term(()))
        if middle is None or len({i, j, middle} & left.keys()) < 3:
            continue
        square = _square(numbers, (i, first), (j, second), middle)
        if square is not None:
            squares.append(square)
            for place in (i, j, middle):
                del left[place]
    return squares, list(left)


def _square(
    numbers: Sequence[Expr], one: tuple[int, Term], other: tuple[int, Term], middle: int
) -> Square | None:
    """The square of two roots, in the simpler of the two ways in which it can be written."""
    three = [numbers[place] for place in (one[0], middle, other[0])]
    if not all(isinstance(number, Rational) for number in three):
        return None
    if three[1] ** 2 != 4 * three[0] * three[2]:
        return None
    ways = [
        Square(numbers[place], first, numbers[middle] / (2 * numbers[place]), second)
        for (place, first), (_, second) in ((one, other), (other, one))
    ]
    return min(
        ways,
        key=lambda way: (
            not way.ratio.is_integer,
            way.ratio < 0 and not way.second.factors,
            way.first,
        ),
    )


def _root(term: Term) -> Term | None:
    """The term of whole powers whose square it is."""
    if any((factor.power / 2).denominator != 1 for factor in term.factors):
        return None
    return Term(tuple(replace(factor, power=factor.power / 2) for factor in term.factors))
