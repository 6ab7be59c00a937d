"""The GPU's trainer, a vector of 32 numbers in place of each warp, against the CPU's."""

from functools import partial

import numpy as np
import pytest
import torch

from torchalu.engine import train
from torchalu.nn import NAU, NMU
from torchalu.tasks import SimpleFunction, Table
from warp_training import (
    CHANGES,
    OPTIONS,
    STACKS,
    assert_ends_are_equal,
    assert_equal,
    both,
    emulate,
)


@pytest.fixture
def emulated(monkeypatch):
    emulate(monkeypatch)
    return partial(emulate, monkeypatch)


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("name", STACKS)
def test_equals_the_cpu(name):
    task = SimpleFunction("mul", in_features=20, evaluation_rows=300)
    assert_equal(*both(STACKS[name](20), task, penalty=0.5, penalty_start=10, penalty_end=40))


@pytest.mark.parametrize("kept", [0, 5, 37, 100])
def test_equals_the_cpu_with_features_kept(emulated, kept):
    emulated(kept=kept)
    task = SimpleFunction("mul", in_features=100, evaluation_rows=300)
    assert_equal(*both(STACKS["nmu"](100), task, penalty=0.5, penalty_end=40))


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "square", "root"])
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_tasks(operation, changes):
    if operation == "root" and "interpolation_range" in changes:
        pytest.skip("the root of a negative sum is no number")
    task = SimpleFunction(operation, in_features=12, evaluation_rows=200, **changes)
    assert_equal(*both([NAU(12, 2), NMU(2, 1)], task, steps=20, batch_size=120))


@pytest.mark.usefixtures("emulated")
def test_bounded_gradients():
    task = SimpleFunction("mul", in_features=12, evaluation_rows=200)
    assert_equal(*both([NAU(12, 2), NMU(2, 1)], task, clip_norm=0.5, clip_value=0.01))


def test_launches_do_not_matter(emulated):
    task = SimpleFunction("mul", in_features=12, evaluation_rows=200)
    call = {**OPTIONS, "replicas": 2}
    whole = train(STACKS["nalu"](12), task, **call)
    emulated(launch_steps=7)
    parts = train(STACKS["nalu"](12), task, **call)
    assert all(torch.equal(parts.parameters[k], v) for k, v in whole.parameters.items())
    assert parts.records.equals(whole.records)


@pytest.mark.usefixtures("emulated")
def test_a_run_goes_on_where_the_other_device_left_it():
    task = SimpleFunction("mul", in_features=12, evaluation_rows=200)
    stack, call = STACKS["nmu"](12), {**OPTIONS, "replicas": 2}
    whole = train(stack, task, **call)
    half = train(stack, task, **call | {"steps": 20, "device": "cpu"})
    rest = train(stack, task, **call, resume=half)
    for name, value in whole.parameters.items():
        torch.testing.assert_close(rest.parameters[name], value, rtol=1e-5, atol=1e-5)
    back = train(stack, task, **call | {"steps": 60, "device": "cpu"}, resume=rest)
    assert back.status == ["finished"] * 2


@pytest.mark.usefixtures("emulated")
def test_runs_end_as_on_the_cpu():
    assert_ends_are_equal()


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtype": torch.float64}, "dtype is torch.float64"),
        ({"batch_size": 64}, "batch_size is 64; .* allowed are 113 to 128"),
        ({"task": Table(np.ones((3, 12)), np.ones(3))}, "is a Table"),
    ],
)
def test_what_a_gpu_does_not_take(change, words):
    call = {"stack": STACKS["nmu"](12), "task": SimpleFunction("mul", in_features=12), **OPTIONS}
    with pytest.raises(ValueError, match=words):
        train(**call | change)


def test_unknown_device():
    with pytest.raises(ValueError, match="device is 'tpu'; choose from cpu, cuda"):
        train(STACKS["nmu"](12), SimpleFunction("mul", in_features=12), steps=1, device="tpu")


def test_without_a_gpu():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match=r"device is .cuda., but .* give device=.cpu."):
        train(STACKS["nmu"](12), SimpleFunction("mul", in_features=12), steps=1, device="cuda")
