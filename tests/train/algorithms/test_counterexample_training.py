"""Wrong strings are searched for once the noise is whole, and the hardest are trained on."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.evaluate import string_accuracy, unroll_bytes
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import algorithm
from torchalu.tasks.algorithms import encode
from torchalu.train import Progress
from torchalu.train.algorithms import (
    AlgorithmTraining,
    CounterexampleTraining,
    Hardening,
    LengthBins,
    TrainingStrings,
    start,
    train_algorithm,
)

COPY = algorithm("copy")
TRAINING = AlgorithmTraining(
    maps=12, bins=(2, 6), batch=16, learning_rate=0.02, steps=400, ramp=40, settle=60, noise=3.0,
    evaluate_every=10, checkpoint_every=5, validate_at=(1.0,), validation_strings=8,
    counterexamples=40,
)  # fmt: skip


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
    assert all(text.count("1") >= 3 for text in hook.texts)
    assert hook.wrong > 10 if searched else hook.wrong == -1
    hook.after_evaluation(state, {})
    assert state.best_loss == (math.inf if searched else 0.25)


def test_nothing_is_searched_before_the_task_is_learned():
    hook, state = hook_with(500, began=-1)
    with hook.evaluating(state):
        pass
    assert hook.columns() == {
        "found_wrong": -1,
        "least_margin": pytest.approx(math.nan, nan_ok=True),
    }
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
    assert len(hook.texts) == 10


def test_a_search_goes_on_from_the_last_and_takes_its_place():
    """The strings of the last are measured again; the hardest of all are trained on."""

    class Graded(nn.Module):
        """Copies strings, those with more ones less surely, and notes them."""

        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, symbols, lengths=None, steps=None):
            self.seen += symbols.tolist()
            zeros = (symbols == 1).sum(1).float()
            return nn.functional.one_hot(symbols, 3) * (zeros - 2.5)[:, None, None]

    def margin(text):
        return text.count("0") - 2.5

    module = Graded()
    hook, state = hook_with(60, module, count=20, generations=1)
    hook.keep(["111111", "000000"])
    with hook.evaluating(state):
        pass
    texts = ["".join(str(symbol - 1) for symbol in row) for row in module.seen]
    assert {"111111", "000000"} <= set(texts)
    assert sorted(map(margin, texts))[:5] == [margin(text) for text in hook.texts]
    assert hook.texts[0] == "111111"
    assert hook.columns() == {
        "found_wrong": sum(margin(text) < 0 for text in set(texts)),
        "least_margin": -2.5,
    }


@pytest.mark.parametrize("extra_steps", [0, 3])
def test_each_step_has_a_group_of_them_more_which_runs_as_long_as_in_use(extra_steps):
    hook, _ = hook_with(0, extra_steps=extra_steps)
    strings = TrainingStrings(COPY, LengthBins(COPY, bins=(3, 5), batch=4), seed=0)
    alone = strings(7)
    strings.repeated = hook
    assert len(strings(7)) == len(alone) == 2
    kept = ["111000", "010101"]
    hook.keep(kept)
    *others, group = strings(7)
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(others, alone, strict=True))
    known = {(*row, *[0] * extra_steps) for row in encode(COPY, kept).inputs.tolist()}
    assert {tuple(row) for row in group.inputs.tolist()} == known
    assert torch.equal(group.targets, group.inputs)
    assert group.inputs.shape == (4, 6 + extra_steps)
    assert set(group.lengths.tolist()) == {6}
    module = DiagonalNeuralGPU(4, maps=6, extra_steps=extra_steps)
    steps = [
        module.train(mode).lengths_and_steps(symbols)[1].unique().item()
        for mode, symbols in ((True, group.inputs), (False, group.inputs[:, :6]))
    ]
    assert steps[0] == steps[1] == 6 + extra_steps


def test_the_group_counts_in_the_estimate_of_memory(monkeypatch):
    needed = []
    monkeypatch.setattr(start, "check_memory", lambda needs, *_: needed.append(needs))
    without = dataclasses.replace(TRAINING, counterexamples=0, extra_steps=4)
    for training in (without, dataclasses.replace(without, counterexamples=40)):
        start.check_training_memory(COPY, training)
    module = DiagonalNeuralGPU(3, maps=12)
    assert needed[1] - needed[0] == unroll_bytes(module, 16, 6 + 4, training=True)


@pytest.fixture(scope="module")
def unbroken():
    """A whole training."""
    return train_algorithm(algorithm("reverse"), TRAINING)


@pytest.mark.usefixtures("every_step_reports")
def test_a_training_goes_on_where_it_was(tmp_path, unbroken):
    task, rows = algorithm("reverse"), unbroken.records
    began = int(rows["hardening_began"][-1])
    searched = rows.filter(rows["step"] >= began + 40)
    assert (rows.filter(rows["step"] < began + 40)["found_wrong"] == -1).all()
    assert (searched["found_wrong"] >= 0).all()
    assert (searched["found_wrong"] > 0).any()
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


def test_the_evaluated_network_is_searched_and_the_last_one_kept(unbroken):
    """Averaged, with sharp gates: in the network that is returned a string has that margin."""
    task, last = algorithm("reverse"), unbroken.records.row(-1, named=True)
    assert unbroken.best_step == last["step"]
    texts = ["".join(symbols) for symbols in itertools.product("01", repeat=6)]
    margins = string_accuracy(unbroken.module, task, texts).margins
    assert 0 < last["found_wrong"] <= (margins < 0).sum()
    assert abs(margins - last["least_margin"]).min() < 1e-5
    not_sharp = dataclasses.replace(TRAINING, sharpening=1.0)
    other = train_algorithm(task, not_sharp).records["least_margin"][-1]
    assert abs(margins - other).min() > 1e-3
