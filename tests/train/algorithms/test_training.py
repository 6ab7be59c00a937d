"""Trainings: they learn, hold on longer strings, go on after a break, and name what is wrong."""

import dataclasses
import itertools
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load, save

from torchalu.evaluate import StringAccuracy, string_accuracy
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import StringFileTask, algorithm
from torchalu.train import CheckpointError
from torchalu.train.algorithms import (
    AlgorithmTraining,
    StringValidation,
    train_algorithm,
)
from torchalu.train.algorithms.training import validation_symbols

KILLED = Path(__file__).with_name("killed_training.py")
TINY = AlgorithmTraining(
    maps=6, bins=(3, 5), batch=2, steps=6, evaluate_every=3, validation_strings=3, every=2
)


def learned(task, length, **numbers):
    """How many of 200 new strings are right, at the length trained on and at ten times that."""
    training = AlgorithmTraining(
        learning_rate=0.01, evaluate_every=50, every=100, validate_at=(1, 2.5, 5, 10), **numbers
    )
    module = train_algorithm(algorithm(task), training).module
    strings = np.random.default_rng(12345)
    return [
        string_accuracy(module, algorithm(task), algorithm(task).sample(n, 200, strings)).right
        for n in (length, 10 * length)
    ]


def test_copying_is_learned_and_holds_at_ten_times_the_length():
    assert learned("copy", 8, maps=24, bins=(4, 8), batch=16, steps=300) == [200, 200]


@pytest.mark.long
def test_reversing_is_learned_and_holds_at_ten_times_the_length():
    numbers = {"maps": 24, "batch": 16, "bins": tuple(range(2, 11)), "bins_per_step": 5}
    assert learned("reverse", 10, ramp=200, settle=200, steps=600, **numbers) == [200, 200]


def test_hardening_goes_on_where_it_was(tmp_path):
    training = AlgorithmTraining(
        maps=12, bins=(2, 3), batch=16, learning_rate=0.02, steps=300, ramp=40, settle=40,
        evaluate_every=10, checkpoint_every=5, validate_at=(1.0,), validation_strings=8, levels=2,
    )  # fmt: skip
    unbroken = train_algorithm(algorithm("copy"), training)
    began = int(unbroken.records["hardening_began"][-1])
    assert unbroken.status == "ended"
    assert unbroken.steps == began + 80
    assert unbroken.best_step > began + 40  # the first whose state is rounded
    assert unbroken.module.levels == 2
    for steps in (began + 20, began + 60, 300):
        again = train_algorithm(
            algorithm("copy"), dataclasses.replace(training, steps=steps), folder=tmp_path
        )
    assert again.records.drop("seconds").equals(unbroken.records.drop("seconds"))
    states = again.module.state_dict(), unbroken.module.state_dict()
    assert all(torch.equal(states[0][name], value) for name, value in states[1].items())


@pytest.mark.parametrize("steps_more", [20, 45, 80])
def test_what_is_kept_is_the_network_that_was_validated(steps_more):
    """Before its noise is whole its state is not rounded, however early the training ends."""
    training = AlgorithmTraining(
        maps=12, bins=(2, 3), batch=16, learning_rate=0.02, steps=300, ramp=40, settle=40,
        evaluate_every=10, validate_at=(1.0,), validation_strings=8, levels=2,
    )  # fmt: skip
    task = algorithm("copy")
    began = int(train_algorithm(task, training).records["hardening_began"][-1])
    training = dataclasses.replace(training, steps=began + steps_more)
    result = train_algorithm(task, training)
    assert result.module.levels == (0 if steps_more == 20 else 2)
    again = StringValidation(task, [3], 8, training.seed, noise=training.noise)(result.module)
    assert again["validation_loss"] == pytest.approx(result.validation_loss, rel=1e-6)


