"""What each unit computes, as expressions of its inputs."""

from collections.abc import Sequence
from functools import singledispatch

import sympy
import torch
from sympy import Expr
from torch import Tensor, nn

from torchalu.export.operators import apply
from torchalu.nn import NAC, NALU, NAU, NMU, NPU, GatedNAUNMU, NACMul, RealNPU

_LARGEST_EXACT = 2**53


@singledispatch
def unit_expressions(
    module: nn.Module,
    inputs: Sequence[Expr],  # noqa: ARG001
    *,
    keep_eps: bool = True,  # noqa: ARG001
) -> list[Expr]:
    """What a module computes, as one expression for each output.

    It dispatches on the module's class; a class of your own joins by
    `unit_expressions.register`.

    Args:
        module: the module.
        inputs: its inputs, which are real.
        keep_eps: keep the small number that units add to a magnitude before a logarithm.

    Returns:
        The outputs.

    Raises:
        TypeError: nobody has registered the module's class.
        ValueError: the module takes another number of inputs, or a weight is not finite.

    Example:
        >>> class Square(nn.Module):
        ...     def forward(self, input):
        ...         return input * input
        >>> @unit_expressions.register
        ... def _(module: Square, inputs, *, keep_eps=True):
        ...     return [value**2 for value in inputs]
        >>> stack = nn.Sequential(Square(), nn.ReLU())
        >>> unit_expressions(stack, [sympy.Symbol("x", real=True)])
        [x**2]
    """
    known = sorted(kind.__name__ for kind in unit_expressions.registry if kind is not object)
    raise TypeError(
        f"module is {type(module).__name__}, whose formula is not known; allowed: "
        f"{', '.join(known)}; for another class use unit_expressions.register"
    )


