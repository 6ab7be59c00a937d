"""Circles, spheres and cones: pi is written as what it is."""

import numpy as np
import pandas as pd
import pytest
import sympy

from torchalu.estimators import ArithmeticRegressor
from torchalu.export import from_json, to_c, to_json, to_python

GENERATOR = np.random.default_rng(3)
R, H = GENERATOR.uniform(1, 5, (2, 60))


def fitted(target, second="h", **options):
    model = ArithmeticRegressor(random_state=0, **options)
    return model.fit(pd.DataFrame({"r": R, second: H}), target)


@pytest.mark.parametrize(
    ("target", "formula"),
    [
        (np.pi * R**2, "pi*r**2"),
        (4 / 3 * np.pi * R**3, "4*pi*r**3/3"),
        (2 * np.pi * R * (R + H), "2*pi*r*(h + r)"),
        (np.pi * R * np.sqrt(R**2 + H**2), "pi*r*sqrt(h**2 + r**2)"),
        (R / (4 * np.pi * H**2), "r/(4*pi*h**2)"),
        (4 * np.pi**2 * R / H**2, "4*pi**2*r/h**2"),
        (2 * np.pi * R + 1, "2*pi*r + 1"),
        (3 / np.sqrt(R**2 + 4 * H), "3/sqrt(4*h + r**2)"),
        (2 * np.sqrt(R**2 + H**2), "2*sqrt(h**2 + r**2)"),
    ],
)
def test_laws_with_pi_or_a_number_before_a_root(target, formula):
    model = fitted(target)
    assert str(model.formula_) == formula
    assert model.certificate_.exact


def test_a_column_called_pi_is_no_number():
    model = fitted(np.pi * R * np.sqrt(R**2 + H**2), "pi")
    assert not model.formula_.has(sympy.pi)
    values = sympy.lambdify(["r", "pi"], model.formula_)(R, H)
    np.testing.assert_allclose(values, np.pi * R * np.sqrt(R**2 + H**2), rtol=1e-12)


def test_measured_numbers_are_not_taken_for_pi():
    noisy = np.pi * R**2 * (1 + 0.001 * GENERATOR.standard_normal(len(R)))
    assert not fitted(noisy, families=["powers"]).formula_.has(sympy.pi)


def test_pi_goes_through_every_export():
    formula = fitted(np.pi * R**2).formula_
    assert from_json(to_json(formula)) == formula
    namespace = {}
    exec(to_python(formula, "area"), namespace)
    assert namespace["area"](2.0) == pytest.approx(4 * np.pi, rel=1e-15)
    assert "3.141592653589793" in to_c(formula)