def test_a_file_is_validated_at_several_of_its_lengths():
    """One of its lengths alone may have a single row."""
    rng = np.random.default_rng(0)
    texts = {"".join(rng.choice(["a", "b"], n)) for n in range(1, 21) for _ in range(40)}
    rows = {text: text[::-1] for text in texts} | {"a" * 24: "a" * 24, "b" * 24: "b" * 24}
    task = own_task(rows, name="badd")
    training = dataclasses.replace(TINY, bins=tuple(range(1, 25)), validation_strings=32)
    put_aside = task.split()[1]
    symbols = validation_symbols(put_aside, 24, training.validate_at)
    assert len(symbols) == 8
    assert {symbols[0], symbols[-1]} == {
        min(map(len, put_aside.rows)),
        max(map(len, put_aside.rows)),
    }
    texts = StringValidation(put_aside, symbols, 32, seed=0).texts
    for length, chosen in texts.items():
        assert sorted(chosen) == sorted(text for text in put_aside.rows if len(text) == length)
    records = train_algorithm(task, training).records
    assert set(records["symbols"]) <= set(symbols)
    assert records["symbols"][0] == symbols[0]


def test_a_file_has_no_recipe_of_a_name():
    """It may be called badd, and be anything."""
    rows = {"ab": "ba", "aab": "baa"}
    recipes = {
        AlgorithmTraining.improved(own_task(rows, name=name))
        for name in ("own", "badd", "copy", "bmul")
    }
    assert len(recipes) == 1
    assert AlgorithmTraining.improved(algorithm("badd")) not in recipes


def test_the_average_is_kept_with_sharp_gates(monkeypatch):
    """Sharpening changes what is kept by its factor, and nothing of the training."""
    losses = itertools.count(-1000)

    def ever_better(module, task, texts):
        return StringAccuracy(
            np.ones(len(texts), dtype=bool), 1.0, -next(losses) / 1000, np.ones(len(texts))
        )

    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", ever_better)
    training = AlgorithmTraining(
        maps=6, bins=(2, 3), batch=8, steps=30, ramp=10, evaluate_every=15, validate_at=(1.0,),
        validation_strings=4, sharpening=1.0,
    )  # fmt: skip
    plain = train_algorithm(algorithm("copy"), training)
    sharp = train_algorithm(algorithm("copy"), dataclasses.replace(training, sharpening=2.0))
    assert plain.records["training_loss"].equals(sharp.records["training_loss"])
    assert plain.best_step == sharp.best_step == 30
    plain.module.sharpen_update_gates_(2.0)
    for name, value in sharp.module.state_dict().items():
        assert torch.equal(value, plain.module.state_dict()[name]), name


@pytest.mark.long
def test_kill_minus_nine_at_random_moments(tmp_path):
    """Every method's state is kept: the files are those of unbroken trainings."""
    random = np.random.default_rng(0)
    command = [sys.executable, str(KILLED), str(tmp_path / "broken")]
    for form in ("diagonal", "cgru"):
        checkpoint = tmp_path / "broken" / form / "checkpoint.safetensors"
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            while process.poll() is None and not checkpoint.exists():
                time.sleep(0.01)
            time.sleep(random.uniform(0.0, 0.5))
            assert process.poll() is None
            process.kill()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    command[-1] = str(tmp_path / "whole")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for form in ("diagonal", "cgru"):
        for name in ("records.parquet", "best.safetensors"):
            first, second = (tmp_path / run / form / name for run in ("broken", "whole"))
            assert first.read_bytes() == second.read_bytes(), name
    records = pl.read_parquet(tmp_path / "whole" / "cgru" / "records.parquet")
    assert records["averaged"].to_list()[0] == 0
    assert records["averaged"].to_list()[-1] == 1


@pytest.mark.parametrize("at", [1, 3, 4])
@pytest.mark.usefixtures("every_step_reports")
def test_a_training_broken_by_its_report_goes_on_bit_for_bit(tmp_path, at):
    task = algorithm("badd")

    def stop(progress):
        if progress.step == at:
            raise InterruptedError

    whole = train_algorithm(task, TINY)
    with pytest.raises(InterruptedError):
        train_algorithm(task, TINY, folder=tmp_path, report=stop)
    result = train_algorithm(task, TINY, folder=tmp_path)
    assert result.records.drop("seconds").equals(whole.records.drop("seconds"))
    for name, value in whole.module.state_dict().items():
        assert torch.equal(result.module.state_dict()[name], value)
    assert result.best_step == whole.best_step


