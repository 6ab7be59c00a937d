"""Programs: the networks, the studies and their tables."""

import json
import math
import re
from dataclasses import replace

import polars as pl
import pytest
import torch
from torch import nn

from torchalu import sweep
from torchalu.evaluate import matching_digits
from torchalu.experiments import get
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018.configured import CONFIGURED
from torchalu.experiments.trask2018.devices import moved
from torchalu.experiments.trask2018.program_networks import MODELS, ProgramNetwork
from torchalu.experiments.trask2018.program_summaries import (
    curves,
    program_tables,
    search_tables,
)
from torchalu.experiments.trask2018.program_training import (
    ProgramSetting,
    ProgramTraining,
    measured_sets,
    rmse,
)
from torchalu.experiments.trask2018.programs import figure4, figure4_search, figure6
from torchalu.tasks import Programs, encode_programs, evaluate_program
from torchalu.train import Stopped

TINY = ProgramTraining(steps=20, batch_size=4, evaluate_every=10, count=5, nesting=(1, 2))


def test_parameters_start_as_torchs_own_unless_registers_are_kept():
    for keep in (True, False):
        torch.manual_seed(3)
        network = ProgramNetwork("NALU", 4, registers=2, keep_registers=keep).core
        torch.manual_seed(3)
        lstm, linear = nn.LSTM(9, 4), nn.Linear(4, 18)
        assert torch.equal(network.lstm.weight_ih_l0, lstm.weight_ih_l0)
        torch.testing.assert_close(network.parameters_of.weight, 0.1 * linear.weight)
        assert torch.equal(network.parameters_of.bias, linear.bias) is not keep


def test_whether_registers_are_kept_settles_results_of_configured_units_alone():
    described = {
        (model, keep): ProgramSetting(
            "addition", model, 5, 0.01, 2, False, replace(TINY, keep_registers=keep)
        ).describe()
        for model in ("LSTM", "NALU")
        for keep in (True, False)
    }
    assert described["LSTM", True] == described["LSTM", False]
    assert described["NALU", True]["training"].pop("keep_registers") is True
    assert described["NALU", True] == described["NALU", False]


@pytest.mark.parametrize("name", MODELS)
def test_padding_changes_no_answer(name):
    torch.manual_seed(0)
    network = ProgramNetwork(name, 5, registers=2)
    batch = encode_programs([(7,), ("(", 12, "-", 30, ")")])
    torch.testing.assert_close(network(batch)[:1], network(encode_programs([(7,)])))


@pytest.mark.parametrize("name", CONFIGURED)
def test_an_lstm_that_configures_sees_numbers_only_where_it_may(name):
    torch.manual_seed(0)
    blind, seeing = (ProgramNetwork(name, 5, sees_numbers=sees) for sees in (False, True))
    lstms = [network.core.get_submodule("lstm") for network in (blind, seeing)]
    assert [lstm.input_size for lstm in lstms] == [9, 10]
    assert ProgramNetwork("LSTM", 5).sees_numbers


@pytest.mark.parametrize("name", MODELS)
def test_each_network_overfits_one_batch(name):
    """Differences of two numbers, to within a twentieth of their spread, from a start of five.

    How far a NALU gets from one start hangs on the rounding of the processor's instructions.
    """
    batch = Programs(("sub",), (1, 1), seed=1).batch(0, 4)
    bound = 0.05 * batch.targets.std(correction=0).item()
    losses = []
    for start in range(5):
        torch.manual_seed(start)
        network = ProgramNetwork(name, 32, registers=2)
        losses.append(_least_loss(network, batch, 0.01 if name == "LSTM" else 0.03, bound))
        if losses[-1] < bound:
            break
    assert min(losses) < bound


def _least_loss(network, batch, learning_rate, bound):
    """The first loss below a bound, or the last of 600."""
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    for _ in range(600):
        loss = rmse(network(batch), batch)
        if loss.item() < bound:
            break
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    return loss.item()


