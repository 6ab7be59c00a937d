"""Simple numbers: fractions, and fractions of powers of pi where data are exact."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from torchalu.estimators.simple_numbers import (
    PiMultiple,
    simple_nats,
    simple_nodes,
    simple_value,
    simplest_between,
)


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (1.0000000000001, 1e-13, 1),
        (-0.998, 0.001, -1),
        (1.8, 1e-15, Fraction(9, 5)),
        (3.1416, 2e-3, None),
        (np.e, 1e-15, None),
        (9.80665, 1e-15, None),
        (np.pi, 1e-15, PiMultiple(Fraction(1), 1)),
        (-1 / (4 * np.pi), 1e-16, PiMultiple(Fraction(-1, 4), -1)),
        (8 * np.pi**2 / 3, 1e-14, PiMultiple(Fraction(8, 3), 2)),
        (np.pi + 1e-9, 1e-15, None),
        (np.pi**3, 1e-15, None),
        (0.5003, 2e-4, Fraction(1, 2)),
        (1.01, 1e-3, None),
        (0.001, 0.5, None),
    ],
)
def test_simple_values(value, error, expected):
    assert simple_value(value, error) == expected


def test_simplest_between_has_the_smallest_denominator():
    for low, high in [(0.3, 0.35), (2.71, 2.72), (0.9, 1.1), (0.0613, 0.0617)]:
        found = simplest_between(low, high)
        assert low <= found <= high
        for q in range(1, found.denominator):
            assert np.floor(high * q) < np.ceil(low * q)


@pytest.mark.parametrize("power", [1, -1, 2, -2])
@pytest.mark.parametrize("fraction", [Fraction(7, 3), Fraction(-1, 1000), Fraction(999)])
def test_a_multiple_of_a_power_of_pi_has_its_value_and_is_found_by_it(fraction, power):
    number = PiMultiple(fraction, power)
    with mpmath.workdps(30):
        exact = mpmath.mpf(fraction.numerator) / fraction.denominator * mpmath.pi**power
        assert abs(float(number) / exact - 1) < 1e-15
    assert simple_value(float(number), 1e-16 * abs(float(number))) == number


def test_pi_costs_more_than_the_fraction_alone():
    half = Fraction(1, 2)
    assert simple_nats(PiMultiple(half, 1)) > simple_nats(half)
    assert simple_nodes(PiMultiple(half, -2)) == simple_nodes(half) + 3
