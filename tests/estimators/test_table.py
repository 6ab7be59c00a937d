"""The canonical table: order, repeats and weights do not matter; what is held out."""

import numpy as np
import pytest

from torchalu.estimators.table import canonical_table, hold_out

NAMES = ("a", "b")


def draw(rows=30, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, (rows, 2))
    return X, X @ [1.0, 2.0], generator.integers(0, 4, rows).astype(float)


def same(first, second):
    for name in ("X", "y", "weight"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_order_and_repeats_do_not_matter():
    X, y, weight = draw()
    order = np.random.default_rng(1).permutation(len(y))
    whole = weight.astype(int)
    weighted = canonical_table(X, y, weight, NAMES, 1e-9)
    same(weighted, canonical_table(X[order], y[order], weight[order], NAMES, 1e-9))
    repeated = canonical_table(X.repeat(whole, 0), y.repeat(whole), None, NAMES, 1e-9)
    same(weighted, repeated)
    assert weighted.count == whole.sum()


def test_relative_weights_keep_the_number_of_rows():
    X, y, weight = draw()
    table = canonical_table(X, y, weight / 7, NAMES, 1e-9)
    assert table.count == pytest.approx((weight > 0).sum())
    assert table.weight / table.weight.sum() == pytest.approx(
        canonical_table(X, y, weight, NAMES, 1e-9).weight / weight.sum()
    )


def test_zeros_of_either_sign_are_equal():
    table = canonical_table(np.array([[0.0], [-0.0]]), np.array([1.0, 1.0]), None, ("a",), 1e-9)
    assert table.weight.tolist() == [2.0]


def test_outer_rows_are_those_far_from_the_middle():
    X, y, _ = draw(50)
    table = hold_out(
        canonical_table(X, y, None, NAMES, 1e-9), "outer", 0.2, np.random.default_rng(0)
    )
    distance = (((table.X - np.median(table.X, 0)) / table.X.std(0)) ** 2).sum(1)
    assert (~table.inner).sum() == 10
    assert distance[~table.inner].min() >= distance[table.inner].max()
    assert len(table.learn.y) == 40


def test_a_target_that_varies_in_the_outer_rows_alone_keeps_them():
    x = np.linspace(-1, 1, 41)
    table = canonical_table(x[:, None], np.where(abs(x) > 0.85, x, 0), None, ("x",), 1e-9)
    assert hold_out(table, "outer", 0.2, np.random.default_rng(0)).inner.all()
    part = table.thin(3).learn
    assert part.scale > 0
    assert canonical_table(x[:, None], 0 * x, None, ("x",), 1e-9).scale == 1


def test_random_and_no_holdout():
    X, y, _ = draw(50)
    table = canonical_table(X, y, None, NAMES, 1e-9)
    random = hold_out(table, "random", 0.2, np.random.default_rng(0))
    assert (~random.inner).sum() == 10
    assert hold_out(table, "none", 0.2, np.random.default_rng(0)).inner.all()
    few = canonical_table(X[:4], y[:4], None, NAMES, 1e-9)
    assert hold_out(few, "outer", 0.2, np.random.default_rng(0)).inner.all()


def test_a_power_of_the_target_has_the_noise_that_the_power_makes_of_it():
    generator = np.random.default_rng(0)
    x = generator.uniform(1, 2, (50, 1))
    table = canonical_table(x, x[:, 0] + 1, None, ("x",), 1e-9)
    raised = table.raised(-2.0)
    constant, proportional = raised.views
    unit = table.y / np.sqrt(np.mean(table.y**2))
    changed = (unit + 1e-6) ** -2.0 - unit**-2.0
    assert raised.y == pytest.approx(unit**-2.0)
    assert constant == pytest.approx((1e-6 / changed) ** 2, rel=1e-5)
    assert proportional * raised.y**2 == pytest.approx(np.full(50, raised.scale**2))
    half = raised.thin(25).views[0]
    assert set(half) <= set(constant)
    assert table.views[0].tolist() == [1.0] * 50


@pytest.mark.parametrize(("y", "power"), [([0.0, 1.0], 2.0), ([-1.0, 1.0], 2.0), ([1.0, 1.0], -1)])
def test_a_power_that_is_not_smooth_or_says_nothing_makes_no_table(y, power):
    table = canonical_table(np.array([[1.0], [2.0]]), np.array(y), None, ("x",), 1e-9)
    assert table.raised(power) is None


def test_thin_keeps_both_ends():
    X, y, _ = draw(50)
    table = canonical_table(X, y, None, NAMES, 1e-9)
    thin = table.thin(7)
    assert len(thin.y) == 7
    assert thin.y[0] == table.y[0]
    assert thin.y[-1] == table.y[-1]
