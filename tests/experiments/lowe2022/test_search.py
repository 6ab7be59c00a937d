"""The random search, and the hyperparameters it leaves."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from torchalu.experiments import get
from torchalu.experiments.lowe2022 import hyperparameters as hyperparameters_module
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen, drawn
from torchalu.experiments.lowe2022.mnist import figure5
from torchalu.experiments.lowe2022.search import SearchRuns, best_draws, search

RESULTS = Path(__file__).parents[3] / "results" / "lowe2022"


def test_draws_are_the_same_for_all_and_spread_over_the_magnitudes():
    study = search(networks=("mlp",), activations=("relu", "or_ail"), draws=4, first_draw=2)
    found = {(s.labels["activation"], s.labels["draw"]): s.hyperparameters for s in study.settings}
    assert found == {(name, k): drawn(k) for name in ("relu", "or_ail") for k in range(2, 6)}
    many = [drawn(k) for k in range(2000)]
    for values, low, high in (
        ([h.learning_rate for h in many], 3e-4, 1e-1),
        ([h.weight_decay for h in many], 1e-7, 1e-2),
    ):
        share = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
        assert share.min() > 0
        assert share.max() < 1
        assert share.mean() == pytest.approx(0.5, abs=5 / np.sqrt(12 * 2000))


@pytest.mark.parametrize("network", ["mlp", "cnn", "transfer", "covertype", "resnet"])
def test_networks_of_all_experiments_can_be_searched_for(network):
    study = search(networks=(network,), activations=("relu", "ail_or_xnor_p"), draws=2)
    assert study.keys == ("network", "activation", "draw", "seed")
    assert [setting.hyperparameters for setting in study.settings] == [
        drawn(draw) for draw in (0, 1) for _ in range(2)
    ]
    relu, other = (setting.parameters for setting in study.settings[:2])
    assert other == pytest.approx(relu, rel=0.06) or network == "resnet"
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", chunk.name) for chunk in study.chunks())


def test_the_smallest_network_is_searched_for_at_higher_rates():
    study = search(networks=("four_logits",), activations=("xnor_ail",), draws=300)
    rates = np.log([setting.hyperparameters.learning_rate for setting in study.settings])
    share = (rates - np.log(3e-3)) / np.log(1000)
    assert (share.min() > 0, share.max() < 1) == (True, True)
    assert share.mean() == pytest.approx(0.5, abs=5 / np.sqrt(12 * 300))
    decays = [setting.hyperparameters.weight_decay for setting in study.settings]
    assert decays == [drawn(draw).weight_decay for draw in range(300)]


@pytest.mark.parametrize(
    ("network", "experiment"),
    [
        ("four_logits", "figure4"),
        ("mlp", "figure5"),
        ("transfer", "table1"),
        ("resnet", "figure6"),
    ],
)
def test_a_network_is_searched_for_as_its_experiment_trains_it(network, experiment):
    compared = get(f"lowe2022.{experiment}")().settings
    searched = search(networks=(network,), draws=1).settings
    names = {setting.labels["activation"] for setting in compared}
    assert {setting.labels["activation"] for setting in searched} == names
    numbers = compared[0].runs.epochs, compared[0].runs.batch_size
    assert {(s.runs.epochs, s.runs.batch_size) for s in searched} == {numbers}
    short = search(SearchRuns(epochs=3), networks=(network,), draws=1).settings[0]
    assert (short.runs.epochs, short.runs.batch_size) == (3, numbers[1])


@pytest.mark.usefixtures("digits")
def test_the_search_names_the_draw_that_validates_best(tmp_path, monkeypatch):
    runs = SearchRuns(seeds=1, epochs=2, batch_size=8)
    study = search(runs, networks=("mlp",), activations=("relu",), draws=3)
    parts = [study.run(c, tmp_path / c.name, lambda f: None).outcomes for c in study.chunks()]
    every = pl.concat(parts)
    (table,) = study.summarize(every).values()
    best = every.sort("validation_accuracy", "draw", descending=[True, False]).row(0, named=True)
    (row,) = table.rows(named=True)
    assert {name: row[name] for name in ("draw", "learning_rate", "validation_accuracy")} == {
        name: best[name] for name in ("draw", "learning_rate", "validation_accuracy")
    }
    assert row["draws"] == 3
    table.write_csv(tmp_path / "hyperparameters.csv")
    monkeypatch.setattr(hyperparameters_module, "files", lambda package: tmp_path)
    hyperparameters_module._table.cache_clear()
    try:
        assert chosen("mlp", "relu") == drawn(row["draw"])
        assert chosen("mlp", "relu", weight_decay=0.5).learning_rate == row["learning_rate"]
        assert chosen("cnn", "relu") == Hyperparameters()
    finally:
        hyperparameters_module._table.cache_clear()


def test_the_packaged_hyperparameters_are_those_of_the_committed_search():
    """Both files are there, or neither."""
    committed = RESULTS / "search.csv"
    packaged = Path(hyperparameters_module.__file__).with_name("hyperparameters.csv")
    assert packaged.is_file() == committed.is_file()
    if packaged.is_file():
        assert packaged.read_text("utf-8") == committed.read_text("utf-8")


def test_the_best_draw_is_one_of_those_with_the_most_seeds():
    columns = ("draw", "seed", "validation_accuracy")
    rows = [(0, 1000, 0.99), (1, 1000, 0.9), (1, 1001, 0.96), (2, 1000, 0.94), (2, 1001, 0.94)]
    table = pl.DataFrame([dict(zip(columns, row, strict=True)) for row in rows]).with_columns(
        pl.lit("mlp").alias("network"),
        pl.lit("relu").alias("activation"),
        *(pl.lit(0.1).alias(name) for name in ("learning_rate", "weight_decay")),
    )
    (best,) = best_draws(table)["search"].rows(named=True)
    assert (best["draw"], best["draws"]) == (2, 3)
    assert best["validation_accuracy"] == pytest.approx(0.94)


def test_no_seed_of_a_search_is_one_of_an_experiment():
    numbers = search(networks=("mlp",), activations=("relu",), draws=1).seeds.numbers
    assert not {*numbers} & {*figure5().seeds.numbers}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: search(draws=0), "draws is 0; give a positive integer"),
        (lambda: search(first_draw=-1), "first_draw is -1; give 0 or more"),
        (lambda: search(SearchRuns(epochs=0)), "epochs is 0; give a positive integer"),
        (lambda: search(activations=()), "activations is empty"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
