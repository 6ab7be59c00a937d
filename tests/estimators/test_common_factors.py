"""Sums of products of many columns that share factors, and how such formulas are written."""

import numpy as np
import pandas as pd
import pytest
import sympy

from torchalu import ArithmeticRegressor

SPEEDS = {"m": (1, 5), "c": (3, 10), "v": (1, 2)}
"""Of a body: its mass, the speed of light, its own."""


def draw(rows, ranges):
    generator = np.random.default_rng(0)
    return pd.DataFrame({name: generator.uniform(*ends, rows) for name, ends in ranges.items()})


def fitted(law, X, noise=0.0):
    """The regressor on the rows of a law."""
    y = X.eval(law) * (1 + noise * np.random.default_rng(1).standard_normal(len(X)))
    return ArithmeticRegressor(random_state=0).fit(X, y)


def equal(formula, law, names):
    symbols = {name: sympy.Symbol(name, positive=True) for name in names}
    own = formula.xreplace({sympy.Symbol(name): symbol for name, symbol in symbols.items()})
    return sympy.simplify(own - sympy.sympify(law, locals=symbols)) == 0


@pytest.mark.parametrize(
    ("law", "names", "noise"),
    [
        ("A*C*r*v**2/2 + b*v", "ACrvb", 0.0),  # the drag of turbulent and of laminar flow
        pytest.param("A*C*r*v**2/2 + b*v", "ACrvb", 0.01, marks=pytest.mark.long),
        ("P*L**3/(3*E*J) + P*L/(k*G*A)", "PLEJkGA", 0.0),  # a short beam: bending and shear
        ("B*m/(T*k) + M*a*m/(T*c**2*e*k)", "BmTkMace", 0.0),  # a magnet in its mean field
        pytest.param("B*m/(T*k) + M*a*m/(T*c**2*e*k)", "BmTkMace", 0.01, marks=pytest.mark.long),
        pytest.param(  # an enzyme and what competes for it
            "V*s/(K*(1 + i/k) + s)", "VsKik", 0.01, marks=pytest.mark.long
        ),
        pytest.param(  # the force between charges in a plane
            "q*Q*k/((x - X)**2 + y**2)", "qQkxXy", 0.0, marks=pytest.mark.long
        ),
    ],
)
def test_sums_of_products_of_many_columns(law, names, noise):
    model = fitted(law, draw(200, dict.fromkeys(names, (1, 4))), noise)
    assert equal(model.formula_, law, names)
    assert model.certificate_.exact is (noise == 0)


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.long)])
def test_a_slope_near_a_whole_number_is_no_common_factor_of_few_rows(noise):
    """That of 1/y**2 over c is near -1, between the powers 0 and -2 of c in its terms."""
    law, names = "a/sqrt(1 + b**2/c**2)", "abcdef"
    model = fitted(law, draw(60, dict.fromkeys(names, (1, 4))), noise)
    assert equal(model.formula_, law, names)
    assert model.certificate_.exact is (noise == 0)


def test_what_terms_have_in_common_stands_before_a_root():
    model = fitted("m*c**2/sqrt(1 - v**2/c**2)", draw(200, SPEEDS))
    assert str(model.formula_) == "c**2*m/sqrt(1 - v**2/c**2)"
    assert model.certificate_.exact
    assert set(model.constants_) == {"scale", "offset"}
    assert model.constants_["scale"].value == pytest.approx(-1)


def test_the_root_of_the_square_of_a_column_of_both_signs_stays():
    X = draw(100, {"a": (-3, 3), "b": (1, 4)})
    model = fitted("(a**2*b**2 + 3*a**2)**(1/2)", X)
    assert model.certificate_.exact
    np.testing.assert_allclose(model.predict(X), np.abs(X.a) * np.sqrt(X.b**2 + 3), rtol=1e-9)
