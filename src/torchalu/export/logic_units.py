"""What logic activations and layers of gates compute, as expressions of real inputs."""

from collections.abc import Callable, Sequence

import sympy
from sympy import Basic, Expr
from torch import nn

from torchalu.export.logic_groups import moments, operations
from torchalu.export.operators import apply
from torchalu.export.terms import check_finite
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
    check_finite(module, module.weight)
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


def _and_ail(operands: Sequence[Expr]) -> Expr:
    """The sum of the negative operands, or the smallest."""
    return _ail(sympy.Min, sympy.Max, operands)


def _or_ail(operands: Sequence[Expr]) -> Expr:
    """The sum of the positive operands, or the largest."""
    return _ail(sympy.Max, sympy.Min, operands)


def _xnor_ail(operands: Sequence[Expr]) -> Expr:
    """The smallest magnitude, with the sign of the product."""
    if len(operands) == 2:
        smaller = apply(sympy.Min, *operands)
        return apply(sympy.Max, smaller, -apply(sympy.Max, *operands))
    return _sign(operands) * apply(sympy.Min, *(apply(sympy.Abs, z) for z in operands))


def _logit_and(operands: Sequence[Expr]) -> Expr:
    r"""The logit of the product of probabilities, -log(prod(1 + exp(-z)) - 1), and no overflow.

    The product less 1 is summed without cancellation,

    .. math:: \prod_i (1 + e^{-z_i}) - 1 = \sum_i e^{-z_i} \prod_{j < i} (1 + e^{-z_j})

    and each exponent has AND AIL added, which is nearly the negative of the largest one.
    """
    shift = _and_ail(operands)
    if len(operands) == 2:
        exponents = [*operands, sympy.Add(*operands)]
    else:
        exponents = [
            sympy.Add(operand, *(-_softplus(-before) for before in operands[:place]))
            for place, operand in enumerate(operands)
        ]
    return shift - sympy.log(sympy.Add(*(sympy.exp(shift - exponent) for exponent in exponents)))


def _logit_xnor(operands: Sequence[Expr]) -> Expr:
    r"""2 artanh of the product T of tanh(z / 2), and nothing lost where T is nearly 1.

    Two operands: log((1 + exp(a + b)) / (exp(a) + exp(b))), which is XNOR AIL and what fades
    where |a + b| and |a - b| grow. More, with all z positive:

    .. math:: 1 - T = \sum_i \frac{2 e^{-z_i}}{1 + e^{-z_i}} \prod_{j < i} \tanh(z_j / 2)
    """
    if len(operands) == 2:
        a, b = operands
        return _xnor_ail(operands) + _fading(a + b) - _fading(a - b)
    sizes = [apply(sympy.Abs, z) for z in operands]
    least = apply(sympy.Min, *sizes)
    tangents = [sympy.tanh(size / 2) for size in sizes]
    terms = [
        2 * sympy.exp(least - size) / (1 + sympy.exp(-size)) * sympy.Mul(*tangents[:place])
        for place, size in enumerate(sizes)
    ]
    total = 1 + sympy.Mul(*tangents)
    return _sign(operands) * (least + sympy.log(total) - sympy.log(sympy.Add(*terms)))


def _softplus(value: Expr) -> Expr:
    """log(1 + exp(value)), and no overflow."""
    return apply(sympy.Max, _ZERO, value) + _fading(value)


def _fading(value: Expr) -> Expr:
    """log(1 + exp(-|value|))."""
    return sympy.log(1 + sympy.exp(-apply(sympy.Abs, value)))


def _signed_geomean(operands: Sequence[Expr]) -> Expr:
    """The product of the magnitudes' roots, with its sign: that of the magnitudes may overflow."""
    root = sympy.Rational(1, len(operands))
    return _sign(operands) * sympy.Mul(*(apply(sympy.Abs, z) ** root for z in operands))


def _sign(operands: Sequence[Expr]) -> Expr:
    """The sign of the product."""
    return sympy.Mul(*(apply(sympy.sign, z) for z in operands))


_FUNCTIONS: dict[str, Callable[[Sequence[Expr]], Expr]] = {
    "and_ail": _and_ail,
    "or_ail": _or_ail,
    "xnor_ail": _xnor_ail,
    "logit_and": _logit_and,
    "logit_or": lambda operands: -_logit_and([-z for z in operands]),
    "logit_xnor": _logit_xnor,
    "min_out": lambda operands: apply(sympy.Min, *operands),
    "max_out": lambda operands: apply(sympy.Max, *operands),
    "signed_geomean": _signed_geomean,
}
