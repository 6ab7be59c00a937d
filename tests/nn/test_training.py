"""Penalty, ramp and constraints against their closed forms."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import Identity as Id
from torch.nn.utils import parametrize, prune
from torch.nn.utils.parametrizations import weight_norm

from torchalu import nn
from torchalu.export import snap

VALUES = [[-1.5, -1.0, -0.8], [-0.5, -0.1, 0.0], [0.3, 0.5, 0.75], [1.0, 1.2, 2.0]]


def fill(parameter, values=VALUES):
    with torch.no_grad():
        parameter.copy_(torch.tensor(values, dtype=parameter.dtype))


def distance(values, low, high):
    w = np.abs(np.clip(np.array(values), low, high))
    return np.minimum(w, np.abs(1 - w)).mean()


@pytest.mark.parametrize("clamp", [True, False])
def test_penalty_is_the_mean_distance_from_whole_numbers(clamp):
    signed = (-1, 1) if clamp else (-9, 9)
    positive = (0, 1) if clamp else (-9, 9)
    cases = [
        (nn.NAU(3, 4, clamp=clamp), [signed]),
        (nn.NMU(3, 4, clamp=clamp), [positive]),
        (nn.NACMul(3, 4, parametrization="clamped", clamp=clamp), [positive]),
        (nn.GatedNAUNMU(3, 4, clamp=clamp), [signed, positive]),
    ]
    for unit, ranges in cases:
        for parameter in unit.parameters():
            fill(parameter)
        expected = sum(distance(VALUES, *each) for each in ranges)
        assert unit.penalty().item() == pytest.approx(expected, rel=1e-6)


def test_penalty_of_power_units_is_the_mean_magnitude():
    real, complex_ = nn.RealNPU(3, 4), nn.NPU(3, 4)
    for parameter in (real.weight, complex_.weight, complex_.imag_weight):
        fill(parameter)
    expected = np.abs(np.array(VALUES)).mean()
    assert real.penalty().item() == pytest.approx(expected)
    assert complex_.penalty().item() == pytest.approx(2 * expected)


def test_penalty_of_a_modified_power_unit_draws_to_one_and_its_gate_to_either_end():
    unit = nn.RealNPU(3, 4, modified=True)
    fill(unit.weight)
    fill(unit.gate, [-0.5, 0.25, 0.875])
    expected = np.abs(1 - np.abs(np.clip(np.array(VALUES), -1, 1))).mean() + (0.25 + 0.125) / 3
    assert unit.penalty().item() == pytest.approx(expected)


def test_penalty_of_an_nmru_is_the_mean_over_both_matrices():
    unit = nn.NMRU(3, 4)
    fill(unit.weight)
    fill(unit.reciprocal_weight, [[0.25] * 3] * 4)
    assert unit.penalty().item() == pytest.approx((distance(VALUES, 0, 1) + 0.25) / 2)


def test_penalty_of_an_inalu_ends_where_its_parameters_saturate():
    unit = nn.INALU(3, 4)
    for parameter, value in zip(unit.parameters(), (5.0, -10.0, 20.0, 0.0, -40.0), strict=True):
        torch.nn.init.constant_(parameter, value)
    assert unit.penalty().item() == pytest.approx(0.75 + 0.5 + 0 + 1 + 0)


@pytest.mark.parametrize(
    "unit",
    [nn.NAC(3, 4), nn.NACMul(3, 4), nn.NACMul(3, 4, parametrization="sigmoid"), nn.NALU(3, 4)],
)
def test_units_that_lean_by_themselves_have_no_penalty(unit):
    assert unit.penalty().item() == 0


def test_penalty_gradient_points_away_from_one_half():
    unit = nn.NMU(4, 1, dtype=torch.float64)
    fill(unit.weight, [[0.1, 0.4, 0.6, 0.9]])
    unit.penalty().backward()
    assert unit.weight.grad is not None
    assert unit.weight.grad.tolist() == [[0.25, 0.25, -0.25, -0.25]]


def test_penalty_of_a_model_sums_its_units_and_counts_each_once():
    first, second = nn.NAU(3, 4), nn.NMU(4, 2, dtype=torch.float64)
    model = torch.nn.Sequential(first, torch.nn.Linear(4, 4), second)
    expected = first.penalty().item() + second.penalty().item()
    assert nn.penalty(model).item() == pytest.approx(expected)
    assert nn.penalty(torch.nn.Sequential(model, first)).item() == pytest.approx(expected)
    assert nn.penalty(torch.nn.Linear(2, 2)).item() == 0


@pytest.mark.parametrize(
    ("step", "factor"),
    [(-5, 0.0), (1_000_000, 0.0), (1_250_000, 0.25), (2_000_000, 1.0), (9e9, 1.0)],
)
def test_ramp_of_equation_14(step, factor):
    assert nn.penalty_ramp(step, 1_000_000, 2_000_000) == factor


@pytest.mark.parametrize(("start", "end"), [(1, 1), (2, 1), (float("nan"), 1)])
def test_ramp_that_ends_before_it_starts_is_refused(start, end):
    with pytest.raises(ValueError, match="the ramp has to end after it starts"):
        nn.penalty_ramp(0, start, end)


@pytest.mark.parametrize("optimizer_type", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_weights_are_constrained_after_each_step_until_removed(optimizer_type):
    nau, nmu, gated, power = nn.NAU(3, 4), nn.NMU(4, 4), nn.GatedNAUNMU(4, 2), nn.RealNPU(2, 1)
    nmru, modified = nn.NMRU(1, 2), nn.RealNPU(2, 1, modified=True)
    model = torch.nn.Sequential(nau, nmu, gated, power, nmru, modified)
    optimizer = optimizer_type(model.parameters(), lr=50.0)
    handle = nn.constrain_after(optimizer, model)

    def step():
        optimizer.zero_grad()
        torch.stack([p.sum() for p in model.parameters()]).sum().backward()
        optimizer.step()

    step()
    for weight, low in (
        (nau.weight, -1),
        (nmu.weight, 0),
        (gated.nau_weight, -1),
        (nmru.weight, 0),
        (nmru.reciprocal_weight, 0),
        (modified.weight, -1),
        (modified.gate, 0),
    ):
        assert weight.eq(low).all()
    assert gated.nmu_weight.eq(0).all()
    assert power.gate.eq(0).all()
    assert gated.gate_weight.lt(-10).all()
    assert power.weight.lt(-10).all()
    handle.remove()
    step()
    assert nau.weight.lt(-1).all()


def test_ablation_neither_clamps_nor_constrains():
    for unit in (nn.NAU(3, 4, clamp=False), nn.NMU(3, 4, clamp=False)):
        fill(unit.weight)
        unit.constrain_()
        assert unit.effective_weight().equal(torch.tensor(VALUES))
    gated = nn.GatedNAUNMU(3, 4, clamp=False)
    power = nn.NACMul(3, 4, parametrization="clamped", clamp=False)
    for unit in (gated, power):
        for parameter in unit.parameters():
            fill(parameter)
        unit.constrain_()
    assert gated.effective_weight().equal(torch.tensor(VALUES))
    assert gated.effective_mul_weight().equal(torch.tensor(VALUES))
    assert power.effective_weight().equal(torch.tensor(VALUES))


def test_weights_clamped_in_the_forward_pass_alone_stay_where_they_are():
    for kind, bounds in ((nn.NAU, (-1, 1)), (nn.NMU, (0, 1))):
        unit = kind(3, 4, clamp="forward")
        fill(unit.weight)
        unit.constrain_()
        assert unit.weight.equal(torch.tensor(VALUES))
        assert unit.effective_weight().equal(torch.tensor(VALUES).clamp(*bounds))
        assert unit.penalty().item() == pytest.approx(distance(VALUES, -9, 9), rel=1e-6)
        assert repr(unit).endswith("out_features=4, clamp='forward')")


def test_wrong_arguments_are_named():
    unit = nn.NAU(2, 1)
    for kind in (nn.NAU, nn.NMU):
        with pytest.raises(ValueError, match="clamp is 'both'; give True, False or 'forward'"):
            kind(2, 1, clamp="both")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="optimizer is a NAU"):
        nn.constrain_after(unit, unit)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="model is a list"):
        nn.constrain_after(torch.optim.SGD(unit.parameters()), [unit])  # pyright: ignore
    with pytest.raises(ValueError, match="parametrization is 'tanh'; give one of tanh_sigmoid"):
        nn.NACMul(2, 1, parametrization="tanh")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="eps is 0"):
        nn.RealNPU(2, 1, eps=0)(torch.ones(2))


def test_two_layers_learn_a_product_of_sums():
    """(x1 + x2) * x3 from 128 rows a step, right far outside the training range."""
    generator = torch.Generator().manual_seed(0)
    units = nn.NAU(3, 2, generator=generator), nn.NMU(2, 1, generator=generator)
    model = torch.nn.Sequential(*units)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    nn.constrain_after(optimizer, model)

    def target(x):
        return (x[:, :1] + x[:, 1:2]) * x[:, 2:]

    for step in range(1500):
        x = 1 + torch.rand(128, 3, generator=generator)
        factor = 0.1 * nn.penalty_ramp(step, 500, 1000)
        loss = torch.nn.functional.mse_loss(model(x), target(x)) + factor * nn.penalty(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for unit in units:
        unit.snap_()
    far = torch.tensor([[-200.0, 3.0, 500.0], [1e4, -2.0, -7.0]])
    assert model(far).equal(target(far))


@pytest.mark.parametrize(
    "change",
    [
        weight_norm,
        partial(parametrize.register_parametrization, tensor_name="weight", parametrization=Id()),
        partial(prune.random_unstructured, name="weight", amount=1),
    ],
    ids=["weight_norm", "parametrization", "prune"],
)
def test_weights_that_are_made_of_others_are_not_set(change):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), nn.NMU(2, 1))
    change(model[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    message = "1 is an? NMU with a weight that is made of others"
    with pytest.raises(ValueError, match=message):
        nn.constrain_after(optimizer, model)
    with pytest.raises(ValueError, match=message):
        snap(model)


@pytest.mark.parametrize("unit", [nn.NAU, nn.NMU, nn.NAC, nn.NALU, nn.RealNPU])
def test_the_remedy_for_a_wrong_dtype_helps(unit):
    """Autocast joins single and half precision; doubles and integers it leaves as they are."""
    module, x = unit(3, 2), torch.ones(5, 3)
    if unit in (nn.NAU, nn.NAC):  # products widen half precision themselves
        with pytest.raises(TypeError, match=r"torch\.bfloat16 .*or run under torch\.autocast"):
            module(x.bfloat16())
    with torch.autocast("cpu", torch.bfloat16):
        assert module(x.bfloat16()).shape == (5, 2)
        for wrong in (x.double(), x.long()):
            with pytest.raises(TypeError, match=r"input is torch\.\w+64 .* with \.to\(\)$"):
                module(wrong)


@pytest.mark.parametrize("unit", [nn.NPU, nn.RealNPU, nn.NACMul, nn.NALU, nn.INALU, nn.NMRU])
def test_an_eps_that_no_logarithm_takes(unit):
    for eps in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"eps is {eps}; give a finite number above 0"):
            unit(2, 1, eps=eps)
    with pytest.raises(TypeError, match=r"eps is 'x'; give a finite number above 0"):
        unit(2, 1, eps="x")


def test_other_numbers_that_make_none():
    with pytest.raises(ValueError, match=r"max_exponent is -1; give a number above 0, or math"):
        nn.INALU(2, 1, max_exponent=-1)
    with pytest.raises(ValueError, match=r"initial is nan; give a finite number"):
        nn.UnitCell(nn.NMU, 1, 1, initial=math.nan)