@pytest.mark.usefixtures("meta_device")
@pytest.mark.parametrize("name", MODELS)
def test_a_network_is_where_it_is_trained(name):
    """All that it works with lies on its device, or it would not answer."""
    training = replace(TINY, device="meta")
    network = ProgramSetting("programs", name, 5, 0.01, 2, True, training).network(0)
    batch = moved(training.programs("programs", 0).batch(0, 3), "meta")
    loss = rmse(network(batch), batch)
    loss.backward()
    assert loss.device.type == "meta"


@pytest.mark.usefixtures("meta_device")
def test_a_device_is_described_unless_it_is_the_cpu():
    described = [
        ProgramSetting("programs", "NAU", 5, 0.01, 2, True, replace(TINY, device=device)).describe()
        for device in ("cpu", "meta")
    ]
    numbers = dict(described[1]["training"])
    assert numbers.pop("device") == "meta"
    assert described[0]["training"] == numbers


def test_an_unknown_network():
    with pytest.raises(ValueError, match="model holds 'LSTN'; did you mean 'LSTM'"):
        ProgramNetwork("LSTN", 4)


def test_tests_have_the_digits_and_validation_has_other_programs():
    numbers = ProgramTraining(count=200)
    programs = numbers.programs("programs", 0)
    sets = measured_sets(programs, numbers.count)
    again = measured_sets(numbers.programs("programs", 5), numbers.count)
    for name, batch in sets.items():
        assert torch.equal(batch.values, again[name].values)
        if name != "validation":
            seen = batch.values[batch.symbols == 1]
            low, high = {"2": (0, 99), "3": (100, 999), "4": (1000, 9999)}[name]
            assert low <= seen.min() <= seen.max() <= high
    assert not torch.equal(sets["validation"].targets, sets["2"].targets)
    assert {len(p) for p in numbers.programs("addition", 0).sample(0, 20)} == {5}


@pytest.mark.parametrize("figure", [figure4, figure6])
def test_twenty_steps_of_each_network(figure, tmp_path):
    study = figure(Seeds(1), hidden=5, registers=2, sees_numbers=(False,), training=TINY)
    outcomes = sweep.run(study, tmp_path / "run", workers=1)
    assert outcomes["steps"].unique().to_list() == [20]
    assert set(outcomes["digits"]) == {2, 3, 4}
    assert outcomes["evaluation_steps"].to_list() == [[10, 20]] * (3 * len(MODELS))
    name = study.name.rpartition(".")[2]
    tables = study.summarize(outcomes)
    assert list(tables) == [name, f"{name}_digits", f"{name}_picks"]
    assert tables[name].height == len(MODELS) * 3 * 2
    assert tables[f"{name}_digits"].height == len(MODELS) * 3


def test_the_rate_of_adam_falls_to_0_as_a_cosine_does(tmp_path):
    numbers = replace(TINY, evaluate_every=20)
    setting = ProgramSetting("addition", "NAU", 5, 0.05, 2, False, numbers)
    kept = setting.run(3, tmp_path, lambda fraction: None).weights
    network, programs = setting.network(3), numbers.programs("addition", 3)
    optimizer = torch.optim.Adam(network.parameters())
    for step in range(20):
        optimizer.param_groups[0]["lr"] = 0.05 * (1 + math.cos(math.pi * step / 20)) / 2
        batch = programs.batch(step, 4)
        optimizer.zero_grad()
        rmse(network(batch), batch).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    for name, value in network.state_dict().items():
        torch.testing.assert_close(kept[name], value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["NALU", "DNC"])
@pytest.mark.usefixtures("every_step_reports")
def test_a_broken_run_goes_on_as_if_it_had_not_been(name, tmp_path):
    made = figure4(
        Seeds(1),
        models=(name,),
        hidden=5,
        registers=2,
        sees_numbers=(True,),
        training=TINY,
    )
    (chunk,) = made.chunks()
    whole = made.run(chunk, tmp_path / "whole", lambda fraction: None)

    def stop(fraction):
        if fraction > 0:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        made.run(chunk, tmp_path / "broken", stop)
    again = made.run(chunk, tmp_path / "broken", lambda fraction: None)
    assert again.outcomes.equals(whole.outcomes)
    assert again.records.equals(whole.records)
    assert all(torch.equal(value, again.weights[key]) for key, value in whole.weights.items())


