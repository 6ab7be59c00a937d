"""The recurrence's Triton kernels in Triton's interpreter, against the definition in float64."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

# In a process of its own: the interpreter is chosen when the kernels are defined.
PROGRAM = """
import torch
from torchalu.kernels import recurrence_cuda, recurrence_forms
from torchalu.kernels.start_dropout import kept_anywhere

def problem(maps, dtype, batch=3, length=13, taps=3, sets=1):
    '''Sequences of mixed lengths and steps, among them length 1 and no step.'''
    generator = torch.Generator().manual_seed(3)

    def normal(*sizes):
        return torch.randn(*sizes, generator=generator, dtype=torch.float64).to(dtype)

    lengths = torch.tensor([length - 3, 1, length])[:batch]
    steps = torch.tensor([3, 2, 0])[:batch]
    spread = 1.5 / (maps * taps) ** 0.5
    tensors = [
        normal(batch, length, 1, maps).clamp(-1, 1),
        normal(sets, 1, 2 * maps, maps, taps, 1) * spread,
        normal(sets, 1, 2 * maps),
        normal(sets, 1, maps, maps, taps, 1) * spread,
        normal(sets, 1, maps),
    ]
    return tensors, lengths, steps

def compare(maps, dtype, *, levels=0, drops=True, noise=0.0, **sizes):
    tensors, lengths, steps = problem(maps, dtype, **sizes)
    keep = torch.linspace(0.6, 1, len(lengths), dtype=torch.float64) if drops else None
    random = {"keep": keep, "noise": noise, "seed": 2**63 + 12345}
    inputs = [tensor.double().clone().requires_grad_() for tensor in tensors]
    wanted = recurrence_forms.unroll(
        inputs[0], lengths, steps, *inputs[1:], cell="diagonal", levels=levels, **random
    )
    slopes = [torch.randn(out.shape, dtype=out.dtype).to(dtype) for out in wanted]
    wanted_grads = torch.autograd.grad(wanted, inputs, [slope.double() for slope in slopes])

    state, *parameters = tensors
    both = [
        recurrence_cuda.recurrence_forward(
            state, lengths, steps, tuple(parameters), 3, levels=levels, kept=kept, **random
        )
        for kept in (True, False)
    ]
    assert both[0][0].equal(both[1][0]) and both[0][1].equal(both[1][1])
    grads = recurrence_cuda.recurrence_backward(
        *slopes, both[0][2], lengths, steps, tuple(parameters), **random
    )
    bound = 1e-13 if dtype == torch.float64 else 2e-5
    for got, want in zip((*both[0][:2], *grads), (*wanted, *wanted_grads), strict=True):
        assert got.dtype == dtype
        size = want.abs().max().item()
        torch.testing.assert_close(got.double(), want, rtol=0, atol=bound * max(size, 1e-6))

torch.manual_seed(0)
torch.utils.deterministic.fill_uninitialized_memory = True
torch.use_deterministic_algorithms(True)  # so that what is not written to begins as NaN
compare(12, torch.float64, taps=5, sets=2, noise=0.75)  # all steps in one launch
compare(33, torch.float64, taps=1, drops=False)
compare(9, torch.float64, levels=3)
compare(6, torch.float64, batch=1, length=70)
compare(6, torch.float32, noise=0.75)
recurrence_cuda._SHORT = 1  # two launches a step
compare(12, torch.float64, taps=5, sets=2, noise=0.75)
compare(9, torch.float64, taps=1, levels=3, drops=False)
compare(6, torch.float64, batch=1, length=70)

state, keep = torch.empty(3, 7, 1, 33), torch.tensor([0.2, 0.9, 1.0])
for seed in (5, 2**64 - 3):
    stays = recurrence_cuda.kept_at_start(state, keep, seed)
    assert stays.equal(kept_anywhere(state, keep, seed))
"""


def test_kernels_equal_the_definition():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
