"""Units whose parameters an LSTM sets at each step."""

import pytest
import torch

from torchalu import functional
from torchalu.experiments.trask2018.configured import CONFIGURED, Configured

NEAR = {
    "NALU": lambda x, w, m, g: functional.nalu(x, functional.nac_weight(w, m), g),
    "NAC": functional.nac,
    "NAU": lambda x, w: functional.nau(x, w.clamp(-1, 1)),
    "GatedNAUNMU": lambda x, w, m, g: functional.gated_nau_nmu(
        x, w.clamp(-1, 1), (m + 0.5).clamp(0, 1), g
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_configured_unit_equals_the_unit_row_by_row(name):
    generator = torch.Generator().manual_seed(0)
    unit, x = CONFIGURED[name], torch.randn(6, 4, generator=generator)
    numbers = torch.randn(6, unit.size(3, 4), generator=generator)
    parameters = unit.split(numbers, 3, 4)
    outputs = _output(name, x, *parameters)
    for row, output in enumerate(outputs):
        expected = NEAR[name](x[row], *(each[row] for each in parameters))
        torch.testing.assert_close(output, expected)


def test_a_gate_that_is_set_is_that_of_a_nalu_whatever_the_input():
    """With G x = g in all rows the two readings of the gate agree."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(5, 2, generator=generator).abs() + 0.5
    w, m = torch.randn(2, 5, 3, 2, generator=generator)
    gate = torch.randn(5, 3, generator=generator)
    as_matrix = torch.stack((gate / x[:, :1], torch.zeros(5, 3)), -1)
    set_gate = _output("NALU,gate", x, w, m, gate)
    torch.testing.assert_close(set_gate, _output("NALU", x, w, m, as_matrix))


def _output(name, x, *parameters):
    unit = CONFIGURED[name]
    return unit.apply(x, *unit.weights(*parameters))


@pytest.mark.parametrize("name", CONFIGURED)
def test_registers_keep_their_values_at_the_start(name):
    """But for a NAC's weight of 0.98, and that as a power: 500 ** 0.98 is a tenth below 500."""
    torch.manual_seed(0)
    network = Configured(name, 3, 4, registers=3)
    registers = torch.tensor([[0.5, 20.0, 500.0], [2.0, 3.0, 0.0]])
    inputs = torch.cat((torch.tensor([[77.0], [0.0]]), registers), -1)
    bias = network.parameters_of.bias.detach().expand(2, -1)
    kept = _output(name, inputs, *network.unit.split(bias, 3, 4))
    exact = name in ("NAU", "GatedNAUNMU")
    torch.testing.assert_close(kept, registers, rtol=1e-6 if exact else 0.11, atol=1e-6)


def test_registers_can_add_up_any_numbers():
    network = Configured("NAC", 3, 4, registers=2)
    with torch.no_grad():
        network.parameters_of.weight.zero_()
        w_hat = torch.tensor([[99.0, 99.0, 0.0], [0.0, 0.0, 0.0]])
        network.parameters_of.bias.copy_(torch.stack((w_hat, torch.full((2, 3), 99.0))).flatten())
    numbers = torch.tensor([[3.0, 0.0, 9000.0, 41.0], [1.0, 2.0, 3.0, 4.0]])
    states = network(torch.randn(2, 4, 3), numbers)
    torch.testing.assert_close(states[..., 0], numbers.cumsum(1))


@pytest.mark.parametrize("name", CONFIGURED)
def test_long_programs_of_large_numbers_neither_overflow_nor_have_such_gradients(name):
    torch.manual_seed(0)
    network = Configured(name, 3, 4, registers=3)
    with torch.no_grad():
        network.parameters_of.bias.normal_(0, 9)
    states = network(torch.randn(5, 40, 3), 10 ** torch.empty(5, 40).uniform_(-3, 4))
    assert states.isfinite().all()
    states[:, -1].square().mean().sqrt().backward()
    assert all(bool(p.grad is None or p.grad.isfinite().all()) for p in network.parameters())


def test_an_unknown_unit():
    with pytest.raises(ValueError, match="unit is 'LSTM'; choose from NALU"):
        Configured("LSTM", 3, 4)
