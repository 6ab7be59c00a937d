"""The trainer on a GPU against the CPU's; seconds in all."""

import importlib
from functools import partial

import numpy as np
import pytest
import torch

from torchalu.engine import TrainingInterrupted, train
from torchalu.engine.device import gpu
from torchalu.nn import NAU, NMU
from torchalu.tasks import SimpleFunction
from warp_training import CHANGES, OPTIONS, STACKS, assert_ends_are_equal, assert_equal, both

trainer = importlib.import_module("torchalu.engine.trainer")

try:
    gpu()
except RuntimeError as error:
    pytestmark = pytest.mark.skip(reason=str(error))


LARGE = ("nmu", "nau", "nac_mul", "nalu", "nalu_separate", "linear")


@pytest.mark.parametrize(
    ("name", "in_features"), [*((name, 20) for name in STACKS), *((name, 100) for name in LARGE)]
)
def test_equals_the_cpu(name, in_features):
    task = SimpleFunction("mul", in_features=in_features, evaluation_rows=300)
    ramp = {"penalty": 0.5, "penalty_start": 10, "penalty_end": 40}
    assert_equal(*both(STACKS[name](in_features), task, **ramp))


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "square", "root"])
@pytest.mark.parametrize("in_features", [4, 300])
def test_operations(operation, in_features):
    task = SimpleFunction(operation, in_features=in_features, evaluation_rows=300)
    assert_equal(*both([NAU(in_features, 2), NMU(2, 1)], task))


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_tasks(changes):
    task = SimpleFunction("add", in_features=12, evaluation_rows=200, **changes)
    assert_equal(*both([NAU(12, 2), NMU(2, 1)], task, steps=20, batch_size=120, clip_norm=0.5))


def test_runs_end_as_on_the_cpu():
    assert_ends_are_equal()


def test_launches_do_not_matter(monkeypatch):
    task = SimpleFunction("mul", in_features=12, evaluation_rows=200)
    call = {**OPTIONS, "replicas": 300}
    whole = train(STACKS["nalu"](12), task, **call)
    native = trainer.native_train("cuda", None)
    monkeypatch.setattr(
        trainer, "native_train", lambda device, threads: partial(native, launch_steps=7, warps=5)
    )
    parts = train(STACKS["nalu"](12), task, **call)
    assert all(torch.equal(parts.parameters[k], v) for k, v in whole.parameters.items())
    assert parts.records.equals(whole.records)


def test_interrupted_and_resumed():
    task = SimpleFunction("mul", in_features=12, evaluation_rows=200)
    run = trainer.Run([NAU(12, 2), NMU(2, 1)], task)
    call = {"steps": 200_000, "replicas": 4, "evaluate_every": 50_000, "device": "cuda"}
    with pytest.raises(TrainingInterrupted) as caught:
        trainer.train_together([run], **call, poll=lambda done: done < 1000)
    (stopped,) = caught.value.result
    assert stopped.status == ["running"] * 4
    assert np.all(stopped.steps > 0)
    (rest,) = trainer.train_together([run], **call, resume=[stopped])
    (whole,) = trainer.train_together([run], **call)
    assert all(torch.equal(rest.parameters[k], v) for k, v in whole.parameters.items())
