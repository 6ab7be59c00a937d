"""The walk through a formula over a table."""

import numpy as np
import pytest
import sympy

from torchalu.export import evaluate

A, B = sympy.symbols("a b")


def test_poles_and_roots_are_silent():
    values = evaluate(1 / A + sympy.sqrt(B), [[0.0, 1.0], [1.0, -1.0]], ["a", "b"])
    assert values[0] == np.inf
    assert np.isnan(values[1])


def test_constant_fills_all_rows():
    values = evaluate(sympy.Rational(1, 2), np.zeros((3, 1)), ["a"])
    assert values.tolist() == [0.5, 0.5, 0.5]
    values[0] = 1.0


def test_value_is_no_view_of_the_table():
    table = np.ones((2, 1))
    evaluate(A, table, ["a"])[:] = 7.0
    assert table.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("X", "names", "message"),
    [
        ([[1.0]], ["b"], "symbol 'a'"),
        ([[1.0]], ["a", "b"], "with 2 names"),
        ([1.0], ["a"], r"shape \(1,\)"),
    ],
)
def test_bad_arguments(X, names, message):
    with pytest.raises(ValueError, match=message):
        evaluate(A, X, names)
