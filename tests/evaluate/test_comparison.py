"""Comparisons of groups of runs, against SciPy, statistics' tables and numbers worked by hand."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from torchalu.evaluate import compare, holm, t_interval, t_test

# Student 1908: hours of sleep gained by ten patients under two drugs
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_published_tests_of_students_sleep_data():
    """As every textbook has them: t = -1.8608 with 18, and with 17.776 degrees of freedom."""
    student = t_test(FIRST, SECOND, equal_variances=True)
    assert student == pytest.approx(2 * stats.t.sf(1.8608135, 18), rel=1e-6)
    assert student == pytest.approx(0.07919, abs=5e-6)
    assert t_test(FIRST, SECOND) == pytest.approx(0.07939, abs=5e-6)
    assert t_test(SECOND, FIRST) == t_test(FIRST, SECOND)


def test_the_interval_is_scipys():
    mean, low, high = t_interval(SECOND, 0.9)
    expected = stats.ttest_1samp(SECOND, 0).confidence_interval(0.9)
    assert mean == pytest.approx(2.33)
    assert (low, high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_too_few_values_have_no_interval_and_no_test():
    assert t_interval([]) == (None, None, None)
    assert t_interval([3.0]) == (3.0, None, None)
    free, bound = t_interval([0.9, 0.99]), t_interval([0.9, 0.99], bounds=(0, 1))
    assert free.high > 1
    assert bound == (free.mean, free.low, 1.0)
    assert t_interval([-0.9, -0.99], bounds=(-1, 1)).low == -1
    assert t_test([1.0], [2.0, 3.0]) is None


def test_groups_that_do_not_vary_are_equal_or_not():
    assert t_test([0.5, 0.5], [0.5, 0.5, 0.5]) == 1.0
    assert t_test([0.5, 0.5], [0.6, 0.6]) == 0.0
    assert t_test([0.5, 0.5], [0.6, 0.7]) == pytest.approx(2 * stats.t.sf(3.0, 1))


def test_holm_by_hand():
    """Four tests: 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04, raised to the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, None, 0.7]) == [1.0, None, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_its_step_down_procedure_rejects(p_values):
    """Reject the smallest while p <= alpha / (m - i); the corrected value says the same."""
    corrected = holm(p_values)
    for alpha in (0.01, 0.05, 0.2):
        rejected = set()
        for rank, place in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[place] * (len(p_values) - rank) > alpha:
                break
            rejected.add(int(place))
        assert {place for place, p in enumerate(corrected) if p <= alpha} == rejected


def runs(**groups):
    return pl.DataFrame(
        [
            {"unit": unit, "seed": seed, "accuracy": value}
            for unit, values in groups.items()
            for seed, value in enumerate(values)
        ]
    )


def test_each_group_is_compared_with_the_best_and_with_the_baseline():
    groups = {
        "relu": [0.90, 0.91, 0.92],
        "or": [0.97, 0.98, 0.99],
        "max": [0.965, 0.985, 0.98],
        "xnor": [0.70, 0.72, 0.75],
    }
    table = compare(runs(**groups), "unit", "accuracy", baseline="relu")
    assert table["unit"].to_list() == list(groups)
    assert table["n"].to_list() == [3] * 4
    assert table["sd"].to_list() == [pytest.approx(np.std(v, ddof=1)) for v in groups.values()]
    p = {
        (a, b): stats.ttest_ind(groups[a], groups[b], equal_var=False).pvalue
        for a in groups
        for b in groups
    }
    to_best = stats_holm({name: p[name, "or"] for name in ("relu", "max", "xnor")})
    to_relu = stats_holm({name: p[name, "relu"] for name in ("or", "max", "xnor")})
    best = dict(table.select("unit", "p_best").iter_rows())
    relu = dict(table.select("unit", "p_baseline").iter_rows())
    assert best == {name: pytest.approx(to_best[name]) for name in to_best} | {"or": None}
    assert relu == {name: pytest.approx(to_relu[name]) for name in to_relu} | {"relu": None}
    marks = dict(table.select("unit", "marks").iter_rows())
    assert marks == {"relu": "", "or": "best above", "max": "tied above", "xnor": "below"}


def stats_holm(tests):
    """Holm's correction, written once more: by its definition as a maximum."""
    order = sorted(tests, key=tests.__getitem__)
    return {
        name: max(min(1.0, (len(order) - j) * tests[order[j]]) for j in range(i + 1))
        for i, name in enumerate(order)
    }


def test_families_are_apart_and_student_can_be_asked_for():
    one, two = runs(a=FIRST, b=SECOND), runs(a=SECOND, b=FIRST)
    both = pl.concat([one.with_columns(data=pl.lit("one")), two.with_columns(data=pl.lit("two"))])
    table = compare(both, "unit", "accuracy", within=["data"], equal_variances=True)
    assert table.select("data", "unit", "marks").rows() == [
        ("one", "a", "tied"),
        ("one", "b", "best"),
        ("two", "a", "best"),
        ("two", "b", "tied"),
    ]
    assert table["p_best"].drop_nulls().to_list() == pytest.approx([0.07919, 0.07919], abs=5e-6)
    assert table["p_baseline"].null_count() == 4


def test_a_family_without_the_baseline_has_no_tests_against_it():
    both = pl.concat(
        [
            runs(a=FIRST, b=SECOND).with_columns(data=pl.lit("one")),
            runs(b=FIRST, c=SECOND).with_columns(data=pl.lit("two")),
        ]
    )
    table = compare(both, "unit", "accuracy", within=["data"], baseline="a")
    assert table["p_baseline"].is_null().to_list() == [True, False, True, True]


def test_single_runs_are_neither_tied_nor_apart():
    table = compare(runs(a=[0.5], b=[0.6, 0.7]), "unit", "accuracy", baseline="a")
    assert table["marks"].to_list() == ["", "best"]
    assert table.select("sd", "low", "p_best", "p_baseline").row(0) == (None,) * 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t_interval([0.5, 1.1], bounds=(0, 1)), "values holds 1.1; give numbers from 0.0"),
        (lambda: t_interval([1.0], 1.0), "confidence is 1.0; give a number between 0 and 1"),
        (lambda: t_interval([1.0, math.nan]), "values holds NaN or infinity; leave those"),
        (lambda: t_test([math.inf, 1.0], [1.0, 2.0]), "first holds NaN or infinity; leave those"),
        (lambda: holm([0.5, 1.5]), "p_values holds 1.5; give numbers from 0 to 1"),
        (lambda: compare(runs(a=[1.0]), "unit", "loss"), "outcomes has no column 'loss'"),
        (
            lambda: compare(runs(a=[1.0]), "unit", "accuracy", baseline="relu"),
            "baseline is 'relu', which unit does not hold; it holds a",
        ),
        (
            lambda: compare(runs(a=[1.0]), "unit", "accuracy", within="unit"),
            "within is 'unit'; give a list of strings",
        ),
        (
            lambda: compare(runs(a=[1.0]), "unit", "accuracy", within=["unit"]),
            "within and by hold 'unit', a column of the comparison or a repetition",
        ),
        (
            lambda: compare(runs(a=[1.0]).rename({"unit": "n"}), "n", "accuracy"),
            "within and by hold 'n', a column",
        ),
        (lambda: compare(runs(a=[1.0]), "unit", "accuracy", significance=7), "significance is 7"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_group_named_null_is_a_group():
    frame = pl.DataFrame({"unit": [None, None, None, "b", "b", "b"], "a": [*FIRST[:3], *FIRST[:3]]})
    frame = frame.with_columns(a=pl.col("a") - 5 * pl.col("unit").is_not_null())
    named = compare(frame.with_columns(pl.col("unit").fill_null("a")), "unit", "a")
    table = compare(frame, "unit", "a")
    assert table["p_best"].to_list() == named["p_best"].to_list()
    assert table["p_best"][1] is not None


def test_the_interval_of_a_group_is_scipys_at_95_percent():
    row = compare(runs(a=FIRST, b=SECOND), "unit", "accuracy").row(1, named=True)
    expected = stats.ttest_1samp(SECOND, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("significance", "marks"), [(0.05, ["tied", "best"]), (0.1, ["", "best above"])]
)
def test_marks_go_by_the_significance_that_is_asked_for(significance, marks):
    """Student's p-value of the sleep data is 0.0792."""
    table = compare(
        runs(a=FIRST, b=SECOND), "unit", "accuracy",
        baseline="a", equal_variances=True, significance=significance,
    )  # fmt: skip
    assert table["marks"].to_list() == marks
