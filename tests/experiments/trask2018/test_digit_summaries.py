"""The tables of digits, from made-up outcomes, and the paper's."""

import numpy as np
import polars as pl
import pytest

from data_sets import needs
from torchalu.experiments.trask2018.digit_data import TEST_LENGTHS, SeriesData
from torchalu.experiments.trask2018.digit_summaries import (
    as_printed,
    errors_by_length,
    laws,
    ranked,
    settled,
    which_to_pick,
)
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES, TABLE2, TABLE10
from torchalu.experiments.trask2018.unread import unread
from torchalu.tasks import load_mnist


def test_the_published_numbers_are_those_of_the_paper():
    cells = {row[:3]: row[3:] for row in DIGIT_TABLES.iter_rows()}
    assert cells["count", "NAC", 1][0] == pytest.approx(0.9923)
    assert cells["count", "NAC", 1000][1:] == (3.32, 3)
    assert cells["sum", "NALU", 100][1:] == (26.8, 1199.12)
    assert cells["count", "RNN-ReLU", 1000][1] == 1.4e10
    assert cells["sum", "LSTM", 1000][1:] == (8811.6, 38761851)
    assert TABLE2.height == TABLE10.height == DIGIT_TABLES.height == 48


def test_published_errors_of_sums_are_twice_those_of_an_answer_that_is_always_45():
    """As the page says: 4.5 a digit is what a network answers that has learned nothing."""
    for length, mae, mse in TABLE2.join(TABLE10, on=["task", "model", "length"]).filter(
        (pl.col("task") == "sum") & (pl.col("model") == "LSTM") & (pl.col("length") > 10)
    ).select("length", "published_mae", "published_mse").iter_rows():  # fmt: skip
        off = 4.5 * (length - 10)
        assert mae / off == pytest.approx(2, rel=0.02)
        assert mse / off**2 == pytest.approx(2, rel=0.03)


def outcome(model, seed, length, mae, *, task="sum", loss=1.0, law=None):
    found = {"task": task, "model": model, "length": length, "seed": seed, "mae": mae}
    found |= {"mse": mae**2, "accuracy": 1 - mae / 10, "validation_loss": loss}
    snapped = None if law is None else mae
    return found | {
        "snapped_mae": snapped, "law_mae": snapped, "rounded_mae": snapped, "law": law or None,
        "exact": True if law else None, "reading": "f0" if law else None, "read_right": 98,
        "read_images": 100, "read_low": 0.93, "read_high": 0.99,
    }  # fmt: skip


def test_cells_count_the_seeds_that_reach_the_best_published_error():
    rows = [outcome("NAC", seed, 100, mae) for seed, mae in enumerate((7.0, 9.0, float("nan")))]
    rows += [outcome("NAC", seed, 1, mae, loss=-seed) for seed, mae in enumerate((0.0, 1.0, 2.0))]
    rows.append(outcome("NMU", 0, 2, 1.0, task="product"))
    table = errors_by_length(pl.DataFrame(rows, infer_schema_length=None))
    cells = {(row["task"], row["length"]): row for row in table.iter_rows(named=True)}
    hundred, one = cells["sum", 100], cells["sum", 1]
    assert (hundred["best_mae"], hundred["median_mae"], hundred["worst_mae"]) == (
        7.0, 9.0, float("inf"),
    )  # fmt: skip
    assert (hundred["published_mae"], hundred["reached"], hundred["seeds"]) == (7.88, 1, 3)
    assert hundred["best_accuracy"] is None
    assert (one["reached"], one["published_accuracy"], one["chosen_mae"]) == (1, 0.976, 2.0)
    assert cells["product", 2]["reached"] is None
    assert hundred["reached_low"] < 1 / 3 < hundred["reached_high"]
    assert (hundred["low_mae"], hundred["high_mae"]) == (7.0, float("inf"))
    assert (one["low_accuracy"], one["high_accuracy"]) == (0.8, 1.0)


def test_tables_are_printed_as_in_the_paper():
    rows = [outcome(m, 0, n, 2.0) for m in ("NAC", "NAU") for n in TEST_LENGTHS["sum"]]
    cells = errors_by_length(pl.DataFrame(rows, infer_schema_length=None))
    table = as_printed(cells, "sum", "mse")
    bounds = ["accuracy_low", "accuracy_high"]
    first = ["model", "seeds", "accuracy_published", "accuracy_chosen", "accuracy_median"]
    assert table.columns[:7] == [*first, *bounds]
    assert table.columns[-2:] == ["mse_1000_low", "mse_1000_high"]
    assert table["mse_10_low"].to_list() == [None, None, None]  # of one seed
    assert table["model"].to_list() == ["NAC", "NAU", "reads nothing"]
    assert table["mse_1000_published"].to_list() == [280.89, None, None]
    assert table["mse_10_chosen"].to_list() == [4.0, 4.0, None]
    assert table["mse_1000_median"].to_list() == [4.0, 4.0, pytest.approx(8250)]
    assert table["accuracy_chosen"].to_list() == [80.0, 80.0, None]


