"""Trained networks that are asked each string with its operands in each order."""

from types import SimpleNamespace
from typing import Any

import pytest

from torchalu import sweep
from torchalu.evaluate import string_accuracy, wilson
from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.orders import _counts, orders
from torchalu.experiments.kaiser2016.stored import stored_networks
from torchalu.experiments.kaiser2016.study import AlgorithmSetting
from torchalu.experiments.kaiser2016.table1 import Table1Study
from torchalu.experiments.seeds import Seeds
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining
from torchalu.zoo import LearnedAlgorithm

TINY = AlgorithmTraining(
    maps=6, bins=(3, 5), batch=8, steps=40, evaluate_every=20, validate_at=(1.0,), noise=0.0,
    validation_strings=4,
)  # fmt: skip
STRINGS = Strings((1, 2), count=60)


def trained(name, folder):
    """A run folder with two seeds on a task."""
    task = algorithm(name)
    setting = AlgorithmSetting(
        {"task": name, "model": "improved"}, task, NeuralGPULearner(TINY), STRINGS
    )
    sweep.run(Table1Study("kaiser2016.table1", [setting], Seeds(2)), folder, workers=1)
    return folder


def test_answers_are_counted_that_agree_and_those_that_are_wrong_all_the_same(tmp_path):
    run = trained("badd", tmp_path / "run")
    study = orders((run,), task="badd", lengths=(1, 2), count=60)
    assert [chunk.name for chunk in study.chunks()] == [
        f"{network.name}-{length}"
        for network in stored_networks(run, task="badd")
        for length in (1, 2)
    ]
    outcomes = sweep.run(study, tmp_path / "orders", workers=1)
    task = algorithm("badd")
    sets = {(kind, length): texts for kind, length, texts in STRINGS.sets(task)}
    networks = {network.seed: network.load() for network in stored_networks(run, task="badd")}
    for row in outcomes.iter_rows(named=True):
        texts = [
            t for t in sets[row["strings"], row["length"]] if t != "+".join(t.split("+")[::-1])
        ]
        swapped = ["+".join(reversed(text.split("+"))) for text in texts]
        module = networks[row["seed"]]
        first = string_accuracy(module, task, texts).correct
        second = string_accuracy(module, task, swapped).correct
        learned = LearnedAlgorithm(module, task)
        same = [learned.run(a) == learned.run(b) for a, b in zip(texts, swapped, strict=True)]
        assert (row["count"], row["right"]) == (len(texts), first.sum())
        assert row["agree"] == sum(same)
        assert row["agree"] - row["wrong_agreeing"] == (first & second).sum()
        assert row["wrong_agreeing"] == sum(s and not f for s, f in zip(same, first, strict=True))
    (table,) = study.summarize(outcomes).values()
    for seen in table.iter_rows(named=True):
        rows = outcomes.filter(strings=seen["strings"], length=seen["length"])
        assert seen["seeds"] == len(rows) == 2
        for name in ("count", "right", "agree", "wrong_agreeing"):
            assert seen[name] == rows[name].sum()
        upper = wilson(seen["wrong_agreeing"], seen["agree"])[1]
        assert seen["wrong_at_most"] == (None if upper is None else 100 * upper)


def test_each_way_in_which_two_answers_can_be_right_or_wrong_is_counted():
    answers = {
        "10*01": "0100", "01*10": "0100",  # right
        "11*01": "0110", "01*11": "0111",  # the second is wrong
        "11*10": "1001", "10*11": "1100",  # the first is wrong
        "00*11": "1000", "11*00": "1000",  # both are wrong, and agree
        "00*10": "0010", "10*00": "0001",  # both are wrong, and do not
    }  # fmt: skip
    learned: Any = SimpleNamespace(
        task=algorithm("bmul"), run=lambda texts: [answers[text] for text in texts]
    )
    texts = [*answers][::2]
    expected = {"right": 2, "agree": 2, "wrong_agreeing": 1}
    assert _counts(learned, texts) == expected


def test_a_task_whose_inputs_have_one_order(tmp_path):
    run = trained("copy", tmp_path / "run")
    with pytest.raises(ValueError, match="task is 'copy', whose inputs have one order"):
        orders((run,), task="copy")
