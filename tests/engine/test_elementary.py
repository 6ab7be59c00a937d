"""The native elementary functions against mpmath, on every instruction set."""

import mpmath
import pytest
import torch

from torchalu import _core
from torchalu.engine import instruction_sets, select_instruction_set

RANGES = {
    "exp": (-80.0, 80.0),
    "tanh": (-9.0, 9.0),
    "sigmoid": (-40.0, 40.0),
    "sin": (-900.0, 900.0),
    "cos": (-900.0, 900.0),
}
EXTREME = {
    "exp": (
        [0.0, -0.0, 1e-30, -1e4, 1e4, float("inf"), float("-inf")],
        [1, 1, 1, 0, "inf", "inf", 0],
    ),
    "log": ([1.0, float("inf"), 2.0**-126], [0, "inf", "-87.33654475055310898657"]),
    "tanh": ([0.0, 1e4, -1e4], [0, 1, -1]),
    "sigmoid": ([0.0, 1e4, -1e4], [0.5, 1, 0]),
}


def mp_function(name):
    return (lambda x: 1 / (1 + mpmath.exp(-x))) if name == "sigmoid" else getattr(mpmath, name)


def apply(name, x):
    y = torch.full_like(x, float("nan"))
    _core.elementary(name, x, y)
    return y


@pytest.fixture(params=instruction_sets(), autouse=True)
def _each_instruction_set(request):
    select_instruction_set(request.param)
    yield
    select_instruction_set(instruction_sets()[-1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", [*RANGES, "log"])
def test_within_two_units_in_the_last_place(name, dtype):
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(500, generator=generator, dtype=torch.float64)
    if name == "log":
        x = 10 ** (unit * 70 - 35)
    else:
        low, high = RANGES[name]
        x = low + (high - low) * unit
    x = x.to(dtype)
    bounded = name in ("sin", "cos", "tanh")  # absolute error: they pass through 0
    eps = torch.finfo(dtype).eps
    for value, result in zip(x.tolist(), apply(name, x).tolist(), strict=True):
        exact = mp_function(name)(mpmath.mpf(value))
        scale = 1 if bounded else abs(exact)
        assert abs(mpmath.mpf(result) - exact) <= 2 * eps * scale, value


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_arguments(name):
    arguments, expected = EXTREME[name]
    result = apply(name, torch.tensor(arguments, dtype=torch.float64))
    torch.testing.assert_close(result, torch.tensor([float(v) for v in expected]).double())
    assert apply(name, torch.tensor([float("nan")])).isnan().all()


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [(torch.float32, -104.5, 89.5), (torch.float64, -747.0, 711.0)],
)
def test_exp_runs_into_infinity_and_into_zero(dtype, low, high):
    x = torch.cat([torch.linspace(low, low + 20, 301), torch.linspace(high - 2, high, 301)])
    x = torch.cat([x.to(dtype), x.new_tensor([float("inf"), float("-inf")]).to(dtype)])
    info = torch.finfo(dtype)
    for value, result in zip(x.tolist(), apply("exp", x).tolist(), strict=True):
        exact = mpmath.exp(mpmath.mpf(value))
        if exact >= mpmath.mpf(info.max) * (1 + mpmath.mpf(info.eps)):
            assert result == float("inf"), value
        else:
            # Below the normal numbers the units in the last place are equally large.
            unit = max(exact * info.eps, mpmath.mpf(info.tiny) * info.eps)
            assert abs(mpmath.mpf(result) - exact) <= 2 * unit, value
    assert apply("exp", x)[[0, 301 + 300, -1]].tolist() == [0, float("inf"), 0]
