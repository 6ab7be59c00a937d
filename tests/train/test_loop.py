"""The general loop against a loop written out, and broken runs against unbroken ones."""

import runpy
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from product_training import configuration, evaluate, loss, model, same, sample
from torchalu.nn import constrain_after, penalty, penalty_ramp
from torchalu.train import cosine, fit, seeded
from torchalu.train.clipping import clip_gradients

OPTIMIZERS = [
    torch.optim.Adam,
    torch.optim.AdamW,
    lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9),
    torch.optim.RMSprop,
    torch.optim.Rprop,
]


def test_it_is_the_loop_written_out():
    module = model()
    expected, generator = model(), torch.Generator().manual_seed(3)
    optimizer = torch.optim.Adam(expected.parameters(), lr=0.02)
    constrain_after(optimizer, expected)
    schedule, rows = cosine(60, warmup=10), []
    for step in range(60):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * schedule(step)
        fitted = loss(expected, sample(step, generator))
        optimizer.zero_grad()
        (fitted + 0.5 * penalty_ramp(step, 20, 40) * penalty(expected)).backward()
        optimizer.step()
        if step % 20 == 19:
            rows.append((step + 1, fitted.item(), *evaluate(expected).values()))
    result = fit(module, sample, loss, configuration(), evaluate=evaluate, schedule=schedule)
    assert same(result.last_state, expected.state_dict())
    assert same(module.state_dict(), expected.state_dict())
    assert result.records.rows() == rows
    assert result.records.columns == [
        *("step", "training_loss", "validation_loss", "extrapolation_loss")
    ]
    assert (result.status, result.steps) == ("finished", 60)


def test_the_best_state_is_that_of_the_lowest_validation_loss():
    states = {}

    def uneven(module):
        states[len(states)] = {k: v.clone() for k, v in module.state_dict().items()}
        return {"validation_loss": [5.0, 2.0, float("nan"), 3.0, 2.0][len(states) - 1]}

    result = fit(model(), sample, loss, configuration(evaluate_every=12), evaluate=uneven)
    assert result.best_step == 24
    assert same(result.best_state, states[1])
    assert not same(result.best_state, result.last_state)


def test_without_an_evaluation_the_last_state_is_the_best():
    result = fit(model(), sample, loss, configuration(steps=30))
    assert result.records["step"].to_list() == [20, 30]
    assert result.best_step == 30
    assert same(result.best_state, result.last_state)


def test_evaluation_is_without_dropout_and_training_goes_on_with_it():
    module = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1))
    modes = []

    def look(m):
        modes.append((m.training, torch.is_grad_enabled()))
        return {"validation_loss": 0.0}

    fit(module, sample, loss, configuration(), evaluate=look)
    assert set(modes) == {(False, False)}
    assert module.training


def test_gradients_are_clipped():
    module = nn.Linear(3, 1)
    before = torch.cat([p.flatten() for p in module.parameters()]).detach().clone()
    numbers = configuration(steps=1, clip_norm=1e-3, learning_rate=1.0)
    fit(module, sample, loss, numbers, optimizer=torch.optim.SGD)
    after = torch.cat([p.flatten() for p in module.parameters()]).detach()
    assert (after - before).norm().item() == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e18, 1e25, 1e37])
@pytest.mark.parametrize("most", [1e-2, 1e30])
def test_a_norm_beyond_the_range_of_its_dtype_is_clipped_as_any_other(scale, most):
    generator = torch.Generator().manual_seed(0)
    parameters = [nn.Parameter(torch.zeros(n)) for n in (3, 5, 1)]
    for parameter in parameters[:2]:
        parameter.grad = scale * torch.randn(parameter.shape, generator=generator)
    exact = torch.cat([p.grad for p in parameters[:2]]).double()
    clip_gradients(parameters, most)
    found = torch.cat([p.grad for p in parameters[:2]]).double()
    wanted = exact * min(1.0, most / exact.norm().item())
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=0)
    assert parameters[2].grad is None


def test_a_gradient_that_is_no_number_stays_one():
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([1.0, float("inf")])
    clip_gradients([parameter], 1.0)
    assert not parameter.grad.isfinite().all()


def test_a_loss_that_is_not_finite_ends_the_run_before_it_reaches_the_parameters():
    def poisoned(step, generator):
        x, y = sample(step, generator)
        return x, y * (float("inf") if step == 33 else 1.0)

    module = model()
    result = fit(module, poisoned, loss, configuration(), evaluate=evaluate)
    assert (result.status, result.steps) == ("nan", 33)
    assert result.records["step"].to_list() == [20, 33]
    assert result.records["training_loss"].is_finite().to_list() == [True, False]
    assert all(value.isfinite().all() for value in result.last_state.values())
    expected = fit(model(), sample, loss, configuration(steps=33))
    assert same(result.last_state, expected.last_state)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("at", [1, 20, 33, 59])
