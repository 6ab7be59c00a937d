"""Training, studies and the search of Lowe et al. 2022, on samples that the tests make."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

from torchalu import sweep
from torchalu.experiments.lowe2022 import data as data_module
from torchalu.experiments.lowe2022 import hyperparameters as hyperparameters_module
from torchalu.experiments.lowe2022.activations import (
    FIGURE4,
    FIGURE5,
    FIGURE6,
    LABELS,
    TABLE1,
    check_activations,
)
from torchalu.experiments.lowe2022.data import ClassificationData, Samples, Source, load_mnist_data
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen, drawn
from torchalu.experiments.lowe2022.mnist import figure5
from torchalu.experiments.lowe2022.networks import mlp
from torchalu.experiments.lowe2022.one_cycle import one_cycle, one_cycle_adam
from torchalu.experiments.lowe2022.parity_experiments import parity
from torchalu.experiments.lowe2022.search import search
from torchalu.experiments.lowe2022.study import (
    ClassificationSetting,
    ClassificationStudy,
    best_of,
)
from torchalu.experiments.lowe2022.training import (
    ClassificationRuns,
    classification_loss,
    measure,
    train_classifier,
)
from torchalu.experiments.lowe2022.transfer import TORCH
from torchalu.nn import activation
from torchalu.tasks import Digits, load_mnist
from torchalu.train import Stopped

RESULTS = Path(__file__).parents[2] / "results" / "lowe2022"
TINY = ClassificationRuns(seeds=2, epochs=2, batch_size=8)


def blobs(rows, seed):
    """Two clouds of points, one at each side."""
    random = np.random.default_rng(seed)
    labels = random.integers(2, size=rows)
    points = random.standard_normal((rows, 4)) + 2.0 * (2 * labels[:, None] - 1)
    return Samples(torch.from_numpy(points), torch.from_numpy(labels))


QUICK = Hyperparameters(0.1)
CLOUDS = ClassificationData(blobs(80, 0), blobs(40, 1), blobs(60, 2))


def setting(name, width=4, hyperparameters=QUICK, **more):
    labels = {"activation": name, "width": width, **more}
    source = Source("clouds", lambda: CLOUDS)
    return ClassificationSetting(
        labels, partial(mlp, 4, (width,), 2, name), hyperparameters, source
    )


@pytest.mark.parametrize("steps", [4, 10, 37, 100])
def test_rates_and_momenta_are_those_of_torchs_one_cycle(steps):
    weight = nn.Parameter(torch.ones(2))
    theirs = torch.optim.Adam([weight], lr=0.3)
    cycle = OneCycleLR(theirs, 0.3, steps)
    ours = one_cycle_adam(steps)([nn.Parameter(torch.ones(2))], lr=0.3)
    factor = one_cycle(steps)
    for step in range(steps):
        (parameter,) = ours.param_groups[0]["params"]
        parameter.grad = weight.grad = torch.ones(2)
        ours.step()
        (group,) = theirs.param_groups
        assert 0.3 * factor(step) == pytest.approx(group["lr"], rel=1e-9)
        assert ours.param_groups[0]["betas"] == pytest.approx(group["betas"], rel=1e-9)
        theirs.step()
        if step < steps - 1:
            cycle.step()


def test_a_trained_network_is_what_torchs_own_loop_gives():
    ours = setting("relu").network(0).double()
    theirs = setting("relu").network(0).double()
    doubled = ClassificationData(CLOUDS.train, CLOUDS.validation, CLOUDS.test, torch.Tensor.double)
    numbers = Hyperparameters(0.05, weight_decay=0.01)
    train_classifier(ours, doubled, numbers, TINY, seed=3)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.05, weight_decay=0.01)
    cycle = OneCycleLR(optimizer, 0.05, 20)
    for epoch in range(2):
        order = np.random.default_rng([3, epoch]).permutation(80)
        for number in range(10):
            rows = order[8 * number : 8 * number + 8]
            x, y = CLOUDS.train.inputs[rows], CLOUDS.train.labels[rows]
            optimizer.zero_grad()
            nn.functional.cross_entropy(theirs(x), y).backward()
            optimizer.step()
            if (epoch, number) != (1, 9):
                cycle.step()
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, theirs.state_dict()[name], rtol=1e-9, atol=1e-12)


def test_an_epoch_goes_once_through_whole_batches_in_an_order_of_its_own():
    samples = Samples(torch.arange(10), torch.arange(10))
    data = ClassificationData(samples, samples, samples)
    epochs = [
        torch.cat([data.batch(3 * epoch + k, 3, seed=0).labels for k in range(3)])
        for epoch in range(3)
    ]
    assert all(len(set(epoch.tolist())) == 9 for epoch in epochs)
    assert len({tuple(epoch.tolist()) for epoch in epochs}) == 3
    assert not torch.equal(data.batch(0, 3, seed=1).labels, epochs[0][:3])
    assert data.epoch_steps(99) == 1
    assert len(data.batch(0, 99, seed=0).labels) == 10
    parts = list(data.batches("train", most=7))
    assert torch.cat([part.labels for part in parts]).tolist() == list(range(7))


def test_loss_and_accuracy_with_one_output_and_with_several():
    logits = torch.tensor([[2.0], [-1.0], [0.5]])
    labels = torch.tensor([1, 0, 0])
    two = torch.cat([torch.zeros(3, 1), logits], 1)
    expected = -torch.log(torch.sigmoid(torch.tensor([2.0, 1.0, -0.5]))).mean()
    assert classification_loss(logits, labels).item() == pytest.approx(expected.item(), rel=1e-6)
    assert classification_loss(two, labels).item() == pytest.approx(expected.item(), rel=1e-6)
    batches = [(logits[:2], labels[:2]), (logits[2:], labels[2:])]
    for inputs in (batches, [(two, labels)]):
        loss, accuracy = measure(nn.Identity(), inputs)
        assert (loss, accuracy) == (pytest.approx(expected.item(), rel=1e-6), pytest.approx(2 / 3))


def test_a_chunk_gives_a_row_and_goes_on_where_it_was_stopped(tmp_path):
    study = ClassificationStudy("lowe2022.clouds", [setting("relu"), setting("or_ail")], TINY)
    assert [chunk.name for chunk in study.chunks()] == [
        *("relu-4-seed0", "or_ail-4-seed0", "relu-4-seed1", "or_ail-4-seed1"),
    ]
    chunk = study.chunks()[1]
    fractions = []
    whole = study.run(chunk, tmp_path / "whole", fractions.append)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    (row,) = whole.outcomes.rows(named=True)
    assert (row["activation"], row["width"], row["seed"], row["steps"]) == ("or_ail", 4, 0, 20)
    assert row["parameters"] == 5 * 4 + 3 * 2
    assert row["status"] == "finished"
    assert row["test_accuracy"] > 0.9
    assert whole.records["step"].to_list() == [10, 20]
    assert whole.records["validation_accuracy"][-1] == row["validation_accuracy"]

    def stop(fraction):
        raise Stopped

    with pytest.raises(Stopped):
        study.run(chunk, tmp_path / "broken", stop)
    broken = study.run(chunk, tmp_path / "broken", lambda fraction: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)


def test_chunks_side_by_side_give_what_each_gives_alone(tmp_path):
    names = ("relu", "or_ail", "xnor_ail", "max_min_d")
    study = ClassificationStudy("lowe2022.clouds", [setting(name) for name in names], TINY)
    together = sweep.run(study, tmp_path / "together", workers=4)
    alone = [
        study.run(chunk, tmp_path / chunk.name, lambda fraction: None).outcomes
        for chunk in study.chunks()
    ]
    assert together.equals(pl.concat(alone))


def test_a_start_follows_from_the_seed_and_not_from_torchs_generator():
    torch.manual_seed(1)
    one = setting("prelu").network(0).state_dict()
    again, other = (setting("prelu").network(seed).state_dict() for seed in (0, 1))
    assert all(torch.equal(value, again[name]) for name, value in one.items())
    assert not torch.equal(one["0.weight"], other["0.weight"])


def outcomes(**accuracies):
    """Runs of two widths; the wider has the given test accuracies and validates better."""
    return pl.DataFrame(
        [
            {
                "activation": name,
                "width": width,
                "seed": seed,
                "parameters": 10 * width,
                "test_accuracy": value - 0.1 * (width == 4),
                "validation_accuracy": value - 0.1 * (width == 4),
            }
            for name, values in accuracies.items()
            for seed, value in enumerate(values)
            for width in (4, 8)
        ]
    )


def test_a_summary_compares_at_each_width_and_at_the_best():
    study = ClassificationStudy("lowe2022.clouds", [setting("relu")], TINY, varied="width")
    runs = outcomes(relu=[0.90, 0.91, 0.92], or_ail=[0.97, 0.98, 0.99], xnor_ail=[0.5, 0.6, 0.7])
    tables = study.summarize(runs)
    assert list(tables) == ["clouds", "clouds_best"]
    every, best = tables.values()
    assert set(every.select("width", "activation", "n").rows()) == {
        (width, name, 3) for width in (4, 8) for name in ("relu", "or_ail", "xnor_ail")
    }
    assert best.select("activation", "label", "n", "width", "parameters", "marks").rows() == [
        ("relu", "ReLU", 3, 8, 80, ""),
        ("or_ail", "OR AIL", 3, 8, 80, "best above"),
        ("xnor_ail", "XNOR AIL", 3, 8, 80, "below"),
    ]
    assert best["mean"].to_list() == pytest.approx([0.91, 0.98, 0.6])


def test_the_best_width_is_chosen_by_validation_not_by_test():
    runs = outcomes(relu=[0.9]).with_columns(validation_accuracy=pl.lit(1.0) / pl.col("width"))
    assert best_of(runs, ["activation"], "width")["width"].to_list() == [4]


def test_without_the_baseline_there_is_no_test_against_it():
    study = ClassificationStudy("lowe2022.clouds", [setting("or_ail")], TINY)
    (table,) = study.summarize(outcomes(or_ail=[0.9, 0.8], max_out=[0.9, 0.7])).values()
    assert table["p_baseline"].null_count() == 4


@pytest.fixture
def digits(monkeypatch):
    """Few digits in place of MNIST: a bar whose length is the digit."""

    def made(split):
        rows = {"train": 40, "validation": 16, "test": 20}[split]
        labels = torch.arange(rows) % 10
        images = torch.zeros(rows, 28, 28, dtype=torch.uint8)
        for image, label in zip(images, labels, strict=True):
            image[8:20, 4 : 4 + 2 * int(label)] = 255
        return Digits(images, labels)

    monkeypatch.setattr(data_module, "load_mnist", made)
    monkeypatch.setattr(data_module, "_MNIST_VALIDATION", 24)
    load_mnist_data.cache_clear()
    yield
    load_mnist_data.cache_clear()


@pytest.mark.usefixtures("digits")
def test_the_last_of_the_training_file_validate():
    data = load_mnist_data()
    assert [len(part.labels) for part in (data.train, data.validation, data.test)] == [32, 24, 20]
    assert data.validation.labels.tolist() == [k % 10 for k in [*range(32, 40), *range(16)]]
    (batch,) = data.batches("validation")
    white = (1 - 0.1307) / 0.3081
    assert batch.inputs.shape == (24, 1, 28, 28)
    assert batch.inputs.max().item() == pytest.approx(white, rel=1e-5)


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
    assert len(labels) == len(study.settings) == len(FIGURE5) * (8 + 5)
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


@pytest.mark.usefixtures("digits")
def test_the_search_names_the_draw_that_validates_best(tmp_path, monkeypatch):
    runs = ClassificationRuns(seeds=1, epochs=2, batch_size=8)
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


@pytest.mark.mnist
def test_the_real_digits_are_split_as_the_paper_has_them():
    load_mnist_data.cache_clear()
    data = load_mnist_data()
    assert [len(part.labels) for part in (data.train, data.validation, data.test)] == [
        *(50_000, 10_000, 10_000)
    ]
    assert data.validation.labels[-5000:].equal(load_mnist("validation").labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ClassificationRuns(epochs=0), "epochs is 0; give a positive integer"),
        (lambda: ClassificationRuns(first_seed=-1), "first_seed is -1; give 0 or more"),
        (lambda: Hyperparameters(0.0), "learning_rate is 0.0; give a positive number"),
        (lambda: Hyperparameters(weight_decay=-1.0), "weight_decay is -1.0; give 0 or more"),
        (lambda: one_cycle(3), "steps is 3; one cycle takes 4 at least"),
        (lambda: figure5(networks=("mpl",)), "networks holds 'mpl'; did you mean 'mlp'"),
        (lambda: figure5(activations=()), "activations is empty; give some"),
        (lambda: figure5(activations=("relu", "relu")), "activations holds 'relu' twice"),
        (lambda: figure5(activations=("relu", "ReLU")), "activations holds 'ReLU' twice"),
        (lambda: figure5(activations=("threshold",)), "'threshold', which needs options"),
        (lambda: figure5(activations=("xor_ail",)), "did you mean 'xnor_ail'"),
        (lambda: figure5(mlp_widths=(64, 0)), "mlp_widths holds 0; give positive numbers"),
        (lambda: parity(sizes=()), "sizes is empty"),
        (lambda: parity(laws=("even",)), "laws holds 'even'"),
        (lambda: search(draws=0), "draws is 0; give a positive integer"),
        (lambda: search(first_draw=-1), "first_draw is -1; give 0 or more"),
        (lambda: CLOUDS.batches("dev").__next__(), "part is 'dev'; choose from train"),
        (lambda: ClassificationStudy("a.b", [], TINY), "settings is empty; give at least one"),
        (
            lambda: ClassificationStudy("a.b", [setting("relu")] * 2, TINY),
            "settings holds relu-4 twice; give each once",
        ),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
