"""Counting and adding up digits: networks, training, outcomes and tables, on made-up digits."""

import json
import re

import numpy as np
import polars as pl
import pytest
import torch
from torch.nn import functional

from data_sets import needs
from digit_bars import bars, splits
from torchalu import nn
from torchalu.experiments.trask2018 import digit_data
from torchalu.experiments.trask2018.digit_data import TEST_LENGTHS, SeriesData, errors
from torchalu.experiments.trask2018.digit_models import ADDING_MODELS, MODELS, keep_state_
from torchalu.experiments.trask2018.digit_networks import (
    CellAccumulator,
    DigitFeatures,
    SeriesNetwork,
    UnitAccumulator,
)
from torchalu.experiments.trask2018.digit_study import SeriesSetting, tensors_of
from torchalu.experiments.trask2018.digit_summaries import (
    as_printed,
    errors_by_length,
    laws,
    picks,
    ranked,
)
from torchalu.experiments.trask2018.digit_training import SeriesTraining, train_series
from torchalu.experiments.trask2018.digits import perception, table2, table2_search
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES, TABLE2, TABLE10
from torchalu.tasks import Digits, SequentialMNIST, load_mnist
from torchalu.train import Stopped

TINY = SeriesTraining(epochs=4, settle_epochs=2, evaluate_every=2, batch_size=2, hidden_size=4)
LENGTHS = (1, 3, 10)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(digit_data, "load_mnist", bars)


def setting(task, model, training=TINY, lengths=LENGTHS):
    return SeriesSetting({"task": task, "model": model}, task, model, training, lengths)


