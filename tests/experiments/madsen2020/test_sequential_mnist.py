"""Networks, training and judgment of the sequences of digits, on digits that the tests make."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats
from torch.nn import functional

from data_sets import needs
from torchalu import nn
from torchalu.experiments.madsen2020 import sequential_study as study_module
from torchalu.experiments.madsen2020 import sequential_training as training_module
from torchalu.experiments.madsen2020.sequential_mnist import (
    figure4,
    figure13,
)
from torchalu.experiments.madsen2020.sequential_networks import (
    MODELS,
    DigitReader,
    SequenceNetwork,
    UnitAccumulator,
    sequential_model,
)
from torchalu.experiments.madsen2020.sequential_study import judge, thresholds
from torchalu.experiments.madsen2020.sequential_training import (
    SequentialData,
    SequentialTraining,
    train_network,
)
from torchalu.tasks import Digits, SequentialMNIST, load_mnist
from torchalu.train import Stopped

TINY = {"epochs": 2, "evaluate_every": 1, "batch_size": 4, "lstm_size": 3}


@pytest.fixture
def digits(monkeypatch):
    """Few digits in place of MNIST: a bar whose length is the digit."""

    def made(split, root=None):
        rows = {"train": 30, "validation": 20, "test": 25}[split]
        labels = torch.arange(rows) % 10
        images = torch.zeros(rows, 28, 28, dtype=torch.uint8)
        for image, label in zip(images, labels, strict=True):
            image[8:20, 4 : 4 + 2 * int(label)] = 255
        return Digits(images, labels)

    monkeypatch.setattr(training_module, "load_mnist", made)
    return made


def small(figure, **options):
    lengths = (2, (1, 3)) if figure is figure4 else (3, (1, 5))
    training = SequentialTraining(*lengths, **TINY)
    return figure(training=training, **options)


def test_the_reader_is_the_network_of_the_example_with_one_output():
    reader = DigitReader()
    assert sum(p.numel() for p in reader.parameters()) == 520 + 25_050 + 400_500 + 501
    weights = list(reader.parameters())
    x = torch.randn(3, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    y = functional.max_pool2d(functional.relu(functional.conv2d(x, *weights[:2])), 2, 2)
    y = functional.max_pool2d(functional.relu(functional.conv2d(y, *weights[2:4])), 2, 2)
    y = functional.relu(functional.linear(y.reshape(-1, 4 * 4 * 50), *weights[4:6]))
    y = functional.linear(y, *weights[6:])
    torch.testing.assert_close(reader(x), y, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(reader(x[None, :2])[0], y[:2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("operation", "name"), [(o, n) for o in MODELS for n in MODELS[o]])
def test_every_model_reads_each_image_once_and_answers_after_each(operation, name):
    network = sequential_model(operation, name).network(operation, lstm_size=3)
    seen = []
    network.reader.register_forward_hook(lambda _, a, out: seen.append(out.shape))
    images = torch.randn(2, 4, 1, 28, 28)
    answers = network(images)
    assert answers.shape == (2, 4, 1)
    assert seen == [(2, 4, 1)]
    network.loss(images, torch.ones(2, 4, 1)).backward()
    assert all(p.grad is not None for p in network.parameters())


def test_states_start_at_the_identity_of_the_operation():
    for operation, identity in (("sum", 0.0), ("product", 1.0)):
        for name in MODELS[operation]:
            accumulator = sequential_model(operation, name).network(operation, 3).accumulator
            if isinstance(accumulator, UnitAccumulator):
                assert accumulator.rnn.cell.initial == identity


def test_loss_is_the_mean_over_all_prefixes_with_r_z_over_all_inputs_of_the_unit():
    network = SequenceNetwork(UnitAccumulator(nn.NMU, 1.0), input_penalty=2.0)
    weight = torch.tensor([[0.75, 0.5]])
    network.accumulator.rnn.cell.unit.load_state_dict({"weight": weight})
    images = torch.randn(3, 2, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    targets = torch.rand(3, 2, 1)
    z = network.reader(images).detach().double().numpy()[..., 0]
    first = (0.75 * z[:, 0] + 0.25) * (0.5 * 1 + 0.5)
    second = (0.75 * z[:, 1] + 0.25) * (0.5 * first + 0.5)
    error = (np.stack((first, second), 1) - targets[..., 0].numpy()) ** 2
    means = z.mean(), np.concatenate((np.ones(3), first)).mean()
    penalty = (0.25 * (1 - means[0]) ** 2 + 0.5 * (1 - means[1]) ** 2) / 2
    assert network.loss(images, targets).item() == pytest.approx(
        error.mean() + 2 * penalty, rel=1e-4
    )


@pytest.mark.parametrize(
    ("figure", "with_penalty"),
    [
        (figure4, {"NMU", "NAC*,NMU"}),
        (figure13, {"NAU", "NAC+,Rz"}),
    ],
)
def test_the_figures_have_the_papers_models_and_numbers(figure, with_penalty):
    study = figure(seeds=10)
    described = study.configuration["models"]
    models = [sequential_model(study.operation, name) for name in described]
    assert {model.name for model in models if model.input_penalty} == with_penalty
    settings = study.configuration["settings"]
    assert [setting["labels"]["model"] for setting in settings] == ["reference", *described]
    training = settings[0]["training"]
    assert training["epochs"] == 1000
    assert study.training.penalty_ramp == (1e4, 1e5)
    assert replace(study.training, epochs=50).penalty_ramp == (500, 5000)
    assert replace(study.training, epochs=50, penalty_start=7.0).penalty_ramp == (7, 5000)
    assert (training["train_length"], max(training["test_lengths"])) in {(2, 20), (10, 1000)}
    assert json.loads(json.dumps(study.configuration)) == study.configuration
    names = [chunk.name for chunk in study.chunks()]
    assert len(set(names)) == len(names) == 10 * (1 + len(described))
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names)


@pytest.mark.usefixtures("digits")
@pytest.mark.usefixtures("every_step_reports")
def test_a_chunk_gives_a_row_a_length_and_goes_on_where_it_was_stopped(tmp_path):
    study = small(figure4, seeds=1, models=("NMU",))
    chunk = next(chunk for chunk in study.chunks() if chunk.name == "NMU-seed0")
    fractions = []
    whole = study.run(chunk, tmp_path / "whole", fractions.append)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert whole.outcomes["length"].to_list() == [1, 3]
    assert whole.outcomes["evaluation_steps"].list.len().to_list() == [2, 2]
    best = whole.records.filter(pl.col("step") == whole.outcomes["best_step"][0])
    assert best["validation_loss"].min() == whole.records["validation_loss"].min()
    assert best.sort("length")["extrapolation_loss"].equals(whole.outcomes["extrapolation_loss"])

    def stop(fraction):
        raise Stopped

    with pytest.raises(Stopped):
        study.run(chunk, tmp_path / "broken", stop)
    broken = study.run(chunk, tmp_path / "broken", lambda fraction: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)
    assert all(broken.weights[name].equal(value) for name, value in whole.weights.items())


def test_measured_errors_are_those_of_reading_every_sequence_anew(digits):
    training = SequentialTraining(3, (1, 4), **TINY)
    data = SequentialData("sum", training, seed=0)
    network = sequential_model("sum", "LSTM").network("sum", 3)
    measured = data.measure(network)
    for length in (1, 4):
        task = SequentialMNIST("sum", length, digits("test"), seed=2)
        batch = next(task.batches(100))
        with torch.no_grad():
            expected = functional.mse_loss(network(batch.images), batch.targets).item()
        assert measured[f"extrapolation_loss_{length}"] == pytest.approx(expected, rel=1e-4)
    assert np.isnan(measured["sparsity_error"])


@pytest.mark.usefixtures("digits")
def test_blind_errors_are_those_of_the_mean_at_each_step():
    data = SequentialData("product", SequentialTraining(2, (1, 3), **TINY), seed=0)
    for length, error in data.blind_errors().items():
        rows = data.tests[length].digits.labels[data.tests[length].sequences].numpy()
        products = np.cumprod(rows, 1)
        assert error == pytest.approx(np.mean((products - products.mean(0)) ** 2), rel=1e-12)


@pytest.mark.usefixtures("digits")
def test_the_reference_learns_to_read_bars():
    training = SequentialTraining(1, (1, 5), epochs=12, evaluate_every=4, batch_size=5)
    data = SequentialData("sum", training, seed=0)
    torch.manual_seed(0)
    network = sequential_model("sum", "reference").network("sum", 3)
    result = train_network(network, data, training, seed=0)
    assert result.records["validation_loss"].min() < 0.1 * data.variance()


def outcome(model, seed, length, loss, explained=0.99, losses=None, status="finished"):
    losses = [9.0, loss] if losses is None else losses
    return {
        "model": model,
        "length": length,
        "seed": seed,
        "solved": None,
        "solved_at_step": None,
        "sparsity_error": 0.01,
        "best_step": 10 * len(losses),
        "validation_loss": 1.0,
        "extrapolation_loss": loss,
        "steps": 100,
        "status": status,
        "explained": explained,
        "blind_error": 100.0 * length,
        "evaluation_steps": [10 * (k + 1) for k in range(len(losses))],
        "extrapolation_losses": losses,
    }


def frame(*rows):
    types = {"solved": pl.Boolean, "solved_at_step": pl.Int64}
    return pl.DataFrame(list(rows), schema_overrides=types)


REFERENCE_AND_OTHERS = {"reference": 0.5, "NAU": 0.1, "NAU, no Rz": 0.1, "NALU": 5.0}
REFERENCES = [0.5, 0.62, 0.4, 0.55]


def test_threshold_is_the_upper_student_limit_of_the_references_that_can_read():
    rows = [outcome("reference", k, 7, loss) for k, loss in enumerate(REFERENCES)]
    rows.append(outcome("reference", 4, 7, 800.0, explained=0.1))
    limits = thresholds(frame(*rows, outcome("NMU", 0, 7, 1e-9)))
    expected = np.mean(REFERENCES) + stats.t.ppf(0.99, 3) * stats.sem(REFERENCES)
    assert limits.rows() == [(7, pytest.approx(expected), 700.0, 5, 1)]


def test_a_run_is_solved_at_the_best_step_and_at_the_first_evaluation_below_the_limit():
    limits = pl.DataFrame({"length": [1, 2], "threshold": [0.5, 2.0]})
    judged = judge(
        frame(
            outcome("NMU", 0, 1, 0.2, losses=[9.0, 0.4, 0.6, 0.2]),
            outcome("NMU", 0, 2, 1.0, losses=[1.5, 9.0, 3.0, 1.0]),
            outcome("NMU", 1, 1, 0.7, losses=[9.0, 0.4, 0.7]),
            outcome("NALU", 1, 1, 0.1, status="nan"),
            outcome("NALU", 2, 1, float("nan"), status="nan"),
        ),
        limits,
    )
    assert judged["solved"].to_list() == [True, True, False, False, False]
    assert judged["solved_at_step"].to_list() == [20, 10, None, None, None]
    assert "extrapolation_losses" not in judged.columns


def test_each_figure_has_a_row_a_model_and_length():
    study = small(figure13, seeds=3)
    rows = [
        outcome(model, seed, length, 0.5 + 0.01 * seed if model == "reference" else loss)
        for model, loss in REFERENCE_AND_OTHERS.items()
        for seed in range(3)
        for length in (1, 5)
    ]
    tables = study.summarize(frame(*rows))
    shown = {name: set(table["model"]) for name, table in tables.items()}
    assert shown == {"figure13": {"NAU", "NALU"}, "figure14": {"NAU, no Rz", "NALU"}}
    table = tables["figure13"]
    solved = dict(table.group_by("model").agg(pl.col("solved").sum()).iter_rows())
    assert solved == {"NAU": 6, "NALU": 0}
    assert table.height == 4
    assert table["reference_runs"].to_list() == [3] * 4
    assert table["blind_error"].to_list() == [100.0, 500.0] * 2


def test_a_run_that_diverges_at_once_counts_and_is_not_solved(digits):
    study = small(figure4, seeds=2, models=("NMU",), reference_seeds=2)
    study = replace(study, training=replace(study.training, learning_rate=1e30))
    chunk = next(chunk for chunk in study.chunks() if chunk.name.startswith("NMU"))
    part = study.run(chunk, None, lambda _: None)
    assert part.outcomes["length"].to_list() == [1, 3]
    assert set(part.outcomes["status"]) == {"nan"}
    rows = [outcome("reference", k, length, 0.5 + k) for k in range(3) for length in (1, 3)]
    rows += [outcome("NMU", 0, length, 0.1) for length in (1, 3)]
    rows += [outcome("NMU", 1, length, math.nan, status="nan") for length in (1, 3)]
    rows += [outcome("reference", 3, length, math.nan, explained=math.nan) for length in (1, 3)]
    table = study.summarize(frame(*rows))["figure4"].filter(model="NMU", length=1).to_dicts()[0]
    assert (table["seeds"], table["solved"], table["nan"]) == (2, 1, 1)
    assert (table["reference_runs"], table["reference_failed"]) == (4, 1)


def test_too_few_references_say_so():
    rows = [outcome("reference", k, 1, 800.0, explained=0.2) for k in range(3)]
    with pytest.raises(ValueError, match="0 of 3 reference runs explain 90% of the variance"):
        thresholds(frame(*rows))
    with pytest.raises(ValueError, match="outcomes holds no run of the reference"):
        thresholds(frame(outcome("NMU", 0, 1, 1.0)))


def test_wrong_options_are_named():
    with pytest.raises(ValueError, match="seeds is 0; give a positive integer"):
        figure4(seeds=0)
    with pytest.raises(ValueError, match="reference_seeds is 1; a confidence limit needs 2"):
        figure4(reference_seeds=1)
    with pytest.raises(ValueError, match="first_seed is -1"):
        figure4(first_seed=-1)
    with pytest.raises(ValueError, match="models holds 'NUM'; did you mean 'NMU'"):
        figure4(models=("NUM",))
    with pytest.raises(ValueError, match="epochs is 0; give a positive integer"):
        SequentialTraining(2, (1,), epochs=0)
    with pytest.raises(ValueError, match=r"test_lengths is \(\); give one or more"):
        SequentialTraining(2, ())


@needs("mnist")
@pytest.mark.long
def test_the_nmu_learns_products_of_real_digits():
    """A few epochs: far below the variance of the targets, which is about 500."""
    training = SequentialTraining(2, (1, 2, 4), epochs=3, evaluate_every=1)
    data = SequentialData("product", training, seed=0)
    assert data.epoch_steps == -(-int((load_mnist("train").labels > 0).sum() // 2) // 64)
    torch.manual_seed(0)
    network = sequential_model("product", "NMU").network("product", 16)
    result = train_network(network, data, training, seed=0)
    assert result.records["validation_loss"].min() < 0.1 * data.variance()


def test_seeds_differ_in_what_they_train_on_and_agree_in_what_they_are_judged_by(digits):
    training = SequentialTraining(2, (1, 3), **TINY)
    first, other = (SequentialData("sum", training, seed) for seed in (0, 1))
    for seed, data in enumerate((first, other)):
        expected = SequentialMNIST("sum", 2, digits("train"), seed).sequences
        assert torch.equal(data.train.sequences, expected)
        assert len(data.train.digits.labels) == 30
        assert len(data.validation.digits.labels) == 20
        assert all(len(task.digits.labels) == 25 for task in data.tests.values())
    assert not torch.equal(first.train.sequences, other.train.sequences)
    assert torch.equal(first.validation.sequences, other.validation.sequences)
    assert torch.equal(first.tests[3].sequences, other.tests[3].sequences)


@pytest.mark.usefixtures("digits")
def test_each_seed_has_a_start_of_its_own(tmp_path, monkeypatch):
    starts = {}

    def caught(network, data, training, seed, *_):
        starts[seed] = {name: value.clone() for name, value in network.state_dict().items()}
        raise Stopped

    monkeypatch.setattr(study_module, "train_network", caught)
    study = small(figure4, seeds=2, models=("NMU",))
    for chunk in study.chunks():
        if chunk.name.startswith("NMU"):
            with pytest.raises(Stopped):
                study.run(chunk, tmp_path, lambda fraction: None)
    for seed, start in starts.items():
        torch.manual_seed(seed)
        expected = sequential_model("product", "NMU").network("product", 3).state_dict()
        assert all(torch.equal(start[name], value) for name, value in expected.items())
    assert not torch.equal(starts[0]["reader.layers.0.weight"], starts[1]["reader.layers.0.weight"])


@pytest.mark.usefixtures("digits")
def test_the_penalty_drives_weights_toward_0_and_1():
    """A penalty that outweighs the loss moves each weight by Adam's rate in each step."""
    moved = {}
    for penalty in (0.0, 1e9):
        training = SequentialTraining(2, (1,), **TINY, penalty=penalty)
        training = replace(training, penalty_start=-1.0, penalty_end=0.0)
        data = SequentialData("product", training, seed=0)
        torch.manual_seed(0)
        network = sequential_model("product", "NMU").network("product", 3)
        weight = network.accumulator.rnn.cell.unit.weight
        before = weight.detach().clone()
        result = train_network(network, data, training, seed=0)
        toward = torch.where(before > 0.5, 1.0, -1.0) * (weight.detach() - before)
        moved[penalty] = toward.min().item() / (result.steps * training.learning_rate)
    assert moved[1e9] == pytest.approx(1.0, rel=1e-3)
    assert moved[0.0] < 0.9


def test_the_sparsity_error_is_that_of_the_farthest_weight():
    network = SequenceNetwork(UnitAccumulator(nn.NAU, 0.0))
    unit = network.accumulator.rnn.cell.unit
    for weight, error in (([[0.75, 1.0]], 0.25), ([[0.125, -0.625]], 0.375), ([[-1.0, 0.0]], 0.0)):
        unit.load_state_dict({"weight": torch.tensor(weight)})
        assert network.sparsity_error() == error
