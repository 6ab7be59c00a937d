"""The studies: settings, chunks, and that a broken run goes on."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from torchalu import sweep
from torchalu.experiments.kaiser2016.ablations import VARIANTS, ablations
from torchalu.experiments.kaiser2016.algorithms import OTHERS, algorithms, decimal, lengths_within
from torchalu.experiments.kaiser2016.baselines import (
    LSTMLearner,
    StackLearner,
    TransformerLearner,
)
from torchalu.experiments.kaiser2016.grid import grid
from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.kaiser2016.table1 import MODELS, Table1Study, learner, table1
from torchalu.experiments.kaiser2016.teaching import Teaching
from torchalu.experiments.seeds import Seeds
from torchalu.tasks import algorithm
from torchalu.train import Stopped
from torchalu.train.algorithms import AlgorithmTraining, StringValidation, train_algorithm
from torchalu.train.algorithms.training import length_plan

BADD = algorithm("badd")
SHORT = Teaching(20, evaluate_every=10, validate_at=(1.0, 2.0), validation_strings=4)
TINY = AlgorithmTraining(
    maps=6, bins=(5, 7), batch=3, steps=20, evaluate_every=10, checkpoint_every=4,
    validate_at=(1.0, 2.0), validation_strings=4,
)  # fmt: skip
LEARNERS = {
    "improved": NeuralGPULearner(TINY),
    "unshifted": NeuralGPULearner(TINY, shift=False),
    "original": NeuralGPULearner(
        replace(
            AlgorithmTraining.original(BADD), maps=4, bins=(7,), batch=3, steps=20, examples=20,
            every=5, evaluate_every=10, checkpoint_every=4, validate_at=(1.0, 2.0),
            validation_strings=4,
        )
    ),
    "lstm_attention": LSTMLearner(size=6, layers=2, symbols=7, batch=3, numbers=SHORT),
    "stack_rnn": StackLearner(hidden=6, stacks=2, symbols=7, batch=3, epoch=15, numbers=SHORT),
    "transformer": TransformerLearner(
        size=8, layers=1, heads=2, positions=20, symbols=7, batch=3, warmup=3, numbers=SHORT
    ),
}  # fmt: skip
MEASURED = ("seconds", "solved_at_seconds")


def study(*names, seeds=1, strings=None):
    strings = strings or Strings((3, 5), count=4, long_count=2)
    settings = [
        AlgorithmSetting({"task": "badd", "model": name}, BADD, LEARNERS[name], strings)
        for name in names
    ]
    return Table1Study("kaiser2016.table1", settings, Seeds(seeds))


@pytest.mark.parametrize("name", LEARNERS)
def test_twenty_steps_of_each_network_and_its_tests(name, tmp_path):
    outcomes = sweep.run(study(name), tmp_path / "run", workers=1)
    assert set(outcomes["length"]) == {3, 5}
    assert outcomes["steps"].unique().to_list() == [20]
    assert outcomes.select(pl.col("right").is_between(0, pl.col("count")).all()).item()
    (weights,) = (tmp_path / "run" / "parts").glob("*.safetensors")
    assert weights.stat().st_size > 100
    module = LEARNERS[name].build(BADD, 0)
    assert outcomes["parameters"][0] <= sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.usefixtures("every_step_reports")
def test_a_broken_run_goes_on_as_if_it_had_not_been(name, tmp_path):
    made = study(name)
    (chunk,) = made.chunks()
    whole = made.run(chunk, tmp_path / "whole", lambda fraction: None)
    scratch = tmp_path / "broken"
    scratch.mkdir()
    for most in (0.0, 0.8):

        def stop(fraction, most=most):
            if fraction > most:
                raise Stopped("enough")

        with pytest.raises(Stopped):
            made.run(chunk, scratch, stop)
    assert {"checkpoint.safetensors", "measured.json"} <= {p.name for p in scratch.iterdir()}
    again = made.run(chunk, scratch, lambda fraction: None)
    assert again.outcomes.drop(MEASURED).equals(whole.outcomes.drop(MEASURED))
    assert again.records.drop("seconds").equals(whole.records.drop("seconds"))
    assert whole.weights.keys() == again.weights.keys()
    assert all(torch.equal(value, again.weights[key]) for key, value in whole.weights.items())


def test_seeds_differ_and_each_is_a_chunk():
    made = study("lstm_attention", "stack_rnn", seeds=2)
    assert [chunk.name for chunk in made.chunks()] == [
        "badd-lstm_attention-seed0", "badd-stack_rnn-seed0",
        "badd-lstm_attention-seed1", "badd-stack_rnn-seed1",
    ]  # fmt: skip
    networks = [LEARNERS["lstm_attention"].build(BADD, seed) for seed in (0, 1)]
    first, second = (network.output.weight for network in networks)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("made", [table1, algorithms, decimal, ablations, grid])
def test_chunks_have_names_of_files_and_configurations_are_json(made):
    built = made(tasks=("badd",)) if made is grid else made()
    names = [chunk.name for chunk in built.chunks()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._,+=-]{0,149}", name) for name in names)
    assert json.loads(json.dumps(built.configuration)) == built.configuration
    assert built.keys[-3:] == ("strings", "length", "seed")


def test_table_1_has_the_papers_models_lengths_and_forms(monkeypatch):
    made = table1()
    labels = {tuple(setting.labels.values()) for setting in made.settings}
    expected = {(task, model) for task in ("badd", "bmul") for model in MODELS}
    assert labels == expected - {("bmul", "stack_rnn")}
    by_model = {setting.labels["model"]: setting for setting in made.settings}
    assert by_model["original"].strings.lengths == (20, 25, 100, 200, 2000)
    assert {name: setting.task.filled for name, setting in by_model.items()} == {
        "improved": True, "original": False, "stack_rnn": True, "lstm_attention": False,
        "transformer": True,
    }  # fmt: skip
    assert by_model["original"].learner.training.parameter_sets == 6
    assert by_model["lstm_attention"].learner.size == 64
    with monkeypatch.context() as patch:
        for module in ("learner", "table1"):
            name = f"torchalu.experiments.kaiser2016.{module}.check_device"
            patch.setattr(name, lambda device: None, raising=False)
        assert {setting.learner.device for setting in table1(device="cuda").settings} == {"cuda"}
    assert learner("stack_rnn", BADD, steps=7).numbers.steps == 7
    assert learner("original", BADD, steps=7).training.steps == 7
    ends = {name: s.learner.describe() for name, s in by_model.items()}
    assert {name: _numbers(one)["end_after"] for name, one in ends.items()} == {
        "improved": 0, "original": 5, "stack_rnn": 0, "lstm_attention": 5, "transformer": 5,
    }  # fmt: skip
    without = table1(end_after=0).settings
    assert {_numbers(s.learner.describe())["end_after"] for s in without} == {0}


def _numbers(described):
    return described.get("numbers") or described["training"]


def test_other_tasks_are_tested_at_a_hundred_times_the_length():
    made = algorithms(models=("improved",))
    assert {setting.labels["task"] for setting in made.settings} == set(OTHERS)
    assert {"copy", "reverse", "duplicate", "sort"} <= set(OTHERS)
    for setting in made.settings:
        most = setting.task.symbols(max(setting.strings.lengths))
        assert 3990 < most <= 4001
    with pytest.raises(ValueError, match="and badd needs more"):
        lengths_within(BADD, (2,))


def test_other_tasks_have_the_forms_and_models_of_table_1():
    tasks = ("copy", "badd", "badd_unaligned", "bsub")
    made = algorithms(tasks=tasks, models=MODELS)
    labels = {tuple(setting.labels.values()) for setting in made.settings}
    apart = {("copy", "stack_rnn"), ("bsub", "stack_rnn")}
    assert labels == {(task, model) for task in tasks for model in MODELS} - apart
    for setting in made.settings:
        model = setting.labels["model"]
        unfilled = setting.labels["task"] == "copy" or model in ("original", "lstm_attention")
        assert setting.task.filled == (not unfilled), setting.labels


def test_decimal_multiplication_without_maps():
    with pytest.raises(ValueError, match="maps is 0; give a positive integer"):
        decimal(maps=(96, 0))


def test_decimal_multiplication_has_its_own_maps_and_lengths():
    wide, short = (s.learner.training for s in decimal(maps=(96, 192), symbols=(21,)).settings)
    assert (wide.maps, short.maps) == (96, 192)
    assert wide.learning_rate == pytest.approx(0.005)
    assert short.learning_rate == pytest.approx(0.0025)
    assert wide.bins == tuple(range(2, 22))


@pytest.mark.parametrize(
    "made",
    [
        decimal(maps=(6,), symbols=(5,), lengths=(2,), count=2, steps=2),
        grid(tasks=("badd",), cells=1, lengths=(2,), count=2, steps=2),
        ablations(Seeds(1), tasks=("badd",), variants=("no_dropout",), lengths=(2,), steps=2),
    ],
    ids=lambda made: made.name,
)
def test_two_steps_of_each_other_study(made, tmp_path):
    outcomes = sweep.run(made, tmp_path / "run", workers=1)
    assert outcomes["steps"].unique().to_list() == [2]
    for setting in made.settings:
        assert len(outcomes.filter(**setting.labels, strings="random", length=2)) == 1
    records = pl.read_parquet(next((tmp_path / "run" / "parts").glob("*seed?.parquet")))
    assert set(made.settings[0].labels) < set(records.columns)


def test_a_smaller_grid_is_a_part_of_a_greater_one():
    few, more = (grid(tasks=("badd",), cells=count) for count in (5, 20))
    names = [{chunk.name for chunk in made.chunks()} for made in (few, more)]
    assert names[0] < names[1]
    assert (len(names[0]), len(names[1])) == (5, 20)
    first = {tuple(s.labels.values()): s.learner.first_seed for s in few.settings}
    assert len(set(first.values())) == 5
    again = {tuple(s.labels.values()): s.learner.first_seed for s in more.settings}
    assert first == {name: again[name] for name in first}
    labels = {tuple(setting.labels.values())[1:] for setting in grid(tasks=("badd",)).settings}
    assert len(labels) == 3**6
    assert {label[-1] for label in labels} == {0.06, 0.09, 0.135}
    training = grid(tasks=("bmul",), scales=(2.5,), cells=1).settings[0].learner.training
    assert (training.initial_scale, training.long_carries) == (2.5, 0.0)
    assert training.validation_strings == 32
    made = grid(tasks=("badd",), long_carries=0.25, validation_strings=5, steps=7, cells=1)
    training = made.settings[0].learner.training
    assert (training.long_carries, training.validation_strings, training.steps) == (0.25, 5, 7)
    (made,) = grid(tasks=("badd",), absent_carries=0.25, cells=1).settings
    assert made.learner.training.absent_carries == 0.25
    assert made.describe()["learner"]["training"]["absent_carries"] == 0.25
    assert "absent_carries" not in grid(cells=1).settings[0].describe()["learner"]["training"]


@pytest.mark.parametrize(
    ("task", "unchanged"),
    [
        ("bmul", ("no_rounding",)),
        ("badd", ("no_sharpening", "no_extra_steps", "no_counterexamples")),
    ],
)
def test_each_ablation_changes_its_method_and_nothing_else(task, unchanged):
    made = ablations(Seeds(1), tasks=(task,))
    by_variant = {(s.labels["model"], s.labels["variant"]): s.learner for s in made.settings}
    left_out = {(model, name) for model in VARIANTS for name in VARIANTS[model]} - {*by_variant}
    assert left_out == {("improved", name) for name in unchanged}
    for (model, variant), changed in by_variant.items():
        full, given = by_variant[model, "full"].training.to_json(), changed.training.to_json()
        differing = {name for name in full if full[name] != given[name]}
        changes = {n for n, value in VARIANTS[model][variant].items() if full[n] != value}
        assert differing == changes
        assert changes or variant in ("full", "no_shift")
        assert changed.shift == (variant != "no_shift")


def variant(model, name):
    """The training of a variant of badd, small."""
    (setting,) = ablations(tasks=("badd",), models=(model,), variants=(name,)).settings
    return replace(
        setting.learner.training, maps=6, steps=4, evaluate_every=2, validate_at=(1.0,),
        validation_strings=4,
    )  # fmt: skip


def test_with_and_without_a_curriculum_a_step_has_as_many_strings():
    rng = np.random.default_rng(0)
    for model, name, longest in (("original", "no_curriculum", 41), ("improved", "curriculum", 6)):
        drawn = {}
        for one in ("full", name):
            plan = length_plan(BADD, variant(model, one))
            drawn[one] = [plan.draw(rng) for _ in range(200)]
        counts = {one: {sum(len(g.lengths) for g in s) for s in drawn[one]} for one in drawn}
        assert counts["full"] == counts[name]
        assert all(len(step) == 1 for step in drawn[name])
        symbols = [step[0].symbols for step in drawn[name]]
        assert max(symbols) == 41
        if longest == 41:  # each of the 20 lengths is as likely as the others
            assert np.bincount(symbols)[3::2].min() > 2
            assert abs(np.mean(symbols) - 22) < 3
        else:  # a quarter looks further
            assert 0.7 < np.mean([n <= longest for n in symbols]) < 0.85


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("original", "no_curriculum"),
        ("improved", "curriculum"),
        ("improved", "no_adamax"),
        ("improved", "no_plateau_decay"),
    ],
)
def test_what_a_variant_changes_can_be_trained(model, name):
    training = replace(variant(model, name), bins=(5, 7), batch=3)
    result = train_algorithm(BADD, training)
    assert (result.steps, result.status) == (4, "finished")
    other = train_algorithm(BADD, replace(variant(model, "full"), bins=(5, 7), batch=3))
    same = result.validation_loss == other.validation_loss
    assert same == (name == "no_plateau_decay")  # which begins later


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Seeds(0), "seeds is 0; give a positive integer"),
        (lambda: Seeds(1, -1), "first_seed is -1; give an integer, 0 or more"),
        (lambda: Strings(()), r"lengths is \(\); give positive integers, each once"),
        (lambda: Strings((5, 5)), "each once"),
        (lambda: Strings((5,), count=0), "count is 0; give a positive integer"),
        (lambda: Teaching(0), "steps is 0; give a positive integer"),
        (lambda: Teaching(1, validate_at=()), r"validate_at is \(\); give positive multiples"),
        (lambda: Teaching(1, end_after=-1), "end_after is -1; give 0 or more"),
        (lambda: table1(models=("stackrnn",)), "did you mean 'stack_rnn'"),
        (lambda: table1(tasks=("bad",)), "did you mean 'badd'"),
        (lambda: table1(steps=0), "steps is 0; give a positive integer"),
        (
            lambda: table1(tasks=("bmul",), models=("stack_rnn",)),
            r"tasks is \('bmul',\), .* 'stack_rnn' is for badd and badd_unaligned alone; give one",
        ),
        (lambda: algorithms(models=("stack_rnn",), tasks=("copy",)), "give one of these"),
        (lambda: table1(tasks=()), "settings is empty"),
        (lambda: ablations(steps=0), "steps is 0; give a positive integer"),
        (lambda: table1(device="meta"), "device is 'meta'; give cpu, or cuda with a GPU"),
        (lambda: table1(device="cuda:99"), "device is 'cuda:99': .*; give cpu, or cuda with a GPU"),
        (lambda: grid(cells=0), "cells is 0; give 1 to 729"),
        (lambda: grid(noises=()), r"noises is \(\); give some values, each once"),
        (lambda: grid(noises=(0.0, -1.0)), r"noises holds -1\.0: gradient_noise is -1\.0; give"),
        (lambda: grid(scales=(0.0,), cells=1), r"scales holds 0\.0: initial_scale is 0\.0; give"),
        (lambda: grid(dropouts=(0.1, 2.0), cells=1), r"dropouts holds 2\.0: dropout is 2\.0; give"),
        (lambda: grid(long_carries=2.0, cells=1), r"long_carries is 2\.0; give"),
        (lambda: grid(absent_carries=2.0, cells=1), r"absent_carries is 2\.0; give"),
        (lambda: grid(validation_strings=0, cells=1), "validation_strings is 0; give"),
        (lambda: ablations(variants=("no_drop",)), "did you mean 'no_dropout'"),
        (lambda: ablations(variants=("no_rounding",)), "none changes the recipe of .'bmul',."),
        (
            lambda: AlgorithmStudy("a.b", [study("improved").settings[0]] * 2, Seeds(1)),
            "settings holds badd-improved twice",
        ),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("seed", "discrete"), [(1, False), (2, True)])
def test_a_stack_rnn_acts_as_it_validates_better(seed, discrete):
    trained = LEARNERS["stack_rnn"].train(BADD, seed, None, lambda fraction: None)
    module, losses = trained.module.eval(), {}
    assert module.discrete is discrete
    for way in (True, False):
        module.discrete = way
        losses[way] = StringValidation(BADD, [7, 14], 4, seed)(module)["validation_loss"]
    assert losses[discrete] == trained.validation_loss == min(losses.values())
    assert losses[True] != losses[False]


def test_the_gradient_of_a_baseline_is_clipped():
    """A bound near 0 keeps the start; Adam divides by 1e-4 at least."""
    moved = []
    for clip_norm in (1e-12, float("inf")):
        learner = replace(
            LEARNERS["lstm_attention"], noise=0.0, numbers=replace(SHORT, clip_norm=clip_norm)
        )
        start = learner.build(BADD, 0).state_dict()
        state = learner.train(BADD, 0, None, lambda fraction: None).module.state_dict()
        moved.append(max((state[name] - start[name]).abs().max().item() for name in start))
    assert moved[0] < 1e-6
    assert moved[1] > 1e-3
