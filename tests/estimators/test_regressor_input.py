"""What the estimator takes, and what it refuses with a clear error."""

import datetime
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from torchalu.estimators import ArithmeticRegressor

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.recovery import make_table

FAST = {"restarts": 4, "steps": 200, "threads": 1, "random_state": 0}


GOOD = np.array([[1.0, 2.0], [2.0, 5.0], [3.0, 1.0], [4.0, 4.0]])


DAYS = pd.date_range("2020-01-01", periods=4)


def test_tensors_keep_their_precision():
    X, y = make_table("a*b", 0, 1)
    X, y = torch.tensor(X.to_numpy()), torch.tensor(np.asarray(y))
    model = ArithmeticRegressor(**FAST).fit(X.float(), y.float())
    assert model.certificate_.tolerance == 1e-5
    assert model.certificate_.exact
    assert model.predict(X.float()) == pytest.approx(y.numpy(), rel=1e-6)
    assert ArithmeticRegressor(**FAST).fit(X, y).certificate_.tolerance == 1e-9
    with pytest.raises(TypeError, match=r"X is a tensor of torch.bfloat16.*\.float\(\)"):
        ArithmeticRegressor(**FAST).fit(X.bfloat16(), y)


def test_frames_that_are_not_computed_yet():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0]}).lazy()
    with pytest.raises(TypeError, match=r"X is a polars LazyFrame; .*call \.collect\(\)"):
        ArithmeticRegressor(**FAST).fit(frame, [1.0, 2.0, 3.0])


def test_masked_cells_targets_and_weights():
    X, y = np.ma.masked_array(GOOD, mask=GOOD == 5), np.arange(4.0)
    with pytest.raises(ValueError, match="column 'x1', row 2: '--' is masked"):
        ArithmeticRegressor(**FAST).fit(X, y)
    masked = np.ma.masked_array(y, mask=y == 3)
    with pytest.raises(ValueError, match="column 'y', row 4: '--' is masked"):
        ArithmeticRegressor(**FAST).fit(GOOD, masked)
    with pytest.raises(ValueError, match="sample_weight has masked entries"):
        ArithmeticRegressor(**FAST).fit(GOOD, y, sample_weight=masked)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"holdout": "inner"}, "holdout is 'inner'; allowed: outer, random, none"),
        ({"holdout": np.ones(2)}, "holdout is array.*; allowed: outer, random, none"),
        ({"restarts": -1}, "restarts is -1; allowed: a whole number, 0 or more"),
        ({"restarts": 2.5}, "restarts is 2.5; allowed: a whole number, 0 or more"),
        ({"steps": 0}, "steps is 0; allowed: a whole number, 1 or more, or None"),
        ({"steps": 1.5}, "steps is 1.5; allowed: a whole number"),
        ({"steps": "many"}, "steps is 'many'; allowed: a whole number"),
        ({"threads": 1.5}, "threads is 1.5; allowed: a whole number, 1 or more, or None"),
        ({"threads": 0}, "threads is 0; allowed"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"families": ["sums"]}, "families is .*allowed: some of sum, powers"),
        ({"tolerance": "a"}, "tolerance is 'a'; allowed: a number from 0 to below 1, or None"),
        ({"families": "sum"}, "families is 'sum'"),
        ({"families": 7}, "families is 7; allowed: some of sum"),
        ({"families": []}, "families is \\[\\]"),
        ({"families": [["sum"]]}, "families is .*allowed: some of sum"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ArithmeticRegressor(**arguments).fit(np.arange(6.0).reshape(3, 2) ** 2, np.arange(3.0))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (GOOD[:1], [1.0], "1 row"),
        (GOOD, [3.0] * 4, "target that varies"),
        (np.where(GOOD == 5, np.nan, GOOD), range(4), "column 'x1', row 2: nan is not a number"),
        (np.where(GOOD == 5, np.inf, GOOD), range(4), "column 'x1', row 2: inf is infinity"),
        (GOOD, [1, 2, np.nan, 4], "column 'y', row 3: nan is not a number"),
        (GOOD * 1e-310, range(4), "column 'x0' is 4e-310 in magnitude at most"),
        (GOOD, np.arange(4) * 1e-162, "column 'y' is 3e-162 in magnitude at most"),
        (np.where(GOOD == 5, 1e300, GOOD), range(4), "1e\\+300"),
        (GOOD[:, [0, 0]], range(4), "same values"),
        (np.zeros((4, 10_000)) + np.arange(4)[:, None], range(4), "10000 feature columns"),
        ([["a", "b"]] * 4, range(4), "column 'x0', row 1: 'a' is not a number"),
    ],
)
def test_tables_that_nothing_can_be_learned_from(X, y, message):
    with pytest.raises(ValueError, match=message):
        ArithmeticRegressor(**FAST).fit(X, np.array(y, dtype=float))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (DAYS, "row 1: '2020-01-01T00:00:00.* is a date or a time span; .*days since"),
        (DAYS.tz_localize("UTC"), "row 1: '2020-01-01 00:00:00.* is a date or a time span"),
        (DAYS - DAYS[0], "row 1: '0 .* is a date or a time span"),
        (DAYS.to_period("D"), "row 1: '2020-01-01' is a date or a time span"),
        ([2**53, 2**53 + 1, 1, 2], "row 2: 9007199254740993 has more digits .*common start"),
        (["u", "v", "w", "x"], "row 1: 'u' is not a number; .*leave the column out"),
        (pd.Categorical(["1", "v", "w", "x"]), "row 2: 'v' is not a number"),
        ([1.0, 2.0, np.nan, 4.0], "row 3: nan is not a number .*fill the value in"),
        (pd.array([1, None, 3, 4], dtype="Int64"), "row 2: (nan|<NA>) is .*fill the value in"),
        (pd.array([True, None, True, False], dtype="boolean"), "row 2: <NA> is a missing value"),
        ([1.0, 2.0, 3.0, np.inf], "row 4: inf is infinity"),
    ],
)
def test_bad_columns_of_a_data_frame_are_named(column, message):
    frame = pd.DataFrame({"a": GOOD[:, 0], "when": column})
    mixed = frame.assign(text="t")[["a", "when", "text"]]
    for X in (frame, mixed):
        with pytest.raises(ValueError, match=f"column 'when', {message}") as caught:
            ArithmeticRegressor(**FAST).fit(X, np.arange(4.0))
        assert "HistGradientBoosting" not in str(caught.value)


