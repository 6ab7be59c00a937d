"""What the units compute that work out the magnitude and the sign of a product apart."""

import math
from collections.abc import Sequence

import sympy
from sympy import Expr

from torchalu.export.operators import apply
from torchalu.export.terms import (
    eps_term,
    exact_number,
    magnitudes,
    matrix,
    numbers,
    weighted_powers,
    weighted_sums,
)
from torchalu.export.units import unit_expressions
from torchalu.nn import INALU, NMRU, NPU, RealNPU


@unit_expressions.register
def _(module: RealNPU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    gate = _gate(module, inputs)
    weight = matrix(module, module.effective_weight(), inputs)
    radii = _radii(inputs, gate, module.eps, keep_eps)
    return [_real_power(row, inputs, gate, radii, plain=not keep_eps) for row in weight]


@unit_expressions.register
def _(module: NPU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    gate = _gate(module, inputs)
    weight = matrix(module, module.weight, inputs)
    imag_weight = matrix(module, module.imag_weight, inputs)
    radii = _radii(inputs, gate, module.eps, keep_eps)
    return [
        _complex_power(row, imag_row, inputs, gate, radii)
        if any(w != 0 and g != 0 for w, g in zip(imag_row, gate, strict=True))
        else _real_power(row, inputs, gate, radii, plain=not keep_eps)
        for row, imag_row in zip(weight, imag_weight, strict=True)
    ]


@unit_expressions.register
def _(module: NMRU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    weight = matrix(module, module.effective_weight(), inputs)
    reciprocal_weight = matrix(module, module.effective_reciprocal_weight(), inputs)
    eps = eps_term(module.eps, keep_eps)
    return [
        _quotient(row, reciprocal_row, inputs, eps)
        for row, reciprocal_row in zip(weight, reciprocal_weight, strict=True)
    ]


@unit_expressions.register
def _(module: INALU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    sums = weighted_sums(matrix(module, module.effective_weight(), inputs), inputs)
    mul_weight = matrix(module, module.effective_mul_weight(), inputs)
    products = [
        _clipped_power(module, row, inputs) if keep_eps else _signed_power(row, inputs)
        for row in mul_weight
    ]
    shares = numbers(module, module.gate_hat.double().sigmoid())
    rests = numbers(module, (-module.gate_hat.double()).sigmoid())
    terms = zip(shares, sums, rests, products, strict=True)
    return [share * total + rest * product for share, total, rest, product in terms]


def _gate(module: RealNPU | NPU, inputs: Sequence[Expr]) -> list[Expr]:
    """The gate of each input, between 0 and 1."""
    return matrix(module, module.gate.clamp(0, 1).unsqueeze(0), inputs)[0]


def _radii(inputs: Sequence[Expr], gate: Sequence[Expr], eps: float, keep_eps: bool) -> list[Expr]:
    """g (|x| + eps) + 1 - g."""
    sizes = magnitudes(inputs, eps, keep_eps)
    return [g * size + (1 - g) for g, size in zip(gate, sizes, strict=True)]


def _is_negative(x: Expr) -> Expr:
    """[x < 0], as 1 or 0."""
    return apply(sympy.Heaviside, -x, sympy.Integer(0))


def _sign(x: Expr) -> Expr:
    """-1 below 0, else 1."""
    return 1 - 2 * _is_negative(x)


def _half_turns(row: Sequence[Expr], inputs: Sequence[Expr], gate: Sequence[Expr]) -> Expr:
    """W k without the whole turns' factor pi."""
    return sympy.Add(
        *(w * g * _is_negative(x) for w, g, x in zip(row, gate, inputs, strict=True) if w * g != 0)
    )


def _real_power(
    row: Sequence[Expr],
    inputs: Sequence[Expr],
    gate: Sequence[Expr],
    radii: Sequence[Expr],
    *,
    plain: bool,
) -> Expr:
    """One output of a RealNPU: whole powers carry their own sign, others share a cosine."""
    factors: list[Expr] = []
    turning: list[int] = []
    for index, (w, g, x, radius) in enumerate(zip(row, gate, inputs, radii, strict=True)):
        if not (g == 1 and w.is_Integer):
            factors.append(radius**w)
            turning.append(index)
        elif plain:
            factors.append(x**w)
        else:
            sign = _sign(x) if w.is_odd else sympy.Integer(1)
            factors.append(sign * radius**w)
    angle = _half_turns(
        [row[i] for i in turning], [inputs[i] for i in turning], [gate[i] for i in turning]
    )
    return sympy.Mul(*factors, sympy.cos(sympy.pi * angle))


def _complex_power(
    row: Sequence[Expr],
    imag_row: Sequence[Expr],
    inputs: Sequence[Expr],
    gate: Sequence[Expr],
    radii: Sequence[Expr],
) -> Expr:
    """One output of an NPU with imaginary weights."""
    logarithms = [w * sympy.log(radius) for w, radius in zip(imag_row, radii, strict=True)]
    angle = sympy.pi * _half_turns(row, inputs, gate) + sympy.Add(*logarithms)
    shrinkage = sympy.exp(-sympy.pi * _half_turns(imag_row, inputs, gate))
    magnitude = sympy.Mul(*(radius**w for w, radius in zip(row, radii, strict=True)))
    return magnitude * shrinkage * sympy.cos(angle)


def _quotient(
    row: Sequence[Expr], reciprocal_row: Sequence[Expr], inputs: Sequence[Expr], eps: Expr
) -> Expr:
    """One output of an NMRU: whole weights carry their own sign, others share a cosine."""
    factors: list[Expr] = []
    half_turns: list[Expr] = []
    for w, r, x in zip(row, reciprocal_row, inputs, strict=True):
        size = apply(sympy.Abs, x)
        if (w, r) == (1, 0):
            factors.append(x)
        elif (w, r) == (0, 1):
            factors.append(1 / x if eps == 0 else _sign(x) / (size + eps))
        else:
            factors.append((w * size + (1 - w)) * (r / (size + eps) + (1 - r)))
            if not (w.is_Integer and r.is_Integer):
                half_turns.append((w + r) * _is_negative(x))
    return sympy.Mul(*factors, sympy.cos(sympy.pi * sympy.Add(*half_turns)))


def _signed_power(row: Sequence[Expr], inputs: Sequence[Expr]) -> Expr:
    """The product of one output of an iNALU, without its clips."""
    return sympy.Mul(
        *(
            x**w if abs(w) == 1 else apply(sympy.Abs, x) ** w * _partial_sign(w, x)
            for w, x in zip(row, inputs, strict=True)
        )
    )


def _clipped_power(module: INALU, row: list[Expr], inputs: Sequence[Expr]) -> Expr:
    """The product of one output of an iNALU, with its clips."""
    least = eps_term(module.eps, keep_eps=True)
    sizes = [apply(sympy.Max, apply(sympy.Abs, x), least) for x in inputs]
    size = weighted_powers([row], sizes)[0]
    if module.max_exponent < math.inf:
        size = apply(sympy.Min, size, sympy.exp(exact_number(module.max_exponent)))
    return sympy.Mul(size, *(_partial_sign(w, x) for w, x in zip(row, inputs, strict=True)))


def _partial_sign(w: Expr, x: Expr) -> Expr:
    """|W| sgn x + 1 - |W|."""
    return abs(w) * apply(sympy.sign, x) + (1 - abs(w))
