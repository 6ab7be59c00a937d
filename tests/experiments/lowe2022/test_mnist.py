"""MNIST as the paper splits it, and figure 5."""

import json
import re

import pytest
from torch import nn

from torchalu.experiments.lowe2022.activations import (
    FIGURE4,
    FIGURE5,
    FIGURE6,
    LABELS,
    TABLE1,
    check_activations,
)
from torchalu.experiments.lowe2022.data import load_mnist_data
from torchalu.experiments.lowe2022.mnist import figure5
from torchalu.experiments.lowe2022.training import (
    ClassificationRuns,
)
from torchalu.experiments.lowe2022.transfer import TORCH
from torchalu.nn import activation
from torchalu.tasks import load_mnist


@pytest.mark.usefixtures("digits")
def test_the_last_of_the_training_file_validate():
    data = load_mnist_data()
    assert [len(part.labels) for part in (data.train, data.validation, data.test)] == [56, 24, 30]
    assert data.validation.labels.tolist() == [k % 10 for k in [*range(56, 60), *range(20)]]
    (batch,) = data.batches("validation")
    white = (1 - 0.1307) / 0.3081
    assert batch.inputs.shape == (24, 1, 28, 28)
    assert batch.inputs.max().item() == pytest.approx(white, rel=1e-5)


@pytest.mark.mnist
def test_the_real_digits_are_split_as_the_paper_has_them():
    load_mnist_data.cache_clear()
    data = load_mnist_data()
    assert [len(part.labels) for part in (data.train, data.validation, data.test)] == [
        *(50_000, 10_000, 10_000)
    ]
    assert data.validation.labels[-5000:].equal(load_mnist("validation").labels)


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(("network", "width"), [("mlp", 32), ("cnn", 8)])
def test_each_network_of_figure_5_learns_bars(network, width, tmp_path):
    runs = ClassificationRuns(seeds=1, epochs=30, batch_size=16, learning_rate=0.02)
    study = figure5(
        runs, networks=(network,), activations=("ail_or_xnor_d",), **{f"{network}_widths": (width,)}
    )
    (chunk,) = study.chunks()
    part = study.run(chunk, tmp_path, lambda fraction: None)
    assert part.outcomes["test_accuracy"].item() > 0.9


def test_figure_5_has_the_papers_networks_and_activations():
    study = figure5()
    assert study.keys == ("network", "activation", "width", "seed")
    assert json.loads(json.dumps(study.configuration)) == study.configuration
    labels = {tuple(setting.labels.values()) for setting in study.settings}
    assert len(labels) == len(study.settings) == len(FIGURE5) * (8 + 4)
    widths = [s["labels"]["width"] for s in study.configuration["settings"]]
    assert max(widths) / min(widths) >= 100
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", chunk.name) for chunk in study.chunks())


def test_an_activation_is_the_same_in_every_spelling():
    plain = figure5(networks=("mlp",), activations=("relu", "or_ail", "ail_or_xnor_d"))
    other = figure5(networks=("mlp",), activations=("ReLU", "OR-AIL", "AIL_OR_XNOR_dup"))
    assert other.configuration == plain.configuration
    for names in (FIGURE4, FIGURE5, FIGURE6, (*TABLE1, *TORCH)):
        assert check_activations(names) == tuple(names)


def test_every_activation_has_a_module_and_the_paper_a_name_for_it():
    assert set(FIGURE5) | set(TABLE1) <= set(LABELS)
    for name, text in LABELS.items():
        assert isinstance(activation(name), nn.Module)
        assert text.endswith("(d)") == name.endswith("_d")
        assert text.endswith("(p)") == name.endswith("_p")
    assert len(TABLE1) == 24


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figure5(networks=("mpl",)), "networks holds 'mpl'; did you mean 'mlp'"),
        (lambda: figure5(activations=()), "activations is empty; give some"),
        (lambda: figure5(activations=("relu", "relu")), "activations holds 'relu' twice"),
        (lambda: figure5(activations=("relu", "ReLU")), "activations holds 'ReLU' twice"),
        (lambda: figure5(activations=("threshold",)), "'threshold', which needs options"),
        (lambda: figure5(activations=("xor_ail",)), "did you mean 'xnor_ail'"),
        (lambda: figure5(mlp_widths=(64, 0)), "mlp_widths holds 0; give positive numbers"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
