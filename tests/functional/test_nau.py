"""The addition unit against exact sums."""

import mpmath
import pytest
import torch

from torchalu import functional

WEIGHTS = [(1.0, 1.0), (1.0, -1.0), (0.0, 1.0), (0.25, -0.75)]


def equation(x, w):
    return mpmath.fdot(x, w)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_sums_and_gradients_equal_mpmath(extreme_pairs, agrees_with_mpmath, weight, dtype):
    for x in extreme_pairs:
        if x[0] * weight[0] == -x[1] * weight[1]:
            continue  # the sum is 0, which the next test asks for exactly
        agrees_with_mpmath(functional.nau, equation, x, [[weight]], dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_a_number_minus_itself_is_zero(dtype):
    x = torch.tensor([[3.0, 3.0], [-0.1, -0.1], [1e-7, 1e-7]], dtype=dtype)
    assert functional.nau(x, torch.tensor([[1.0, -1.0]], dtype=dtype)).eq(0).all()


def test_mixed_batch_dimensions():
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert functional.nau(x, torch.ones(5, 4)).equal(x.sum(-1, keepdim=True).expand(2, 3, 5))
