"""The studies: what is tested, chunks, resume, and the tables from made-up outcomes."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

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
from torchalu.experiments.kaiser2016.measuring import Strings, measure_strings
from torchalu.experiments.kaiser2016.published import TABLE1
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.kaiser2016.summaries import by_length, learning
from torchalu.experiments.kaiser2016.table1 import MODELS, Table1Study, learner, table1
from torchalu.experiments.kaiser2016.teaching import Teaching
from torchalu.experiments.seeds import Seeds
from torchalu.tasks import AlgorithmicTask, algorithm, encode
from torchalu.train import Stopped
from torchalu.train.algorithms import AlgorithmTraining

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


class Exact(nn.Module):
    """Answers as the task does, but for strings with a wrong sign of its choosing."""

    def __init__(self, task: AlgorithmicTask, wrong=()):
        super().__init__()
        self.task, self.wrong, self.calls = task, set(wrong), 0

    def forward(self, symbols, lengths):
        self.calls += 1
        characters = "?" + self.task.alphabet
        texts = ["".join(characters[k] for k in row if k) for row in symbols.tolist()]
        targets = encode(self.task, texts).targets
        for row, text in enumerate(texts):
            if text in self.wrong:
                targets[row, 0] = 0
        return nn.functional.one_hot(targets, len(characters)).float()


def test_strings_are_the_same_each_time_and_as_many_as_asked_for():
    strings = Strings((20, 600), count=30, long_count=7)
    once, again = (list(strings.sets(BADD)) for _ in range(2))
    assert once == again
    sizes = {(kind, length): len(texts) for kind, length, texts in once}
    assert sizes["random", 20] == 30
    assert sizes["random", 600] == 7
    kinds = BADD.adversarial(20)
    assert {kind for kind, length in sizes if length == 20} == {"random", *kinds}
    assert {kind for kind, length in sizes if length == 600} == {"random", *BADD.adversarial(600)}
    assert all(BADD.length_of(text) == length for _, length, texts in once for text in texts)


def test_no_string_of_the_tests_is_drawn_like_those_of_training():
    """Streams differ, so that at 20 bits no string is drawn twice but by chance."""
    from torchalu.train.algorithms import LengthBins, TrainingStrings

    tested = {text for kind, _, texts in Strings((20,)).sets(BADD) for text in texts}
    drawn = TrainingStrings(BADD, LengthBins(BADD, bins=(41,), batch=500), seed=0)(0)[0].inputs
    characters = "?" + BADD.alphabet
    trained = {"".join(characters[k] for k in row if k) for row in drawn.tolist()}
    assert not tested & {text for text in trained if len(text) == 41}


def test_an_exact_network_gets_all_strings_and_its_errors_are_counted():
    strings = Strings((3, 20), count=50)
    rows = measure_strings(Exact(BADD), BADD, strings)
    assert all(row["right"] == row["count"] and row["digits"] == 1 for row in rows)
    assert all(row["failed"] == "" for row in rows)
    sets = list(strings.sets(BADD))
    wrong = sets[-1][2][0]
    rows = measure_strings(Exact(BADD, [wrong]), BADD, strings)
    for row, (kind, length, texts) in zip(rows, sets, strict=True):
        assert (row["strings"], row["length"]) == (kind, length)
        assert row["count"] - row["right"] == texts.count(wrong)
    assert wrong in rows[-1]["failed"].split()


@pytest.mark.usefixtures("every_step_reports")
def test_measuring_goes_on_where_it_was_broken_off(tmp_path):
    strings, done = Strings((3, 20), count=10), []

    def stop(fraction):
        done.append(fraction)
        if len(done) == 3:
            raise Stopped("enough")

    first = Exact(BADD)
    with pytest.raises(Stopped):
        measure_strings(first, BADD, strings, folder=tmp_path, report=stop)
    second = Exact(BADD)
    rows = measure_strings(second, BADD, strings, folder=tmp_path, report=done.append)
    assert rows == measure_strings(Exact(BADD), BADD, strings)
    assert (first.calls, first.calls + second.calls) == (3, len(rows) + 1)
    assert done == sorted(done)
    assert done[-1] == 1


def test_longer_strings_are_not_tried_where_none_was_right():
    strings = Strings((3, 9, 20), count=10)
    nines = [text for kind, length, texts in strings.sets(BADD) if length == 9 for text in texts]
    network = Exact(BADD, nines)
    rows = measure_strings(network, BADD, strings)
    tried = {length: [row for row in rows if row["length"] == length] for length in (3, 9, 20)}
    assert network.calls == len(tried[3]) + len(tried[9])
    assert all(row["right"] == row["count"] for row in tried[3])
    assert all(row["right"] == 0 and row["digits"] > 0.9 for row in tried[9])
    whole = measure_strings(Exact(BADD), BADD, Strings((20,), count=10))
    assert [row["count"] for row in tried[20]] == [row["count"] for row in whole]
    assert all(row["right"] == 0 and row["digits"] is None for row in tried[20])


def test_strings_that_a_network_cannot_take_are_left_out():
    rows = measure_strings(Exact(BADD), BADD, Strings((3, 20), count=5), most_symbols=40)
    assert {row["length"] for row in rows} == {3}


def made_up():
    """Two models, three seeds: by validation seed 1 of a is best, by test seed 2."""
    right = {
        ("a", 0): (5, 0), ("a", 1): (9, 10), ("a", 2): (10, 10),
        ("b", 0): (0, 0), ("b", 1): (2, 1), ("b", 2): (1, 4),
    }  # fmt: skip
    losses = {0: 0.3, 1: 0.1, 2: 0.2}
    rows = []
    for (model, seed), counts in right.items():
        common = {
            "task": "badd", "model": model, "seed": seed, "validation_loss": losses[seed],
            "best_step": 5, "steps": 10 * (seed + 1), "status": "finished", "seconds": 2.0,
            "solved_at_step": None if model == "b" else 100 * (seed + 1),
            "solved_at_seconds": None if model == "b" else 1.5, "parameters": 7,
        }  # fmt: skip
        for length, count in zip((20, 200), counts, strict=True):
            measured = {"right": count, "count": 10, "digits": 0.5, "failed": ""}
            rows.append(common | {"strings": "random", "length": length} | measured)
        measured = {"right": 3, "count": 3 + (model == "b"), "digits": 0.5, "failed": "1+1"}
        rows.append(common | {"strings": "ones", "length": 20} | measured)
    return pl.DataFrame(rows, infer_schema_length=None)


def test_the_seed_is_chosen_by_validation_and_the_best_one_is_shown_beside_it():
    table = by_length(made_up(), ["task", "model"])
    row = table.filter(model="a", strings="random", length=20).row(0, named=True)
    assert (row["seeds"], row["all_right"], row["best_rate"]) == (3, 1, 1.0)
    assert (row["chosen_seed"], row["right"], row["count"], row["rate"]) == (1, 9, 10, 0.9)
    assert row["rate_low"] == pytest.approx(0.5958, abs=1e-3)  # Wilson's interval of 9 of 10
    assert row["rate_high"] == pytest.approx(0.9821, abs=1e-3)


def test_seeds_that_learn_and_that_hold_are_counted():
    table = learning(made_up(), ["task", "model"])
    a, b = table.rows(named=True)
    assert (a["model"], a["seeds"], a["learned"]) == ("a", 3, 3)
    assert (a["right_everywhere"], a["right_adversarial"]) == (1, 3)
    assert (a["solved_at_step"], a["solved_at_seconds"], a["steps"]) == (200, 1.5, 20)
    assert (b["learned"], b["right_everywhere"], b["right_adversarial"]) == (0, 0, 0)
    assert b["solved_at_step"] is None


def test_table_1_has_the_papers_numbers_beside_ours():
    outcomes = made_up().with_columns(pl.col("model").replace({"a": "original", "b": "stack_rnn"}))
    tables = study("improved").summarize(outcomes)
    names = ["table1", "table1_lengths", "table1_adversarial", "table1_learning"]
    assert list(tables) == names
    assert tables["table1"].rows(named=True) == [
        {
            "task": "badd", "length": 20, "original": 100.0, "original_published": 100.0,
            "stack_rnn": 20.0, "stack_rnn_published": 100.0,
        },
        {
            "task": "badd", "length": 200, "original": 100.0, "original_published": 100.0,
            "stack_rnn": 40.0, "stack_rnn_published": 0.0,
        },
    ]  # fmt: skip
    assert tables["table1_adversarial"].rows() == [
        ("badd", "original", "ones", 100.0),
        ("badd", "stack_rnn", "ones", 75.0),
    ]


def test_the_published_table_is_the_papers():
    rates = {tuple(row[:3]): row[3] for row in TABLE1.rows()}
    assert rates["badd", "lstm_attention", 25] == 0.73
    assert rates["badd", "stack_rnn", 100] == 0.88
    assert all(rate == 1 for (_, model, _), rate in rates.items() if model == "original")
    assert len(rates) == 9 + 5 + 9
    assert ("bmul", "stack_rnn", 20) not in rates


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


def test_table_1_has_the_papers_models_lengths_and_forms():
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
    assert {setting.learner.device for setting in table1(device="meta").settings} == {"meta"}
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


def test_decimal_multiplication_has_its_own_maps_and_lengths():
    wide, short = (s.learner.training for s in decimal(maps=(96, 192), symbols=(21,)).settings)
    assert (wide.maps, short.maps) == (96, 192)
    assert wide.learning_rate == pytest.approx(0.005)
    assert short.learning_rate == pytest.approx(0.0025)
    assert wide.bins == tuple(range(2, 22))


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
    assert training.initial_scale == 2.5


def test_the_grid_counts_runs_without_an_error():
    outcomes = made_up().drop("model")
    made = grid(tasks=("badd",), cells=1)
    labels = {name: pl.lit(0.1) for name in made.keys[1:-3]}
    tables = made.summarize(outcomes.with_columns(**labels))
    assert list(tables)[:2] == ["grid", "grid_cells"]
    assert tables["grid"].rows() == [("badd", 20, 6, 1, 1.0), ("badd", 200, 6, 2, 1.0)]


def test_each_ablation_changes_its_method_and_nothing_else():
    made = ablations(Seeds(1))
    by_variant = {(s.labels["model"], s.labels["variant"]): s.learner for s in made.settings}
    assert len(by_variant) == sum(map(len, VARIANTS.values()))
    for (model, variant), changed in by_variant.items():
        full, given = by_variant[model, "full"].training.to_json(), changed.training.to_json()
        differing = {name for name in full if full[name] != given[name]}
        assert differing == set(VARIANTS[model][variant])
        assert changed.shift == (variant != "no_shift")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Seeds(0), "seeds is 0; give a positive integer"),
        (lambda: Seeds(1, -1), "first_seed is -1; give 0 or more"),
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
        (lambda: table1(device="gpu"), "device is 'gpu': .*; give cpu, or cuda with a GPU"),
        (lambda: grid(cells=0), "cells is 0; give 1 to 729"),
        (lambda: grid(noises=()), r"noises is \(\); give some values, each once"),
        (lambda: ablations(variants=("no_drop",)), "did you mean 'no_dropout'"),
        (
            lambda: AlgorithmStudy("a.b", [study("improved").settings[0]] * 2, Seeds(1)),
            "settings holds badd-improved twice",
        ),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_lengths_of_a_stack_rnn_grow_with_the_epochs():
    from torchalu.experiments.kaiser2016.stack_training import LongerEachEpoch

    plan = LongerEachEpoch(BADD, epoch=10, most=41, batch=400)
    rng = np.random.default_rng(0)
    for steps, most in ((0, 1), (39, 2), (40, 3), (10_000, 20)):
        plan.steps = steps
        (group,) = plan.draw(rng)
        assert set(group.lengths) == set(range(1, most + 1))
        assert group.symbols == 2 * most + 1
    with pytest.raises(ValueError, match="badd has no strings of at most 2 symbols"):
        LongerEachEpoch(BADD, most=2)


def test_the_rate_is_halved_and_the_best_parameters_come_back():
    from torchalu.experiments.kaiser2016.stack_training import HalvedRate
    from torchalu.train import Progress

    module = nn.Linear(1, 1)
    progress = Progress(module, torch.optim.SGD(module.parameters(), 0.1), [], 0)
    hook = HalvedRate(patience=100, least=0.3)

    def evaluate(step, weight, entropy):
        progress.step = step
        nn.init.constant_(module.weight, weight)
        hook.after_evaluation(progress, {"entropy": entropy})
        return module.weight.item(), hook.factor, progress.ended

    assert evaluate(10, 1.0, 0.9) == (1.0, 1.0, False)
    assert evaluate(20, 2.0, 1.0) == (2.0, 1.0, False)  # early, and nothing works yet
    assert evaluate(30, 3.0, 0.2) == (3.0, 1.0, False)
    assert evaluate(40, 4.0, 0.5) == (3.0, 1.0, False)  # it worked, so it comes back
    assert evaluate(110, 5.0, 0.5) == (3.0, 0.5, False)
    assert evaluate(120, 6.0, 0.1) == (6.0, 0.5, False)
    assert evaluate(130, 7.0, 0.4) == (6.0, 0.25, True)
