"""The recurrence's Triton kernels in Triton's interpreter, against the definition in float64."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

TESTS = str(Path(__file__).parents[1])
# In a process of its own: the interpreter is chosen when the kernels are defined.
PROGRAM = """
import torch
from recurrence_problem import Problem, assert_near
from torchalu.kernels import recurrence_cuda, recurrence_forms
from torchalu.kernels.start_dropout import kept_anywhere

def compare(maps, dtype=torch.float64, **case):
    case = {"width": 1, "layers": 1, "kernel": (3, 1), "batch": 2, "length": 13} | case
    problem = Problem(cell="diagonal", maps=maps, dtype=dtype, **case)
    problem.steps.clamp_(max=3)
    wanted = problem.outputs_and_gradients(recurrence_forms.unroll)
    state, *parameters = problem.tensors
    inputs = problem.lengths, problem.steps, tuple(parameters)
    random = {name: problem.options[name] for name in ("keep", "noise", "seed")}
    if random["keep"] is not None:
        random["keep"] = random["keep"].double()
    levels = problem.options["levels"]
    both = [
        recurrence_cuda.recurrence_forward(state, *inputs, 3, levels=levels, kept=kept, **random)
        for kept in (True, False)
    ]
    assert both[0][0].equal(both[1][0]) and both[0][1].equal(both[1][1])
    slopes = problem.slopes[0], 0.01 * problem.slopes[1]
    grads = recurrence_cuda.recurrence_backward(*slopes, both[0][2], *inputs, **random)
    assert_near((*both[0][:2], *grads), wanted, 1e-13 if dtype == torch.float64 else 2e-5)

torch.utils.deterministic.fill_uninitialized_memory = True
torch.use_deterministic_algorithms(True)  # so that what is not written to begins as NaN
compare(12, kernel=(5, 1), sets=2, noise=0.75)  # all steps in one launch
compare(33, kernel=(1, 1), batch=1, dropout=False)
compare(9, levels=3)
compare(6, batch=1, length=70)
compare(6, torch.float32, noise=0.75)
recurrence_cuda._SHORT = 1  # two launches a step
compare(12, kernel=(5, 1), sets=2, noise=0.75)
compare(9, kernel=(1, 1), levels=3, dropout=False)
compare(6, batch=1, length=70)

state, keep = torch.empty(3, 7, 1, 33), torch.tensor([0.2, 0.9, 1.0])
for seed in (5, 2**64 - 3):
    stays = recurrence_cuda.kept_at_start(state, keep, seed)
    assert stays.equal(kept_anywhere(state, keep, seed))
"""


def test_kernels_equal_the_definition():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": TESTS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