def test_the_global_generator_has_no_part_in_it():
    results = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        results.append(train_algorithm(algorithm("copy"), TINY).module.state_dict())
        assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, results[1][name]) for name, value in results[0].items())


def test_records_have_a_row_an_evaluation_and_length():
    result = train_algorithm(algorithm("badd"), TINY)
    records = result.records
    assert set(records["step"]) == {3, 6}
    assert set(records["symbols"]) <= {5, 11, 25}
    assert records.filter(pl.col("symbols") == 5).height == 2
    assert records["count"].unique().to_list() == [3]
    assert records["right"].is_between(0, 1).all()
    assert (result.status, result.steps) == ("finished", 6)
    assert not result.module.training


@pytest.mark.usefixtures("every_step_reports")
def test_progress_is_reported():
    seen = []
    train_algorithm(algorithm("copy"), TINY, report=seen.append)
    assert [progress.step for progress in seen] == [1, 2, 3, 4, 5, 6]
    assert {progress.steps for progress in seen} == {6}
    assert "right@5" not in seen[1].evaluation
    assert seen[3].evaluation["step"] == 3
    assert 0 <= seen[3].evaluation["right@5"] <= 1


def test_the_original_form_goes_through_its_curriculum():
    training = dataclasses.replace(
        AlgorithmTraining.original(algorithm("copy")),
        maps=6, width=2, layers=1, parameter_sets=2, pull=0.05, start=1, bins=(5,), every=10,
        steps=400, evaluate_every=10, learning_rate=0.01, validate_at=(1.0,), dropout=0.01,
    )  # fmt: skip
    records = train_algorithm(algorithm("copy"), training).records
    lengths = records["curriculum_length"].to_list()
    assert lengths == sorted(lengths)
    assert lengths[0] <= 2
    assert lengths[-1] == 5
    assert records["averaged"].to_list()[-1] == 1
    assert records["pull"].max() == pytest.approx(0.05 * 1.2**4)


@pytest.mark.usefixtures("every_step_reports")
def test_steps_below_those_taken_before_the_first_evaluation(tmp_path):

    def stop(progress):
        if progress.step == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        train_algorithm(algorithm("badd"), TINY, folder=tmp_path, report=stop)
    result = train_algorithm(algorithm("badd"), dataclasses.replace(TINY, steps=1), folder=tmp_path)
    assert (result.steps, result.best_step, result.status) == (2, 2, "finished")
    right = string_accuracy(
        result.module,
        algorithm("badd"),
        StringValidation(algorithm("badd"), [5], 3, seed=0).texts[5],
    ).rate
    assert result.chosen.filter(symbols=5)["right"].to_list() == [right]
    assert result.validation_loss == result.records["validation_loss"][0]
    assert not result.generalizes


def test_a_finished_training_gives_the_same_module_again(tmp_path):
    """What noise was left by the last step is no matter."""
    training = dataclasses.replace(TINY, noise=0.5, initial_noise=0.2)
    modules = [train_algorithm(algorithm("badd"), training, folder=tmp_path) for _ in range(2)]
    noises = [one.module.configuration()["noise"] for one in modules]
    assert noises == [0.5, 0.5]


