"""Clipping of gradients by their norm."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn


def clip_gradients(parameters: Sequence[nn.Parameter], most: float) -> None:
    r"""Scale the gradients of all parameters down to a norm, where theirs is greater.

    .. math:: g \leftarrow g \min\Bigl(1, \frac{c}{\lVert g \rVert}\Bigr)

    as `torch.nn.utils.clip_grad_norm_` does. That takes the norm in the gradients' own dtype:
    squares of numbers beyond 1e19 are infinite in float32, and all finite gradients become 0, so
    that nothing is trained, and nothing says so. Here such a norm is taken of scaled gradients.

    Args:
        parameters: those without a gradient are left out.
        most: c.

    Source:
        Pascanu, Mikolov & Bengio 2013, algorithm 1.

    Example:
        >>> weight = nn.Parameter(torch.zeros(2))
        >>> weight.grad = torch.tensor([3e30, 4e30])
        >>> clip_gradients([weight], 1.0)
        >>> weight.grad
        tensor([0.6000, 0.8000])
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    if not norm.isfinite():
        largest = nn.utils.get_total_norm(gradients, norm_type=torch.inf)
        if largest.isfinite():
            for gradient in gradients:
                gradient.div_(largest.to(gradient))
            scaled = nn.utils.get_total_norm(gradients).double()
            wanted = (scaled * largest.double()).clamp(max=most)
            for gradient in gradients:
                gradient.mul_((wanted / scaled).to(gradient))
            return
    nn.utils.clip_grads_with_norm_(parameters, most, norm)
