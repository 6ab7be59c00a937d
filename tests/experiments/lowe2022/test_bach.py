"""Excerpts of chorales that the tests write: networks, training, correlations, summaries."""

import json
import re

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats
from torch import nn

from data_sets import needs
from lowe2022_data import put_chorales
from torchalu.evaluate import holm
from torchalu.experiments.lowe2022 import bach as module
from torchalu.experiments.lowe2022.activations import FIGURE5
from torchalu.experiments.lowe2022.bach import bach, bach_setting, excerpts
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.independence import (
    correlations,
    independence,
    preactivations,
    summarize_independence,
)
from torchalu.experiments.lowe2022.perceptrons import perceptrons
from torchalu.experiments.lowe2022.training import (
    ClassificationRuns,
    classification_loss,
    train_classifier,
)
from torchalu.tasks import IsItBach
from torchalu.train import Stopped

TINY = ClassificationRuns(seeds=2, epochs=2, batch_size=16)


@pytest.fixture
def chorales(monkeypatch, tmp_path):
    """Few chorales in place of Bach's."""
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path))
    clear()
    yield put_chorales(tmp_path, monkeypatch)
    clear()


def clear():
    module._load.cache_clear()
    module._task.cache_clear()


def small(**options):
    return bach(**{"runs": TINY, "activations": ("relu", "xnor_ail"), "width": 8} | options)


@pytest.mark.usefixtures("chorales")
@pytest.mark.usefixtures("every_step_reports")
def test_a_chunk_goes_on_where_it_was_stopped(tmp_path):
    study = small()
    chunk = study.chunks()[1]
    assert chunk.name == "xnor_ail-seed0"
    whole = study.run(chunk, tmp_path / "whole", lambda _: None)

    def stop(fraction):
        raise Stopped

    with pytest.raises(Stopped):
        study.run(chunk, tmp_path / "broken", stop)
    broken = study.run(chunk, tmp_path / "broken", lambda _: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)
    assert whole.outcomes["steps"].to_list() == [2 * (2 * 16 * 5 // 16)]


def test_training_excerpts_are_corrupted_anew_and_held_out_ones_always_alike(chorales):
    data = excerpts(4, 0.2).load()
    task = IsItBach(chorales, "train", 4, rate=0.2, seed=3)
    for step in (0, 7):
        inputs, labels = data.batch(step, 6, seed=3)
        features, targets = task.batch(step, 6)
        assert torch.equal(inputs, features)
        assert labels.tolist() == targets[:, 0].tolist() == [1, 0] * 3
    assert not torch.equal(data.batch(0, 6, seed=3).inputs, data.batch(0, 6, seed=4).inputs)
    held = IsItBach(chorales, "test", 4, rate=0.2).pairs()
    found = torch.cat([batch.inputs for batch in data.batches("test")])
    assert torch.equal(found, held.features)
    assert found.dtype == torch.float32


@pytest.mark.usefixtures("chorales")
@pytest.mark.parametrize("name", FIGURE5)
def test_each_network_learns_a_batch_by_heart(name):
    source = excerpts(4, 0.3)
    batch = source.load().batch(0, 16, seed=0)
    network = bach_setting(name, Hyperparameters(), 32, source).network(0)
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(150):
        optimizer.zero_grad()
        loss = classification_loss(network(batch.inputs), batch.labels)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


@pytest.mark.usefixtures("chorales")
def test_notes_off_the_chord_are_found():
    source = excerpts(4, 0.9)
    network = bach_setting("relu", Hyperparameters(), 32, source).network(0)
    runs = ClassificationRuns(epochs=20, batch_size=16)
    result = train_classifier(network, source.load(), Hyperparameters(), runs, 0)
    assert result.records["validation_accuracy"][-1] > 0.8


def test_sizes_agree_and_the_configuration_has_all_numbers(chorales):
    study = small(activations=FIGURE5, width=64, steps=3, rate=0.25)
    sizes = [setting.parameters for setting in study.settings]
    assert max(sizes) / min(sizes) < 1.08
    features = IsItBach(chorales, "train", 3).in_features
    assert sizes[0] == (features + 1) * 64 + 65 * 64 + 65
    text = json.dumps(study.configuration)
    assert "excerpts of 3 beats" in text
    assert "0.25 of the notes" in text
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", chunk.name) for chunk in study.chunks())


def test_correlations_are_those_of_numpy():
    random = np.random.default_rng(0)
    features = random.standard_normal((50, 6))
    features[:, 3] = 5 - 2 * features[:, 2]
    found = correlations(torch.from_numpy(features))
    expected = np.corrcoef(features.T)
    np.testing.assert_allclose(found["paired"], expected[[0, 2, 4], [1, 3, 5]], atol=1e-12)
    assert found["paired"][1] == pytest.approx(-1)
    others = [(i, j) for i in range(6) for j in range(i + 1, 6) if (i, j) not in
              {(0, 1), (2, 3), (4, 5)}]  # fmt: skip
    np.testing.assert_allclose(found["unpaired"], [expected[pair] for pair in others], atol=1e-12)


def test_features_that_never_change_have_no_correlation():
    features = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
    features[:, 1] = 0.1
    found = correlations(features)
    assert (found["paired"].size, found["unpaired"].size) == (1, 2)
    nothing = independence([torch.zeros(5, 2)])
    assert set(nothing.values()) == {None}


def test_measures_are_numpys():
    features = torch.randn(30, 8, generator=torch.Generator().manual_seed(1))
    columns = independence([features[:, :2], features])
    found = correlations(features)["unpaired"]
    assert columns["layer2_unpaired_mean"] == pytest.approx(found.mean())
    assert columns["layer2_unpaired_mean_absolute"] == pytest.approx(abs(found).mean())
    assert columns["layer2_unpaired_q95"] == pytest.approx(np.quantile(found, 0.95))
    assert columns["layer1_unpaired_median"] is None


def test_features_are_taken_before_the_activations():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.Tanh(), nn.Linear(2, 1))
    batches = [torch.randn(5, 3), torch.randn(2, 3)]
    first, second = preactivations(network, batches)
    x = torch.cat(batches)
    torch.testing.assert_close(first, network[0](x).detach())
    torch.testing.assert_close(second, network[2](network[0](x).relu()).detach())


def test_summary_of_correlations_is_scipys():
    random = np.random.default_rng(0)
    means = {
        (name, kind): random.normal(place / 10, 0.1, 4)
        for place, (name, kind) in enumerate(
            (name, kind) for name in ("relu", "or_ail") for kind in ("paired", "unpaired")
        )
    }
    columns = independence([torch.randn(9, 4)])
    outcomes = pl.DataFrame(
        [
            {**columns, "activation": name, "seed": seed}
            | {f"layer1_{kind}_mean": means[name, kind][seed] for kind in ("paired", "unpaired")}
            for name in ("relu", "or_ail")
            for seed in range(4)
        ]
    )
    table = summarize_independence(outcomes, 1)
    assert table.select("activation", "kind", "n").rows() == [
        (name, kind, 4) for name, kind in means
    ]
    tests = [
        stats.ttest_ind(means[name, "paired"], means[name, "unpaired"], equal_var=False).pvalue
        for name in ("relu", "or_ail")
    ]
    assert table["p_paired"].drop_nulls().to_list() == pytest.approx(holm(tests))
    row = table.row(2, named=True)
    values = means["or_ail", "paired"]
    interval = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), *interval))
    assert row["q25"] == pytest.approx(columns["layer1_paired_q25"])