def test_an_outcome_is_what_the_kept_weights_give(tmp_path):
    setting = figure6(Seeds(1), models=("NAC",), hidden=5, registers=2, training=TINY)
    (chunk,) = setting.chunks()
    part = setting.run(chunk, tmp_path, lambda fraction: None)
    network = ProgramNetwork("NAC", 5, registers=2)
    network.load_state_dict(part.weights)
    programs = Programs(("add",), (1, 1), (100, 1000), seed=1_000_002).sample(0, 5)
    with torch.no_grad():
        answers = [network(encode_programs([program])).item() for program in programs]
    truth = [evaluate_program(program) for program in programs]
    expected = matching_digits(answers, truth).mean()
    row = part.outcomes.filter(digits=3)
    assert row["matching"].item() == pytest.approx(expected)
    off = [answer - right for answer, right in zip(answers, truth, strict=True)]
    mean_square = sum(error**2 for error in off) / len(off)
    assert row["rmse"].item() == pytest.approx(math.sqrt(mean_square), rel=1e-5)
    assert row["rmse"].item() > 100


def made_up():
    """A NALU with two rates, of which the second validates better, and an LSTM."""
    rows = []
    for model, rate, matching in (("NALU", 0.1, 0.2), ("NALU", 0.01, 1.0), ("LSTM", 0.01, 0.5)):
        for seed in range(2):
            for digits in (2, 4):
                final = matching - 0.1 * seed * (digits - 2)
                rows.append({
                    "model": model, "hidden": 8, "learning_rate": rate, "registers": 4,
                    "sees_numbers": False, "seed": seed, "digits": digits,
                    "validation_loss": 1 / matching + seed, "rmse": 3.0, "matching": final,
                    "right": final / 2, "evaluation_steps": [10, 20],
                    "matching_digits": [final / 2, final],
                })  # fmt: skip
    return pl.DataFrame(rows)


def test_the_cell_is_chosen_by_validation_and_the_seed_too():
    tables = program_tables("figure4")(made_up())
    rows = {(row["model"], row["digits"]): row for row in tables["figure4_digits"].rows(named=True)}
    assert len(rows) == 4
    nalu = rows["NALU", 4]
    assert (nalu["learning_rate"], nalu["seeds"], nalu["chosen_seed"]) == (0.01, 2, 0)
    assert (nalu["chosen"], nalu["best"], nalu["solved"]) == (1.0, 1.0, 1)
    assert nalu["median"] == pytest.approx(0.9)
    assert (nalu["low"], nalu["high"]) == (0.8, 1.0)
    assert rows["NALU", 2]["solved"] == 2
    picked = tables["figure4_picks"].select("digits", "pick", "by", "seeds", "paper", "factor")
    assert picked.rows() == [
        (2, "NALU", "median", 2, "NALU", 1),
        (4, "NALU", "median", 2, "NALU", 1),
    ]
    assert search_tables(made_up())["figure4_search"].height == 3
    line = tables["figure4"].filter(model="NALU", digits=4, step=20).row(0, named=True)
    assert line["mean"] == pytest.approx(0.9)
    assert line["low"] == pytest.approx(0.9 - 2 * 0.2 / 2**0.5)  # two standard deviations of 1, .8
    assert line["high"] == 1.0


def test_what_reads_the_numbers_stands_beside_what_does_not():
    rows = made_up().filter(model="NALU", learning_rate=0.01)
    worse = {"sees_numbers": True, "validation_loss": 9.0, "matching": 0.4, "rmse": 2.0}
    seeing = rows.with_columns(pl.lit(value).alias(name) for name, value in worse.items())
    tables = program_tables("figure4")(pl.concat((rows, seeing)))
    shown = tables["figure4_digits"].filter(digits=2).select("model", "sees_numbers", "median")
    assert shown.rows() == [("NALU", False, 1.0), ("NALU", True, 0.4)]
    picked = tables["figure4_picks"].select("pick", "sees_numbers", "median_rmse").unique()
    assert picked.rows() == [("NALU", True, 2.0)]
    assert tables["figure4"].group_by("model", "sees_numbers").len().height == 2


