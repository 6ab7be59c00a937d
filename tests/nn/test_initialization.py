"""Initial weights against the closed form of their distribution."""

import math

import pytest
import scipy.stats
import torch

from torchalu import nn
from torchalu.nn.nac import start_nac_

SIZE = (300, 200)


def start(unit, **options):
    generator = torch.Generator().manual_seed(0)
    return unit(*SIZE, generator=generator, dtype=torch.float64, **options)


def assert_uniform(weight, low, high):
    """Mean, variance and range of 60,000 draws; 6 standard errors."""
    count, width = weight.numel(), high - low
    assert low <= weight.min() < low + 1e-3 * width
    assert high - 1e-3 * width < weight.max() <= high
    assert abs(weight.mean() - (low + high) / 2) < 6 * width / math.sqrt(12 * count)
    assert abs(weight.var() / (width**2 / 12) - 1) < 6 * math.sqrt(0.8 / count)


def test_nau_is_glorot_uniform():
    bound = math.sqrt(6 / 500)
    assert_uniform(start(nn.NAU).weight, -bound, bound)
    assert_uniform(start(nn.GatedNAUNMU).nau_weight, -bound, bound)
    assert_uniform(start(nn.RealNPU, modified=True).weight, -bound, bound)


@pytest.mark.parametrize(("unit", "options"), [(nn.NAU, {}), (nn.RealNPU, {"modified": True})])
def test_small_nau_is_bounded_by_one_half(unit, options):
    generators = [torch.Generator().manual_seed(seed) for seed in range(200)]
    units = [unit(2, 2, generator=generator, **options) for generator in generators]
    largest = max(unit.weight.abs().max().item() for unit in units)
    assert 0.49 < largest <= 0.5


def test_nmu_is_uniform_around_one_half():
    assert_uniform(start(nn.NMU).weight, 0.25, 0.75)
    assert_uniform(start(nn.GatedNAUNMU).nmu_weight, 0.25, 0.75)
    assert_uniform(start(nn.NACMul, parametrization="clamped").weight, 0.25, 0.75)
    assert_uniform(start(nn.SNMU).weight, 0.25, 0.75)
    assert_uniform(start(nn.NMRU).weight, 0.25, 0.75)
    assert_uniform(start(nn.NMRU).reciprocal_weight, 0.25, 0.75)


def test_halves_of_an_nmru_start_apart():
    unit = start(nn.NMRU)
    assert not unit.weight.equal(unit.reciprocal_weight)


def test_inalu_is_normal_around_its_published_means():
    means = {"w_hat": 0.88, "m_hat": 0.5, "mul_w_hat": 0.88, "mul_m_hat": 0.5, "gate_hat": 0.0}
    generator = torch.Generator().manual_seed(0)
    unit = nn.INALU(300, 2000, generator=generator, dtype=torch.float64)
    for name, mean in means.items():
        parameter = unit.get_parameter(name).detach()
        error = 0.2 / math.sqrt(parameter.numel())
        assert abs(parameter.mean() - mean) < 6 * error
        assert abs(parameter.std() - 0.2) < 6 * error
        within = ((parameter - mean).abs() < 0.2).double().mean()
        assert abs(within - math.erf(math.sqrt(0.5))) < 3 / math.sqrt(parameter.numel())


@pytest.mark.parametrize("unit", [nn.NAC, nn.NACMul, nn.NALU])
def test_nac_weight_has_the_variance_of_glorot(unit):
    weight = start(unit).effective_weight()
    assert abs(weight.var() / (2 / 500) - 1) < 0.05
    assert abs(weight.mean()) < 6 * math.sqrt(2 / 500 / weight.numel())


@pytest.mark.parametrize(("out_features", "in_features"), [(1, 1), (2, 3), (2, 100), (500, 500)])
def test_nac_bound_solves_its_equation(out_features, in_features):
    """The variance over U(-r, r), integrated numerically, is 2 / max(in + out, 5)."""
    parameter = torch.nn.Parameter(torch.empty(out_features, in_features, dtype=torch.float64))
    bound = 0.0
    for seed in range(20 if parameter.numel() > 1000 else 2000):
        start_nac_(parameter, torch.Generator().manual_seed(seed))
        bound = max(bound, parameter.abs().max().item())
    grid = (torch.arange(20000, dtype=torch.float64) + 0.5) / 10000 - 1
    variance = (
        torch.tanh(bound * grid).square().mean() * torch.sigmoid(bound * grid).square().mean()
    )
    assert abs(variance * max(in_features + out_features, 5) / 2 - 1) < 0.005


@pytest.mark.parametrize(("out_features", "in_features"), [(500, 500), (100, 2), (1, 2)])
def test_sigmoid_weight_starts_by_glorots_normal_law(out_features, in_features):
    generator = torch.Generator().manual_seed(0)
    unit = nn.NACMul(in_features, out_features, parametrization="sigmoid")
    drawn = []
    for _ in range(max(1, 5000 // unit.w_hat.numel())):
        unit.reset_parameters(generator)
        drawn.append(unit.w_hat.detach().clone().flatten())
    law = scipy.stats.norm(0, math.sqrt(2 / (in_features + out_features)))
    assert scipy.stats.kstest(torch.cat(drawn).numpy(), law.cdf).pvalue > 0.01


@pytest.mark.parametrize("separate", [False, True])
def test_gates_are_xavier_uniform(separate):
    bound = math.sqrt(6 / 500)
    assert_uniform(start(nn.NALU, separate=separate).gate_weight, -bound, bound)
    assert_uniform(start(nn.GatedNAUNMU).gate_weight, -bound, bound)


@pytest.mark.parametrize("unit", [nn.RealNPU, nn.NPU])
def test_power_units_start_half_open(unit):
    power = start(unit)
    bound = math.sqrt(6 / 500)
    assert_uniform(power.weight, -bound, bound)
    assert power.gate.eq(0.5).all()
    if unit is nn.NPU:
        assert power.imag_weight.eq(0).all()


def test_repr_shows_arguments_that_are_not_the_default():
    assert repr(nn.NMU(3, 2)) == "NMU(in_features=3, out_features=2)"
    assert repr(nn.NMU(3, 2, clamp=False)) == "NMU(in_features=3, out_features=2, clamp=False)"
    assert "clamp=False, eps=1e-05" in repr(nn.NACMul(3, 2, clamp=False, eps=1e-5))
    assert "eps=0.001" in repr(nn.NPU(3, 2, eps=1e-3))


@pytest.mark.parametrize("unit", [nn.GatedNAUNMU, nn.NACMul])
@pytest.mark.parametrize("clamp", ["forward", "forwards", 1, None])
def test_units_without_clamping_in_the_forward_pass_alone_say_so(unit, clamp):
    with pytest.raises(ValueError, match=f"clamp is {clamp!r}; give True or False"):
        unit(2, 1, clamp=clamp)
