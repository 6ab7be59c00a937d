"""What logic activations and layers of gates compute, as expressions of real inputs."""

from collections.abc import Callable, Sequence
from functools import partial

import sympy
from sympy import Basic, Expr
from torch import nn

from torchalu.export.logic_groups import moments, operations
from torchalu.export.operators import apply
from torchalu.export.units import unit_expressions
from torchalu.functional import gate_coefficients, gate_probabilities
from torchalu.nn import GroupActivation, GroupSum, LogicGates

_ZERO = sympy.Integer(0)


@unit_expressions.register
def _(module: GroupActivation, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    outputs: list[Expr] = []
    for name, operands in operations(module, inputs):
        mean, deviation = moments(module, name)
        value = _FUNCTIONS[name](operands)
        if (mean, deviation) != (0.0, 1.0):
            value = (value - sympy.Float(mean, 17)) / sympy.Float(deviation, 17)
        outputs.append(value)
    return outputs


@unit_expressions.register
def _(module: LogicGates, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    if len(inputs) != module.in_features:
        raise ValueError(
            f"LogicGates is given {len(inputs)} inputs, and takes {module.in_features}"
        )
    gates = gate_probabilities(module.weight.detach(), mode="hard")
    coefficients = gate_coefficients(gates).long().tolist()
    pairs = zip(coefficients, *module.connections.tolist(), strict=True)
    return [_polynomial(row, inputs[i], inputs[j]) for row, i, j in pairs]


@unit_expressions.register
def _(module: GroupSum, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    if len(inputs) % module.num_groups:
        raise ValueError(
            f"GroupSum is given {len(inputs)} inputs; allowed: a multiple of {module.num_groups}"
        )
    size = len(inputs) // module.num_groups
    groups = [inputs[start : start + size] for start in range(0, len(inputs), size)]
    return [sympy.Add(*group) / sympy.Rational(str(module.temperature)) for group in groups]


@unit_expressions.register
def _(module: nn.Sigmoid, inputs: Sequence[Expr], *, keep_eps: bool = True) -> list[Expr]:  # noqa: ARG001
    return [1 / (1 + sympy.exp(-value)) for value in inputs]


def _polynomial(coefficients: Sequence[int], a: Expr, b: Expr) -> Expr:
    """A gate of two independent events."""
    c0, c1, c2, c3 = coefficients
    return sympy.Add(c0, c1 * a, c2 * b, c3 * a * b)


def _ail(inner: type[Basic], outer: type[Basic], operands: Sequence[Expr]) -> Expr:
    """AND with Min and Max: the sum of the negative operands, or the smallest. OR the other way."""
    if len(operands) == 2:
        return apply(inner, *operands, sympy.Add(*operands))
    decided = [apply(inner, operand, _ZERO) for operand in operands]
    return sympy.Add(*decided, apply(outer, apply(inner, *operands), _ZERO))


def _xnor_ail(operands: Sequence[Expr]) -> Expr:
    """The smallest magnitude, with the sign of the product."""
    if len(operands) == 2:
        smaller = apply(sympy.Min, *operands)
        return apply(sympy.Max, smaller, -apply(sympy.Max, *operands))
    return _sign(operands) * apply(sympy.Min, *(apply(sympy.Abs, z) for z in operands))


def _logit_and(operands: Sequence[Expr]) -> Expr:
    """The logit of the product of probabilities."""
    return -sympy.log(sympy.Mul(*(1 + sympy.exp(-z) for z in operands)) - 1)


def _logit_xnor(operands: Sequence[Expr]) -> Expr:
    """2 artanh of the product of tanh(z / 2)."""
    product = sympy.Mul(*(sympy.tanh(z / 2) for z in operands))
    return sympy.log((1 + product) / (1 - product))


def _signed_geomean(operands: Sequence[Expr]) -> Expr:
    """The root of the product's magnitude, with its sign."""
    magnitude = apply(sympy.Abs, sympy.Mul(*operands))
    return _sign(operands) * magnitude ** sympy.Rational(1, len(operands))


def _sign(operands: Sequence[Expr]) -> Expr:
    """The sign of the product."""
    return sympy.Mul(*(apply(sympy.sign, z) for z in operands))


_FUNCTIONS: dict[str, Callable[[Sequence[Expr]], Expr]] = {
    "and_ail": partial(_ail, sympy.Min, sympy.Max),
    "or_ail": partial(_ail, sympy.Max, sympy.Min),
    "xnor_ail": _xnor_ail,
    "logit_and": _logit_and,
    "logit_or": lambda operands: -_logit_and([-z for z in operands]),
    "logit_xnor": _logit_xnor,
    "min_out": lambda operands: apply(sympy.Min, *operands),
    "max_out": lambda operands: apply(sympy.Max, *operands),
    "signed_geomean": _signed_geomean,
}
