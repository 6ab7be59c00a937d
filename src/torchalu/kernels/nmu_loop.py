"""The product of the NMU in torch's own operations, one input at a time."""

import torch
from torch import Tensor


def nmu_loop(input: Tensor, weight: Tensor) -> Tensor:
    """Product of `weight * input + 1 - weight` over the inputs.

    Args:
        input: any real floating dtype.
        weight: of the same dtype.

    Shape:
        `(products, rows, in)` and `(products, out, in)` to `(products, rows, out)`.
    """
    product = input.new_ones(*input.shape[:2], weight.shape[1])
    for x, w in _inputs(input, weight):
        product *= w * x + (1 - w)
    return product


def nmu_loop_backward(grad_output: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of :func:`nmu_loop` by `input` and by `weight`.

    The product of the other factors is the whole product of the non-zero factors, divided by
    this one unless this one is 0; it is 0 where another factor is.

    Args:
        grad_output: gradient by the product.
        input: what the product was taken of.
        weight: of the same dtype.

    Shape:
        `(products, rows, out)`, `(products, rows, in)` and `(products, out, in)` to the shapes of
        the last two.
    """
    nonzero = torch.ones_like(grad_output)
    zeros = torch.zeros_like(grad_output)
    for x, w in _inputs(input, weight):
        factor = w * x + (1 - w)
        zeros += factor == 0
        nonzero *= torch.where(factor == 0, 1, factor)
    grad_input, grad_weight = torch.empty_like(input), torch.empty_like(weight)
    for i, (x, w) in enumerate(_inputs(input, weight)):
        factor = w * x + (1 - w)
        is_zero = factor == 0
        others = torch.where(zeros > is_zero, 0, nonzero / torch.where(is_zero, 1, factor))
        grad_factor = grad_output * others
        grad_input[..., i] = (grad_factor * w).sum(2)
        grad_weight[..., i] = (grad_factor * (x - 1)).sum(1)
    return grad_input, grad_weight


def _inputs(input: Tensor, weight: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Each input as columns (products, rows, 1), with its weights (products, 1, out)."""
    return list(zip(input.unsqueeze(-1).unbind(2), weight.unsqueeze(1).unbind(3), strict=True))
