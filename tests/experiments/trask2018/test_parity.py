"""Even digits in a picture: the network, its last layers, training and table 4."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from torch.nn import functional

from data_sets import needs
from digit_bars import bars
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018 import parity
from torchalu.experiments.trask2018.parity import ParitySetting, ParityTraining, table4
from torchalu.experiments.trask2018.parity_networks import (
    LAYERS,
    PooledConvolution,
    SquashedLinear,
    parity_network,
)
from torchalu.experiments.trask2018.parity_summaries import accuracies, which_to_pick
from torchalu.experiments.trask2018.published_digits import SEGUI_ACCURACY, TABLE4
from torchalu.tasks import MNISTParity
from torchalu.train import Stopped

TINY = ParityTraining(
    steps=4, evaluate_every=2, batch_size=2, validation_pictures=5, test_pictures=7
)


@pytest.fixture(autouse=True)
def made_up(monkeypatch, request):
    if "mnist" not in request.keywords:
        monkeypatch.setattr(parity, "load_mnist", bars)


def test_squashed_weights_are_between_0_and_1_or_around_0():
    x = torch.rand(4, 3)
    for squash, function in (("sigmoid", torch.sigmoid), ("tanh", torch.tanh)):
        layer = SquashedLinear(3, 2, squash)
        expected = x @ function(layer.weight).T + layer.bias
        torch.testing.assert_close(layer(x), expected)
        plain = SquashedLinear(3, 2, squash, bias=False)
        assert plain.bias is None
        torch.testing.assert_close(plain(x), x @ function(plain.weight).T)
    with pytest.raises(ValueError, match="squash holds 'than'; did you mean 'tanh'"):
        SquashedLinear(3, 2, "than")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("width", range(17, 23))
@pytest.mark.parametrize("side", [3, 4, 15])
def test_three_columns_at_once_are_a_convolution(width, side):
    layer = PooledConvolution(4, side).double()
    x = torch.randn(3, 1, 17, width, dtype=torch.float64, requires_grad=True)
    inputs = x, layer.weight, layer.bias
    expected, output = functional.max_pool2d(functional.conv2d(*inputs), 2), layer(x)
    torch.testing.assert_close(output, expected)
    slope = torch.randn_like(output)
    torch.testing.assert_close(
        torch.autograd.grad(output, inputs, slope), torch.autograd.grad(expected, inputs, slope)
    )


def test_the_network_is_as_described():
    network = parity_network("linear")
    weights = list(network.parameters())
    sizes = [10 * 15 * 15, 10, 10 * 10 * 9, 10, 10 * 20 * 20 * 32, 32, 32 * 6, 6]
    assert [p.numel() for p in weights] == sizes
    x = torch.rand(2, 1, 100, 100)
    y = functional.max_pool2d(functional.relu(functional.conv2d(x, *weights[:2])), 2)
    y = functional.max_pool2d(functional.relu(functional.conv2d(y, *weights[2:4])), 2)
    y = functional.relu(functional.linear(y.reshape(2, -1), *weights[4:6]))
    torch.testing.assert_close(network(x), functional.linear(y, *weights[6:]))


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_overfits_one_batch(layer):
    images, targets = MNISTParity(bars("train"), size=60, num_digits=(1, 2)).batch(0, 8)
    torch.manual_seed(0)
    network = parity_network(layer, 3, 60)
    optimizer = torch.optim.Adam(network.parameters(), 3e-3, fused=True)
    for _ in range(60):
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(images), targets)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.5  # log(3) = 1.1 is what is known without a look


@pytest.mark.usefixtures("every_step_reports")
def test_a_stopped_run_goes_on_and_gives_the_same(tmp_path):
    setting = ParitySetting({"layer": "NAC"}, "NAC", TINY)
    whole = setting.run(0, tmp_path / "whole", lambda done: None)
    assert whole.records["step"].to_list() == [2, 4]

    def stop(done):
        raise Stopped

    with pytest.raises(Stopped):
        setting.run(0, tmp_path / "broken", stop)
    broken = setting.run(0, tmp_path / "broken", lambda done: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)
    assert all(broken.weights[name].equal(value) for name, value in whole.weights.items())


def test_pictures_are_measured_in_parts_and_all_of_them(monkeypatch):
    network = parity_network("linear").eval()
    monkeypatch.setattr(parity, "_PICTURES_AT_ONCE", 3)
    found = parity._Pictures("test", 7, 2).measure(network)
    task = MNISTParity(bars("test"), seed=2)
    parts = [task.batch(0, 3), task.batch(1, 3), task.batch(2, 1)]
    images, targets = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
    with torch.no_grad():
        loss = functional.cross_entropy(network(images), targets).item()
        right = network(images).argmax(-1).eq(targets).double().mean().item()
    assert found == {
        "validation_loss": pytest.approx(loss, rel=1e-5),
        "validation_accuracy": pytest.approx(right),
    }


def test_a_search_looks_at_no_test_picture(tmp_path):
    training = replace(TINY, batch_size=64, test_pictures=10_000)
    rates = (0.01, 0.001)
    study = parity.table4_search(training, layers=("tanh",), learning_rates=rates, batch_sizes=(2,))
    parts = [study.run(chunk, tmp_path / chunk.name, lambda f: None) for chunk in study.chunks()]
    outcomes = pl.concat([part.outcomes for part in parts])
    assert "test_accuracy" not in outcomes.columns
    table = study.summarize(outcomes)["table4_search"]
    assert table["seeds"].to_list() == [2, 2]
    assert table["median_validation_loss"].is_sorted()


def test_the_published_numbers_are_those_of_the_paper():
    published = dict(TABLE4.iter_rows())
    assert published["NAC"] == 0.931
    assert published["linear_no_bias"] == 0.914
    assert set(published) <= set(LAYERS)
    # "The NAC reduces the error of the previous best results by 54%."
    assert 1 - (1 - published["NAC"]) / (1 - SEGUI_ACCURACY) == pytest.approx(0.54, abs=0.005)


def test_accuracies_stand_beside_the_published_ones_in_their_order():
    rows = [
        {"layer": layer, "seed": seed, "validation_loss": loss, "test_accuracy": accuracy}
        for layer, runs in (
            ("NAU", [(0.1, 0.95)]),
            ("NAC", [(0.3, 0.90), (0.2, 0.92), (0.4, 0.94)]),
            ("linear", [(float("nan"), 0.1), (0.5, 0.88)]),
        )
        for seed, (loss, accuracy) in enumerate(runs)
    ]
    table = accuracies(pl.DataFrame(rows))
    assert table["layer"].to_list() == ["linear", "NAC", "NAU"]
    linear, nac, nau = table.iter_rows(named=True)
    assert (linear["published_accuracy"], linear["segui"], linear["chosen"]) == (0.881, 0.851, 0.88)
    assert (nac["best"], nac["chosen"], nac["median"], nac["reached"]) == (0.94, 0.92, 0.92, 1)
    half = 4.302653 * np.std([0.90, 0.92, 0.94], ddof=1) / np.sqrt(3)
    assert nac["mean_high"] == pytest.approx(0.92 + half, rel=1e-5)
    assert (nau["published_accuracy"], nau["mean_low"]) == (None, None)
    (pick,) = which_to_pick(table).iter_rows(named=True)
    assert (pick["pick"], pick["by"], pick["seeds"], pick["reached"]) == ("NAU", "median", 1, 1)
    assert (pick["paper"], pick["paper_seeds"]) == ("NAC", 3)
    assert pick["factor"] == pytest.approx(0.08 / 0.05)


def test_studies_describe_themselves_and_wrong_options_are_named():
    study = table4(seeds=Seeds(2))
    assert len(study.chunks()) == 2 * len(LAYERS)
    assert json.loads(json.dumps(study.configuration)) == study.configuration
    with pytest.raises(ValueError, match="layers holds 'NCA'"):
        table4(layers=("NCA",))
    with pytest.raises(ValueError, match="test_pictures is 0; give a positive integer"):
        ParityTraining(test_pictures=0)


@needs("mnist")
def test_twenty_steps_on_real_digits(tmp_path):
    training = ParityTraining(
        steps=20, evaluate_every=10, batch_size=4, validation_pictures=20, test_pictures=20
    )
    part = ParitySetting({"layer": "NAC"}, "NAC", training).run(0, tmp_path, lambda done: None)
    assert part.outcomes["steps"].to_list() == [20]
    assert part.records["validation_loss"].is_finite().all()


@needs("mnist")
@pytest.mark.long
def test_a_short_run_on_real_digits_beats_the_most_frequent_answer(tmp_path):
    training = ParityTraining(steps=300, evaluate_every=100, test_pictures=1000)
    part = ParitySetting({"layer": "NAC"}, "NAC", training).run(0, tmp_path, lambda done: None)
    assert part.outcomes["test_accuracy"][0] > 0.35  # one even digit: 0.3


def test_outcomes_and_weights_are_of_the_best_step(tmp_path):
    training = replace(TINY, steps=8, evaluate_every=1, learning_rate=0.05, test_pictures=5)
    part = ParitySetting({"layer": "linear"}, "linear", training).run(
        0, tmp_path, lambda done: None
    )
    best = part.records.sort("validation_loss").row(0, named=True)
    (row,) = part.outcomes.rows(named=True)
    assert row["best_step"] == best["step"] < row["steps"]
    assert row["validation_loss"] == pytest.approx(best["validation_loss"], rel=1e-6)
    network = parity_network("linear")
    network.load_state_dict(part.weights)
    images, targets = MNISTParity(bars("test"), seed=2).batch(0, 5)
    with torch.no_grad():
        right = network(images).argmax(1) == targets
    assert row["test_accuracy"] == right.double().mean().item()
