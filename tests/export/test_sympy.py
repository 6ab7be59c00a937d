"""The formula that is read off equals the module."""

import itertools

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchalu.export import evaluate, snap, to_sympy, unit_expressions
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

NAMES = ["a", "b", "c"]
DYADIC = st.integers(-16, 16).filter(bool).map(lambda quarters: quarters / 4)


@pytest.mark.parametrize("snapped", [True, False])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), row=st.tuples(DYADIC, DYADIC, DYADIC))
def test_formula_equals_stack(make_stack, true_value, largest_activation, snapped, seed, row):
    stack = make_stack(seed, snapped=snapped)
    X = torch.tensor([row], dtype=torch.float64)
    expected = true_value(to_sympy(stack, NAMES), NAMES, row)
    scale = max(1.0, largest_activation(stack, X))
    assert stack(X).item() == pytest.approx(expected, rel=1e-12, abs=1e-12 * scale)


UNIT_KINDS = ["nau", "nmu", "nac", "gated", "linear", "relu", "relu6", "identity"]
UNIT_KINDS += ["nac_mul", "nac_mul_sigmoid", "nac_mul_clamped", "nalu", "nalu_separate"]
UNIT_KINDS += ["real_npu", "real_npu_modified", "npu", "inalu", "nmru", "snmu"]


