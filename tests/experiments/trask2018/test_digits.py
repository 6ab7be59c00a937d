"""Counting and adding up digits: series, errors, and runs that go on, on made-up digits."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest
import torch

from data_sets import needs
from digit_bars import bars, splits
from torchalu import sweep
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018 import digit_data, digit_study
from torchalu.experiments.trask2018.digit_data import SeriesData, errors
from torchalu.experiments.trask2018.digit_models import MODELS
from torchalu.experiments.trask2018.digit_study import SeriesSetting, tensors_of
from torchalu.experiments.trask2018.digit_training import SeriesTraining, train_series
from torchalu.experiments.trask2018.digits import perception, table2, table2_search
from torchalu.experiments.trask2018.perception import perceive
from torchalu.experiments.trask2018.published_digits import TABLE2
from torchalu.experiments.trask2018.stored import stored_series
from torchalu.tasks import Digits, SequentialMNIST, load_mnist
from torchalu.train import RunFolder, Stopped

TINY = SeriesTraining(epochs=4, settle_epochs=2, evaluate_every=2, batch_size=2, hidden_size=4)
LENGTHS = (1, 3, 10)


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(digit_data, "load_mnist", bars)


def setting(task, model, training=TINY, lengths=LENGTHS):
    return SeriesSetting({"task": task, "model": model}, task, model, training, lengths)


def test_products_of_negative_readings_have_the_errors_of_positive_ones():
    data = SeriesData("product", 2, 0, splits=splits())
    made = SeriesTraining().network("product", "NMU", 0).eval()
    made.accumulator.unit.weight.data[:] = torch.tensor([1.0, *[0.0] * 9, 1.0])
    errors = []
    for sign in (1, -1):

        def read(network, digits, sign=sign):
            return torch.nn.functional.pad(sign * digits.labels.float()[:, None], (0, 9))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(digit_data, "read_features", read)
            assert data.reading_sign(made) == sign
            errors.append(data.measure(made, (1, 2, 3)))
    assert errors[0] == errors[1]
    assert errors[0][3].mae == pytest.approx(0.0, abs=1e-4)


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
def test_settling_that_makes_it_worse_is_undone_and_without_a_law_there_is_none(
    tmp_path, monkeypatch
):
    calls = []

    def spoil(network, *rest):
        result = train_series(network, *rest)
        calls.append(rest[5].name)
        if calls[-1] == "settle":
            factor = rest[7](100)
            assert [factor(step) for step in (10, 55, 100)] == pytest.approx([1, 0.5, 0])
            result.best_state["features.layers.11.bias"] += 1000.0 ** torch.arange(10)
        return result

    monkeypatch.setattr(digit_study, "train_series", spoil)
    rows = setting("sum", "NAU").run(0, tmp_path / "NAU", lambda done: None).outcomes
    assert rows["law_mae"].to_list() == pytest.approx(rows["snapped_mae"].to_list(), rel=1e-5)
    assert rows["law"].null_count() == len(LENGTHS)  # its digits have hardly been learned
    assert rows["certified_error"].null_count() == 0
    gated = setting("sum", "NALU").run(0, tmp_path / "NALU", lambda done: None).outcomes
    assert gated["law_mae"].to_list() == pytest.approx(gated["snapped_mae"].to_list(), rel=1e-5)
    assert calls == ["train", "settle", "train"]


@pytest.mark.usefixtures("made_up")
def test_a_search_looks_at_no_test_digit(tmp_path, monkeypatch):
    monkeypatch.setattr(SeriesData, "test_series", None)
    training = replace(TINY, settle_epochs=0, hidden_size=32)
    study = table2_search(training, tasks=("sum",), models=("NAC",), learning_rates=(1e-3,))
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


@pytest.mark.usefixtures("made_up")
def test_the_network_that_validates_best_is_taken_from_a_run_folder_and_read(tmp_path):
    own = perception(TINY, Seeds(2), multiplying_units=("NMU",))
    with RunFolder(tmp_path / "run", own) as folder:
        outcomes = sweep.complete(folder, sweep.choose_engine("local", 1, None))
    best = outcomes.sort("validation_loss").filter(length=2).row(0, named=True)
    trained = stored_series(tmp_path / "run", "product", "NMU", settled=False)
    assert (trained.seed, trained.operation, trained.training) == (best["seed"], "product", TINY)
    data = SeriesData("product", 2, trained.seed, splits=splits())
    assert data.measure(trained.network, (2,))[2].mae == pytest.approx(best["mae"], rel=1e-5)
    settled = stored_series(tmp_path / "run", "product", "NMU")
    report = perceive(settled.network, data, (2,))
    assert report.measured[2].mae == pytest.approx(best["law_mae"], rel=1e-5)
    assert "digits read right without labels" in str(report)
    with pytest.raises(ValueError, match="holds no 'sum-NAC' that is done; it is of product-NMU"):
        stored_series(tmp_path / "run", "sum", "NAC")
    with pytest.raises(ValueError, match=r"is no run folder of `torchalu run trask2018\.perc"):
        stored_series(tmp_path, "product", "NMU")


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


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("learning_rate", [1e-3, 1.0])
def test_outcomes_are_of_the_best_step_and_without_dropout(tmp_path, learning_rate):
    """At the greater rate the best step is not the last, at the smaller one features are alive."""
    training = replace(TINY, epochs=10, evaluate_every=1, learning_rate=learning_rate, dropout=True)
    part = setting("sum", "GRU", training).run(0, tmp_path, lambda done: None)
    best = part.records.sort("validation_loss").row(0, named=True)
    row = part.outcomes.row(0, named=True)
    assert row["best_step"] == best["step"]
    assert (best["step"] < row["steps"]) == (learning_rate == 1.0)
    assert row["validation_loss"] == pytest.approx(best["validation_loss"], rel=1e-6)
    network = training.network("sum", "GRU", 1)
    network.load_state_dict(tensors_of(part.weights, settled=False))
    found = SeriesData("sum", 2, 0, splits=splits()).measure(network.eval(), LENGTHS)
    maes = [found[length].mae for length in LENGTHS]
    assert part.outcomes["mae"].to_list() == pytest.approx(maes, rel=1e-6)


def test_seeds_train_on_series_of_their_own_and_are_judged_by_the_same():
    first, other = (SeriesData("sum", 2, seed, splits=splits()) for seed in (0, 1))
    for seed, data in enumerate((first, other)):
        expected = SequentialMNIST("sum", 10, bars("train"), seed, recut=True)
        assert torch.equal(data.train.batch(0, 2).images, expected.batch(0, 2).images)
        assert len(data.validation.digits.labels) == 20
    assert not torch.equal(first.train.sequences, other.train.sequences)
    assert torch.equal(first.validation.sequences, other.validation.sequences)