def test_a_seed_that_ended_early_keeps_its_last_number():
    rows = made_up().filter(model="LSTM", digits=2)
    steps = pl.Series([[10, 20], [10]])
    matching = pl.Series([[0.2, 0.6], [0.4]])
    table = curves(
        rows.with_columns(steps.alias("evaluation_steps"), matching.alias("matching_digits"))
    )
    assert table["seeds"].to_list() == [2, 2]
    assert table["mean"].to_list() == [pytest.approx(0.3), pytest.approx(0.5)]


def test_one_seed_has_no_band():
    rows = {"model": ["NAC"], "sees_numbers": [False], "digits": [2], "seed": [0]}
    rows |= {"evaluation_steps": [[5, 10]], "matching_digits": [[0.5, 0.7]]}
    table = curves(pl.DataFrame(rows))
    assert table["mean"].to_list() == [0.5, 0.7]
    assert table.select("low", "high").null_count().row(0) == (2, 2)


@pytest.mark.parametrize(
    ("name", "networks"),
    [("trask2018.figure4", len(MODELS) + len(CONFIGURED)), ("trask2018.figure6", len(MODELS))],
)
def test_chunks_have_names_of_files_and_configurations_are_json(name, networks):
    study = get(name)()
    names = [chunk.name for chunk in study.chunks()]
    assert len(set(names)) == len(names) == 10 * networks
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._,+=-]{0,149}", one) for one in names)
    assert json.loads(json.dumps(study.configuration)) == study.configuration
    assert study.keys == (
        "model", "hidden", "learning_rate", "registers", "sees_numbers", "digits", "seed",
    )  # fmt: skip


def test_options_are_a_grid_for_configured_units_alone():
    study = figure4_search(
        Seeds(1), models=("LSTM", "NALU"), learning_rates=(0.01, 0.001), registers=(1, 4)
    )
    assert len(study.chunks()) == 2 + 2 * 2 * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0; give a positive integer"),
        ({"clip_norm": 0.0}, "clip_norm is 0.0; give a positive number"),
        ({"device": "nowhere"}, "device is 'nowhere'"),
    ],
)
def test_numbers_out_of_range(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ProgramTraining(**options)


@pytest.mark.long
def test_a_unit_that_adds_goes_beyond_two_digits_and_an_lstm_does_not(tmp_path):
    training = ProgramTraining(steps=3000, evaluate_every=1000, count=200)
    study = figure6(
        Seeds(1), models=("LSTM", "NAC"), hidden=32, learning_rate=0.01, training=training
    )
    outcomes = sweep.run(study, tmp_path / "run", workers=1).filter(digits=4)
    matching = dict(outcomes.select("model", "matching").iter_rows())
    assert matching["NAC"] > 0.95
    assert matching["LSTM"] < 0.3


def test_errors_are_over_as_many_programs_as_asked_for(tmp_path):
    """Five of each number of digits, whatever the batch of the training."""
    study = figure6(Seeds(1), models=("NAC",), hidden=5, registers=2, training=TINY)
    (chunk,) = study.chunks()
    part = study.run(chunk, tmp_path, lambda fraction: None)
    network = ProgramNetwork("NAC", 5, registers=2)
    network.load_state_dict(part.weights)
    for digits, numbers in ((2, (0, 100)), (3, (100, 1000)), (4, (1000, 10_000))):
        programs = Programs(("add",), (1, 1), numbers, seed=1_000_002).sample(0, 5)
        with torch.no_grad():
            answers = [network(encode_programs([one])).item() for one in programs]
        squares = [(a - evaluate_program(p)) ** 2 for a, p in zip(answers, programs, strict=True)]
        found = part.outcomes.filter(digits=digits)["rmse"].item()
        assert found == pytest.approx(math.sqrt(sum(squares) / 5), rel=1e-5)