@pytest.mark.usefixtures("every_step_reports")
def test_a_run_broken_by_its_report_goes_on_bit_for_bit(tmp_path, optimizer, at):

    def dropout():
        return nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.BatchNorm1d(8), nn.Linear(8, 1))

    def make():
        torch.manual_seed(0)
        return dropout()

    options = {"evaluate": evaluate, "optimizer": optimizer, "schedule": cosine(60)}
    whole = fit(make(), sample, loss, configuration(), **options)

    def stop(step):
        if step == at:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(make(), sample, loss, configuration(), **options, folder=tmp_path, report=stop)
    module = make()
    torch.rand(17)
    result = fit(module, sample, loss, configuration(), **options, folder=tmp_path)
    assert same(result.last_state, whole.last_state)
    assert same(result.best_state, whole.best_state)
    assert result.records.equals(whole.records)
    assert result.best_step == whole.best_step
    again = fit(make(), sample, loss, configuration(), **options, folder=tmp_path)
    assert same(again.last_state, whole.last_state)
    assert again.records.equals(whole.records)


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.long)])
def test_kill_minus_nine_at_random_moments(tmp_path, kills):
    """The files are those of an unbroken run, whatever moment it was killed at."""
    random = np.random.default_rng(0)
    script = str(Path(__file__).with_name("killed.py"))
    code = f"import runpy, sys; runpy.run_path({script!r})['run'](sys.argv[1])"
    command = [sys.executable, "-c", code, str(tmp_path / "broken")]
    killed = 0
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0.05, 0.4))
            killed += process.poll() is None
            process.kill()
    assert killed
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    runpy.run_path(script)["run"](str(tmp_path / "whole"))
    for name in ("records.parquet", "last.safetensors", "best.safetensors"):
        first, second = (tmp_path / run / name for run in ("broken", "whole"))
        assert first.read_bytes() == second.read_bytes(), name


def test_a_fused_optimizer_goes_on_with_parameters_of_any_layout(tmp_path):
    def make():
        torch.manual_seed(0)
        convolution = nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
        return nn.Sequential(nn.Unflatten(1, (2, 3, 3)), convolution, nn.Flatten())

    def images(step, generator):
        return torch.randn(4, 18, generator=generator), torch.ones(4, 3)

    def fused(parameters, lr):
        return torch.optim.Adam(parameters, lr=lr, fused=True)

    whole = fit(make(), images, loss, configuration(), optimizer=fused)
    fit(make(), images, loss, configuration(steps=20), optimizer=fused, folder=tmp_path)
    result = fit(make(), images, loss, configuration(), optimizer=fused, folder=tmp_path)
    assert same(result.last_state, whole.last_state)


def test_more_steps_go_on_from_the_end_of_fewer(tmp_path):
    fit(model(), sample, loss, configuration(steps=40), folder=tmp_path)
    result = fit(model(), sample, loss, configuration(steps=60), folder=tmp_path)
    whole = fit(model(), sample, loss, configuration(steps=60))
    assert same(result.last_state, whole.last_state)
    assert result.records.equals(whole.records)


@pytest.mark.usefixtures("every_step_reports")
def test_fewer_steps_than_were_taken_before_the_first_evaluation(tmp_path):

    def stop(step):
        if step == 9:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(model(), sample, loss, configuration(), folder=tmp_path, report=stop)
    result = fit(model(), sample, loss, configuration(steps=5), evaluate=evaluate, folder=tmp_path)
    module = model()
    module.load_state_dict(result.last_state)
    assert (result.status, result.steps, result.best_step) == ("finished", 9, 9)
    assert result.records["step"].to_list() == [9]
    assert result.records["validation_loss"].to_list() == [evaluate(module)["validation_loss"]]
    assert same(result.best_state, fit(model(), sample, loss, configuration(steps=9)).last_state)


def test_without_a_validation_loss_that_is_a_number_the_last_state_is_the_best():
    nowhere = {"validation_loss": float("nan")}
    result = fit(model(), sample, loss, configuration(steps=30), evaluate=lambda m: nowhere)
    assert result.best_step == 30
    assert same(result.best_state, result.last_state)


def test_parameters_that_are_not_finite_in_the_end_are_no_finished_run():
    def kinked(module, batch):
        return (module(batch[0]) * 0).abs().sqrt().sum()  # 0, with a slope of NaN

    result = fit(model(), sample, kinked, configuration(steps=1))
    assert result.status == "nan"
    assert not result.last_state["0.weight"].isfinite().all()


