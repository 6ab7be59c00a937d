"""Digits that match, against counts by hand and against a count place by place."""

import numpy as np
import pytest

from torchalu.evaluate import matching_digits


@pytest.mark.parametrize(
    ("prediction", "target", "share"),
    [
        (123, 123, 1),
        (123.4, 123, 1),
        (122.6, 123, 1),
        (124, 123, 2 / 3),
        (1123, 123, 3 / 4),
        (23, 123, 2 / 3),
        (0, 0, 1),
        (0.4, 0, 1),
        (-0.4, 0, 1),
        (5, 1005, 1 / 4),
        (-12, -12, 1),
        (-12, 12, 2 / 3),
        (12, -12, 2 / 3),
        (-112, 12, 2 / 4),
        (99.6, 100, 1),
        (float("nan"), 7, 0),
        (float("inf"), 7, 0),
        (1e300, 7, 0),
    ],
)
def test_counts_by_hand(prediction, target, share):
    assert matching_digits([prediction], [target]).tolist() == [share]


def test_against_a_count_place_by_place():
    random = np.random.default_rng(0)
    targets = random.integers(0, 10_000, 500)
    predictions = targets + random.integers(-20, 20, 500).clip(-targets)
    for share, p, t in zip(
        matching_digits(predictions, targets), predictions, targets, strict=True
    ):
        places = max(1, *(int(np.floor(np.log10(max(n, 1)))) + 1 for n in (p, t)))
        both = [
            10**k <= max(p, 1) and 10**k <= max(t, 1) and p // 10**k % 10 == t // 10**k % 10
            for k in range(places)
        ]
        assert share == pytest.approx(sum(both) / places)


def test_columns_are_flattened():
    assert matching_digits(np.array([[15.2], [7.0]]), np.array([[15], [8]])).tolist() == [1, 0]


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"predictions has shape \(2,\) and targets \(1,\)"):
        matching_digits([1, 2], [1])
    with pytest.raises(ValueError, match=r"targets holds 1\.5, which is no integer"):
        matching_digits([1], [1.5])
    with pytest.raises(ValueError, match="targets holds nan, which is no integer"):
        matching_digits([1], [float("nan")])
    with pytest.raises(ValueError, match="targets holds 1, which is no integer"):
        matching_digits([1], ["1"])
    with pytest.raises(ValueError, match="predictions has the dtype complex128; give real"):
        matching_digits([1j], [1])


def test_integers_of_any_size():
    assert matching_digits([1e20, 10**30 + 2], [10**20, 10**30 + 1]).tolist() == [1.0, 30 / 31]
