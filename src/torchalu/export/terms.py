"""The terms that the formulas of units are made of."""

from collections.abc import Sequence

import sympy
import torch
from sympy import Expr
from torch import Tensor, nn

from torchalu.export.operators import apply

_LARGEST_EXACT = 2**53


def exact_number(value: float) -> Expr:
    """A multiple of 1/2 as a rational, another number as a float; both hold it exactly."""
    if abs(value) < _LARGEST_EXACT and (2 * value).is_integer():
        return sympy.Rational(int(2 * value), 2)
    return sympy.Float(value, 17)


def check_finite(module: nn.Module, values: Tensor) -> None:
    """Refuse weights that training has lost."""
    if not values.isfinite().all():
        raise ValueError(
            f"module has a {type(module).__name__} with weights that are NaN or infinite; "
            "allowed: finite weights; take a run that did not diverge"
        )


def numbers(module: nn.Module, values: Tensor) -> list[Expr]:
    """The elements of a vector as numbers."""
    values = values.detach().to(device="cpu", dtype=torch.float64)
    check_finite(module, values)
    return [exact_number(value) for value in values.tolist()]


def matrix(module: nn.Module, weight: Tensor, inputs: Sequence[Expr]) -> list[list[Expr]]:
    """The rows of a weight as numbers, after a look at the number of inputs."""
    if weight.shape[-1] != len(inputs):
        raise ValueError(
            f"{type(module).__name__} is given {len(inputs)} inputs, and takes "
            f"{weight.shape[-1]}; give as many names as the model has inputs, and layers that fit"
        )
    return [numbers(module, row) for row in weight]


def weighted_sums(weight: list[list[Expr]], inputs: Sequence[Expr]) -> list[Expr]:
    """W x."""
    return [
        sympy.Add(*(w * x for w, x in zip(row, inputs, strict=True) if w != 0)) for row in weight
    ]


def weighted_products(weight: list[list[Expr]], inputs: Sequence[Expr]) -> list[Expr]:
    """The product of W x + 1 - W."""
    return [
        sympy.Mul(*(w * x + (1 - w) for w, x in zip(row, inputs, strict=True) if w != 0))
        for row in weight
    ]


def weighted_powers(weight: list[list[Expr]], bases: Sequence[Expr]) -> list[Expr]:
    """The product of powers of bases that are not negative."""
    return [
        sympy.Mul(*(base**w for w, base in zip(row, bases, strict=True) if w != 0))
        for row in weight
    ]


def gated(
    gate_weight: list[list[Expr]],
    inputs: Sequence[Expr],
    sums: Sequence[Expr],
    products: Sequence[Expr],
) -> list[Expr]:
    """The mixture of sums and products that a sigmoid decides on."""
    logits = weighted_sums(gate_weight, inputs)
    return [
        total / (1 + sympy.exp(-logit)) + product / (1 + sympy.exp(logit))
        for logit, total, product in zip(logits, sums, products, strict=True)
    ]


def eps_term(eps: float, keep_eps: bool) -> Expr:
    """The decimal number that eps was written as, exactly; or 0."""
    return sympy.Rational(repr(float(eps))) if keep_eps else sympy.Integer(0)


def magnitudes(inputs: Sequence[Expr], eps: float, keep_eps: bool) -> list[Expr]:
    """|x| + eps."""
    return [apply(sympy.Abs, x) + eps_term(eps, keep_eps) for x in inputs]
