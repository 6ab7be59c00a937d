"""The product under noise against the quotient of two products."""

import mpmath
import pytest
import torch

from torchalu import functional

INPUTS = [(0.0, 0.3), (0.0, 0.0), (1e-30, -2.5), (-0.7, 1.5), (1e30, -0.3), (-1.0, 1.0)]


def equation(x, w, n):
    noisy = (b * c * a + 1 - b for a, b, c in zip(x, w, n, strict=True))
    alone = (b * c + 1 - b for b, c in zip(w, n, strict=True))
    return mpmath.fprod(noisy) / mpmath.fprod(alone)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("noise", [(1.0, 1.0), (4.5, 1.25), (0.5, 100.0)])
@pytest.mark.parametrize("weight", [(0.0, 0.0), (1.0, 1.0), (0.25, 0.75), (1.0, 0.5)])
def test_values_and_gradients_equal_mpmath(agrees_with_mpmath, weight, noise, dtype):
    """By the input and the weight; nobody learns the noise."""
    fixed = torch.tensor(noise, dtype=dtype)

    def noisy(x, w):
        return functional.snmu(x, w, fixed)

    for x in INPUTS:
        agrees_with_mpmath(noisy, lambda x, w: equation(x, w, noise), x, [[weight]], dtype)


def test_whole_weights_cancel_the_noise_to_the_last_digit():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(50, 6, generator=generator)
    noise = 1 + 4 * torch.rand(50, 6, generator=generator)
    weight = torch.randint(0, 2, (4, 6), generator=generator).float()
    torch.testing.assert_close(
        functional.snmu(x, weight, noise), functional.nmu_definition(x, weight), rtol=0, atol=0
    )


def test_noise_of_one_is_an_nmu():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(50, 6, generator=generator, dtype=torch.float64)
    weight = torch.rand(4, 6, generator=generator, dtype=torch.float64)
    noisy = functional.snmu(x, weight, torch.ones_like(x))
    torch.testing.assert_close(noisy, functional.nmu_definition(x, weight))


def test_many_inputs_overflow_in_neither_product():
    """5^100 is beyond float32; the quotient is 1."""
    x, weight = torch.ones(100), torch.ones(1, 100)
    assert functional.snmu(x, weight, torch.full((100,), 5.0)).item() == 1.0


def test_noise_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"noise has shape \(2,\); give that of input, \(3, 2\)"):
        functional.snmu(torch.ones(3, 2), torch.ones(1, 2), torch.ones(2))
