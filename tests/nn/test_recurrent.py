"""The recurrent form of every unit, and the penalty on its inputs."""

import copy
import math

import numpy as np
import pytest
import torch

from torchalu import nn
from torchalu.export import snap
from units import UNITS, Case

MULTIPLY = (nn.NMU, nn.NACMul, nn.RealNPU, nn.NPU, nn.NMRU, nn.SNMU)


@pytest.fixture(params=UNITS, ids=str)
def case(request) -> Case:
    return request.param


def cell_of(case, input_size=2, hidden_size=3, **arguments):
    arguments.setdefault("generator", torch.Generator().manual_seed(0))
    return nn.UnitCell(case.unit, input_size, hidden_size, **case.options, **arguments).eval()


def rnn_of(case, **arguments):
    return nn.UnitRNN(case.unit, 2, 3, **case.options, **arguments).eval()


def inputs(*shape):
    generator = torch.Generator().manual_seed(1)
    return 1 + torch.rand(*shape, generator=generator)


def test_a_step_is_the_unit_on_input_and_state_side_by_side(case):
    cell = cell_of(case)
    x, h = inputs(5, 2), inputs(5, 3)
    assert cell(x, h).equal(cell.unit(torch.cat((x, h), 1)))
    assert cell(x[0], h[0]).shape == (3,)
    torch.testing.assert_close(cell(x[0], h[0]), cell(x, h)[0])


def test_the_first_state_changes_nothing(case):
    cell = cell_of(case)
    assert cell.initial == cell.unit.identity == (1.0 if case.unit in MULTIPLY else 0.0)
    x = inputs(5, 2)
    assert cell(x).equal(cell(x, torch.full((5, 3), cell.initial)))
    assert cell_of(case, initial=2.5).initial == 2.5


def test_running_over_a_sequence_is_step_after_step_in_every_layout(case):
    rnn = rnn_of(case, generator=torch.Generator().manual_seed(0))
    first = copy.deepcopy(rnn)
    first.batch_first = True
    x = inputs(4, 5, 2)
    states, last = rnn(x)
    assert states.shape == (4, 5, 3)
    assert last.shape == (1, 5, 3)
    h = None
    for step, state in zip(x, states, strict=True):
        h = rnn.cell(step, h)
        assert state.equal(h)
    assert last[0].equal(states[-1])
    swapped, same = first(x.transpose(0, 1))
    assert swapped.transpose(0, 1).equal(states)
    assert same.equal(last)
    alone, one = rnn(x[:, 0])
    torch.testing.assert_close(alone, states[:, 0], rtol=1e-5, atol=1e-5)
    assert one.shape == (1, 3)
    tail, end = rnn(x[2:], states[1:2])
    assert tail.equal(states[2:])
    assert end.equal(last)


def test_inputs_of_the_unit_are_what_it_was_given_at_each_step(case):
    given = []
    rnn = rnn_of(case, batch_first=True)
    rnn.cell.unit.register_forward_pre_hook(lambda _, arguments: given.append(arguments[0]))
    x = inputs(5, 4, 2)
    for start in (None, inputs(1, 5, 3)):
        given.clear()
        states, _ = rnn(x, start)
        assert rnn.unit_inputs(x, states, start).equal(torch.stack(given, 1))


def test_gradients_reach_every_parameter_and_the_input(case):
    rnn = rnn_of(case)
    x = inputs(3, 5, 2).requires_grad_()
    rnn(x)[0].sin().sum().backward()
    gradients = [x.grad, *(p.grad for p in rnn.parameters())]
    assert all(g is not None and g.isfinite().all() for g in gradients)
    assert x.grad is not None
    assert x.grad.ne(0).any()


def test_penalty_constraint_and_snap_find_the_unit_inside(case):
    rnn = rnn_of(case)
    unit = rnn.cell.unit
    assert nn.penalty(rnn).item() == unit.penalty().item()
    optimizer = torch.optim.SGD(rnn.parameters(), lr=100.0)
    nn.constrain_after(optimizer, rnn)
    torch.stack([p.sum() for p in rnn.parameters()]).sum().backward()
    optimizer.step()
    before = copy.deepcopy(unit.state_dict())
    unit.constrain_()
    assert all(value.equal(before[name]) for name, value in unit.state_dict().items())
    report = snap(rnn)
    assert all(entry.name.startswith("cell.unit") for entry in report.entries)
    assert snap(rnn).moved == 0


def test_state_dict_goes_there_and_back(case):
    cell, other = cell_of(case), cell_of(case, generator=torch.Generator().manual_seed(1))
    other.load_state_dict(cell.state_dict())
    x = inputs(5, 2)
    assert other(x).equal(cell(x))


