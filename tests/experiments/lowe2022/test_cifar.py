"""The residual network on pictures that the tests write in CIFAR's format."""

import json

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from lowe2022_data import put_cifar10
from torchalu.experiments.lowe2022 import cifar as module
from torchalu.experiments.lowe2022.activations import FIGURE6
from torchalu.experiments.lowe2022.augmentation import shift_and_mirror
from torchalu.experiments.lowe2022.cifar import augmented, cifar_setting, figure6
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.training import ClassificationRuns, classification_loss
from torchalu.tasks import load_cifar10, normalize_pictures
from torchalu.train import Stopped

TINY = ClassificationRuns(seeds=1, epochs=5, batch_size=8)


@pytest.fixture
def pictures(monkeypatch, tmp_path):
    """Few pictures in place of CIFAR-10: 32 to train on, 8 to validate, 8 to test."""
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path))
    module._load.cache_clear()
    yield put_cifar10(tmp_path, monkeypatch)
    module._load.cache_clear()


def small(**options):
    defaults = {"runs": TINY, "activations": ("relu", "or_ail"), "widths": (1 / 32,), "depth": 26}
    return figure6(**{**defaults, **options})


@pytest.mark.usefixtures("pictures")
@pytest.mark.usefixtures("every_step_reports")
def test_a_chunk_goes_on_where_it_was_stopped(tmp_path):
    study = small()
    chunk = study.chunks()[1]
    assert chunk.name == "cifar10-26-or_ail-0.03125-seed0"
    whole = study.run(chunk, tmp_path / "whole", lambda _: None)
    assert whole.outcomes["steps"].to_list() == [20]

    def stop(fraction):
        raise Stopped

    for _ in range(2):
        with pytest.raises(Stopped):
            study.run(chunk, tmp_path / "broken", stop)
    broken = study.run(chunk, tmp_path / "broken", lambda _: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)


def test_shifts_and_mirrors_are_those_of_numpy():
    pictures = torch.randn(200, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    found = shift_and_mirror(pictures, np.random.default_rng(5)).numpy()
    larger = np.pad(pictures.numpy(), ((0, 0), (0, 0), (4, 4), (4, 4)))
    seen = []
    for place in range(200):
        matches = [
            (down, right, mirrored)
            for down in range(9)
            for right in range(9)
            for mirrored in (False, True)
            if np.array_equal(
                larger[place, :, down : down + 8, right : right + 8][..., :: -1 if mirrored else 1],
                found[place],
            )
        ]
        assert len(matches) == 1
        seen += matches
    downs, rights, mirrors = map(np.array, zip(*seen, strict=True))
    for shifts in (downs, rights):
        assert set(shifts) == set(range(9))
        assert abs(shifts.mean() - 4) < 4 * np.sqrt(60 / 9 / 200)
    assert abs(mirrors.mean() - 0.5) < 4 * 0.5 / np.sqrt(200)
    assert abs(np.corrcoef(downs, rights)[0, 1]) < 4 / np.sqrt(200)


@pytest.mark.usefixtures("pictures")
def test_what_is_learned_from_is_moved_and_what_is_judged_by_is_not():
    data = augmented("cifar10").load()
    first = data.batch(0, 8, seed=1)
    assert first.inputs.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(first.inputs, data.batch(0, 8, seed=1).inputs)
    assert not torch.equal(first.inputs, data.batch(4, 8, seed=1).inputs)
    assert not torch.equal(first.inputs, data.batch(0, 8, seed=2).inputs)
    plain = normalize_pictures(load_cifar10("train").images)
    red = {round(float(picture[0, 0, 0]), 4) for picture in plain}
    middle = first.inputs[:, 0, 4:-4, 4:-4]
    assert {round(float(value), 4) for value in middle.flatten()} <= red
    (test,) = data.batches("test")
    torch.testing.assert_close(test.inputs, normalize_pictures(load_cifar10("test").images))
    (train, *_) = data.batches("train")
    torch.testing.assert_close(train.inputs, plain)


@pytest.mark.parametrize("name", FIGURE6)
def test_each_network_learns_a_batch_by_heart(name):
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(10, 3, 8, 8, generator=generator)
    labels = torch.arange(10)
    network = cifar_setting("cifar10", name, Hyperparameters(), 1 / 8, 26).network(0)
    optimizer = torch.optim.Adam(network.parameters(), 0.1)  # XNOR alone stays where it is at 0.003
    for _ in range(200):
        optimizer.zero_grad()
        loss = classification_loss(network(inputs), labels)
        loss.backward()
        optimizer.step()
        if loss.item() < 0.1:
            return
    pytest.fail(f"the loss is {loss.item()} after 200 steps")


def test_networks_are_laid_out_by_pixels_and_start_alike_elsewhere():
    setting = cifar_setting("cifar10", "or_ail", Hyperparameters(), 1 / 16, 26)
    one, other = setting.network(3), setting.network(3)
    for (name, first), second in zip(
        one.state_dict().items(), other.state_dict().values(), strict=True
    ):
        assert torch.equal(first, second), name
    kernels = [layer.weight for layer in one.modules() if isinstance(layer, nn.Conv2d)]
    assert all(w.is_contiguous(memory_format=torch.channels_last) for w in kernels)


@pytest.mark.usefixtures("pictures")
def test_tables_have_each_width_and_the_best_of_each_activation(tmp_path):
    runs = ClassificationRuns(seeds=2, epochs=1, batch_size=8)
    study = small(runs=runs, widths=(1 / 32, 1 / 16))
    parts = [study.run(chunk, tmp_path / chunk.name, lambda _: None) for chunk in study.chunks()]
    tables = study.summarize(pl.concat([part.outcomes for part in parts]))
    assert list(tables) == ["figure6", "figure6_best"]
    keys = tables["figure6"].select("dataset", "depth", "width", "activation").rows()
    assert keys == [
        ("cifar10", 26, width, name) for width in (1 / 32, 1 / 16) for name in ("relu", "or_ail")
    ]
    assert tables["figure6"]["parameters"].to_list() == [
        setting.parameters for setting in study.settings
    ]
    assert tables["figure6_best"].height == 2


def test_settings_are_the_papers_by_default():
    study = figure6()
    assert len(study.settings) == 4 * len(FIGURE6)
    assert {setting.labels["depth"] for setting in study.settings} == {50}
    assert study.configuration["seeds"] == [0, 3]
    assert {setting["epochs"] for setting in study.configuration["settings"]} == {100}
    classes = figure6(datasets=("cifar100",), activations=("relu",), widths=(1,)).settings[0]
    ten = figure6(activations=("relu",), widths=(1,)).settings[0]
    assert classes.parameters - ten.parameters == 90 * 2049
    assert '"device": "cpu"' in json.dumps(study.configuration)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ("svhn",)}, "datasets holds 'svhn'"),
        ({"datasets": ()}, "datasets is empty"),
        ({"activations": ()}, "activations is empty"),
        ({"widths": ()}, "widths is empty"),
        ({"widths": (0.0,)}, r"widths holds 0\.0"),
        ({"depth": 27}, "depth is 27; choose from 26, 38, 50"),
        ({"device": "abacus"}, "device is 'abacus'; give cpu, or cuda"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        small(**options)


def test_pictures_that_are_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path))
    module._load.cache_clear()
    study = small(datasets=("cifar100",))
    with pytest.raises(FileNotFoundError, match="CIFAR-100 is not in"):
        study.run(study.chunks()[0], tmp_path, lambda _: None)
