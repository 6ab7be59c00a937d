"""The needle's target is what its columns say, and nothing else decides the columns."""

import numpy as np
import pytest

from torchalu.tasks import Needle


@pytest.mark.parametrize("seed", [0, 1, 99])
def test_target_is_the_product_of_the_two_sums(seed):
    hidden = Needle(seed=seed)
    table = hidden.sample(50, 1.0, 2.0, seed=7)
    first = np.zeros(100)
    first[list(hidden.first)] = 1
    second = np.zeros(100)
    second[list(hidden.second)] = 1
    assert first.sum() == second.sum() == 25
    assert first @ second == 13
    np.testing.assert_allclose(table.y, (table.X @ first) * (table.X @ second), rtol=1e-13)
    assert table.X.min() >= 1
    assert table.X.max() <= 2


def test_columns_depend_on_their_seed_alone():
    hidden = Needle(seed=4)
    one, other = hidden.sample(20, 2.0, 6.0, seed=1), hidden.sample(20, -2.0, -1.0, seed=2)
    for table in (one, other):
        expected = table.X[:, hidden.first].sum(1) * table.X[:, hidden.second].sum(1)
        np.testing.assert_allclose(table.y, expected)
    assert hidden.first != Needle(seed=5).first
    assert not np.array_equal(one.X, hidden.sample(20, 2.0, 6.0, seed=3).X)
    assert np.array_equal(one.y, hidden.sample(20, 2.0, 6.0, seed=1).y)


def test_columns_are_not_a_run():
    first = np.array(Needle(seed=0).first)
    assert (np.diff(first) > 1).any()


def test_noise_is_relative():
    clean = Needle(seed=0).sample(4000, 1.0, 2.0, seed=3)
    noisy = Needle(seed=0).sample(4000, 1.0, 2.0, noise=0.01, seed=3)
    assert np.array_equal(clean.X, noisy.X)
    relative = noisy.y / clean.y - 1
    assert relative.std() == pytest.approx(0.01, rel=0.05)
    assert abs(relative.mean()) < 5 * 0.01 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": 36}, "columns is 36; allowed: at least .* = 37"),
        ({"width": 3, "shared": 4}, "shared is 4 and width 3"),
        ({"width": 0, "shared": 0}, "width 0"),
    ],
)
def test_sums_have_to_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        Needle(**arguments)


@pytest.mark.parametrize(
    "arguments", [(0, 1.0, 2.0), (5, 2.0, 2.0), (5, 3.0, 2.0), (5, float("nan"), 2.0)]
)
def test_ranges_have_to_be_ranges(arguments):
    with pytest.raises(ValueError, match="low < high"):
        Needle().sample(*arguments)
    with pytest.raises(ValueError, match="noise"):
        Needle().sample(5, 1.0, 2.0, noise=-1)