def test_bad_columns_of_a_polars_frame_are_named():
    for column, message in (
        (pl.Series([datetime.date(2020, 1, 1)] * 4), "row 1: '2020-01-01' is a date"),
        (pl.Series(["u", "v", "w", "x"]), "row 1: 'u' is not a number"),
        (pl.Series([1, None, 3, 4]), "row 2: nan is not a number"),
    ):
        frame = pl.DataFrame({"a": GOOD[:, 0], "when": column})
        with pytest.raises(ValueError, match=f"column 'when', {message}"):
            ArithmeticRegressor(**FAST).fit(frame, np.arange(4.0))


def test_dates_are_refused_in_arrays_targets_and_predictions():
    days = DAYS.to_numpy()
    with pytest.raises(ValueError, match=r"column 'x0', row 1: .* is a date"):
        ArithmeticRegressor(**FAST).fit(days[:, None], np.arange(4.0))
    with pytest.raises(ValueError, match=r"column 'x1', row 1: .* is a date"):
        ArithmeticRegressor(**FAST).fit([[1.0, day] for day in days], np.arange(4.0))
    for target in (days, pd.Series(DAYS), pl.Series(days)):
        with pytest.raises(ValueError, match=r"column 'y', row 1: .* is a date"):
            ArithmeticRegressor(**FAST).fit(GOOD, target)
    model = ArithmeticRegressor(families=["sum"], **FAST)
    model.fit(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), [2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match=r"column 'a', row 1: .* is a date"):
        model.predict(pd.DataFrame({"a": DAYS}))
    with pytest.raises(ValueError, match=r"column 'a', row 1: nan is not a number \(NaN\)"):
        model.predict(pd.DataFrame({"a": [np.nan]}))


def test_text_that_is_a_number_and_truth_values_are_learned_from():
    X = pd.DataFrame({"a": ["1", "2", "4", "7"], "b": [True, False, True, False]})
    model = ArithmeticRegressor(families=["sum"], **FAST).fit(X, [3.0, 4.0, 9.0, 14.0])
    assert str(model.formula_) == "2*a + b"


@pytest.mark.parametrize("factor", [1e-99, 1e99])
def test_columns_at_the_limits_of_magnitude(factor):
    X = np.random.default_rng(0).uniform(1, 3, (40, 2))
    model = ArithmeticRegressor(**FAST).fit(X, factor * X[:, 0] * X[:, 1])
    assert model.certificate_.exact
    assert model.predict([[2.0, 5.0]]) == pytest.approx(factor * 10)
    model.fit(X * [factor, 1.0], X[:, 0] * X[:, 1])
    assert model.certificate_.exact


@pytest.mark.parametrize("name", ["", "  ", "x\ny"])
def test_a_name_that_cannot_be_read_is_refused(name):
    frame = pd.DataFrame(GOOD, columns=["a", name])
    with pytest.raises(ValueError, match=r"column 2 of X has the name .*; rename it"):
        ArithmeticRegressor().fit(frame, GOOD[:, 0])


def test_weights_that_have_no_square_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight is at most 1e-200; allowed: 1e-100 or"):
        ArithmeticRegressor().fit(GOOD, GOOD[:, 0], sample_weight=[1e-200] * len(GOOD))


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame(GOOD, columns=["a", "a"])
    with pytest.raises(ValueError, match=r"X has more than one column 'a'; .*; rename them"):
        ArithmeticRegressor(**FAST).fit(frame, [1.0, 2.0, 3.0, 5.0])


def test_families_may_be_an_array():
    model = ArithmeticRegressor(families=np.array(["sum", "powers"]), **FAST)
    assert str(model.fit(GOOD, GOOD.prod(axis=1)).formula_) == "x0*x1"
    with pytest.raises(ValueError, match="families is array"):
        ArithmeticRegressor(families=np.array([]), **FAST).fit(GOOD, GOOD[:, 0])
