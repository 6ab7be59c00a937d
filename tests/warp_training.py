"""Stacks that a GPU trains, and how its training is compared with the CPU's."""

import importlib
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from torchalu import _emulated
from torchalu.engine import Run, train, train_together
from torchalu.engine.device import native_train
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    NPU,
    SNMU,
    GatedNAUNMU,
    NACMul,
    RealNPU,
)
from torchalu.tasks import SimpleFunction

OPTIONS = {"steps": 50, "seed": 5, "evaluate_every": 25, "device": "cuda"}

CHANGES = {
    "two_sided": {"interpolation_range": ((-6.0, -2.0), (2.0, 6.0))},
    "correlated": {"correlation": 0.3},
    "noisy": {"noise": 0.1},
    "subsets": {"subsets": ((0, 3, 3), (9, 1))},
}
"""Of a task."""

STACKS = {
    "nmu": lambda n: [NAU(n, 2), NMU(2, 1)],
    "nau": lambda n: [NAU(n, 2), NAU(2, 1)],
    "nac_mul": lambda n: [NAC(n, 2), NACMul(2, 1, eps=0.1)],
    "nalu": lambda n: [NALU(n, 2), NALU(2, 1, eps=0.1)],
    "nac": lambda n: [NAC(n, 2), NAC(2, 1)],
    "nac_mul_sigmoid": lambda n: [NACMul(n, 2, parametrization="sigmoid"), NAC(2, 1)],
    "nac_mul_clamped": lambda n: [NAU(n, 3), NACMul(3, 1, parametrization="clamped", eps=0.1)],
    "nalu_separate": lambda n: [NALU(n, 3, separate=True), NALU(3, 1, separate=True, eps=0.1)],
    "nmu_wide": lambda n: [NAU(n, 10), NMU(10, 1)],
    "nmu_wider_than_any_shape": lambda n: [NAU(n, 11), NMU(11, 1)],
    "no_clamp": lambda n: [NAU(n, 3, clamp=False), NMU(3, 1, clamp=False)],
    "clamp_forward": lambda n: [NAU(n, 2, clamp="forward"), NMU(2, 1, clamp="forward")],
    "linear": lambda n: [nn.Linear(n, 4), nn.Linear(4, 1, bias=False)],
    "relu": lambda n: [nn.Linear(n, 5), nn.ReLU(), nn.Linear(5, 1)],
    "relu6": lambda n: [nn.Linear(n, 5), nn.ReLU6(), nn.Linear(5, 1)],
    "gated": lambda n: [GatedNAUNMU(n, 2), GatedNAUNMU(2, 1)],
    "nmu_first": lambda n: [NMU(n, 3), NAU(3, 1)],
    "real_npu": lambda n: [RealNPU(n, 2), NAU(2, 1)],
    "npu": lambda n: [NAU(n, 2), NPU(2, 1)],
    "nmru": lambda n: [NAU(n, 2), NMRU(2, 1, eps=0.1)],
    "snmu": lambda n: [NAU(n, 3), SNMU(3, 1)],
    "inalu": lambda n: [INALU(n, 2), INALU(2, 1, eps=0.1)],
    "three_layers": lambda n: [NAU(n, 4), NMU(4, 2), NAU(2, 1)],
    "one_layer": lambda n: [NAU(n, 1)],
}


def emulate(monkeypatch, kept=0, launch_steps=1000):
    """Give device="cuda" the emulated trainer, which keeps `kept` features in fast memory."""

    def native(poll, **arguments):
        _emulated.train(**arguments, launch_steps=launch_steps, kept=kept)
        return bool(poll(0))

    monkeypatch.setattr(
        importlib.import_module("torchalu.engine.trainer"),
        "native_train",
        lambda device, threads: native if device == "cuda" else native_train(device, threads),
    )


def moderate(stack):
    """Start values in the curved part of tanh and sigmoid, where both keep all digits."""
    return {
        name: value.abs() / 8 + 0.1 if "_hat" in name else value.clone()
        for name, value in nn.Sequential(*stack).state_dict().items()
    }


def both(stack, task, **options):
    torch.manual_seed(1)
    initial = moderate(stack)
    call = {**OPTIONS, "replicas": [2, 7], "initial": initial, **options}
    return train(stack, task, **call), train(stack, task, **call | {"device": "cpu"})


def assert_equal(ours, theirs, tolerance=1e-5):
    assert ours.status == theirs.status
    assert np.array_equal(ours.steps, theirs.steps)
    for name, value in theirs.parameters.items():
        torch.testing.assert_close(ours.parameters[name], value, rtol=tolerance, atol=tolerance)
    for name, value in theirs.best_parameters.items():
        torch.testing.assert_close(
            ours.best_parameters[name], value, rtol=tolerance, atol=tolerance
        )
    assert ours.records.select("replica", "step").equals(theirs.records.select("replica", "step"))
    for column in ("training_loss", "validation_loss", "extrapolation_loss", "sparsity_error"):
        np.testing.assert_allclose(
            ours.records[column].to_numpy(), theirs.records[column].to_numpy(), 1e-3, 1e-6
        )


def runs_that_end():
    """Runs that are solved, that stall, that meet their goal, that are finished, and that break."""
    task = SimpleFunction("add", in_features=4, subsets=((0,), (1,)), evaluation_rows=200)
    stack = [NAU(4, 1)]
    return [
        Run(stack, replace(task, noise=0.1), learning_rate=0.02, goal=0.1, settle=400),
        Run(stack, task, learning_rate=1e-7, stall=300),
        Run(stack, task, learning_rate=0.01, stop_below=1e-3, stop_patience=2),
        Run(stack, task, learning_rate=0.01),
        Run([nn.Linear(4, 1)], task, learning_rate=1e38),
    ]


ENDS = ["stopped"] * 3 + ["finished", "nan"]


def assert_ends_are_equal():
    call = {"steps": 3000, "replicas": 2, "evaluate_every": 100}
    ours = train_together(runs_that_end(), **call, device="cuda")
    theirs = train_together(runs_that_end(), **call)
    for one, other in zip(ours, theirs, strict=True):
        assert one.status == other.status
        assert np.array_equal(one.steps, other.steps)
    assert [result.status[0] for result in ours] == ENDS
