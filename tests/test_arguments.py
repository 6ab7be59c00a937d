"""Checks of arguments that every room makes."""

import re
from fractions import Fraction

import numpy as np
import pytest

from torchalu.arguments import (
    check_from_zero,
    check_integers_from_zero,
    check_positive_integers,
    check_shares,
    check_texts,
)


def test_integers_of_any_kind_pass():
    check_positive_integers(rows=1, seeds=2**63 - 1, steps=np.int32(3))


@pytest.mark.parametrize("value", [True, 1.0, "3", None, np.float64(2), np.bool_(True)])
def test_what_is_no_integer_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"^rows is .+; give a positive integer$"):
        check_positive_integers(seeds=1, rows=value)


@pytest.mark.parametrize("value", [0, -1, np.int64(0)])
def test_what_is_not_positive_is_a_value_error(value):
    with pytest.raises(ValueError, match=f"^rows is {value}; give a positive integer$"):
        check_positive_integers(seeds=1, rows=value)


@pytest.mark.parametrize("value", [2**63, 10**30])
def test_what_nothing_can_count_is_a_value_error(value):
    wanted = f"^rows is {value}; give a positive integer, 2\\*\\*63 - 1 at most$"
    with pytest.raises(ValueError, match=wanted):
        check_positive_integers(seeds=1, rows=value)


def test_integers_from_zero():
    check_integers_from_zero(seed=0, first=np.int64(3))
    for value in (True, 1.0, "3", None):
        with pytest.raises(TypeError, match=f"^seed is {value!r}; give an integer, 0 or more$"):
            check_integers_from_zero(first=0, seed=value)
    with pytest.raises(ValueError, match=r"^seed is -1; give an integer, 0 or more$"):
        check_integers_from_zero(seed=-1)


@pytest.mark.parametrize(
    ("check", "wanted", "wrong"),
    [
        (check_from_zero, "a finite number, 0 or more", [-1e-9, np.inf, np.nan]),
        (check_shares, "a number from 0 to 1", [-1e-9, 1.001, np.nan]),
    ],
)
def test_numbers_from_zero_and_shares(check, wanted, wrong):
    check(first=0, second=0.5, third=np.float32(1), fourth=Fraction(1, 3))
    for value in wrong:
        with pytest.raises(ValueError, match=f"^second is {value}; give {wanted}$"):
            check(first=0, second=value)
    for value in (True, "1", None, [0.5]):
        with pytest.raises(TypeError, match=f"^second is {re.escape(repr(value))}; give {wanted}$"):
            check(first=0, second=value)


def test_texts():
    check_texts("texts", [])
    check_texts("texts", ("1+0", ""))
    for value in (123, None, "1+0", {"1+0"}, b"1"):
        with pytest.raises(TypeError, match=r"^texts is .*; give a list of strings$"):
            check_texts("texts", value)
    with pytest.raises(TypeError, match=r"^texts holds None at position 1; give a list of"):
        check_texts("texts", ["1", None])
