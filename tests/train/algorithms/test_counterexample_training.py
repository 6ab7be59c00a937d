"""Strings that are wrong are searched for once the noise is whole, kept, and trained on."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.evaluate import string_accuracy
from torchalu.tasks import algorithm
from torchalu.tasks.algorithms import encode
from torchalu.train import Progress, loop
from torchalu.train.algorithms import (
    AlgorithmTraining,
    CounterexampleTraining,
    Hardening,
    LengthBins,
    TrainingStrings,
    train_algorithm,
)

COPY = algorithm("copy")
TRAINING = AlgorithmTraining(
    maps=12, bins=(2, 6), batch=16, learning_rate=0.02, steps=400, ramp=40, settle=60, noise=3.0,
    evaluate_every=10, checkpoint_every=5, validate_at=(1.0,), validation_strings=8,
    counterexamples=40,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("one_thread")


class AllButOnes(nn.Module):
    """Copies, but for the last symbol of strings with a one at three places or more."""

    def forward(self, symbols, lengths=None, steps=None):
        wrong = (symbols == 2).sum(1) >= 3
        answers = symbols.clone()
        answers[wrong, -1] = 3 - answers[wrong, -1]
        return nn.functional.one_hot(answers, 3).float()


def hook_with(step, module=None, began=10, **numbers):
    """A hook whose hardening began at a step, and what it sees."""
    hardening = Hardening(0.5, ramp=40, settle=60)
    hardening.began = began
    hook = CounterexampleTraining(hardening, COPY, 6, **({"count": 40} | numbers))
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    state = Progress(module or AllButOnes(), optimizer, [], seed=3, step=step, best_loss=0.25)
    return hook, state


@pytest.mark.parametrize(("step", "searched"), [(49, False), (50, True), (90, True)])
def test_the_search_begins_with_the_whole_noise(step, searched):
    hook, state = hook_with(step)
    with hook.evaluating(state):
        assert bool(hook.texts) is searched
    wrong = sum(text.count("1") >= 3 for text in hook.texts)
    assert hook.columns()["found_wrong"] == (wrong if searched else -1)
    hook.after_evaluation(state, {})
    assert state.best_loss == (math.inf if searched else 0.25)
    assert hook.columns()["counterexamples"] == len(hook.texts)


def test_nothing_is_searched_before_the_task_is_learned():
    hook, state = hook_with(500, began=-1)
    with hook.evaluating(state):
        pass
    columns = hook.columns()
    assert math.isnan(columns.pop("least_margin"))
    assert columns == {"found_wrong": -1, "counterexamples": 0}
    assert hook.draw(3, np.random.default_rng(0)) == []


def test_a_search_that_finds_nothing_leaves_the_best_as_it_is():
    class Right(nn.Module):
        def forward(self, symbols, lengths=None, steps=None):
            return nn.functional.one_hot(symbols, 3).float()

    hook, state = hook_with(60, Right())
    hook.keep(["111000"])
    with hook.evaluating(state):
        pass
    hook.after_evaluation(state, {})
    assert (state.best_loss, hook.wrong, hook.margin) == (0.25, 0, 1)
    assert "111000" in hook.texts
    assert len(hook.texts) == 3  # and the two that one in twenty of 40 strings are


def test_the_newest_are_kept():
    hook, _ = hook_with(0, most=3)
    hook.keep(["000000", "111111"])
    hook.keep(["010101", "000000", "110110", "000000"])
    assert hook.texts == ["010101", "000000", "110110"]
    hook.keep(["111000"])
    assert hook.texts == ["000000", "110110", "111000"]


def test_each_step_has_a_group_of_them_more():
    hook, _ = hook_with(0)
    strings = TrainingStrings(COPY, LengthBins(COPY, bins=(3, 5), batch=4), seed=0)
    alone = strings(7)
    strings.repeated = hook
    assert len(strings(7)) == len(alone) == 2
    kept = ["111000", "010101"]
    hook.keep(kept)
    *others, group = strings(7)
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(others, alone, strict=True))
    known = {tuple(row) for row in encode(COPY, kept).inputs.tolist()}
    assert {tuple(row) for row in group.inputs.tolist()} == known
    assert torch.equal(group.targets, group.inputs)
    assert group.inputs.shape == (4, 6)


def test_a_training_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_REPORT_SECONDS", -1.0)
    task = algorithm("reverse")
    unbroken = train_algorithm(task, TRAINING)
    rows = unbroken.records
    began = int(rows["hardening_began"][-1])
    searched = rows.filter(rows["step"] >= began + 40)
    assert (rows.filter(rows["step"] < began + 40)["counterexamples"] == 0).all()
    assert (searched["counterexamples"] > 0).all()
    for step in (began + 38, began + 40, began + 43, began + 77):

        def stop(progress, step=step):
            if progress.step == step:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train_algorithm(task, TRAINING, folder=tmp_path, report=stop)
    again = train_algorithm(task, TRAINING, folder=tmp_path)
    assert again.records.drop("seconds").equals(rows.drop("seconds"))
    states = again.module.state_dict(), unbroken.module.state_dict()
    assert all(torch.equal(states[0][name], value) for name, value in states[1].items())


def test_the_evaluated_network_is_searched_and_the_last_one_kept():
    """Averaged, with sharp gates: in the network that is returned a string has that margin."""
    task = algorithm("reverse")
    result = train_algorithm(task, TRAINING)
    last = result.records.row(-1, named=True)
    assert result.best_step == last["step"]
    texts = ["".join(symbols) for symbols in itertools.product("01", repeat=6)]
    margins = string_accuracy(result.module, task, texts).margins
    assert 0 < last["found_wrong"] <= (margins < 0).sum()
    assert abs(margins - last["least_margin"]).min() < 1e-5
    not_sharp = dataclasses.replace(TRAINING, sharpening=1.0)
    other = train_algorithm(task, not_sharp).records["least_margin"][-1]
    assert abs(margins - other).min() > 1e-3