def test_the_features_are_those_of_the_example():
    network = DigitFeatures(dropout=False)
    weights = list(network.parameters())
    assert [p.numel() for p in weights] == [250, 10, 5000, 20, 16_000, 50, 500, 10]
    x = torch.randn(3, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    y = functional.relu(functional.max_pool2d(functional.conv2d(x, *weights[:2]), 2))
    y = functional.relu(functional.max_pool2d(functional.conv2d(y, *weights[2:4]), 2))
    y = functional.relu(functional.linear(y.reshape(-1, 320), *weights[4:6]))
    y = functional.linear(y, *weights[6:])
    torch.testing.assert_close(network(x), y, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network(x[None, :2])[0], y[:2], rtol=1e-4, atol=1e-5)


def test_each_output_is_what_it_is_called():
    images = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    for output, total in (("softmax", lambda y: y), ("log_softmax", torch.exp)):
        sums = total(DigitFeatures(output, dropout=False)(images)).sum(-1)
        torch.testing.assert_close(sums, torch.ones(4))
    assert isinstance(DigitFeatures(dropout=True).layers[4], torch.nn.Dropout2d)


def test_a_unit_runs_over_features_and_state_and_a_cell_has_a_read_out():
    features = torch.rand(2, 3, 10, generator=torch.Generator().manual_seed(0))
    accumulator = UnitAccumulator(nn.NAU, 1, 0.5)
    weight = torch.linspace(-1, 1, 11)
    accumulator.unit.load_state_dict({"weight": weight[None]})
    state = np.full(2, 0.5)
    for step in features.unbind(1):
        state = step.numpy() @ weight[:10].numpy() + weight[10].item() * state
    np.testing.assert_allclose(accumulator(features)[:, 0].detach(), state, rtol=1e-5)
    cell = CellAccumulator(torch.nn.LSTM, 4, 10)
    expected = cell.read_out(cell.rnn(features)[1][0][0])
    torch.testing.assert_close(cell(features), expected)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("operation", ["count", "product"])
def test_every_model_answers_and_learns_in_all_its_parameters(operation, name):
    network = TINY.network(operation, name, seed=0)
    batch = SequentialMNIST(operation, 2, bars("train")).batch(0, 4)
    assert network(batch.images).shape == batch.final.shape
    network.loss(batch).backward()
    assert all(p.grad is not None for p in network.parameters())
    again = TINY.network(operation, name, seed=0)
    assert all(a.equal(b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_the_loss_is_the_error_at_the_end_with_r_z_over_all_steps():
    batch = SequentialMNIST("sum", 3, bars("train")).batch(0, 4)
    network = SeriesNetwork(DigitFeatures(dropout=False), UnitAccumulator(nn.NAU, 1, 0.0), 2.0)
    plain = functional.mse_loss(network(batch.images), batch.targets[:, -1])
    features = network.features(batch.images)
    states, _ = network.accumulator.rnn(features)
    before = torch.cat((torch.zeros(4, 1, 1), states[:, :-1]), 1)
    mean = torch.cat((features, before), -1).mean((0, 1))
    weight = network.accumulator.unit.effective_weight()
    penalty = ((1 - weight.abs()) * mean.square()).mean()
    assert network.loss(batch).item() == pytest.approx((plain + 2 * penalty).item(), rel=1e-5)
    network.input_penalty = 0.0
    assert network.loss(batch).item() == pytest.approx(plain.item(), rel=1e-6)


@pytest.mark.parametrize("unit", [nn.NAC, nn.NAU, nn.NALU, nn.INALU, nn.GatedNAUNMU])
def test_a_state_that_is_kept_has_the_identity_as_its_weight(unit):
    made = unit(12, 2)
    keep_state_(made)
    state = made.effective_weight()[:, 10:].detach()
    torch.testing.assert_close(state, state[0, 0] * torch.eye(2))
    assert 0.9 < state[0, 0] <= 1


def test_a_state_that_is_kept_is_not_divided_by():
    unit = nn.NMRU(12, 2)
    keep_state_(unit)
    assert torch.equal(unit.effective_weight()[:, 10:], torch.eye(2))
    assert not unit.effective_reciprocal_weight().any()


@pytest.mark.parametrize("unit", [nn.NALU, nn.GatedNAUNMU])
def test_a_gate_that_is_kept_starts_without_the_state(unit):
    made = unit(12, 2)
    keep_state_(made)
    gate = next(value for name, value in made.named_parameters() if "gate" in name)
    assert not gate[:, 10:].any()
    assert gate[:, :10].all()


def test_a_state_that_is_kept_holds_for_a_thousand_steps():
    weight = nn.NAC(11, 1)
    keep_state_(weight)
    kept = weight.effective_weight()[0, 10].item() ** 1000
    assert kept == pytest.approx((np.tanh(10) / (1 + np.exp(-10))) ** 1000, rel=1e-3)
    assert kept > 0.95


def test_r_z_is_of_a_single_answer():
    factors = {
        (operation, name): SeriesTraining(penalty=0.5).network(operation, name, 0).input_penalty
        for operation, name in (
            ("sum", "NAU"),
            ("product", "NMU"),
            ("count", "NAU"),
            ("sum", "NAC"),
        )
    }
    assert list(factors.values()) == [0.5, 0.5, 0.0, 0.0]


def test_products_of_negative_readings_have_the_errors_of_positive_ones():
    data = SeriesData("product", 2, 0, splits=splits())
    made = SeriesTraining().network("product", "NMU", 0).eval()
    made.accumulator.unit.weight.data[:] = torch.tensor([1.0, *[0.0] * 9, 1.0])
    labels = data.test_digits.labels
    errors = []
    for sign in (1, -1):
        features = torch.zeros(len(labels), 10)
        features[:, 0] = sign * labels
        assert data.reading_sign(made, features) == sign
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "torchalu.experiments.trask2018.digit_data.read_features",
                lambda network, digits, read=features: read,
            )
            errors.append(data.measure(made, (1, 2, 3)))
    assert errors[0] == errors[1]
    assert errors[0][3].mae == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("name", ADDING_MODELS)
def test_every_model_overfits_one_batch(name):
    batch = SequentialMNIST("count", 2, bars("train"), seed=1).batch(0, 4)
    network = SeriesTraining().network("count", name, seed=0)
    network.input_penalty = 0.0
    optimizer = torch.optim.Adam(network.parameters(), 3e-3, fused=True)
    for _ in range(250):
        optimizer.zero_grad()
        loss = network.loss(batch)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.2 * batch.final.var(0, correction=0).mean().item()


def test_test_series_use_each_digit_once_and_are_cut_anew_until_there_are_enough():
    data = SeriesData("sum", 2, 0, splits=splits())
    rows, targets = data.test_series(10)
    assert rows.shape == (30, 10)  # 30 digits are three series; ten cuts are as many as digits
    assert torch.equal(rows[:3].flatten().sort().values, torch.arange(30))
    assert not torch.equal(rows[:3], rows[3:6])
    assert torch.equal(targets[:, 0], data.test_digits.labels[rows].sum(1).double())
    assert torch.equal(rows, SeriesData("sum", 2, 7, splits=splits()).test_series(10)[0])


def test_errors_are_means_over_all_numbers_and_counts_are_right_by_their_maximum():
    answers, targets = torch.tensor([[0.2, 0.4], [0.9, 0.0]]), torch.tensor([[0.0, 1], [1, 0]])
    found = errors(answers, targets)
    assert found.mae == pytest.approx((0.2 + 0.6 + 0.1) / 4)
    assert found.mse == pytest.approx((0.04 + 0.36 + 0.01) / 4)
    assert found.accuracy == 1.0
    assert errors(answers, 2 * targets).accuracy == 0.0  # longer series have to be right


def test_measured_errors_are_those_of_reading_every_series_anew():
    data = SeriesData("count", 2, 0, splits=splits())
    network = TINY.network("count", "GRU", 0).eval()
    found = data.measure(network, (3,))[3]
    rows, targets = data.test_series(3)
    images = digit_data.normalize(data.test_digits.images[rows]).unsqueeze(2)
    with torch.no_grad():
        expected = (network(images) - targets).abs().mean().item()
    assert found.mae == pytest.approx(expected, rel=1e-5)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("task", "model"), [("sum", "NAU"), ("count", "LSTM")])
def test_a_stopped_run_goes_on_and_gives_the_same(tmp_path, task, model):
    whole = setting(task, model).run(0, tmp_path / "whole", lambda done: None)
    assert whole.outcomes["length"].to_list() == list(LENGTHS)
    fractions = []

    def stop(done):
        fractions.append(done)
        raise Stopped

    parts = 0
    while parts < 40:
        parts += 1
        try:
            broken = setting(task, model).run(0, tmp_path / "broken", stop)
            break
        except Stopped:
            continue
    assert parts > 2
    assert fractions == sorted(fractions)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)
    assert all(broken.weights[name].equal(value) for name, value in whole.weights.items())