@pytest.mark.parametrize("form", ["improved", "original"])
@pytest.mark.parametrize("changes", [{"bins": (10**11,)}, {"maps": 3_000_000}], ids=str)
def test_memory_that_does_not_suffice_is_known_before_any_is_taken(form, changes):
    recipe = getattr(AlgorithmTraining, form)(algorithm("badd"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"which takes about .* GiB"):
        train_algorithm(algorithm("badd"), dataclasses.replace(recipe, **changes))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_what_a_training_cannot_do_is_named(tmp_path, monkeypatch):
    train_algorithm(algorithm("badd"), TINY, folder=tmp_path)
    for other, name in (
        (dataclasses.replace(TINY, smaller=0.1), r"smaller = 0\.0, and this one has 0\.1"),
        (dataclasses.replace(TINY, seed=1), "seed = 0, and this one has 1"),
    ):
        message = f"is of a run with .*{name}; give another folder, or remove the file"
        with pytest.raises(CheckpointError, match=message):
            train_algorithm(algorithm("badd"), other, folder=tmp_path)
    with pytest.raises(CheckpointError, match="a run with task = 'badd', and this one has 'bmul'"):
        train_algorithm(algorithm("bmul"), TINY, folder=tmp_path)
    other = dataclasses.replace(TINY, noise=0.0, sharpening=1.0)  # fewer methods, another task
    with pytest.raises(CheckpointError, match="a run with task = 'badd', and this one has 'bmul'"):
        train_algorithm(algorithm("bmul"), other, folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"with noise = 0\.5, and this one has 0\.0"):
        train_algorithm(algorithm("badd"), other, folder=tmp_path)
    monkeypatch.setattr("torchalu.evaluate.memory.free_bytes", lambda device: 1)
    with pytest.raises(
        ValueError, match=r"bins is \(3, 5\), batch 2 and maps 6, which takes about"
    ):
        train_algorithm(algorithm("badd"), TINY)


def own_task(rows, **changes):
    fields = {"name": "own", "title": "rows", "alphabet": "ab", "example": "a", "size": (1, 0)}
    return StringFileTask(**fields | changes, rows=rows)


def test_a_training_on_other_rows_is_another_training(tmp_path):
    training = dataclasses.replace(TINY, bins=(3, 10))
    rows = {f"{n:05b}".translate({48: "a", 49: "b"}): "b" for n in range(32)}
    train_algorithm(own_task(rows), training, folder=tmp_path)
    turned = own_task(dict(reversed(list(rows.items()))))
    results = [train_algorithm(turned, training, folder=folder) for folder in (tmp_path, None)]
    assert [result.steps for result in results] == [6, 6]
    columns = [result.records["loss"].to_list() for result in results]
    assert columns[0] == columns[1], "the same strings are drawn, whatever the order of the rows"
    message = "is of a run with rows = '[0-9a-f]{64}', and this one has '[0-9a-f]{64}'; give"
    for other in (rows | {"aaaaa": "a"}, rows | {"aaa": "b"}):
        with pytest.raises(CheckpointError, match=message):
            train_algorithm(own_task(other), training, folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"with size = \[1, 0\], and this one has \[2, 0\]"):
        train_algorithm(own_task(rows, size=(2, 0)), training, folder=tmp_path)


def test_a_training_of_another_module_is_another_training(tmp_path):
    def module(dropout):
        return DiagonalNeuralGPU(4, maps=6, dropout=dropout, generator=torch.manual_seed(0))

    train_algorithm(algorithm("badd"), TINY, module=module(0.1), folder=tmp_path)
    train_algorithm(algorithm("badd"), TINY, module=module(0.1), folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"with module.dropout = 0.1, and this one has 0.9;"):
        train_algorithm(algorithm("badd"), TINY, module=module(0.9), folder=tmp_path)


def test_a_checkpoint_of_an_older_version_is_of_another_training(tmp_path):
    """It did not say of which rows and size it is, and had no sum."""
    train_algorithm(algorithm("badd"), TINY, folder=tmp_path)
    path = tmp_path / "checkpoint.safetensors"
    data = path.read_bytes()
    head = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["torchalu"]
    older = json.loads(head) | {"format": "torchalu.train/1"}
    del older["sha256"]
    for name in ("filled", "size", "rows", "length"):
        del older["identity"]["hooks"]["Clock"][name]
    path.write_bytes(save(load(data), {"torchalu": json.dumps(older)}))
    with pytest.raises(CheckpointError, match=r"is of a run with .*Clock = .*give another folder"):
        train_algorithm(algorithm("badd"), TINY, folder=tmp_path)


def test_what_a_user_has_changed_is_named_by_the_name_that_he_gave_it(tmp_path):
    train_algorithm(algorithm("badd"), TINY, folder=tmp_path)
    unfilled = algorithm("badd", filled=False)
    for task, changes, message in (
        (unfilled, {}, "is of a run with filled = True, and this one has False"),
        (algorithm("badd"), {"bins": (3, 7)}, "with length = 2, and this one has 3"),
        (algorithm("badd"), {"maps": 9, "learning_rate": 0.1}, "with maps = 6, and this one has 9"),
    ):
        with pytest.raises(CheckpointError, match=message):
            train_algorithm(task, dataclasses.replace(TINY, **changes), folder=tmp_path)
