"""Correlations of a state with signals, against NumPy's."""

import numpy as np
import pytest
import torch

from torchalu.evaluate import signal_correlations
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU


@pytest.mark.parametrize("kind", [NeuralGPU, DiagonalNeuralGPU])
def test_equals_numpy_at_each_step(kind):
    module = kind(4, maps=3, generator=torch.Generator().manual_seed(0)).eval()
    rng = np.random.default_rng(0)
    symbols = torch.from_numpy(rng.integers(1, 4, size=(30, 5)))
    signals = torch.from_numpy(rng.normal(size=(30, 2)))
    states = list(module.states(symbols))
    found = list(signal_correlations(module, symbols, signals))
    assert len(found) == 6
    for state, correlations in zip(states, found, strict=True):
        assert correlations.shape == (*state.shape[1:], 2)
        for place in np.ndindex(*state.shape[1:]):
            values = state[:, *place].double().numpy()
            for number in range(2):
                value = correlations[*place, number].item()
                if np.ptp(values) < 1e-6:
                    assert value == 0
                    continue
                expected = np.corrcoef(values, signals[:, number])[0, 1]
                assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_the_size_of_a_signal_does_not_matter(size):
    module = DiagonalNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0)).eval()
    symbols = torch.tensor([[1, 2], [2, 1], [3, 2], [2, 2], [1, 1]])
    signal = symbols[:, :1].double()
    for one, other in zip(
        signal_correlations(module, symbols, signal),
        signal_correlations(module, symbols, size * signal),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
        assert one.any()


def test_a_constant_signal_has_no_correlation():
    module = DiagonalNeuralGPU(3, maps=3, generator=torch.Generator().manual_seed(0)).eval()
    symbols = torch.tensor([[1, 2], [2, 1], [2, 2]])
    for constant in (0.0, 1.0, 0.1, 1e30):
        for correlations in signal_correlations(module, symbols, torch.full((3, 1), constant)):
            assert not correlations.any()


@pytest.mark.parametrize("strings", [1, 3])
def test_too_few_strings_or_signals_are_named(strings):
    module = DiagonalNeuralGPU(3, maps=3)
    with pytest.raises(ValueError, match=rf"symbols has {strings} strings and signals 1"):
        next(signal_correlations(module, torch.ones(strings, 2).long(), torch.ones(1, 1)))
