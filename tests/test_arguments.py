"""Checks of arguments that every room makes."""

import numpy as np
import pytest

from torchalu.arguments import check_positive_integers


def test_integers_of_any_kind_pass():
    check_positive_integers(rows=1, seeds=2**70, steps=np.int32(3))


@pytest.mark.parametrize("value", [True, 1.0, "3", None, np.float64(2), np.bool_(True)])
def test_what_is_no_integer_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"^rows is .+; give a positive integer$"):
        check_positive_integers(seeds=1, rows=value)


@pytest.mark.parametrize("value", [0, -1, np.int64(0)])
def test_what_is_not_positive_is_a_value_error(value):
    with pytest.raises(ValueError, match=f"^rows is {value}; give a positive integer$"):
        check_positive_integers(seeds=1, rows=value)