@pytest.mark.usefixtures("made_up")
def test_units_are_snapped_and_networks_without_a_unit_have_no_law(tmp_path):
    unit = setting("sum", "NAU").run(0, tmp_path / "unit", lambda done: None)
    cell = setting("sum", "GRU").run(0, tmp_path / "cell", lambda done: None)
    assert unit.outcomes.schema == cell.outcomes.schema
    assert cell.outcomes["snapped_mae"].null_count() == len(LENGTHS)
    assert unit.outcomes["snapped_mae"].null_count() == 0
    assert unit.records["phase"].unique().sort().to_list() == ["settle", "train"]
    settled = tensors_of(unit.weights, settled=True)
    trained = tensors_of(unit.weights, settled=False)
    assert settled.keys() == trained.keys()
    weight = settled["accumulator.rnn.cell.unit.weight"]
    assert torch.equal(weight, weight.round())
    network = TINY.network("sum", "NAU", 1)
    network.load_state_dict(settled)


@pytest.mark.usefixtures("made_up")
def test_a_search_looks_at_no_test_digit(tmp_path, monkeypatch):
    monkeypatch.setattr(SeriesData, "test_series", None)
    study = table2_search(TINY, tasks=("sum",), models=("NAC",), learning_rates=(1e-3,))
    chunk = study.chunks()[0]
    part = study.run(chunk, tmp_path, lambda done: None)
    assert part.outcomes.height == 1
    assert "mae" not in part.outcomes.columns
    table = study.summarize(part.outcomes)["table2_search"]
    assert table["median_validation_loss"][0] == part.outcomes["validation_loss"][0]


def test_studies_have_the_papers_models_and_describe_themselves():
    for study in (table2(), perception(), table2_search()):
        names = [chunk.name for chunk in study.chunks()]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names)
        assert json.loads(json.dumps(study.configuration)) == study.configuration
    described = table2().configuration["settings"]
    assert {s["labels"]["model"] for s in described} >= set(TABLE2["model"])
    assert {tuple(s["test_lengths"]) for s in described} == {(1, 10, 100, 1000)}
    assert {s["train_length"] for s in described} == {10}


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


def test_tables_are_printed_as_in_the_paper():
    rows = [outcome(m, 0, n, 2.0) for m in ("NAC", "NAU") for n in TEST_LENGTHS["sum"]]
    cells = errors_by_length(pl.DataFrame(rows, infer_schema_length=None))
    table = as_printed(cells, "sum", "mse")
    assert table.columns[:4] == [
        "model",
        "accuracy_published",
        "accuracy_chosen",
        "accuracy_median",
    ]
    assert table["mse_1000_published"].to_list() == [280.89, None]
    assert table["mse_10_chosen"].to_list() == [4.0, 4.0]
    assert table["accuracy_chosen"].to_list() == [80.0, 80.0]


