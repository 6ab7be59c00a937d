"""The recurrence on a CUDA device against its definition in float64, where there is a device."""

import pytest
import torch

from recurrence_problem import Problem, assert_near
from torchalu.kernels import recurrence_forms, unroll
from torchalu.kernels.start_dropout import kept_anywhere, kept_at_start

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
CASES = [
    {"maps": 24, "noise": 0.75},
    {"maps": 96, "batch": 32, "length": 41, "noise": 1.0},
    {"maps": 96, "kernel": (5, 1), "sets": 2},
    {"maps": 33, "kernel": (1, 1), "noise": 0.5},
    {"maps": 27, "levels": 3, "dropout": False},
    {"maps": 96, "length": 200, "noise": 0.5},  # whose steps are launches of their own
]


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_the_definition_in_value_and_gradient(case, dtype, bound):
    case = {"cell": "diagonal", "width": 1, "layers": 1, "kernel": (3, 1), "device": "cuda"} | case
    problem = Problem(**case, dtype=dtype)
    got = problem.outputs_and_gradients(unroll)
    assert {result.dtype for result in got} == {dtype}
    problem.tensors = [tensor.double() for tensor in problem.tensors]
    problem.slopes = [slope.double() for slope in problem.slopes]
    wanted = problem.outputs_and_gradients(recurrence_forms.unroll)
    assert_near([result.double() for result in got], wanted, bound)


def test_dropout_at_the_start_is_the_same_on_each_device():
    state, keep = torch.empty(3, 50, 1, 96), torch.tensor([0.2, 0.9, 1.0])
    for seed in (5, -3):
        stays = kept_at_start(state.cuda(), keep.cuda(), seed)
        assert stays.cpu().equal(kept_anywhere(state, keep, seed))
