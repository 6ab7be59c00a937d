"""Hooks of the loop: when they are called, what they change, what a checkpoint keeps."""

import json
import re
from functools import partial

import pytest
import torch
from torch import nn

from torchalu.tasks import algorithm
from torchalu.train import CheckpointError, Hook, Measured, TrainingConfiguration, fit
from torchalu.train.algorithms import (
    EndWhenRight,
    GiveUp,
    GradientNoise,
    Hardening,
    LengthBins,
    LengthCurriculum,
    PlateauDecay,
    Rounding,
    SaturationCost,
    SharingRelaxation,
    Sharpening,
    WeightAverage,
)
from torchalu.train.checkpoint import Checkpoint, read_checkpoint, write_checkpoint


def sample(step, generator):
    x = torch.rand(16, 3, generator=generator)
    return x, x.sum(1, keepdim=True)


def loss(module, batch):
    return nn.functional.mse_loss(module(batch[0]), batch[1])


def evaluate(module):
    return {"validation_loss": sum(p.square().sum().item() for p in module.parameters())}


def line():
    torch.manual_seed(1)
    return nn.Linear(3, 1)


def configuration(**changes):
    numbers = {"steps": 12, "learning_rate": 0.1, "evaluate_every": 4, "checkpoint_every": 5}
    return TrainingConfiguration(**{**numbers, **changes})


class Recorder(Hook):
    """Notes what it is called with."""

    def __init__(self, name, calls):
        self.name, self.calls = name, calls

    def note(self, what, progress):
        self.calls.append((self.name, what, progress.step))

    def begin(self, progress):
        self.note("begin", progress)

    def before_step(self, progress):
        self.note("before_step", progress)

    def add_to_loss(self, progress, loss):
        self.note("add_to_loss", progress)
        return loss

    def change_gradients(self, progress):
        self.note("change_gradients", progress)

    def after_step(self, progress):
        self.note("after_step", progress)

    def after_evaluation(self, progress, row):
        self.note("after_evaluation", progress)


class Quadratic(Hook):
    """Adds to the loss, clips by sign, lowers the learning rate, shifts the weights for a look."""

    kept = ("factor", "seen")

    def __init__(self):
        self.factor, self.seen = 1.0, torch.zeros(3)

    def learning_rate_factor(self, step):
        return self.factor * (1 + step % 2)

    def add_to_loss(self, progress, loss):
        return loss + 0.3 * progress.measures["norm"]

    def change_gradients(self, progress):
        for parameter in progress.parameters:
            parameter.grad.sign_()

    def after_step(self, progress):
        self.factor *= 0.9
        self.seen = self.seen + progress.module.weight.detach()[0]

    def columns(self):
        return {"factor": self.factor}


def measured(module, batch):
    return Measured(loss(module, batch), {"norm": module.weight.square().sum()})


def test_hooks_are_called_in_their_order_around_each_part_of_a_step():
    calls = []
    hooks = [Recorder("a", calls), Recorder("b", calls)]
    fit(line(), sample, loss, configuration(steps=2, evaluate_every=2), hooks=hooks)
    parts = ["before_step", "add_to_loss", "change_gradients"]
    expected = [("begin", 0)]
    expected += [(part, 0) for part in parts] + [("after_step", 1)]
    expected += [(part, 1) for part in parts] + [("after_step", 2), ("after_evaluation", 2)]
    assert calls == [(name, *call) for call in expected for name in "ab"]


def test_a_hook_changes_loss_gradients_and_learning_rate():
    module, expected = line(), line()
    generator = torch.Generator().manual_seed(0)
    optimizer, factor, factors = torch.optim.SGD(expected.parameters(), lr=1.0), 1.0, []
    for step in range(12):
        value = loss(expected, sample(step, generator)) + 0.3 * expected.weight.square().sum()
        optimizer.zero_grad()
        value.backward()
        for parameter in expected.parameters():
            parameter.grad = parameter.grad.sign()
        optimizer.param_groups[0]["lr"] = 0.1 * factor * (1 + step % 2)
        optimizer.step()
        factor *= 0.9
        if step % 4 == 3:
            factors.append(factor)
    result = fit(
        module, sample, measured, configuration(), optimizer=torch.optim.SGD, hooks=[Quadratic()]
    )
    assert torch.equal(module.weight, expected.weight)
    assert torch.equal(module.bias, expected.bias)
    assert result.records["factor"].to_list() == factors
    assert result.records.columns == ["step", "training_loss", "factor"]


