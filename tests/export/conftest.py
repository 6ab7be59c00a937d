"""Random stacks of units, and the true value of a formula."""

import random
from functools import lru_cache

import mpmath
import pytest
import sympy
import torch
from torch import nn

from torchalu.export import snap
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    NPU,
    SNMU,
    GatedNAUNMU,
    NACMul,
    RealNPU,
)


def _spread(module, generator):
    """Weights on both sides of every rounding boundary."""
    for parameter in module.parameters():
        spread = 3 * torch.rand(parameter.shape, generator=generator, dtype=parameter.dtype) - 1.5
        parameter.data.copy_(spread)
    return module


EXACT = {
    "nau": NAU,
    "nmu": NMU,
    "snmu": lambda i, o, dtype: SNMU(i, o, dtype=dtype).eval(),
    "nac": NAC,
}
"""Snapped, they are exact on dyadic numbers."""

SMOOTH = {
    "gated": GatedNAUNMU,
    "linear": nn.Linear,
    "relu": lambda i, o, dtype: nn.Sequential(nn.Linear(i, o, dtype=dtype), nn.ReLU()),
    "relu6": lambda i, o, dtype: nn.Sequential(nn.Linear(i, o, dtype=dtype), nn.ReLU6()),
    "identity": lambda i, o, dtype: nn.Sequential(nn.Identity(), nn.Linear(i, o, dtype=dtype)),
    "nac_mul_sigmoid": lambda i, o, dtype: NACMul(i, o, parametrization="sigmoid", dtype=dtype),
    "nac_mul_clamped": lambda i, o, dtype: NACMul(i, o, parametrization="clamped", dtype=dtype),
}
"""They have no pole, so that they may follow an inexact layer."""

DIVIDING = {
    "nac_mul": NACMul,
    "nalu": NALU,
    "nalu_separate": lambda i, o, dtype: NALU(i, o, separate=True, dtype=dtype),
    "inalu": INALU,
    "nmru": NMRU,
    "real_npu": RealNPU,
    "real_npu_modified": lambda i, o, dtype: RealNPU(i, o, modified=True, dtype=dtype),
    "npu": NPU,
}
"""They have poles and jumps, where rounding errors of a layer before would decide."""

UNITS = EXACT | SMOOTH | DIVIDING


@pytest.fixture(scope="session")
def make_unit():
    """A unit of a kind, with random weights: (kind, in, out, seed) -> module in float64."""

    def make(kind, in_features, out_features, seed):
        unit = UNITS[kind](in_features, out_features, dtype=torch.float64)
        return _spread(unit, torch.Generator().manual_seed(seed))

    return make


@pytest.fixture(scope="session")
def make_stack(make_unit):
    """A random stack: seed -> nn.Sequential in float64, with up to 3 layers and one output."""

    def make(seed, *, snapped=True):
        draw = random.Random(seed)
        widths = [3, *(draw.randint(1, 3) for _ in range(draw.randint(0, 2))), 1]
        kinds, allowed = [], [*UNITS]
        for _ in widths[1:]:
            kinds.append(draw.choice(allowed))
            if kinds[-1] not in EXACT or not snapped:
                allowed = [*EXACT, *SMOOTH]
        layers = [
            make_unit(kind, widths[i], widths[i + 1], seed + 1000 * i)
            for i, kind in enumerate(kinds)
        ]
        stack = nn.Sequential(*layers)
        if snapped:
            snap(stack)
        return stack

    return make


@pytest.fixture(scope="session")
def true_value():
    """A formula at one row with 60 digits: (expr, names, row) -> float."""

    @lru_cache(maxsize=64)  # a formula is asked for row after row
    def compiled(expr, names):
        symbols = sympy.symbols(f"z:{len(names)}")
        renamed = expr.xreplace(dict(zip(map(sympy.Symbol, names), symbols, strict=True)))
        return sympy.lambdify(symbols, renamed, "mpmath")

    def value(expr, names, row):
        with mpmath.workdps(60):
            function = compiled(expr, tuple(names))
            return float(mpmath.re(function(*(mpmath.mpf(number) for number in row))))

    return value


@pytest.fixture(scope="session")
def largest_activation():
    """The largest magnitude that occurs in a stack: what rounding errors are relative to."""

    def largest(stack, X):
        scale, value = X.abs().max(), X
        for layer in stack:
            value = layer(value)
            scale = torch.maximum(scale, value.abs().max())
        return scale.item()

    return largest
