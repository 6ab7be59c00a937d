"""The logic operators on a CUDA device against the native core, where there is a device."""

import pytest
import torch

from torchalu import kernels

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("names", [*((name,) for name in kernels.FUNCTIONS), kernels.FUNCTIONS[:3]])
def test_values_and_gradients_equal_those_of_the_core(names, dtype):
    generator = torch.Generator().manual_seed(0)
    z = 4 * torch.randn(3, 700, 2, 3, generator=generator, dtype=torch.float64)
    z = torch.where(z.abs() < 1, z.round(), z).to(dtype)
    moments = [(0.5, 2.0)] * len(names)

    def run(device):
        inputs = z.to(device).requires_grad_()
        output = kernels.logic(inputs, names, moments, partition=False)
        slope = torch.linspace(-1, 1, output.numel(), dtype=torch.float64)
        output.backward(slope.to(output).view_as(output))
        return output.detach().cpu(), inputs.grad.cpu()

    bound = (1 if dtype == torch.bfloat16 else 60) * torch.finfo(dtype).eps
    for got, want in zip(run("cuda"), run("cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=bound, atol=bound)