@unit_expressions.register
def _(module: nn.Sequential, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    outputs = list(inputs)
    for layer in module:
        outputs = unit_expressions(layer, outputs, keep_eps=keep_eps)
    return outputs


@unit_expressions.register
def _(module: nn.Identity, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return list(inputs)


@unit_expressions.register
def _(module: nn.ReLU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return [_at_least_zero(value) for value in inputs]


@unit_expressions.register
def _(module: nn.ReLU6, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return [_at_most_six(_at_least_zero(value)) for value in inputs]


@unit_expressions.register
def _(module: nn.Linear, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    weight = _matrix(module, module.weight, inputs)
    bias = (
        _numbers(module, module.bias)
        if module.bias is not None
        else [sympy.Integer(0)] * len(weight)
    )
    return [
        sympy.Add(total, constant)
        for total, constant in zip(_sums(weight, inputs), bias, strict=True)
    ]


@unit_expressions.register(NAU)
@unit_expressions.register(NAC)
def _(module: NAU | NAC, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return _sums(_matrix(module, module.effective_weight(), inputs), inputs)


@unit_expressions.register
def _(module: NMU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return _products(_matrix(module, module.effective_weight(), inputs), inputs)


@unit_expressions.register
def _(module: NACMul, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    weight = _matrix(module, module.effective_weight(), inputs)
    return _powers(weight, _magnitudes(inputs, module.eps, keep_eps))


@unit_expressions.register
def _(module: NALU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    sums = _sums(_matrix(module, module.effective_weight(), inputs), inputs)
    mul_weight = _matrix(module, module.effective_mul_weight(), inputs)
    products = _powers(mul_weight, _magnitudes(inputs, module.eps, keep_eps))
    return _gated(_matrix(module, module.gate_weight, inputs), inputs, sums, products)


@unit_expressions.register
def _(module: GatedNAUNMU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    sums = _sums(_matrix(module, module.effective_weight(), inputs), inputs)
    products = _products(_matrix(module, module.effective_mul_weight(), inputs), inputs)
    return _gated(_matrix(module, module.gate_weight, inputs), inputs, sums, products)


@unit_expressions.register
def _(module: RealNPU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    gate = _gate(module, inputs)
    weight = _matrix(module, module.weight, inputs)
    radii = _radii(inputs, gate, module.eps, keep_eps)
    return [_real_power(row, inputs, gate, radii, plain=not keep_eps) for row in weight]


@unit_expressions.register
def _(module: NPU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    gate = _gate(module, inputs)
    weight = _matrix(module, module.weight, inputs)
    imag_weight = _matrix(module, module.imag_weight, inputs)
    radii = _radii(inputs, gate, module.eps, keep_eps)
    return [
        _complex_power(row, imag_row, inputs, gate, radii)
        if any(w != 0 and g != 0 for w, g in zip(imag_row, gate, strict=True))
        else _real_power(row, inputs, gate, radii, plain=not keep_eps)
        for row, imag_row in zip(weight, imag_weight, strict=True)
    ]


def _number(value: float) -> Expr:
    """A multiple of 1/2 as a rational, another number as a float; both hold it exactly."""
    if abs(value) < _LARGEST_EXACT and (2 * value).is_integer():
        return sympy.Rational(int(2 * value), 2)
    return sympy.Float(value, 17)


def _numbers(module: nn.Module, values: Tensor) -> list[Expr]:
    """The elements of a vector as numbers."""
    values = values.detach().to(device="cpu", dtype=torch.float64)
    if not values.isfinite().all():
        raise ValueError(
            f"module has a {type(module).__name__} with weights that are NaN or infinite; "
            "allowed: finite weights; take a run that did not diverge"
        )
    return [_number(value) for value in values.tolist()]


def _matrix(module: nn.Module, weight: Tensor, inputs: Sequence[Expr]) -> list[list[Expr]]:
    """The rows of a weight as numbers, after a look at the number of inputs."""
    if weight.shape[-1] != len(inputs):
        raise ValueError(
            f"{type(module).__name__} is given {len(inputs)} inputs, and takes "
            f"{weight.shape[-1]}; give as many names as the model has inputs, and layers that fit"
        )
    return [_numbers(module, row) for row in weight]


def _sums(weight: list[list[Expr]], inputs: Sequence[Expr]) -> list[Expr]:
    """W x."""
    return [
        sympy.Add(*(w * x for w, x in zip(row, inputs, strict=True) if w != 0)) for row in weight
    ]


def _products(weight: list[list[Expr]], inputs: Sequence[Expr]) -> list[Expr]:
    """The product of W x + 1 - W."""
    return [
        sympy.Mul(*(w * x + (1 - w) for w, x in zip(row, inputs, strict=True) if w != 0))
        for row in weight
    ]


def _powers(weight: list[list[Expr]], bases: Sequence[Expr]) -> list[Expr]:
    """The product of powers of bases that are not negative."""
    return [
        sympy.Mul(*(base**w for w, base in zip(row, bases, strict=True) if w != 0))
        for row in weight
    ]


def _gated(
    gate_weight: list[list[Expr]],
    inputs: Sequence[Expr],
    sums: Sequence[Expr],
    products: Sequence[Expr],
) -> list[Expr]:
    """The mixture of sums and products that a sigmoid decides on."""
    logits = _sums(gate_weight, inputs)
    return [
        total / (1 + sympy.exp(-logit)) + product / (1 + sympy.exp(logit))
        for logit, total, product in zip(logits, sums, products, strict=True)
    ]


def _eps(eps: float, keep_eps: bool) -> Expr:
    """The decimal number that eps was written as, exactly; or 0."""
    return sympy.Rational(repr(eps)) if keep_eps else sympy.Integer(0)


def _magnitudes(inputs: Sequence[Expr], eps: float, keep_eps: bool) -> list[Expr]:
    """|x| + eps."""
    return [apply(sympy.Abs, x) + _eps(eps, keep_eps) for x in inputs]


def _gate(module: RealNPU | NPU, inputs: Sequence[Expr]) -> list[Expr]:
    """The gate of each input, between 0 and 1."""
    return _matrix(module, module.gate.clamp(0, 1).unsqueeze(0), inputs)[0]


def _radii(inputs: Sequence[Expr], gate: Sequence[Expr], eps: float, keep_eps: bool) -> list[Expr]:
    """g (|x| + eps) + 1 - g."""
    magnitudes = _magnitudes(inputs, eps, keep_eps)
    return [g * magnitude + (1 - g) for g, magnitude in zip(gate, magnitudes, strict=True)]


def _is_negative(x: Expr) -> Expr:
    """[x < 0], as 1 or 0."""
    return apply(sympy.Heaviside, -x, sympy.Integer(0))


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
            sign = 1 - 2 * _is_negative(x) if w.is_odd else sympy.Integer(1)
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


def _at_least_zero(x: Expr) -> Expr:
    """The larger of x and 0."""
    return apply(sympy.Max, sympy.Integer(0), x)


def _at_most_six(x: Expr) -> Expr:
    """The smaller of x and 6."""
    return apply(sympy.Min, sympy.Integer(6), x)
