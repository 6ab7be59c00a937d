"""Products of powers times any power of a sum of two products, all learned at once."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy

from torchalu.estimators import ArithmeticRegressor
from torchalu.estimators.closed_form import powers_of_two_terms_structures
from torchalu.estimators.structures import make_structure, monomial
from torchalu.estimators.table import canonical_table

POWERS = [Fraction(-3, 2), Fraction(-5, 2), Fraction(7, 2), Fraction(-3), Fraction(1, 3)]


def drawn(rows=300, columns=4, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 4.0, (rows, columns))


def noisy(y, noise, seed=1):
    return y * (1 + noise * np.random.default_rng(seed).standard_normal(len(y)))


def found_in(X, y):
    table = canonical_table(X, y, None, tuple(f"x{j}" for j in range(X.shape[1])), 1e-9)
    return list(powers_of_two_terms_structures(table, np.random.default_rng(0)))


def law(power, within, before):
    """The structure of prod_j x_j**b_j (1 + c prod_j x_j**d_j)**q."""
    outside = {j: b / power for j, b in before.items()}
    inside = outside | {j: d + outside.get(j, 0) for j, d in within.items()}
    terms = [monomial(outside), monomial(inside)]
    return make_structure(terms, None in terms, power)


@pytest.mark.parametrize("noise", [0.0, 0.003])
@pytest.mark.parametrize(("sign", "size"), [(1, 0.8), (-1, 0.014)])
@pytest.mark.parametrize("power", POWERS)
def test_a_power_of_one_and_a_product(power, sign, size, noise):
    X = drawn()
    inside = 1 + sign * size * X[:, 1] ** 2 / X[:, 2]
    assert inside.min() > 0.3
    y = noisy(2.3 * X[:, 0] * inside ** float(power), noise)
    assert law(power, {1: 2, 2: -1}, {0: Fraction(1)}) in found_in(X, y)


@pytest.mark.parametrize("noise", [0.0, 0.003])
def test_columns_of_the_sum_may_stand_before_it(noise):
    """Hernquist's density M a/(r (r + a)**3), as M/(a**2 r (1 + r/a)**3)."""
    X = drawn()
    mass, a, r = X.T[:3]
    found = found_in(X, noisy(mass * a / (r * (r + a) ** 3), noise))
    ways = law(Fraction(-3), {1: -1, 2: 1}, {0: Fraction(1), 1: Fraction(-2), 2: Fraction(-1)})
    assert ways in found


def test_few_rows_tell_it_only_where_they_are_exact():
    X = drawn(rows=16, columns=2)
    y = X[:, 0] * (1 + 0.7 * X[:, 1]) ** -1.5
    wanted = law(Fraction(-3, 2), {1: 1}, {0: Fraction(1)})
    assert wanted in found_in(X, y)
    assert found_in(X, noisy(y, 0.01)) == []
    assert found_in(X[:7], y[:7]) == []  # as many rows as are learned


@pytest.mark.parametrize(("power", "noisy_too"), [(Fraction(4), True), (Fraction(5), False)])
def test_powers_above_the_fourth_are_told_only_by_exact_data(power, noisy_too):
    X = drawn(columns=2)
    y = X[:, 0] * (1 + 0.7 * X[:, 1]) ** float(power)
    wanted = law(power, {1: 1}, {0: Fraction(1)})
    assert wanted in found_in(X, y)
    assert (wanted in found_in(X, noisy(y, 0.003))) is noisy_too


def test_targets_and_columns_have_one_sign():
    X = drawn()
    y = X[:, 0] * (1 + 0.7 * X[:, 1]) ** -2
    wanted = law(Fraction(-2), {1: 1}, {0: Fraction(1)})
    assert wanted in found_in(X, y)
    assert found_in(X, y - y.mean()) == []
    turned = X * np.where(
        np.arange(4) == 1, 1.0, np.random.default_rng(2).choice([-1, 1], (300, 4))
    )
    assert all(structure.columns <= {1} for structure in found_in(turned, y))


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("formula", "ranges"),
    [
        # the field on the axis of a charged ring, the pressure that stops a flow of air, the force
        # along the motion of a fast mass, the permeability of a bed of grains
        ("k*q*z/(z**2 + R**2)**(3/2)", dict.fromkeys("kqzR", (1, 4))),
        ("p*(1 + M**2/5)**(7/2)", {"p": (1, 4), "M": (0.1, 4)}),
        ("m*a/(1 - v**2/c**2)**(3/2)", {"m": (1, 4), "a": (1, 4), "v": (1, 2.5), "c": (3, 6)}),
        ("d**2*b**3/(1 - b)**2", {"d": (1, 5), "b": (0.1, 0.9)}),
    ],
)
def test_laws(formula, ranges, noise):
    generator = np.random.default_rng(0)
    X = pd.DataFrame({name: generator.uniform(*bounds, 300) for name, bounds in ranges.items()})
    wanted = sympy.sympify(formula)
    y = noisy(sympy.lambdify(list(ranges), wanted)(*X.to_numpy().T), noise)
    model = ArithmeticRegressor(random_state=0).fit(X, y)
    assert model.certificate_.exact is (noise == 0)
    names = {name: sympy.Symbol(name, positive=True) for name in ranges}
    found = sympy.sympify(str(model.formula_), locals=names)
    ratio = sympy.simplify(found / sympy.sympify(formula, locals=names))
    if noise == 0 or not found.atoms(sympy.Float):
        assert ratio == 1
    else:
        values = sympy.lambdify(list(ranges), found)(*X.to_numpy().T)
        truth = sympy.lambdify(list(ranges), wanted)(*X.to_numpy().T)
        np.testing.assert_allclose(values, truth, rtol=3e-3)
        assert sympy.Rational(7, 2) in {power.exp for power in found.atoms(sympy.Pow)}


def test_powers_before_a_sum_are_written_there():
    X = pd.DataFrame(drawn(columns=3), columns=["a", "z", "R"])
    y = X.a * X.z / (X.z**2 + X.R**2) ** 1.5
    model = ArithmeticRegressor(random_state=0).fit(X, y)
    assert str(model.formula_) == "a*z/(R**2 + z**2)**(3/2)"
    assert set(model.constants_) == {"coefficient of R**2", "coefficient of z**2"}