@pytest.mark.usefixtures("chorales")
def test_tables_of_a_study(tmp_path):
    study = small()
    parts = [study.run(chunk, tmp_path / chunk.name, lambda _: None) for chunk in study.chunks()]
    tables = study.summarize(pl.concat([part.outcomes for part in parts]))
    assert list(tables) == ["bach", "bach_independence"]
    assert tables["bach"].select("activation", "label", "n").rows() == [
        ("relu", "ReLU", 2), ("xnor_ail", "XNOR AIL", 2)
    ]  # fmt: skip
    assert tables["bach_independence"].height == 2 * 2 * 2


@pytest.mark.usefixtures("chorales")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activations": ("xor_ail",)}, "did you mean 'xnor_ail'"),
        ({"activations": ()}, "activations is empty"),
        ({"steps": 0}, "steps is 0; give a positive integer"),
        ({"steps": 99}, "ask for fewer steps"),
        ({"rate": 0.0}, "rate is 0.0; give a probability"),
        ({"width": 0}, "width holds 0; give positive numbers"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        small(**options)


def test_chorales_that_are_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path))
    clear()
    with pytest.raises(FileNotFoundError, match="torchalu data chorales"):
        bach()


def test_widths_of_mlps_with_two_hidden_layers():
    family = perceptrons(5, 3)
    assert family.parameters((4, 6), "relu") == 6 * 4 + 5 * 6 + 7 * 3
    assert sum(p.numel() for p in family.build((4, 6), "or_ail").parameters()) == (
        6 * 4 + 3 * 6 + 4 * 3
    )


@needs("chorales")
def test_sizes_on_bachs_chorales():
    clear()
    sizes = [setting.parameters for setting in bach(activations=FIGURE5).settings]
    assert sizes[0] == 1473 * 128 + 129 * 128 + 129
    assert max(sizes) / min(sizes) < 1.02
