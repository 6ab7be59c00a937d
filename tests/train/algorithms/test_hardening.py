"""Hardening, and what waits for it: sharper gates, a rounded state, giving up."""

import math

import pytest
import torch
from torch import nn

from torchalu.nn import NeuralGPU
from torchalu.train import Progress
from torchalu.train.algorithms import GiveUp, Hardening, Rounding, Sharpening


def test_hardening_waits_then_adds_noise_then_lowers_the_rate_then_ends():
    module = NeuralGPU(4, maps=3)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    hardening, noises, rates = Hardening(0.5, ramp=4, settle=2, floor=0.25), [], []
    state = Progress(module, optimizer, [*module.parameters()], seed=3)
    for step in range(100):
        state.step = step
        hardening.before_step(state)
        noises.append(module.noise)
        rates.append(hardening.learning_rate_factor(step))
        state.step = step + 1
        hardening.after_step(state)
        if state.ended:
            break
        right = {"right@41": 28 / 32, "right@101": 1.0} if step < 2 else {"right@41": 29 / 32}
        hardening.after_evaluation(state, right)
    assert noises == [0.0, 0.0, 0.0, 0.0, 0.125, 0.25, 0.375, 0.5, 0.5]
    assert rates == [1, 1, 1, 1, 1, 1, 1, 1, 0.5]


@pytest.mark.parametrize(
    ("right", "wait", "found", "falls"),
    [
        *((None, 0, {}, 30), (30, 20, {}, 30), (40, 20, {}, 40), (50, 20, {}, 50)),
        *((60, 20, {}, 50), (25, 20, {}, 50), (40, 20, {"found_wrong": 0.0}, 40)),
        *((40, 20, {"found_wrong": -1.0}, 40), (40, 20, {"found_wrong": 3.0}, 50)),
    ],
)
def test_the_rate_falls_once_all_strings_are_right_or_patience_is_at_its_end(
    right, wait, found, falls
):
    module = NeuralGPU(4, maps=3)
    hardening = Hardening(0.5, ramp=20, settle=10, floor=0.1, wait=wait)
    state = Progress(module, torch.optim.SGD(module.parameters(), lr=0.1), [], seed=3)
    rates = {}
    for step in range(100):
        state.step = step
        rates[step] = hardening.learning_rate_factor(step)
        state.step = step + 1
        if state.step % 5 == 0:
            far = 1.0 if state.step == right else 0.9
            row = {"right@41": float(step > 5), "right@101": far}
            hardening.after_evaluation(state, row | found)
        hardening.after_step(state)
        if state.ended:
            break
    assert hardening.began == 10
    assert [step for step, rate in rates.items() if rate == 1][-1] == falls
    assert rates[falls + 4] == pytest.approx(0.6)
    assert max(rates) + 1 == falls + 10


@pytest.mark.parametrize(("step", "factor"), [(99, 1), (100, 1), (149, 1), (150, 3), (200, 3)])
def test_update_gates_are_sharp_in_evaluations_from_the_whole_noise_on(step, factor):
    module = NeuralGPU(4, maps=3)
    trained = {name: value.clone() for name, value in module.state_dict().items()}
    hardening = Hardening(0.5, ramp=50, settle=50)
    hardening.began = 100 if step >= 100 else -1
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    state = Progress(module, optimizer, [*module.parameters()], seed=3, step=step)
    with Sharpening(hardening, 3.0).evaluating(state):
        for name, value in module.state_dict().items():
            expected = trained[name].clone()
            if name.startswith("gate_"):
                expected[:, :, 3:] *= factor  # behind the three reset gates
            assert torch.equal(value, expected), name
    assert all(torch.equal(value, trained[name]) for name, value in module.state_dict().items())


def test_the_state_is_rounded_from_the_whole_noise_on_and_the_best_chosen_anew():
    module = NeuralGPU(4, maps=3)
    hardening = Hardening(0.5, ramp=50, settle=50)
    rounding = Rounding(hardening, levels=2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    state = Progress(module, optimizer, [*module.parameters()], seed=3, best_loss=0.25)
    seen = {}
    for step in (99, 100, 149, 150, 200):
        state.step = step
        hardening.began = 100 if step >= 100 else -1
        rounding.before_step(state)
        with rounding.evaluating(state):
            seen[step] = module.levels, state.best_loss
        assert module.levels == 0
        state.best_loss = min(state.best_loss, 0.5)
    assert seen == {
        99: (0, 0.25), 100: (0, 0.25), 149: (0, 0.25), 150: (2, math.inf), 200: (2, 0.5)
    }  # fmt: skip
    resumed = Rounding(hardening, levels=2)
    resumed.load_state(rounding.state())
    resumed.before_step(state)
    assert (resumed.began, state.best_loss) == (150, 0.5)


def test_what_holds_on_no_longer_strings_is_given_up():
    hardening = Hardening(0.5, ramp=10, settle=10)
    hook = GiveUp(hardening, patience=4, held=0.75)
    progress = Progress(nn.Linear(1, 1), None, [], seed=0)  # pyright: ignore[reportArgumentType]

    def seen(step, *rates):
        progress.step = step
        hook.after_evaluation(progress, dict(zip(("right@41", "right@9"), rates, strict=True)))
        return progress.ended

    assert not seen(2, math.nan, 0.5)  # not learned yet
    hardening.began = 2
    assert not seen(4, 0.7, 1.0)
    assert not seen(5, 0.7, 1.0)
    assert seen(6, 0.7, 1.0)
    assert hook.given_up


def test_patience_begins_anew_with_each_evaluation_that_holds():
    hardening = Hardening(0.5, ramp=10, settle=10)
    hardening.began = 2
    hook = GiveUp(hardening, patience=4, held=0.75)
    progress = Progress(nn.Linear(1, 1), None, [], seed=0)  # pyright: ignore[reportArgumentType]
    ended = {}
    for progress.step, rate in ((3, 0.75), (6, math.nan), (7, 0.8), (10, 0.0), (11, 0.7)):
        hook.after_evaluation(progress, {"right@9": 1.0, "right@41": rate, "right@80": math.nan})
        ended[progress.step] = progress.ended
    assert ended == {3: False, 6: False, 7: False, 10: False, 11: True}
    assert hook.held_at == 7


@pytest.mark.parametrize(
    ("wait", "settling", "given_up"),
    [(9, -1, True), (9, 12, False), (0, -1, False), (4, -1, False), (5, -1, True)],
)
def test_what_errs_on_the_longest_strings_is_given_up_where_it_is_waited_for(
    wait, settling, given_up
):
    hardening = Hardening(0.5, ramp=10, settle=10, wait=wait)
    hardening.began, hardening.settling = 2, settling
    hook = GiveUp(hardening, patience=4)
    progress = Progress(nn.Linear(1, 1), None, [], seed=0)  # pyright: ignore[reportArgumentType]
    ended = {}
    for progress.step in (3, 6, 12, 15, 16):
        hook.after_evaluation(progress, {"right@9": 1.0, "right@41": 1.0, "right@80": 0.97})
        ended[progress.step] = progress.ended
    assert ended == {3: False, 6: False, 12: False, 15: False, 16: given_up}
    assert hook.given_up == given_up
