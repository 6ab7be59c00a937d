"""Summaries, against the parts that make them."""

import math

import polars as pl
import pytest

from torchalu.evaluate import beta_mean_interval, gamma_mean_interval, summarize, wilson

OUTCOMES = pl.DataFrame(
    {
        "model": ["NMU"] * 5 + ["NALU"] * 2 + ["NAC*"],
        "operation": ["mul"] * 8,
        "seed": [0, 1, 2, 3, 4, 0, 1, 0],
        "solved": [True, True, False, True, True, False, False, True],
        "solved_at_step": [3000, 1000, None, 2000, 8000, None, None, 1000],
        "sparsity_error": [1e-7, 2e-7, 0.4, 4e-7, 1e-7, None, math.nan, 0.25],
        "best_step": [9000] * 8,
        "steps": [9000, 9000, 9000, 10_000, 9000, 100, 300, 2000],
        "status": ["finished"] * 4 + ["stopped", "nan", "nan", "finished"],
    }
)


def test_each_column_is_what_it_says():
    rows = {
        row["model"]: row for row in summarize(OUTCOMES, by=["operation", "model"]).rows(named=True)
    }
    assert list(rows) == ["NMU", "NALU", "NAC*"]
    at = gamma_mean_interval([3000, 1000, 2000, 8000])
    sparsity = beta_mean_interval([1e-7, 2e-7, 4e-7, 1e-7])
    low, high = wilson(4, 5)
    assert rows["NMU"] == {
        "operation": "mul",
        "model": "NMU",
        "seeds": 5,
        "solved": 4,
        "solved_rate": 0.8,
        "solved_low": low,
        "solved_high": high,
        "solved_at_median": 2500.0,
        "solved_at_mean": at.mean,
        "solved_at_low": at.low,
        "solved_at_high": at.high,
        "sparsity_error_mean": sparsity.mean,
        "sparsity_error_low": sparsity.low,
        "sparsity_error_high": sparsity.high,
        "nan": 0,
        "steps_mean": 9200.0,
    }


def test_nothing_solved_and_one_solved():
    rows = {row["model"]: row for row in summarize(OUTCOMES, by=["model"]).rows(named=True)}
    nalu, nac = rows["NALU"], rows["NAC*"]
    empty = [name for name, value in nalu.items() if value is None]
    assert len(empty) == 7
    assert all(name.startswith(("solved_at", "sparsity")) for name in empty)
    assert (nalu["solved"], nalu["solved_rate"], nalu["nan"], nalu["steps_mean"]) == (
        0,
        0.0,
        2,
        200.0,
    )
    assert (nac["solved_at_mean"], nac["solved_at_low"], nac["sparsity_error_mean"]) == (
        1000,
        None,
        0.25,
    )


def test_no_groups_and_no_rows():
    assert summarize(OUTCOMES, by=[]).row(0, named=True)["seeds"] == 8
    empty = summarize(OUTCOMES.clear(), by=["model"])
    assert empty.height == 0
    assert empty.schema == summarize(OUTCOMES, by=["model"]).schema
    nothing = OUTCOMES.with_columns(solved_at_step=None, sparsity_error=None, solved=False)
    assert summarize(nothing, by=["model"])["solved"].to_list() == [0, 0, 0]


def test_arguments():
    with pytest.raises(ValueError, match="no column 'models'; it has"):
        summarize(OUTCOMES, by=["models"])
    with pytest.raises(TypeError, match=r"^by is 'model'; give a list of strings$"):
        summarize(OUTCOMES, by="model")
    with pytest.raises(ValueError, match="no column 'status'"):
        summarize(OUTCOMES.drop("status"), by=["model"])
    for wrong in (["solved"], ["model", "model"]):
        with pytest.raises(ValueError, match=f"by holds '{wrong[0]}'"):
            summarize(OUTCOMES, by=wrong)