def test_gradients_are_changed_after_they_are_clipped():
    class Look(Hook):
        def change_gradients(self, progress):
            self.norm = torch.cat([p.grad.flatten() for p in progress.parameters]).norm().item()

    look = Look()
    fit(line(), sample, loss, configuration(steps=1, clip_norm=1e-3), hooks=[look])
    assert look.norm == pytest.approx(1e-3, rel=1e-3)


def test_a_hook_ends_the_run_with_an_evaluation():
    class End(Hook):
        def after_step(self, progress):
            if progress.step == 6:
                progress.end()

    result = fit(line(), sample, loss, configuration(), hooks=[End()], evaluate=evaluate)
    assert (result.status, result.steps) == ("ended", 6)
    assert result.records["step"].to_list() == [4, 6]


def test_an_ended_run_stays_ended(tmp_path):
    class End(Hook):
        def after_step(self, progress):
            progress.end()

    for _ in range(2):
        result = fit(line(), sample, loss, configuration(), hooks=[End()], folder=tmp_path)
        assert (result.status, result.steps) == ("ended", 1)


def test_the_best_state_is_what_was_evaluated():
    class Zero(Hook):
        def evaluating(self, progress):
            return Swapped(progress.module)

    class Swapped:
        def __init__(self, module):
            self.module = module

        def __enter__(self):
            self.weight = self.module.weight.detach().clone()
            nn.init.zeros_(self.module.weight)

        def __exit__(self, *_):
            with torch.no_grad():
                self.module.weight.copy_(self.weight)

    module = line()
    result = fit(module, sample, loss, configuration(), hooks=[Zero()], evaluate=evaluate)
    assert result.best_state["weight"].abs().max() == 0
    assert module.weight.abs().max() > 0
    plain = fit(line(), sample, loss, configuration(), evaluate=evaluate)
    assert torch.equal(result.last_state["weight"], plain.last_state["weight"])


@pytest.mark.parametrize("at", [1, 4, 7, 11])
def test_a_broken_run_with_hooks_goes_on_bit_for_bit(tmp_path, monkeypatch, at):
    monkeypatch.setattr("torchalu.train.loop._REPORT_SECONDS", -1.0)

    def stop(step):
        if step == at:
            raise InterruptedError

    whole, whole_hook = line(), Quadratic()
    records = fit(whole, sample, measured, configuration(), hooks=[whole_hook]).records
    with pytest.raises(InterruptedError):
        fit(
            line(), sample, measured, configuration(),
            hooks=[Quadratic()], folder=tmp_path, report=stop,
        )  # fmt: skip
    module, hook = line(), Quadratic()
    result = fit(module, sample, measured, configuration(), hooks=[hook], folder=tmp_path)
    assert torch.equal(module.weight, whole.weight)
    assert torch.equal(hook.seen, whole_hook.seen)
    assert hook.factor == whole_hook.factor
    assert result.records.equals(records)


def test_hooks_without_effect_change_nothing():
    first, second = line(), line()
    fit(first, sample, loss, configuration())
    fit(second, sample, loss, configuration(), hooks=[Hook(), Hook()])
    assert torch.equal(first.weight, second.weight)


def test_a_checkpoint_of_other_hooks_is_refused(tmp_path):
    fit(line(), sample, loss, configuration(steps=5), hooks=[Hook()], folder=tmp_path)
    for hooks in ([], [Hook(), Hook()]):
        names = ["Hook", "Hook.1"][: len(hooks)]
        message = re.escape(f"a run with hooks = ['Hook'], and this one has {names}")
        with pytest.raises(CheckpointError, match=message):
            fit(line(), sample, loss, configuration(), hooks=hooks, folder=tmp_path)