def test_the_model_with_the_lowest_median_is_picked_and_compared_with_the_papers_units():
    rows = [outcome("NALU", s, 10, 4.0) for s in range(2)] + [outcome("NAC", 0, 10, 6.0)]
    rows += [outcome("NAU", s, 10, mae) for s, mae in enumerate((1.0, 2.0, 0.5))]
    rows += [outcome("NMU", 0, 2, 3.0, task="product")]
    table = picks(errors_by_length(pl.DataFrame(rows, infer_schema_length=None)))
    product, total = table.iter_rows(named=True)
    assert (total["pick"], total["median_mae"], total["reached"], total["seeds"]) == (
        "NAU", 1.0, 2, 3,
    )  # fmt: skip
    assert (total["paper"], total["published_mae"], total["factor"]) == ("NALU", 5.11, 4.0)
    assert (product["pick"], product["paper"], product["factor"]) == ("NMU", None, None)


def test_laws_are_those_of_the_lawful_seed_that_validates_best():
    rows = [
        outcome("NAU", 0, 10, 1.0, loss=0.5, law=""),
        outcome("NAU", 1, 10, 2.0, loss=0.9, law="sum of digit(image_t)"),
        outcome("NAU", 2, 10, 3.0, loss=0.7, law="sum of digit(image_t)"),
        outcome("LSTM", 0, 10, 3.0),
    ]
    (row,) = laws(pl.DataFrame(rows, infer_schema_length=None)).iter_rows(named=True)
    assert (row["model"], row["seeds"], row["lawful"], row["exact"]) == ("NAU", 3, 2, 2)
    assert (row["law"], row["settled_mae"], row["read_accuracy"]) == (
        "sum of digit(image_t)", 3.0, 0.98,
    )  # fmt: skip


def test_settings_that_diverged_rank_last():
    rows = {"model": ["a", "a"], "rate": [1.0, 2.0], "validation_loss": [float("nan"), 3.0]}
    assert ranked(pl.DataFrame(rows), ["model", "rate"], ["model"])["rate"].to_list() == [2.0, 1.0]


def test_wrong_options_are_named():
    with pytest.raises(ValueError, match="models holds 'LSMT'; did you mean 'LSTM'"):
        table2(models=("LSMT",))
    with pytest.raises(ValueError, match="multiplying_units holds 'LSTM'"):
        perception(multiplying_units=("LSTM",))
    with pytest.raises(ValueError, match="epochs is 0; give a positive integer"):
        SeriesTraining(epochs=0)
    with pytest.raises(ValueError, match="settle_epochs is -1; give 0 or more"):
        SeriesTraining(settle_epochs=-1)
    with pytest.raises(ValueError, match=r"penalty_ramp is \(0.5, 0.5\)"):
        SeriesTraining(penalty_ramp=(0.5, 0.5))
    with pytest.raises(ValueError, match="device is 'nowhere'"):
        SeriesTraining(device="nowhere")
    with pytest.raises(ValueError, match="output holds 'logits'"):
        SeriesTraining(output="logits")  # pyright: ignore[reportArgumentType]


@needs("mnist")
def test_twenty_steps_on_real_digits(tmp_path):
    train, validation, test = (load_mnist(split) for split in ("train", "validation", "test"))
    few = Digits(train.images[:400], train.labels[:400])
    data = SeriesData("sum", 2, 0, splits=(few, validation, test))
    network = SeriesTraining().network("sum", "NAC", 0)
    numbers = SeriesTraining(batch_size=2)
    result = train_series(network, MODELS["NAC"], data, numbers, 1, 0, tmp_path, lambda f: None)
    assert result.steps == 20
    assert result.records["validation_loss"].is_finite().all()
    rows, targets = data.test_series(1000)
    assert rows.shape == (100, 1000)
    assert targets.mean().item() == pytest.approx(1000 * load_mnist("test").labels.float().mean())


@needs("mnist")
@pytest.mark.long
def test_a_short_run_on_real_digits_reads_them(tmp_path):
    training = SeriesTraining(epochs=12, settle_epochs=1, evaluate_every=4, keep_state=True)
    part = setting("sum", "NAU", training, (1, 10, 100)).run(0, tmp_path, lambda done: None)
    assert part.outcomes.filter(pl.col("length") == 10)["law_mae"][0] < 7  # 7.3: always 45