@pytest.mark.parametrize("snapped", [True, False])
@pytest.mark.parametrize("kind", UNIT_KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_unit_equals_formula_at_zero_and_every_sign(make_unit, true_value, kind, snapped, seed):
    unit = make_unit(kind, 3, 2, seed)
    if snapped:
        snap(unit)
    formulas = to_sympy(unit, NAMES)
    rows = list(itertools.product([-1.5, 0.0, 2.5], repeat=3))
    actual = unit(torch.tensor(rows, dtype=torch.float64)).tolist()
    for row, outputs in zip(rows, actual, strict=True):
        for formula, output in zip(formulas, outputs, strict=True):
            expected = true_value(formula, NAMES, row)
            assert output == pytest.approx(expected, rel=1e-11, abs=1e-12)


def _filled(unit, **values):
    for name, value in values.items():
        parameter = unit.get_parameter(name)
        parameter.data.copy_(torch.tensor(value, dtype=parameter.dtype).expand_as(parameter))
    return unit


def _divider(gate_hat):
    """An iNALU whose sum is b - a and whose product is a / b."""
    signs = {"w_hat": [[-1e3, 1e3, 0.0]], "mul_w_hat": [[1e3, -1e3, 0.0]]}
    return _filled(INALU(3, 1), **signs, m_hat=1e3, mul_m_hat=1e3, gate_hat=gate_hat)


A, B, C = sympy.symbols("a b c")


@pytest.mark.parametrize(
    ("unit", "formula"),
    [
        (_filled(NAU(3, 1), weight=[[1.0, -1.0, 0.0]]), A - B),
        (_filled(NAU(3, 1), weight=[[0.5, 0.0, 0.0]]), A / 2),
        (_filled(NMU(3, 1), weight=[[1.0, 0.0, 1.0]]), A * C),
        (_filled(NMU(3, 1), weight=[[0.5, 0.0, 0.0]]), A / 2 + sympy.Rational(1, 2)),
        (_filled(NAC(3, 1), w_hat=[[1e3, -1e3, 0.0]], m_hat=1e3), A - B),
        (
            _filled(NACMul(3, 1), w_hat=[[1e3, -1e3, 0.0]], m_hat=1e3),
            sympy.Abs(A) / sympy.Abs(B),
        ),
        (
            _filled(NALU(3, 1), w_hat=[[1e3, 1e3, 0.0]], m_hat=1e3, gate_weight=[[2.0, 0.0, 0.0]]),
            (A + B) / (1 + sympy.exp(-2 * A))
            + sympy.Abs(A) * sympy.Abs(B) / (1 + sympy.exp(2 * A)),
        ),
        (
            _filled(
                GatedNAUNMU(3, 1),
                nau_weight=[[1.0, 0.0, 0.0]],
                nmu_weight=[[1.0, 1.0, 0.0]],
                gate_weight=0.0,
            ),
            A / 2 + A * B / 2,
        ),
        (_filled(RealNPU(3, 1), weight=[[1.0, 1.0, -2.0]], gate=1.0), A * B / C**2),
        (_filled(RealNPU(3, 1), weight=[[1.0, 1.0, -2.0]], gate=[1.0, 0.0, 1.0]), A / C**2),
        (
            _filled(NPU(3, 1), weight=[[2.0, 0.0, 0.0]], imag_weight=0.0, gate=1.0),
            A**2,
        ),
        (
            _filled(RealNPU(3, 1), weight=[[0.5, 0.0, 0.0]], gate=1.0),
            sympy.sqrt(sympy.Abs(A)) * sympy.cos(sympy.pi * sympy.Heaviside(-A, 0) / 2),
        ),
        (_filled(SNMU(3, 1), weight=[[1.0, 0.0, 1.0]]), A * C),
        (
            _filled(RealNPU(3, 1, modified=True), weight=[[1.5, 1.0, -2.0]], gate=1.0),
            A * B / C,
        ),
        (
            _filled(NMRU(3, 1), weight=[[1.0, 0.0, 0.0]], reciprocal_weight=[[0.0, 0.0, 1.0]]),
            A / C,
        ),
        (_divider(gate_hat=-1e3), A / B),
        (_divider(gate_hat=1e3), B - A),
        (_divider(gate_hat=0.0), (B - A) / 2 + A / B / 2),
        (
            _filled(nn.Linear(3, 1), weight=[[2.0, 0.0, -1.0]], bias=1.5),
            2 * A - C + sympy.Rational(3, 2),
        ),
        (
            nn.Sequential(_filled(NAU(3, 1), weight=[[1.0, 1.0, 0.0]]), nn.ReLU(), nn.Identity()),
            sympy.Max(0, A + B),
        ),
        (
            nn.Sequential(_filled(NAU(3, 1), weight=[[1.0, 0.0, 0.0]]), nn.ReLU6()),
            sympy.Min(6, sympy.Max(0, A)),
        ),
    ],
)
def test_formula_by_hand_without_eps(unit, formula):
    assert to_sympy(unit, NAMES, keep_eps=False) == formula


def test_lost_sign_is_visible():
    unit = _filled(NACMul(2, 1, parametrization="clamped"), weight=1.0)
    eps = sympy.Rational(1, 10**7)
    assert to_sympy(unit, ["a", "b"]) == (sympy.Abs(A) + eps) * (sympy.Abs(B) + eps)


def test_clips_of_an_inalu_are_visible():
    formula = to_sympy(_divider(gate_hat=-1e3), NAMES)
    eps = sympy.Rational(1, 10**7)
    ratio = sympy.Max(eps, sympy.Abs(A)) / sympy.Max(eps, sympy.Abs(B))
    assert formula == sympy.Min(ratio, sympy.exp(20)) * sympy.sign(A) * sympy.sign(B)
    unit = _divider(gate_hat=-1e3)
    unit.max_exponent = float("inf")
    assert to_sympy(unit, NAMES) == ratio * sympy.sign(A) * sympy.sign(B)


def test_sign_of_a_quotient_is_visible():
    weights = {"weight": [[0.0, 0.0, 0.0]], "reciprocal_weight": [[0.0, 1.0, 0.0]]}
    formula = to_sympy(_filled(NMRU(3, 1), **weights), NAMES)
    sign = 1 - 2 * sympy.Heaviside(-B, 0)
    assert formula == sign / (sympy.Abs(B) + sympy.Rational(1, 10**7))


def test_positive_inputs_have_no_magnitude_and_no_sign():
    unit = _filled(RealNPU(1, 1), weight=1.5, gate=1.0)
    assert to_sympy(unit, ["a"], keep_eps=False, positive=["a"]) == A ** sympy.Rational(3, 2)


def test_real_powers_of_two_negatives_share_one_cosine():
    unit = _filled(RealNPU(2, 1, dtype=torch.float64), weight=0.5, gate=1.0)
    value = evaluate(to_sympy(unit, ["a", "b"]), [[-4.0, -9.0], [-4.0, 9.0]], ["a", "b"])
    assert value.tolist() == pytest.approx([-6.0, 0.0], abs=1e-6)


def test_other_weights_keep_their_value():
    unit = _filled(NAU(1, 1), weight=0.1)
    coefficient = to_sympy(unit, ["a"]).coeff(A)
    assert coefficient == sympy.Float(unit.weight.item(), 17)
    assert float(coefficient) == unit.weight.item() != 0.1
    assert str(coefficient) == "0.10000000149011612"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("unit", [NAC, NACMul])
def test_snapped_in_low_precision_is_exact(unit, dtype):
    layer = unit(3, 1, dtype=dtype)
    for parameter in layer.parameters():
        parameter.data.fill_(4.0)
    snap(layer)
    expected = A + B + C if unit is NAC else sympy.Abs(A) * sympy.Abs(B) * sympy.Abs(C)
    assert to_sympy(layer, NAMES, keep_eps=False) == expected


def test_hundred_columns():
    first, second = NAU(100, 2), NMU(2, 1)
    snap(nn.Sequential(_filled(first, weight=1.0), _filled(second, weight=1.0)))
    total = sympy.Add(*(sympy.Symbol(f"x{i}") for i in range(100)))
    assert to_sympy(nn.Sequential(first, second), [f"x{i}" for i in range(100)]) == total**2


def test_deep_stack_stays_small():
    layers = [_filled(NAU(2, 2), weight=1.0) if i % 2 else nn.ReLU() for i in range(60)]
    layers += [_filled(NMU(2, 1), weight=1.0)]
    formula = to_sympy(nn.Sequential(*layers), ["a", "b"])
    assert evaluate(formula, [[1.0, 2.0]], ["a", "b"])[0] == (3.0 * 2.0**29) ** 2


def test_subclass_of_a_unit_is_understood():
    class Named(NAU):
        pass

    assert to_sympy(_filled(Named(1, 1), weight=1.0), ["a"]) == A


def test_module_is_not_changed(make_stack):
    stack = make_stack(3, snapped=False)
    before = {name: value.clone() for name, value in stack.state_dict().items()}
    to_sympy(stack, NAMES)
    assert all(torch.equal(value, before[name]) for name, value in stack.state_dict().items())


@pytest.mark.parametrize(
    ("module", "names", "error", "message"),
    [
        (NAU(2, 1), ["a"], ValueError, "given 1 inputs, and takes 2"),
        (NAU(2, 1), ["a", "a"], ValueError, "twice"),
        (NAU(2, 1), ["a", 3], TypeError, "names\\[1\\] is 3"),
        (NAU(2, 1), "ab", TypeError, "list of strings"),
        (nn.Conv1d(1, 1, 1), ["a"], TypeError, "Conv1d.*unit_expressions.register"),
        (nn.Sequential(NAU(2, 3), NMU(2, 1)), ["a", "b"], ValueError, "NMU is given 3 inputs"),
        (_filled(NAU(1, 1), weight=float("nan")), ["a"], ValueError, "NaN"),
        ("model", ["a"], TypeError, "module is str"),
    ],
)
def test_bad_arguments(module, names, error, message):
    with pytest.raises(error, match=message):
        to_sympy(module, names)


@pytest.mark.parametrize("positive", [["z"], "a"])
def test_bad_positive(positive):
    with pytest.raises(ValueError, match="positive is"):
        to_sympy(NAU(1, 1), ["a"], positive=positive)


def test_register_adds_a_class():
    class Negate(nn.Module):
        pass

    @unit_expressions.register
    def _(module: Negate, inputs, *, keep_eps=True):
        return [-value for value in inputs]

    assert to_sympy(nn.Sequential(Negate()), ["a"]) == -A


class Flipped(nn.Identity):
    def forward(self, input):
        return 1 - input


class Squared(NAU):
    def forward(self, input):
        return super().forward(input) ** 2


def test_another_forward_or_a_hook_is_no_known_formula():
    hooked, stack = NAU(1, 1), nn.Sequential(NAU(1, 1))
    hooked.register_forward_hook(lambda *_: None)
    stack.register_forward_pre_hook(lambda *_: None)
    patched = NAU(1, 1)
    patched.forward = lambda input: input
    for module, message in (
        (Flipped(), r"Flipped with another forward than Identity's, whose formula is not known"),
        (Squared(1, 1), r"Squared with another forward than NAU's"),
        (patched, r"NAU with another forward than NAU's"),
        (hooked, r"NAU with a forward hook, which may change what it computes; remove it first"),
        (stack, r"Sequential with a forward hook"),
    ):
        for whole in (module, nn.Sequential(nn.Identity(), module)):
            with pytest.raises(TypeError, match=message):
                to_sympy(whole, ["a"])


def test_an_eps_that_is_a_number_of_numpy():
    unit = NACMul(1, 1, eps=np.float64(1e-7), parametrization="clamped")
    unit.weight.data.fill_(1)
    assert to_sympy(unit, ["a"]) == sympy.Abs(sympy.Symbol("a")) + sympy.Rational(1, 10**7)