def test_the_global_generator_is_left_alone():
    state = torch.get_rng_state()
    fit(model(), sample, loss, configuration(steps=5))
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps is 0; give a positive integer"),
        ({"evaluate_every": -1}, "evaluate_every is -1"),
        ({"checkpoint_every": 0}, "checkpoint_every is 0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; give a finite number above 0"),
        ({"clip_norm": float("nan")}, "clip_norm is nan"),
        ({"penalty": -1.0}, "penalty is -1.0; give a finite number"),
        ({"penalty_start": 40}, "penalty_start is 40 and penalty_end 40; the ramp"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_numbers_out_of_range_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        configuration(**changes)


@pytest.mark.parametrize("name", ["steps", "learning_rate", "clip_norm", "penalty", "seed"])
def test_what_is_no_number_is_named(name):
    with pytest.raises(TypeError, match=f"^{name} is '1'; give "):
        configuration(**{name: "1"})


def test_wrong_functions_are_named():
    with pytest.raises(ValueError, match=r"loss gives \(16, 1\); it must give a tensor of one"):
        fit(model(), sample, lambda m, b: m(b[0]), configuration())
    with pytest.raises(ValueError, match="loss gives float"):
        fit(model(), sample, lambda m, b: 1.0, configuration())  # pyright: ignore
    with pytest.raises(ValueError, match=r"evaluate gives \['error'\]; it must give a validation"):
        fit(model(), sample, loss, configuration(), evaluate=lambda m: {"error": 1.0})
    row = {"validation_loss": 1.0, "step": 7.0}
    with pytest.raises(ValueError, match="and no step or training_loss, which the loop writes"):
        fit(model(), sample, loss, configuration(), evaluate=lambda m: row)
    names = iter(["a", "b", "c"])
    with pytest.raises(ValueError, match="give the same names each time"):
        fit(
            model(),
            sample,
            loss,
            configuration(),
            evaluate=lambda m: {"validation_loss": 1.0, next(names): 1.0},
        )
    with pytest.raises(ValueError, match="module is a ReLU without parameters to train"):
        fit(nn.ReLU(), sample, loss, configuration())
    with pytest.raises(ValueError, match="optimizer makes LBFGS, whose step needs a closure"):
        fit(model(), sample, loss, configuration(), optimizer=torch.optim.LBFGS)


def test_a_folder_that_cannot_be_written_to_is_named_before_a_step():
    steps = []
    for folder in ("/dev/null", "/dev/null/run"):
        with pytest.raises(ValueError, match=f"folder is '{folder}', but '/dev/null' is no folder"):
            fit(model(), lambda step, _: steps.append(step), loss, configuration(), folder=folder)
    assert not steps


def test_starts_drawn_by_several_threads_at_once_are_those_of_their_seeds():
    def start(seed):
        with seeded(seed):
            time.sleep(0.001)
            return nn.Linear(40, 40).weight.detach()

    before = torch.get_rng_state()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(start, range(24)))
    assert torch.equal(torch.get_rng_state(), before)
    for seed, weight in enumerate(together):
        torch.manual_seed(seed)
        assert torch.equal(nn.Linear(40, 40).weight, weight)
    torch.set_rng_state(before)


@pytest.mark.usefixtures("every_step_reports")
def test_ctrl_c_in_a_report_leaves_a_checkpoint_of_that_step(tmp_path):
    """Step 9 lies between the checkpoints of steps 7 and 14."""
    steps = []

    def stop(step):
        if step == 9:
            raise KeyboardInterrupt

    def counted(step, generator):
        steps.append(step)
        return sample(step, generator)

    with pytest.raises(KeyboardInterrupt):
        fit(model(), sample, loss, configuration(), folder=tmp_path, report=stop)
    fit(model(), counted, loss, configuration(), folder=tmp_path)
    assert steps == list(range(9, 60))


def test_a_cosine_falls_from_1_to_its_end_and_stays_there():
    factor = cosine(100, warmup=20, end=0.1)
    factors = [factor(step) for step in (20, 60, 100, 150)]
    assert factors == pytest.approx([1.0, (1 + 0.1) / 2, 0.1, 0.1])


def test_parts_that_were_frozen_stay_so_through_evaluations():
    def frozen():
        generator = torch.Generator().manual_seed(0)
        first, last = nn.Linear(3, 4), nn.Linear(4, 1)
        for layer in (first, last):
            nn.init.normal_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(first, nn.Dropout(0.5).eval(), nn.BatchNorm1d(4).eval(), last)

    once, often = frozen(), frozen()
    numbers = {"penalty": 0.0, "steps": 40}
    fit(once, sample, loss, configuration(evaluate_every=40, **numbers), evaluate=evaluate)
    fit(often, sample, loss, configuration(evaluate_every=10, **numbers), evaluate=evaluate)
    assert [part.training for part in often] == [True, False, False, True]
    assert same(once.state_dict(), often.state_dict())

    def broken(module):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit(often, sample, loss, configuration(**numbers), evaluate=broken)
    assert [part.training for part in often] == [True, False, False, True]