def picks_of(rows):
    outcomes = pl.DataFrame(rows, infer_schema_length=None)
    return which_to_pick(errors_by_length(outcomes), errors_by_length(settled(outcomes)))


def test_the_model_with_the_lowest_median_is_picked_and_compared_with_the_papers_units():
    rows = [outcome("NALU", s, 10, 4.0) for s in range(2)] + [outcome("NAC", 0, 10, 6.0)]
    rows += [outcome("NAU", s, 10, mae) for s, mae in enumerate((1.0, 2.0, 0.5))]
    rows += [outcome("NMU", 0, 2, 3.0, task="product")]
    table = picks_of(rows)
    product, total = table.iter_rows(named=True)
    assert (total["pick"], total["median_mae"], total["reached"], total["seeds"]) == (
        "NAU", 1.0, 2, 3,
    )  # fmt: skip
    assert (total["paper"], total["factor"]) == ("NALU", 4.0)
    assert (total["published_model"], total["published_mae"]) == ("NAC", 1.42)
    assert (product["pick"], product["paper"], product["factor"]) == ("NMU", None, None)
    assert (product["published_model"], product["published_mae"]) == (None, None)


@pytest.mark.parametrize("task", ["count", "sum", "product"])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_what_reads_nothing_is_off_as_the_mean_is_of_drawn_series(task, length):
    digits = np.random.default_rng(0).integers(task == "product", 10, size=(200_000, length))
    targets = {
        "count": (digits == 3).sum(1), "sum": digits.sum(1), "product": digits.prod(1)
    }[task]  # fmt: skip
    away = targets - targets.mean()
    found = unread(task, length)
    assert found.mae == pytest.approx(np.abs(away).mean(), rel=0.02)
    assert found.mse == pytest.approx((away**2).mean(), rel=0.03)


@needs("mnist")
@pytest.mark.parametrize("length", [10, 100, 1000])
def test_what_reads_nothing_is_off_as_much_on_the_test_series(length):
    """Of 100 series of a length, errors are within a fifth of their expectation."""
    mean = load_mnist("train").labels.double().mean().item()
    _, targets = SeriesData("sum", 64, 0).test_series(length)
    away = (targets - length * mean).abs().mean().item()
    assert away == pytest.approx(unread("sum", length).mae, rel=0.2)


@pytest.mark.parametrize(("error", "by"), [(2.0, "median"), (3.0, "nothing holds")])
def test_nothing_holds_that_is_no_better_than_a_tenth_of_what_reads_nothing(error, by):
    """Of sums of 100, 2.3; the mean target is 450. One seed that reaches 7.88 is no proof."""
    (row,) = picks_of([outcome("NAC", 0, 100, error), outcome("GRU", 0, 100, 400.0)]).rows(
        named=True
    )
    assert (row["by"], row["reached"], row["pick"]) == (by, 1, "NAC")
    assert row["unread_mae"] == pytest.approx(22.93, abs=0.01)


def test_a_settled_unit_is_picked_if_all_of_its_seeds_were_snapped():
    rows = [outcome("NAC", s, 100, 9.0, law="") for s in range(2)]
    rows += [outcome("NAU", s, 100, 8.0, law="") for s in range(2)]
    rows += [outcome("GRU", s, 100, 5.0) for s in range(2)]
    for row, error in zip(rows[:4], (0.5, float("nan"), 3.0, 4.0), strict=True):
        row["law_mae"] = error
    (row,) = picks_of(rows).iter_rows(named=True)
    assert (row["pick"], row["form"], row["median_mae"], row["reached"]) == (
        "NAU", "settled", 3.5, 2,
    )  # fmt: skip
    assert (row["paper"], row["factor"]) == ("NAC", pytest.approx(9.0 / 3.5))
    rows[3]["law_mae"] = None  # its parameters were not finite
    (row,) = picks_of(rows).iter_rows(named=True)
    assert (row["pick"], row["form"]) == ("GRU", "trained")


def test_laws_are_those_of_the_lawful_seed_that_validates_best():
    rows = [
        outcome("NAU", 0, 10, 1.0, loss=0.5, law=""),
        outcome("NAU", 1, 10, 2.0, loss=0.9, law="sum of digit(image_t)"),
        outcome("NAU", 2, 10, 3.0, loss=0.7, law="sum of digit(image_t)"),
        outcome("LSTM", 0, 10, 3.0),
    ]
    rows[0] |= {"snapped_mae": None}  # its parameters were not finite
    (row,) = laws(pl.DataFrame(rows, infer_schema_length=None)).iter_rows(named=True)
    assert (row["model"], row["seeds"], row["lawful"], row["exact"]) == ("NAU", 3, 2, 2)
    assert (row["law"], row["settled_mae"], row["read_accuracy"]) == (
        "sum of digit(image_t)", 3.0, 0.98,
    )  # fmt: skip


def test_settings_that_diverged_rank_last():
    rows = {"model": ["a", "a"], "rate": [1.0, 2.0], "validation_loss": [float("nan"), 3.0]}
    assert ranked(pl.DataFrame(rows), ["model", "rate"], ["model"])["rate"].to_list() == [2.0, 1.0]
