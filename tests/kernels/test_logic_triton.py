"""The Triton kernels in Triton's interpreter, against the native core."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

# In a process of its own: the interpreter is chosen when the kernels are defined.
PROGRAM = """
import itertools
import torch
from torchalu import kernels
from torchalu.kernels import logic_triton

NAMES = kernels.FUNCTIONS
LINEAR = 5
INF, NAN = float("inf"), float("nan")

def numbers(shape, dtype):
    z = 4 * torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    z.view(-1)[::7] = 0
    z.view(-1)[::11] = 300
    z.view(-1)[3::11] = 742 if dtype == torch.float64 else 103.9  # whose exp(-z) is subnormal
    return torch.where(z.abs() < 1, z.round(), z).to(dtype)

def extremes(k, dtype):
    rows = list(itertools.product((INF, -INF, NAN, 0.0, -0.0, 1.5, -2.0, 103.9, 1e30), repeat=k))
    return torch.tensor(rows, dtype=dtype).view(1, -1, k, 1)

def assert_close(got, wanted):
    '''What is computed in float32 and rounded to bfloat16 may round otherwise, once.'''
    bound = (1 if wanted.dtype == torch.bfloat16 else 60) * torch.finfo(wanted.dtype).eps
    torch.testing.assert_close(got, wanted, rtol=bound, atol=bound, equal_nan=True)

def compare(names, z, partition=False):
    functions = [NAMES.index(name) for name in names]
    means, scales = [0.5] * len(names), [2.0] * len(names)
    linear = max(functions) < LINEAR
    members = functions, means, scales, partition
    wanted, slopes = torch.ops.torchalu.logic(z, *members, linear)
    output = torch.full_like(wanted, 77.0)
    codes = torch.full_like(slopes, 77) if linear else None
    logic_triton.logic_forward(z, output, codes, *members, LINEAR)
    assert_close(output, wanted)
    if linear:  # a group with NaN has the value NaN, and slopes that mean nothing
        known = ~z.isnan().any(2, keepdim=True).unsqueeze(1).expand_as(slopes)
        assert codes[known].equal(slopes[known])
    generator = torch.Generator().manual_seed(1)
    grad = torch.randn(wanted.shape, generator=generator, dtype=torch.float64).to(z.dtype)
    saved, rest = slopes if linear else z, (functions, scales, partition)
    assert_close(
        logic_triton.logic_backward(grad, saved, *rest, LINEAR),
        torch.ops.torchalu.logic_backward(grad, saved, *rest),
    )

for name in NAMES:
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        compare((name,), numbers((3, 20, 2, 1), dtype))
        compare((name,), numbers((2, 5, 3, 7), dtype))
        compare((name,), extremes(2, dtype))
    compare((name,), numbers((2, 1, 3, 30), torch.float32))
    compare((name,), extremes(3, torch.float32))
for names in (("or_ail", "and_ail", "xnor_ail"), ("logit_xnor", "or_ail", "logit_or")):
    for dtype in (torch.float32, torch.bfloat16):
        for partition in (False, True):
            compare(names, numbers((2, 6, 2, 5), dtype), partition)
            compare(names, numbers((1, 600, 2, 1), dtype), partition)
    compare(names, extremes(3, torch.float32))
"""


def test_kernels_equal_the_native_core():
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
