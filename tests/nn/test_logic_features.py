"""Numbers of features against what the modules really take and give."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from torchalu import nn


class Halving(torch.nn.Module):
    """Somebody's own activation, which says of itself what it does."""

    features_ratio = 0.5

    def forward(self, input):
        return input.unflatten(1, (-1, 2))[:, :, 0]


def all_activations():
    """One of each name, with the arguments that torch asks for."""
    for name in nn.activation_names():
        options = {"threshold": 0.1, "value": 0.0} if name == "threshold" else {}
        yield nn.activation(name, **options)
    yield nn.activation("or_ail", k=5)
    yield nn.activation("ail_or_and_xnor_p", k=4)
    yield Halving()


def test_the_numbers_are_those_that_come_out():
    for activation in all_activations():
        multiple = nn.features_multiple(activation)
        for features in (multiple, 6 * multiple):
            out = activation(torch.ones(2, features)).shape[1]
            assert nn.out_features_for(activation, features) == out
            assert nn.in_features_for(activation, out) == features
            assert nn.features_ratio(activation) == Fraction(out, features)
        if multiple > 1:
            with pytest.raises((ValueError, RuntimeError)):
                activation(torch.ones(2, 6 * multiple + 1, 3))
            with pytest.raises(ValueError, match=f"takes multiples of {multiple}"):
                nn.out_features_for(activation, 6 * multiple + 1)


def test_published_widths():
    """Lowe et al. 2022, section 4.5: 512, 650 and 438 pre-activations have like parameters."""
    names = {512: "relu", 650: "or_ail", 438: "ail_or_and_xnor_d"}
    outputs = [nn.out_features_for(nn.activation(n), width) for width, n in names.items()]
    assert outputs == [512, 325, 657]


def test_numbers_that_do_not_fit_are_refused_with_the_nearest_ones():
    three = nn.LogicActivation(["or_ail", "and_ail", "xnor_ail"])
    with pytest.raises(
        ValueError, match=r"out_features is 100; .* multiples of 3, such as 99 or 102"
    ):
        nn.in_features_for(three, 100)
    with pytest.raises(ValueError, match=r"in_features is 1; .* multiples of 2, such as 2 or 4"):
        nn.out_features_for(three, 1)
    with pytest.raises(ValueError, match="in_features is -2"):
        nn.out_features_for(three, -2)
    assert nn.out_features_for(three, 0) == 0


def test_modules_of_which_nothing_is_known_are_refused():
    with pytest.raises(TypeError, match="how many features Linear gives is not known"):
        nn.features_ratio(torch.nn.Linear(2, 3))
    with pytest.raises(TypeError, match="activation is 'relu'; give a module"):
        nn.features_multiple("relu")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="give a module"):
        nn.features_ratio(nn.ORAIL)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("number", [2.5, True, "4", None])
def test_numbers_that_are_no_integers_are_refused(number):
    for function, name in (
        (nn.in_features_for, "out_features"),
        (nn.out_features_for, "in_features"),
    ):
        with pytest.raises(TypeError, match=f"{name} is {number!r}; give an integer"):
            function(nn.ORAIL(), number)


def test_integers_of_numpy_are_integers():
    out, into = (
        nn.out_features_for(nn.ORAIL(), np.int64(6)),
        nn.in_features_for(nn.ORAIL(), np.int32(3)),
    )
    assert (out, into) == (3, 6)
    assert type(out) is type(into) is int
