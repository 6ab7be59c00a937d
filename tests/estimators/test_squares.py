"""Squares are completed where they are whole, and say what the terms said."""

import numpy as np
import pandas as pd
import pytest
import sympy
from sympy import Float, Integer, Rational, expand

from torchalu.estimators import ArithmeticRegressor
from torchalu.estimators.formula import term_expression
from torchalu.estimators.squares import complete_squares
from torchalu.estimators.structures import Term, monomial

SYMBOLS = sympy.symbols("a b c d")


def written(numbers, terms):
    """The squares and what is left, and all of it multiplied out less the sum itself."""
    squares, left = complete_squares(numbers, terms)
    own = [term_expression(term, SYMBOLS) for term in terms]
    parts = [
        square.number
        * (
            term_expression(square.first, SYMBOLS)
            + square.ratio * term_expression(square.second, SYMBOLS)
        )
        ** 2
        for square in squares
    ]
    total = sum(parts) + sum(numbers[k] * own[k] for k in left)
    difference = expand(total - sum(n * t for n, t in zip(numbers, own, strict=True)))
    return parts, left, difference


A2, AB, B2, C2, CD, D2 = (
    monomial(powers) for powers in ({0: 2}, {0: 1, 1: 1}, {1: 2}, {2: 2}, {2: 1, 3: 1}, {3: 2})
)


@pytest.mark.parametrize(
    ("numbers", "terms", "expected", "kept"),
    [
        ([1, -2, 1], [A2, AB, B2], ["(a - b)**2"], []),
        ([-3, -6, -3], [A2, AB, B2], ["-3*(a + b)**2"], []),
        ([4, 4, 1], [A2, AB, B2], ["(2*a + b)**2"], []),
        ([1, 4, 4], [A2, AB, B2], ["(a + 2*b)**2"], []),
        ([4, 12, 9], [A2, AB, B2], ["4*(a + 3*b/2)**2"], []),
        ([1, -2, 1, 1, -2, 1], [A2, AB, B2, C2, CD, D2], ["(a - b)**2", "(c - d)**2"], []),
        ([1, -2, 1], [monomial({0: 4}), A2, Term(())], ["(1 - a**2)**2"], []),
        ([1, 2, 1], [monomial({0: 2, 1: -2}), monomial({0: 1, 1: -1}), Term(())],
         ["(a/b + 1)**2"], []),
        ([1, 3, 1], [A2, AB, B2], [], [0, 1, 2]),
        ([1, -2, -1], [A2, AB, B2], [], [0, 1, 2]),
        ([1, 2, 1], [monomial({0: 1}), monomial({0: Rational(1, 2)}), Term(())], [], [0, 1, 2]),
        ([1, 2, 1, 2, 1], [A2, AB, B2, monomial({1: 1, 2: 1}), C2], ["(a + b)**2"], [3, 4]),
    ],
)  # fmt: skip
def test_sums_with_squares_and_without(numbers, terms, expected, kept):
    parts, left, difference = written([Integer(number) for number in numbers], terms)
    assert [str(part) for part in parts] == expected
    assert left == kept
    assert difference == 0


def test_measured_numbers_are_left_alone():
    numbers = [Integer(1), Float(-2.0), Integer(1)]
    assert complete_squares(numbers, [A2, AB, B2]) == ([], [0, 1, 2])


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.003, marks=pytest.mark.long)])
def test_a_distance_is_written_as_one(noise):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.uniform(1, 5, (300, 4)), columns=["x1", "x2", "y1", "y2"])
    y = np.hypot(X.x1 - X.x2, X.y1 - X.y2) * (1 + noise * generator.standard_normal(300))
    model = ArithmeticRegressor(random_state=0).fit(X, y)
    assert str(model.formula_) == "sqrt((x1 - x2)**2 + (y1 - y2)**2)"


def test_a_reciprocal_needs_no_constant_that_rounding_made():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.uniform(1, 2, (300, 3)), columns=["q", "u", "v"])
    X.v += 2
    model = ArithmeticRegressor(random_state=0).fit(X, X.q / (X.v**2 - X.u**2))
    assert sympy.simplify(model.formula_ - sympy.sympify("q/(v**2 - u**2)")) == 0
