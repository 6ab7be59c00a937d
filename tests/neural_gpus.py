"""Both Neural GPUs, small, and strings for them."""

import pytest
import torch

from torchalu.nn import DiagonalNeuralGPU, NeuralGPU

SYMBOLS = torch.tensor([[1, 3, 2, 1, 2], [2, 1, 3, 0, 0], [3, 0, 1, 2, 0]])
LENGTHS = [5, 3, 4]
kinds = pytest.mark.parametrize("kind", [NeuralGPU, DiagonalNeuralGPU])


def make(kind, **options):
    own = {"width": 3} if kind is NeuralGPU else {"dropout": 0.0}
    common = {"maps": 6, "generator": torch.Generator().manual_seed(0), "dtype": torch.float64}
    return kind(4, **common | own | options)