@pytest.mark.parametrize(
    ("unit", "options", "accumulate"),
    [
        (nn.NAU, {}, np.cumsum),
        (nn.NAC, {}, np.cumsum),
        (nn.NMU, {}, np.cumprod),
        (nn.NACMul, {"parametrization": "sigmoid"}, np.cumprod),
        (nn.RealNPU, {}, np.cumprod),
    ],
)
def test_a_snapped_unit_accumulates_over_a_long_sequence(unit, options, accumulate):
    rnn = nn.UnitRNN(unit, 1, 1, dtype=torch.float64, **options)
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.fill_(3.0 if unit in (nn.NAC, nn.NACMul) else 1.0)
    snap(rnn)
    x = 1 + 0.05 * torch.rand(200, 1, dtype=torch.float64)
    np.testing.assert_allclose(
        rnn(x)[0].flatten().detach(), accumulate(x.flatten().numpy()), rtol=1e-4
    )


def test_input_penalty_is_the_formula_with_the_mean_over_rows_and_steps():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(5, 7, 3))
    mean = x.mean((0, 1))
    for unit, identity, low in ((nn.NAU(3, 2), 0, -1), (nn.NMU(3, 2), 1, 0)):
        w = generator.uniform(low, 1, size=(2, 3))
        with torch.no_grad():
            unit.weight.copy_(torch.tensor(w))
        expected = ((1 - np.abs(w)) * (identity - mean) ** 2).mean()
        found = nn.input_penalty(unit, torch.tensor(x, dtype=torch.float32))
        assert found.item() == pytest.approx(expected, rel=1e-5)


def test_input_penalty_is_zero_where_nothing_is_left_out_or_what_is_left_out_is_neutral():
    unit = nn.NMU(2, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[1.0, 0.0]]))
    x = torch.tensor([[9.0, 1.0], [-4.0, 1.0]])
    assert nn.input_penalty(unit, x).item() == 0
    assert nn.input_penalty(unit, x + 1).item() == pytest.approx(0.5)


def test_input_penalty_rules_out_the_answer_of_section_4_2():
    """(0.1 * 81 + 1 - 0.1) = 9: right, for the wrong reason."""
    unit = nn.NMU(1, 1)
    with torch.no_grad():
        unit.weight.fill_(0.1)
    eighty_one = torch.tensor([[81.0]], requires_grad=True)
    assert unit(eighty_one).item() == pytest.approx(9)
    penalty = nn.input_penalty(unit, eighty_one)
    assert penalty.item() == pytest.approx(0.9 * 80**2)
    penalty.backward()
    assert eighty_one.grad is not None
    assert eighty_one.grad.item() == pytest.approx(0.9 * 2 * 80)
    assert unit.weight.grad is not None
    assert unit.weight.grad.item() == pytest.approx(-(80**2))


def penalty_of(unit, **weights):
    """R_z on inputs of 1 and 9: (1 - 9)^2 is 64, of which the mean is 32."""
    unit.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    return nn.input_penalty(unit, torch.tensor([[1.0, 9.0]])).item()


def test_input_penalty_of_a_weight_beyond_one_is_zero_and_never_less():
    """A power of 2 uses its input wholly."""
    square = penalty_of(nn.RealNPU(2, 1), weight=[[2.0, -2.0]], gate=[1.0, 1.0])
    assert square == 0
    assert penalty_of(nn.NAU(2, 1, clamp=False), weight=[[1.0, 3.0]]) == 0
    assert penalty_of(nn.NAU(2, 1, clamp=False), weight=[[3.0, 0.0]]) == 81 / 2


def test_a_divisor_is_no_input_that_is_left_out():
    unit = nn.NMRU(2, 1)
    assert penalty_of(unit, weight=[[0.0, 0.0]], reciprocal_weight=[[0.0, 1.0]]) == 0
    assert penalty_of(unit, weight=[[0.0, 0.25]], reciprocal_weight=[[0.0, 0.75]]) == 8
    assert penalty_of(unit, weight=[[1.0, 0.0]], reciprocal_weight=[[1.0, 0.0]]) == 32


def test_a_shut_gate_leaves_an_input_out_whatever_its_weight():
    real, whole = nn.RealNPU(2, 1), nn.NPU(2, 1)
    assert penalty_of(real, weight=[[1.0, 1.0]], gate=[1.0, 0.0]) == 32
    assert penalty_of(real, weight=[[1.0, 1.0]], gate=[1.0, 3.0]) == 0
    assert penalty_of(whole, weight=[[1.0, 1.0]], imag_weight=[[0.0] * 2], gate=[1.0, -1.0]) == 32
    assert penalty_of(whole, weight=[[1.0, 0.0]], imag_weight=[[0.0, 1.0]], gate=[1.0, 0.5]) == 16