def test_a_checkpoint_keeps_numbers_tensors_and_dictionaries(tmp_path):
    state = {
        "number": 0.1 + 0.2, "whole": 3, "nothing": None, "flag": True,
        "tensor": torch.tensor([1.0, torch.inf], dtype=torch.float64),
        "named": {"0.weight": torch.ones(2, 2), "0.bias": torch.zeros(1)}, "empty": {},
    }  # fmt: skip
    write_checkpoint(tmp_path, Checkpoint({}, hooks={"First": state, "First.1": {}}))
    checkpoint = read_checkpoint(tmp_path, {})
    assert checkpoint is not None
    found = checkpoint.hooks
    assert found["First.1"] == {}
    for name in ("number", "whole", "nothing", "flag", "empty"):
        assert found["First"][name] == state[name]
        assert type(found["First"][name]) is type(state[name])
    assert torch.equal(found["First"]["tensor"], state["tensor"])
    assert found["First"]["named"].keys() == state["named"].keys()
    assert torch.equal(found["First"]["named"]["0.weight"], torch.ones(2, 2))


@pytest.mark.parametrize("value", [float("inf"), "text", [1.0]])
def test_what_a_checkpoint_cannot_keep_is_named(tmp_path, value):
    with pytest.raises(TypeError, match=r"hook Mine keeps number = .*; give finite numbers"):
        write_checkpoint(tmp_path, Checkpoint({}, hooks={"Mine": {"number": value}}))


def test_a_checkpoint_of_other_numbers_is_of_another_run(tmp_path):
    def run(decay=0.5, optimizer=torch.optim.Adam, steps=4):
        numbers = TrainingConfiguration(steps=steps, learning_rate=0.1, checkpoint_every=2)
        module = nn.Linear(1, 1, bias=False)
        fit(
            module,
            lambda step, generator: torch.ones(1, 1),
            lambda module, batch: module(batch).square().sum(),
            numbers,
            optimizer=optimizer,
            hooks=[WeightAverage(decay)],
            folder=tmp_path,
        )

    run()
    run(steps=6)
    with pytest.raises(CheckpointError, match=r"decay = 0.5, and this one has 0.999"):
        run(0.999, steps=8)
    with pytest.raises(CheckpointError, match=r"weight_decay = 0, and this one has 1.0"):
        run(optimizer=partial(torch.optim.Adam, weight_decay=1.0), steps=8)


HARDENING = Hardening(0.5, ramp=3, settle=4)
CURRICULUM = LengthCurriculum(algorithm("copy"), start=6, most=41)


@pytest.mark.parametrize(
    ("hook", "settings"),
    [
        (CURRICULUM, {"threshold": 0.15, "most": 41, "batch": 32, "every": 200}),
        (LengthBins(algorithm("copy"), bins=(8, 12)), {"bins": [8, 12], "bins_per_step": None}),
        (SharingRelaxation(CURRICULUM, factor=1.5), {"factor": 1.5}),
        (HARDENING, {"noise": 0.5, "ramp": 3, "settle": 4, "at": []}),
        (GiveUp(HARDENING, 7), {"patience": 7, "held": 0.9, "at": None}),
        (Rounding(HARDENING, 2), {"levels": 2}),
        (Sharpening(HARDENING, 1.25), {"factor": 1.25}),
        (SaturationCost(0.5), {"most": 0.5, "least": 0.0, "every": 200}),
        (GradientNoise(0.5), {"scale": 0.5, "law": "learning_rate"}),
        (PlateauDecay(0.7), {"factor": 0.7}),
        (EndWhenRight(3), {"times": 3}),
    ],
)
def test_numbers_of_hooks_are_said_to_a_checkpoint(hook, settings):
    said = hook.settings()
    assert said == json.loads(json.dumps(said, allow_nan=False))
    assert settings.items() <= said.items()
    assert not said.keys() & hook.state().keys()
