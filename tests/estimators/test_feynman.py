"""The Feynman benchmark: what counts as found, and equations that nothing else would find."""

import numpy as np
import pytest
import sympy
from benchmarks.feynman import EQUATIONS, Equation, equations, is_equation, run_trial, values

ALL = {equation.number: equation for equation in equations()}
AREA = Equation("a", "3*pi*x*y**2 + x", {"x": (1.0, 5.0), "y": (1.0, 3.0)})


def test_the_list():
    assert len(ALL) == len(EQUATIONS.read_text("utf-8").splitlines()) - 1 == 81
    assert sum(not number.startswith("bonus") for number in ALL) == 71
    lens = ALL["I.27.6"]
    X, y = lens.table(50, np.random.default_rng(0))
    np.testing.assert_allclose(y, X.d1 * X.d2 / (X.d2 + X.n * X.d1), rtol=1e-14)
    assert X.to_numpy().min() >= 1
    assert X.to_numpy().max() <= 5
    narrow, _ = ALL["I.32.17"].table(500, np.random.default_rng(0))
    assert narrow.omega_0.between(3, 5).all()
    assert narrow.r.between(1, 2).all()


def test_every_target_is_a_number_on_all_rows():
    for equation in ALL.values():
        X, y = equation.table(2000, np.random.default_rng(0))
        assert np.isfinite(y).all()
        assert set(X.columns) == {str(symbol) for symbol in equation.expression.free_symbols}


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("3*pi*x*y**2 + x", True),
        ("9.43*x*y**2 + x", True),  # fitted, to a thousandth
        ("x*(9.43*y**2 + 1.003)", True),
        ("9.43*x*y**2 + 1.4*x", False),  # further off than a fit is
        ("3*pi*x*y**2 + x + 0.001*y", False),  # a term too many, however small
        ("9.43*x*y**2", False),
        ("28*x*y**2/3 + x", False),  # another number
        ("x*sqrt(y)", False),
    ],
)
def test_what_counts_as_found(formula, found):
    assert is_equation(sympy.sympify(formula), AREA) is found


def test_values_of_a_constant():
    X, _ = AREA.table(3, np.random.default_rng(0))
    assert values(sympy.Integer(2), X).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("number", "noise"),
    [
        ("I.12.2", 0.0),
        pytest.param("I.32.17", 0.0, marks=pytest.mark.long),
        pytest.param("II.11.28", 0.01, marks=pytest.mark.long),
        ("bonus 6", 0.0),
        ("bonus 17", 0.0),
        ("bonus 19", 0.0),
        pytest.param("I.8.14", 0.01, marks=pytest.mark.long),
        pytest.param("bonus 7", 0.01, marks=pytest.mark.long),
        pytest.param("bonus 17", 0.01, marks=pytest.mark.long),
        pytest.param("bonus 19", 0.01, marks=pytest.mark.long),
    ],
)
def test_equations_are_found(number, noise):
    trial = run_trial(ALL[number], noise, seed=0)
    assert trial.found, trial.formula
