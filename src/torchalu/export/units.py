"""What each unit computes, as expressions of its inputs."""

from collections.abc import Sequence
from functools import singledispatch

import sympy
from sympy import Expr
from torch import nn

from torchalu.export.operators import apply
from torchalu.export.own_forward import check_forward
from torchalu.export.terms import (
    gated,
    magnitudes,
    matrix,
    numbers,
    weighted_powers,
    weighted_products,
    weighted_sums,
)
from torchalu.nn import NAC, NALU, NAU, NMU, GatedNAUNMU, NACMul
from torchalu.nn.sequential import runs_in_order


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


def expressions(module: nn.Module, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    """What a module computes, after a look at whether it computes what its class says.

    Args:
        module: as in `unit_expressions`.
        inputs: as in `unit_expressions`.
        keep_eps: as in `unit_expressions`.

    Raises:
        TypeError: it has a forward of its own, or a forward hook; or as `unit_expressions`.
        ValueError: as `unit_expressions`.
    """
    check_forward(module, unit_expressions.registry.keys() - {object})
    return unit_expressions(module, inputs, keep_eps=keep_eps)


@unit_expressions.register
def _(module: nn.Sequential, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    if not runs_in_order(module):
        return unit_expressions.dispatch(object)(module, inputs, keep_eps=keep_eps)
    outputs = list(inputs)
    for layer in module:
        outputs = expressions(layer, outputs, keep_eps=keep_eps)
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
    weight = matrix(module, module.weight, inputs)
    bias = (
        numbers(module, module.bias)
        if module.bias is not None
        else [sympy.Integer(0)] * len(weight)
    )
    return [
        sympy.Add(total, constant)
        for total, constant in zip(weighted_sums(weight, inputs), bias, strict=True)
    ]


@unit_expressions.register(NAU)
@unit_expressions.register(NAC)
def _(module: NAU | NAC, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return weighted_sums(matrix(module, module.effective_weight(), inputs), inputs)


@unit_expressions.register
def _(module: NMU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return weighted_products(matrix(module, module.effective_weight(), inputs), inputs)


@unit_expressions.register
def _(module: NACMul, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    weight = matrix(module, module.effective_weight(), inputs)
    return weighted_powers(weight, magnitudes(inputs, module.eps, keep_eps))


@unit_expressions.register
def _(module: NALU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:
    sums = weighted_sums(matrix(module, module.effective_weight(), inputs), inputs)
    mul_weight = matrix(module, module.effective_mul_weight(), inputs)
    products = weighted_powers(mul_weight, magnitudes(inputs, module.eps, keep_eps))
    return gated(matrix(module, module.gate_weight, inputs), inputs, sums, products)


@unit_expressions.register
def _(module: GatedNAUNMU, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    sums = weighted_sums(matrix(module, module.effective_weight(), inputs), inputs)
    products = weighted_products(matrix(module, module.effective_mul_weight(), inputs), inputs)
    return gated(matrix(module, module.gate_weight, inputs), inputs, sums, products)


def _at_least_zero(x: Expr) -> Expr:
    """The larger of x and 0."""
    return apply(sympy.Max, sympy.Integer(0), x)


def _at_most_six(x: Expr) -> Expr:
    """The smaller of x and 6."""
    return apply(sympy.Min, sympy.Integer(6), x)
