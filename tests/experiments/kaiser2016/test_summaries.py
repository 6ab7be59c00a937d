"""The tables from made-up outcomes, and the paper's beside ours."""

from pathlib import Path

import polars as pl
import pytest

from torchalu.experiments.kaiser2016.grid import grid
from torchalu.experiments.kaiser2016.published import TABLE1
from torchalu.experiments.kaiser2016.summaries import by_length, learning
from torchalu.experiments.kaiser2016.table1 import table1

RESULTS = Path(__file__).parents[3] / "results" / "kaiser2016"


def made_up():
    """Two models, three seeds: by validation seed 1 of a is best, by test seed 2."""
    right = {
        ("a", 0): (5, 0), ("a", 1): (9, 10), ("a", 2): (10, 10),
        ("b", 0): (0, 0), ("b", 1): (2, 1), ("b", 2): (1, 4),
    }  # fmt: skip
    losses = {0: 0.3, 1: 0.1, 2: 0.2}
    rows = []
    for (model, seed), counts in right.items():
        common = {
            "task": "badd", "model": model, "seed": seed, "validation_loss": losses[seed],
            "best_step": 5, "steps": 10 * (seed + 1), "status": "finished", "seconds": 2.0,
            "solved_at_step": None if model == "b" else 100 * (seed + 1),
            "solved_at_seconds": None if model == "b" else 1.5, "parameters": 7,
        }  # fmt: skip
        for length, count in zip((20, 200), counts, strict=True):
            measured = {"right": count, "count": 10, "digits": 0.5, "failed": ""}
            rows.append(common | {"strings": "random", "length": length} | measured)
        measured = {"right": 3, "count": 3 + (model == "b"), "digits": 0.5, "failed": "1+1"}
        rows.append(common | {"strings": "ones", "length": 20} | measured)
    return pl.DataFrame(rows, infer_schema_length=None)


def test_the_seed_is_chosen_by_validation_and_the_best_one_is_shown_beside_it():
    table = by_length(made_up(), ["task", "model"])
    row = table.filter(model="a", strings="random", length=20).row(0, named=True)
    assert (row["seeds"], row["all_right"], row["best_rate"]) == (3, 1, 1.0)
    assert (row["chosen_seed"], row["right"], row["count"], row["rate"]) == (1, 9, 10, 0.9)
    assert row["rate_low"] == pytest.approx(0.5958, abs=1e-3)  # Wilson's interval of 9 of 10
    assert row["rate_high"] == pytest.approx(0.9821, abs=1e-3)


def test_seeds_that_learn_and_that_hold_are_counted():
    table = learning(made_up(), ["task", "model"])
    a, b = table.rows(named=True)
    assert (a["model"], a["seeds"], a["learned"]) == ("a", 3, 3)
    assert (a["right_everywhere"], a["right_adversarial"]) == (1, 3)
    assert (a["solved_at_step"], a["solved_at_seconds"], a["steps"]) == (200, 1.5, 20)
    assert (b["learned"], b["right_everywhere"], b["right_adversarial"]) == (0, 0, 0)
    assert b["solved_at_step"] is None


def test_table_1_has_the_papers_numbers_beside_ours():
    outcomes = made_up().with_columns(pl.col("model").replace({"a": "original", "b": "stack_rnn"}))
    tables = table1(tasks=("badd",), models=("improved",)).summarize(outcomes)
    names = ["table1", "table1_lengths", "table1_adversarial", "table1_learning"]
    assert list(tables) == [*names, "table1_failures"]
    assert tables["table1"].rows(named=True) == [
        {
            "task": "badd", "length": 20, "original": 100.0, "original_published": 100.0,
            "stack_rnn": 20.0, "stack_rnn_published": 100.0,
        },
        {
            "task": "badd", "length": 200, "original": 100.0, "original_published": 100.0,
            "stack_rnn": 40.0, "stack_rnn_published": 0.0,
        },
    ]  # fmt: skip
    assert tables["table1_adversarial"].rows() == [
        ("badd", "original", "ones", 100.0),
        ("badd", "stack_rnn", "ones", 75.0),
    ]


def test_every_failure_of_a_neural_gpu_is_listed():
    outcomes = made_up().with_columns(pl.col("model").replace({"a": "stack_rnn", "b": "improved"}))
    failures = table1(tasks=("badd",), models=("improved",)).summarize(outcomes)["table1_failures"]
    assert failures.columns == [
        "task", "model", "seed", "strings", "length", "right", "count", "wrong_digits",
    ]  # fmt: skip
    assert failures.select("seed", "strings", "length", "right", "count").rows() == [
        (0, "ones", 20, 3, 4), (0, "random", 20, 0, 10), (0, "random", 200, 0, 10),
        (1, "ones", 20, 3, 4), (1, "random", 20, 2, 10), (1, "random", 200, 1, 10),
        (2, "ones", 20, 3, 4), (2, "random", 20, 1, 10), (2, "random", 200, 4, 10),
    ]  # fmt: skip
    assert failures["wrong_digits"].unique().to_list() == [0.5]


@pytest.mark.parametrize("folder", sorted({path.parent for path in RESULTS.rglob("table1*.csv")}))
def test_the_committed_failures_are_those_of_the_committed_neural_gpus(folder):
    outcomes = pl.read_csv(folder / "table1_seeds.csv", infer_schema_length=None)
    ours = pl.col("model").is_in(["improved", "original"])
    wrong = outcomes.filter(ours, pl.col("right") < pl.col("count"))
    keys = ["task", "model", "seed", "strings", "length", "right", "count"]
    listed = pl.read_csv(folder / "table1_failures.csv", infer_schema_length=None)
    assert listed.select(keys).rows() == wrong.select(keys).sort(keys[:5]).rows()


def test_the_published_table_is_the_papers():
    rates = {tuple(row[:3]): row[3] for row in TABLE1.rows()}
    assert rates["badd", "lstm_attention", 25] == 0.73
    assert rates["badd", "stack_rnn", 100] == 0.88
    assert all(rate == 1 for (_, model, _), rate in rates.items() if model == "original")
    assert len(rates) == 9 + 5 + 9
    assert ("bmul", "stack_rnn", 20) not in rates


def test_the_grid_counts_runs_without_an_error():
    outcomes = made_up().drop("model")
    made = grid(tasks=("badd",), cells=1)
    labels = {name: pl.lit(0.1) for name in made.keys[1:-3]}
    tables = made.summarize(outcomes.with_columns(**labels))
    assert list(tables)[:2] == ["grid", "grid_cells"]
    assert tables["grid"].rows() == [("badd", 20, 6, 1, 1.0), ("badd", 200, 6, 2, 1.0)]
