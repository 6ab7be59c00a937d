"""Which model to pick: what settles it, and how sure a median is."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from torchalu.experiments.trask2018.medians import median_interval
from torchalu.experiments.trask2018.picks import picks


def cells(*models, seeds=10):
    """Of (model, solved, error), where errors above 10 cannot be lived with."""
    rows = [
        {"task": "mul", "model": model, "seeds": seeds, "solved": solved, "error": error}
        for model, solved, error in models
    ]
    return pl.DataFrame(rows).with_columns(holds=pl.col("error") <= 10.0)


def pick(table):
    (row,) = picks(table, ["task"], "error", ["NAC", "NALU"]).iter_rows(named=True)
    return row


def test_one_solved_seed_of_ten_is_not_told_from_none():
    row = pick(cells(("NMU", 1, 1e7), ("NALU", 0, 56.7), ("NAU", 0, 9.0)))
    assert (row["pick"], row["by"], row["seeds"]) == ("NAU", "median", 10)
    assert (row["paper"], row["factor"]) == ("NALU", pytest.approx(6.3))


def test_solved_seeds_settle_it_where_intervals_are_apart():
    """17 of 20 from 64%, 4 of 20 to 42%."""
    row = pick(cells(("NAC", 4, 0.1), ("NMU", 17, 20.0), ("NALU", 0, 3.0), seeds=20))
    assert (row["pick"], row["by"], row["paper"]) == ("NMU", "solved", "NAC")
    interval = stats.binomtest(17, 20).proportion_ci(method="wilson")
    assert (row["solved_low"], row["solved_high"]) == pytest.approx((interval.low, interval.high))
    assert (row["paper_solved"], row["paper_seeds"]) == (4, 20)


def test_of_those_that_solve_as_many_the_least_median_is_picked():
    row = pick(cells(("NAC", 20, 1e-6), ("NAU", 18, 1e-9), ("Tanh", 0, 1e-12), seeds=20))
    assert (row["pick"], row["by"], row["factor"]) == ("NAU", "median", pytest.approx(1000))


@pytest.mark.parametrize(
    ("solved", "by"), [(0, "nothing holds"), (1, "nothing holds"), (6, "solved")]
)
def test_nothing_holds_where_errors_are_great_and_solved_seeds_are_none(solved, by):
    row = pick(cells(("NMU", solved, 58.0), ("NAU", 0, 70.0)))
    assert row["by"] == by
    assert row["paper"] is None
    assert row["factor"] is None


def test_the_network_without_a_nonlinearity_is_called_linear():
    assert pick(cells(("None", 3, 0.1), ("NAC", 3, 0.2)))["pick"] == "linear"


def test_where_nothing_says_what_is_solved_there_is_no_interval():
    table = cells(("NAC", None, 20.0), ("NMU", None, 5.0))
    row = pick(table.with_columns(pl.col("solved").cast(pl.Int64)))
    assert (row["pick"], row["by"], row["solved_low"]) == ("NMU", "median", None)


def test_groups_are_picked_from_in_their_order():
    first = cells(("NAC", 9, 0.1))
    second = cells(("NAC", 0, 80.0)).with_columns(task=pl.lit("div"))
    table = picks(pl.concat([first, second]), ["task"], "error", ["NAC"])
    assert table.select("task", "by").rows() == [("mul", "median"), ("div", "nothing holds")]


@pytest.mark.parametrize("count", [6, 9, 10, 20, 33])
def test_the_interval_of_a_median_is_that_of_the_sign_test(count):
    values = np.random.default_rng(count).exponential(size=count)
    interval = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    assert median_interval(values.tolist()) == (interval.low, interval.high)


def test_few_seeds_have_their_range_and_one_has_nothing():
    assert median_interval([3.0, float("inf"), 1.0]) == (1.0, float("inf"))
    assert median_interval([3.0]) == (None, None)
    assert median_interval([]) == (None, None)