def test_input_penalty_of_every_unit_is_finite_and_not_negative(case):
    unit = case.make()
    with torch.no_grad():
        for parameter in unit.parameters():
            parameter.mul_(20)
    x = inputs(5, 4)
    assert unit.input_use().shape == (3, 4)
    penalty = nn.input_penalty(unit, x)
    assert 0 <= penalty.item() < 100
    penalty.backward()


@pytest.mark.parametrize("hidden", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("given", [torch.float16, torch.bfloat16, torch.float32])
def test_autocast_brings_input_and_state_together(case, given, hidden):
    rnn = rnn_of(case)
    x, h = inputs(3, 5, 2).to(given), inputs(1, 5, 3).to(hidden)
    with torch.autocast("cpu", torch.bfloat16):
        states, last = rnn(x, h)
        seen = rnn.unit_inputs(x, states, h)
        one = rnn.cell(x[0], h[0])
    wanted, end = rnn(x.float(), h.float())
    torch.testing.assert_close(last.float(), end, rtol=0.1, atol=0.1)
    torch.testing.assert_close(one, states[0])
    torch.testing.assert_close(seen[:1, :, 2:].float(), h.float())
    torch.testing.assert_close(seen[..., 2:].float()[1:], wanted[:-1], rtol=0.1, atol=0.1)


def test_a_state_that_does_not_fit_the_input_is_named():
    cell = nn.UnitCell(nn.NAU, 2, 3)
    message = r"hx has shape \(5, 3\) and input \(4, 2\); give one state .*: \(4, 3\)"
    with pytest.raises(ValueError, match=message):
        cell(torch.ones(4, 2), torch.ones(5, 3))
    with pytest.raises(ValueError, match=r"hx has shape \(3,\) and input \(4, 2\)"):
        cell(torch.ones(4, 2), torch.ones(3))
    rnn = nn.UnitRNN(nn.NAU, 2, 3)
    for dtype in (torch.float64, torch.bfloat16):
        message = f"input is torch.float32 and hx {dtype}: convert one"
        with pytest.raises(TypeError, match=message):
            cell(torch.ones(4, 2), torch.ones(4, 3, dtype=dtype))
        with pytest.raises(TypeError, match=message):
            rnn(torch.ones(7, 4, 2), torch.ones(1, 4, 3, dtype=dtype))


def test_a_function_can_make_the_unit():
    cell = nn.UnitCell(lambda i, o: nn.NAU(i, o, clamp=False), 2, 3)
    assert isinstance(cell.unit, nn.NAU)
    assert repr(cell).startswith("UnitCell(\n  2, 3, initial=0\n")


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="unit makes a Linear; give a class of"):
        nn.UnitCell(torch.nn.Linear, 2, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="unit makes a str"):
        nn.UnitCell("NAU", 2, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="unit is an instance of NAU; give the class"):
        nn.UnitCell(nn.NAU(5, 3), 2, 3)  # pyright: ignore[reportArgumentType]
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    with pytest.raises(TypeError, match="input is a PackedSequence; give a padded tensor"):
        nn.UnitRNN(nn.NAU, 2, 3)(packed)
    with pytest.raises(ValueError, match="input_size is 0; give a positive integer"):
        nn.UnitCell(nn.NAU, 0, 3)
    with pytest.raises(TypeError, match=r"hidden_size is 1\.5"):
        nn.UnitCell(nn.NAU, 2, 1.5)  # pyright: ignore[reportArgumentType]
    cell = nn.UnitCell(nn.NAU, 2, 3)
    with pytest.raises(ValueError, match="its last dimension must be input_size = 2"):
        cell(torch.ones(4, 3))
    with pytest.raises(ValueError, match="its last dimension must be hidden_size = 3"):
        cell(torch.ones(4, 2), torch.ones(4, 2))
    rnn = nn.UnitRNN(nn.NAU, 2, 3)
    with pytest.raises(ValueError, match=r"hx has shape \(4, 3\); it must be \(1, 4, 3\)"):
        rnn(torch.ones(7, 4, 2), torch.ones(4, 3))
    with pytest.raises(ValueError, match="input has length 0"):
        rnn(torch.ones(0, 4, 2))
    with pytest.raises(ValueError, match=r"input has shape \(2,\); give \(length, batch"):
        rnn(torch.ones(2))
    with pytest.raises(ValueError, match="must be in_features = 2"):
        nn.input_penalty(nn.NAU(2, 1), torch.ones(4, 3))
    with pytest.raises(ValueError, match="its mean needs one row"):
        nn.input_penalty(nn.NAU(2, 1), torch.ones(0, 2))
    assert math.isfinite(nn.input_penalty(nn.NAU(2, 1), torch.ones(2)).item())
