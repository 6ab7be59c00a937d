"""Covertype: networks and boosted trees side by side, on patches that the tests make."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from torchalu import sweep
from torchalu.evaluate import compare
from torchalu.experiments.lowe2022 import covertype as module
from torchalu.experiments.lowe2022.boosting import BOOSTING, Boosting, boost
from torchalu.experiments.lowe2022.covertype import covertype
from torchalu.experiments.lowe2022.data import Samples
from torchalu.tasks import Patches
from torchalu.train import Stopped

TREES = Boosting(iterations=20, leaves=7)
RUNS = replace(module._RUNS, seeds=2, epochs=10, batch_size=32)


@pytest.fixture
def patches(monkeypatch):
    """Rows whose cover type is settled by two of the measures."""
    random = np.random.default_rng(0)
    features = torch.from_numpy(random.standard_normal((1500, 54))).float()
    labels = (features[:, 0] > 0).long() + 2 * (features[:, 1] > 0).long()
    labels[:90] = torch.arange(90) % 3 + 4
    features[:90, 2] = 10.0 * labels[:90]
    monkeypatch.setattr(module, "load_covertype", lambda: Patches(features, labels))
    module._load.cache_clear()
    yield Patches(features, labels)
    module._load.cache_clear()


@pytest.mark.usefixtures("patches")
def test_networks_and_trees_learn_and_are_compared(tmp_path):
    study = covertype(RUNS, activations=("relu", "or_ail"), widths=(32,), boosting=TREES)
    outcomes = sweep.run(study, tmp_path, workers=1)  # here, where the patches are
    assert outcomes["activation"].to_list() == ["relu", "or_ail"] * 2 + [BOOSTING] * 2
    trees = outcomes.filter(activation=BOOSTING)
    assert trees["test_accuracy"].min() > 0.95
    assert outcomes["test_accuracy"].min() > 0.75
    assert trees["parameters"].null_count() == 2
    every, best = study.summarize(outcomes).values()
    for table in (every, best):
        assert table["activation"].to_list() == ["relu", "or_ail", BOOSTING]
        assert table["label"].to_list()[-1] == "gradient boosting"
        assert table["p_baseline"].is_null().to_list() == [True, False, True]
        assert table.filter(activation=BOOSTING)["p_best"].null_count() == 1
        (marked,) = table.filter(pl.col("marks").str.contains("best"))["activation"]
        assert marked != BOOSTING
        networks = outcomes.filter(pl.col("activation") != BOOSTING)
        plain = compare(networks, "activation", "test_accuracy", baseline="relu")
        assert table["p_best"].to_list()[:2] == plain["p_best"].to_list()


def test_the_random_split_is_the_same_for_all_and_disjoint(patches):
    data = module._load("random")
    sizes = [len(part.labels) for part in (data.train, data.validation, data.test)]
    assert sizes == [1050, 225, 225]
    order = torch.randperm(1500, generator=torch.Generator().manual_seed(2022))
    assert torch.equal(data.train.labels, patches.labels[order[:1050]])
    assert torch.equal(data.test.labels, patches.labels[order[1275:]])


@pytest.mark.usefixtures("every_step_reports")
def test_a_fit_of_trees_reports_and_can_be_ended():
    samples = Samples(torch.arange(100.0)[:, None], (torch.arange(100) > 49).long())
    seen = []
    boost(samples, samples, replace(TREES, iterations=25), 0, seen.append)
    assert seen == [0.4, 0.8, 1.0]

    def end(fraction):
        raise Stopped(fraction)

    with pytest.raises(Stopped):
        boost(samples, samples, TREES, 0, end)


def test_boosted_trees_are_scikit_learns():
    random = np.random.default_rng(1)
    x, y = random.standard_normal((200, 3)).astype(np.float32), random.integers(3, size=200)
    train, validation = (
        Samples(torch.from_numpy(x[rows]), torch.from_numpy(y[rows]))
        for rows in (slice(150), slice(150, None))
    )
    trees = boost(train, validation, TREES, seed=0)
    model = HistGradientBoostingClassifier(
        max_iter=20, max_leaf_nodes=7, learning_rate=0.1, early_stopping=False, random_state=0,
        l2_regularization=1.0,
    ).fit(x[:150], y[:150])  # fmt: skip
    accuracies = [np.mean(stage == y[150:]) for stage in model.staged_predict(x[150:])]
    assert trees.iterations == 1 + int(np.argmax(accuracies)) < 20
    expected = list(model.staged_predict_proba(x))[trees.iterations - 1]
    torch.testing.assert_close(trees(torch.from_numpy(x)).exp(), torch.from_numpy(expected))


def test_without_trees_there_are_networks_alone():
    study = covertype(activations=("relu",), widths=(32,), boosting=Boosting(iterations=0))
    assert len(study.chunks()) == 5
    assert len(study.configuration["settings"]) == 1
    with_trees = covertype(activations=("relu",), widths=(32,))
    described = with_trees.configuration["settings"][1]
    assert described["labels"]["activation"] == BOOSTING
    assert (described["iterations"], described["l2"]) == (400, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Boosting(iterations=-1), "iterations is -1 and leaves 127; give 0 or more"),
        (lambda: Boosting(leaves=1), "iterations is 400 and leaves 1"),
        (lambda: Boosting(l2=-1.0), "l2 is -1.0; give 0 or more"),
        (lambda: Boosting(learning_rate=0.0), "learning_rate is 0.0; give a positive number"),
        (lambda: covertype(splits=("half",)), "splits holds 'half'; did you mean"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
