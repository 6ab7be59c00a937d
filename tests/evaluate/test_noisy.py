"""Neural GPUs under noise."""

import pytest
import torch

from torchalu.evaluate import Noisy
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU

SYMBOLS, LENGTHS = torch.tensor([[1, 2, 3, 2, 1], [2, 3, 1, 0, 0]]), torch.tensor([5, 3])


def module(form, dropout=0.5):
    return form(4, maps=6, dropout=dropout, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("form", [NeuralGPU, DiagonalNeuralGPU])
def test_the_noise_is_that_of_training_without_dropout(form):
    trained = module(form, dropout=0.0).train()
    trained.noise = 0.3
    noisy = Noisy(module(form), 0.3).eval()
    for seed in (1, 2):
        assert torch.equal(noisy(SYMBOLS, LENGTHS), trained(SYMBOLS, LENGTHS, seed=seed))


def test_extra_steps_are_taken_under_noise():
    inner, more = module(DiagonalNeuralGPU), module(DiagonalNeuralGPU)
    more.extra_steps = 2
    inner.noise, inner.dropout = 0.3, 0.0
    expected = inner.train()(SYMBOLS, LENGTHS, torch.tensor([7, 7]), seed=1)
    assert torch.equal(Noisy(more, 0.3)(SYMBOLS, LENGTHS), expected)


@pytest.mark.parametrize("training", [True, False])
def test_the_module_is_left_as_it_was(training):
    inner = module(DiagonalNeuralGPU).train(training)
    inner.noise = 0.25
    Noisy(inner, 2.0)(SYMBOLS, LENGTHS)
    assert (inner.training, inner.noise, inner.dropout) == (training, 0.25, 0.5)


def test_an_amplitude_that_there_is_not():
    with pytest.raises(ValueError, match="amplitude is -1; give a number from 0 up"):
        Noisy(module(DiagonalNeuralGPU), -1)
