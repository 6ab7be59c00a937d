"""A Neural GPU whose weights are set by hand, so that it copies its input exactly."""

import torch

from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import algorithm
from torchalu.zoo import LearnedAlgorithm


def copying_module(num_symbols=3):
    """Writes each symbol into a map that stays where it is, with gates that let nothing in."""
    maps, stays = 3 * num_symbols, 2 * num_symbols
    module = DiagonalNeuralGPU(num_symbols, maps=maps)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.gate_bias[..., maps:] = 1
        for symbol in range(num_symbols):
            module.input_weight[symbol, stays + symbol] = 1
            module.output_weight[symbol, stays + symbol] = 1
    return module


def exact_copy():
    """The same with its task."""
    return LearnedAlgorithm(copying_module(), algorithm("copy"))


def untrained(task, seed=0, **options):
    """A module that has learned nothing."""
    generator = torch.Generator().manual_seed(seed)
    module = DiagonalNeuralGPU(len(task.alphabet) + 1, maps=6, generator=generator, **options)
    return LearnedAlgorithm(module, task)
