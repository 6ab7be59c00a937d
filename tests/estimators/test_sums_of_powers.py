"""Power laws beside a constant, their roots and reciprocals, with powers of fifths and tenths."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy

from torchalu.estimators import ArithmeticRegressor
from torchalu.estimators.closed_form import power_structures, sum_of_powers_structures
from torchalu.estimators.structures import monomial
from torchalu.estimators.table import canonical_table

LAW = {0: Fraction(17, 10), 1: Fraction(-2, 5)}


def table_of(X, y):
    return canonical_table(X, y, None, tuple(f"x{j}" for j in range(X.shape[1])), 1e-9)


def found_in(table):
    return sum_of_powers_structures(table, np.random.default_rng(0))


def uniform(rows=200, columns=3, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 4.0, (rows, columns))


def noisy(y, noise):
    return y * (1 + noise * np.random.default_rng(1).standard_normal(len(y)))


@pytest.mark.parametrize("power", [Fraction(1), Fraction(1, 2), Fraction(-1), Fraction(-1, 2)])
@pytest.mark.parametrize(
    ("offset", "scale", "noise"),
    [(2.0, 3.0, 0.0), (40.0, -1.5, 0.0), (-0.01, 3.0, 0.0), (2.0, 3.0, 0.002), (40.0, -1.5, 5e-4)],
)
def test_the_constant_may_be_on_either_side(offset, scale, power, noise):
    X = uniform()
    inside = offset + scale * X[:, 0] ** 1.7 * X[:, 1] ** -0.4
    assert inside.min() > 0
    table = table_of(X, noisy(inside ** float(power), noise))
    found = list(found_in(table))
    assert (power, (monomial(LAW),)) in [(one.power, one.terms) for one in found]


def test_a_target_far_above_its_constant():
    """The product spans nine decades, and the constant is known from its smallest values only."""
    X = np.exp(uniform() * 3)
    y = 1 + X[:, 0] * X[:, 1] / X[:, 2] ** 2
    assert np.ptp(np.log10(y - 1)) > 9
    found = list(found_in(table_of(X, y)))
    assert (monomial({0: 1, 1: 1, 2: -2}),) in [one.terms for one in found]


def test_negative_targets_and_columns():
    X = uniform() * [1, -1, 1]
    y = -3 + X[:, 0] ** 1.5 * X[:, 1]
    found = list(found_in(table_of(X, y)))
    assert (monomial({0: Fraction(3, 2), 1: 1}),) in [one.terms for one in found]


def test_columns_of_both_signs_or_with_zeros_are_left_out():
    X = uniform()
    X[:, 1] -= 2.0
    X[0, 2] = 0.0
    found = list(found_in(table_of(X, 2 + X[:, 0] ** 1.7)))
    assert all(one.columns <= {0} for one in found)
    assert (monomial({0: Fraction(17, 10)}),) in [one.terms for one in found]
    assert not list(found_in(table_of(X[:, 1:], 2 + X[:, 0])))


def test_few_rows_have_to_be_exact():
    X = uniform(12, 2)
    y = 2 + 3 * X[:, 0] ** 1.7
    assert list(found_in(table_of(X, y)))
    assert not list(found_in(table_of(X, noisy(y, 0.01))))
    assert not list(found_in(table_of(X[:4], y[:4])))


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_powers_of_a_product_in_fifths_and_tenths(noise):
    X = uniform()
    y = 0.023 * X[:, 0] ** 0.8 * X[:, 1] ** 0.4 * X[:, 2] ** -1.3
    wanted = monomial({0: Fraction(4, 5), 1: Fraction(2, 5), 2: Fraction(-13, 10)})
    found = list(power_structures(table_of(X, noisy(y, noise))))
    assert (wanted,) in [one.terms for one in found]


@pytest.mark.parametrize(
    ("law", "noise"),
    [
        ("3*a**(17/10) + 2", 0.0),
        pytest.param("3*a**(17/10) + 2", 0.01, marks=pytest.mark.long),
        pytest.param("a**(2/3)/b**3 + 5", 0.003, marks=pytest.mark.long),
        ("sqrt(2*a**3*b**2/c**4 + 1)", 0.0),
        pytest.param("1/(a**(3/2)/b**(5/2) + 2)", 0.003, marks=pytest.mark.long),
        pytest.param("a**(3/5)*b/c**(6/5)", 0.01, marks=pytest.mark.long),
    ],
)
def test_the_regressor_finds_power_laws_with_a_background(law, noise):
    X = pd.DataFrame(uniform(), columns=list("abc"))
    formula = sympy.sympify(law)
    y = sympy.lambdify(list("abc"), formula)(*X.to_numpy().T)
    model = ArithmeticRegressor(random_state=0).fit(X, noisy(y, noise))
    assert sympy.simplify(model.formula_ - formula) == 0
