"""A training step and a step of inference of the improved Neural GPU on a CUDA device.

The baseline is the definition in torch's own operations, the floor the number of multiplications
that the convolutions take at the rate of torch's own product of square float32 matrices, measured
beside. Ours multiply in three passes of TF32, whose rate is higher: they may lie below the floor.
"""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor

from benchmarks.cuda_timing import seconds
from benchmarks.row import Row
from torchalu import kernels
from torchalu.kernels import recurrence_forms
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining, TrainingStrings, new_module, string_loss
from torchalu.train.algorithms.training import length_plan

MAPS, TAPS = 96, 3
STEPS = 200  # of long strings, which all take the same time


def benchmark() -> list[Row]:
    """All rows."""
    peak = _seconds_of_a_multiplication()
    rows = [_training_row(peak)]
    rows += [_unroll_row(batch, 41, 41, peak, training=True) for batch in (32, 512)]
    rows += [_unroll_row(batch, 4001, STEPS, peak, training=False) for batch in (1, 4, 32)]
    return rows


def _training_row(peak: float) -> Row:
    """Loss and gradients of a step on products, as in training at whole noise."""
    task = algorithm("bmul")
    training = AlgorithmTraining.improved(task)
    module = new_module(task, training).to("cuda")
    module.noise = training.noise
    strings = TrainingStrings(task, length_plan(task, training), 0, device="cuda")
    steps = [strings(number) for number in range(2)]
    cells = sum(group.inputs.shape[0] * group.inputs.shape[1] ** 2 for s in steps for group in s)

    def train() -> None:
        for groups in steps:
            loss, measures = string_loss(module, groups)
            (loss + 0.001 * measures["saturation"]).backward()

    def in_torch() -> None:
        with patch.object(kernels, "unroll", recurrence_forms.unroll):
            train()

    return Row(
        name="bmul: a training step of 9 bins of 32 strings",
        unit="ms",
        ours=seconds(train, 5) / len(steps) * 1e3,
        baseline=seconds(in_torch, 1) / len(steps) * 1e3,
        baseline_name="the torch form",
        floor=9 * MAPS**2 * TAPS * cells / len(steps) * peak * 1e3,
        target="",
    )


def _unroll_row(batch: int, length: int, steps: int, peak: float, *, training: bool) -> Row:
    """Strings of one length alone, without a network around them."""
    spread = (MAPS * TAPS) ** -0.5
    tensors = [
        torch.randn(batch, length, 1, MAPS).clamp(-1, 1),
        torch.randn(1, 1, 2 * MAPS, MAPS, TAPS, 1) * spread,
        torch.full((1, 1, 2 * MAPS), 0.6),
        torch.randn(1, 1, MAPS, MAPS, TAPS, 1) * spread,
        torch.zeros(1, 1, MAPS),
    ]
    state, *parameters = [tensor.to("cuda").requires_grad_(training) for tensor in tensors]
    sizes = (torch.full((batch,), number, device="cuda") for number in (length, steps))
    lengths, counts = sizes
    keep = torch.full((batch,), 0.9, device="cuda") if training else None
    options = {"cell": "diagonal", "keep": keep, "noise": float(training), "seed": 1}

    def run(function: Callable[..., tuple[Tensor, Tensor]]) -> Callable[[], None]:
        def once() -> None:
            with torch.set_grad_enabled(training):
                final, _ = function(state, lengths, counts, *parameters, **options)
            if training:
                final.sum().backward()

        return once

    per = 1 if training else steps
    passes = 3 if training else 1
    name = f"{batch} x {length} symbols: "
    name += f"{steps} steps there and back" if training else "a step of inference"
    return Row(
        name=name,
        unit="ms",
        ours=seconds(run(kernels.unroll), 5) / per * 1e3,
        baseline=seconds(run(recurrence_forms.unroll), 1) / per * 1e3,
        baseline_name="the torch form",
        floor=passes * 3 * MAPS**2 * TAPS * batch * length * steps / per * peak * 1e3,
        target="" if training else "at most 2.5x the floor",
    )


def _seconds_of_a_multiplication() -> float:
    """By a product of square matrices in float32."""
    size = 4096
    a = torch.randn(size, size, device="cuda")

    def multiply() -> None:
        for _ in range(5):
            a @ a

    return seconds(multiply, 3) / 5 / size**3
