"""The Triton kernels in Triton's interpreter, against the native core."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

# In a process of its own: the interpreter is chosen when the kernels are defined.
PROGRAM = """
import torch
from torchalu import kernels
from torchalu.kernels import logic_triton

NAMES = kernels.FUNCTIONS
LINEAR = 5

def compare(names, shape, dtype, partition):
    generator = torch.Generator().manual_seed(0)
    z = 4 * torch.randn(shape, generator=generator, dtype=torch.float64)
    z.view(-1)[::7] = 0
    z.view(-1)[::11] = 300
    z = torch.where(z.abs() < 1, z.round(), z).to(dtype)
    functions = [NAMES.index(name) for name in names]
    means, scales = [0.5] * len(names), [2.0] * len(names)
    linear = max(functions) < LINEAR
    members = functions, means, scales, partition
    wanted, slopes = torch.ops.torchalu.logic(z, *members, linear)
    output = torch.full_like(wanted, float("nan"))
    codes = torch.full_like(slopes, 77) if linear else None
    logic_triton.logic_forward(z, output, codes, *members, LINEAR)
    bound = 60 * torch.finfo(dtype).eps
    torch.testing.assert_close(output, wanted, rtol=bound, atol=bound)
    if linear:
        assert codes.equal(slopes)
    grad = torch.randn(wanted.shape, generator=generator, dtype=torch.float64).to(dtype)
    saved, rest = slopes if linear else z, (functions, scales, partition)
    torch.testing.assert_close(
        logic_triton.logic_backward(grad, saved, *rest, LINEAR),
        torch.ops.torchalu.logic_backward(grad, saved, *rest),
        rtol=bound, atol=bound,
    )

for dtype in (torch.float32, torch.float64):
    for names in [(name,) for name in NAMES]:
        for shape in ((3, 20, 2, 1), (2, 1, 3, 30), (2, 5, 3, 7)):
            compare(names, shape, dtype, False)
for names in (("or_ail", "and_ail", "xnor_ail"), ("logit_xnor", "or_ail", "logit_or")):
    for partition in (False, True):
        compare(names, (2, 6, 2, 5), torch.float32, partition)
        compare(names, (1, 600, 2, 1), torch.float32, partition)
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
