"""The functions of groups of logits in torch's own operations.

They run on any device, can be differentiated any number of times, and are what an exported model
holds. Each takes its operands along the first dimension. Value and gradient are stable for large
logits; the native core is exact to the last digits as well where these forms add up in order.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid


def and_ail(z: Tensor) -> Tensor:
    """Sum of the negative operands or, where there are none, the smallest."""
    negative = torch.where(z >= 0, 0, z).sum(0)  # keeps NaN
    return torch.where((z < 0).any(0), negative, z.amin(0))


def xnor_ail(z: Tensor) -> Tensor:
    """The smallest magnitude, with the sign of the product, in which 0 counts as positive."""
    least = torch.where(z < 0, -z, z).amin(0)
    return torch.where((z < 0).sum(0) % 2 == 1, -least, least)


def logit_and(z: Tensor) -> Tensor:
    """By AND(a, b) = -log(exp(-a) + exp(-b) + exp(-a - b)), one operand after the other."""
    return reduce(_and_pair, z.unbind(0))


def _and_pair(a: Tensor, b: Tensor) -> Tensor:
    """The smaller one less log(1 + exp(low-high) + exp(-high)); less the other too below 0."""
    certain = (a == torch.inf) & (b == torch.inf)
    least = torch.minimum(a, b)
    a, b = torch.where(certain, 0, a), torch.where(certain, 0, b)
    low, high = _in_order(a, b)
    positive = high > 0
    start = torch.where(positive, low, low + high)
    powers = torch.where(positive, low - high, low).exp() + torch.where(positive, -high, high).exp()
    return torch.where(certain, least, start - torch.log1p(powers))


def _in_order(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The smaller and the larger, by a mask, since max and min would halve the slopes of ties."""
    ordered = a < b
    return torch.where(ordered, a, b), torch.where(ordered, b, a)


def _without_infinities(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Where an operand is infinite, and both with 0 there, whose gradients are numbers."""
    certain = a.isinf() | b.isinf()
    return certain, torch.where(certain, 0, a), torch.where(certain, 0, b)


def logit_xnor(z: Tensor) -> Tensor:
    """By XNOR(a, b) = 2 atanh(tanh(a/2) tanh(b/2)), one operand after the other."""
    return reduce(_xnor_pair, z.unbind(0))


def _xnor_pair(a: Tensor, b: Tensor) -> Tensor:
    """Where the product of tanh is near 1, by log((1 + exp(-a-b)) / (exp(-a) + exp(-b)))."""
    size_a, size_b = (torch.where(x < 0, -x, x) for x in (a, b))
    least = torch.minimum(size_a, size_b)
    certain, size_a, size_b = _without_infinities(size_a, size_b)
    product = _half_tanh(size_a) * _half_tanh(size_b)
    near = product < 0.5
    small = 2 * torch.atanh(torch.where(near, product, 0))
    low, high = _in_order(size_a, size_b)
    size = low - logsigmoid(high + low) + logsigmoid(high - low)
    size = torch.where(certain, least, torch.where(near, small, size))
    return torch.where((a < 0) ^ (b < 0), -size, size)


def _half_tanh(size: Tensor) -> Tensor:
    """tanh(size / 2) in a form whose derivative does not vanish before it has to."""
    return torch.where(size < 1, torch.tanh(size / 2), 1 - 2 * torch.sigmoid(-size))


def signed_geomean(z: Tensor) -> Tensor:
    """Roots multiplied, so that nothing overflows; where an operand is 0, no gradient.

    Beside 0, infinity is no number, as in the product.
    """
    safe = torch.where(z == 0, 1, z)
    roots = torch.where(safe < 0, -safe, safe) ** (1 / z.shape[0])
    size = reduce(torch.mul, roots.unbind(0))
    signed = torch.where((z < 0).sum(0) % 2 == 1, -size, size)
    return torch.where((z == 0).any(0), 0 * signed, signed)


def _mirrored(form: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """What De Morgan's law makes of AND."""
    return lambda z: -form(-z)


FORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "and_ail": and_ail,
    "or_ail": _mirrored(and_ail),
    "xnor_ail": xnor_ail,
    "max_out": lambda z: z.amax(0),
    "min_out": lambda z: z.amin(0),
    "logit_and": logit_and,
    "logit_or": _mirrored(logit_and),
    "logit_xnor": logit_xnor,
    "signed_geomean": signed_geomean,
}
FUNCTIONS = tuple(FORMS)
"""The functions, in the order in which the native core counts them."""
PIECEWISE_LINEAR = 5
"""How many of them, from the first on, are piecewise linear."""


def logic_form(
    input: Tensor,
    functions: Sequence[int],
    means: Sequence[float],
    scales: Sequence[float],
    partition: bool,
) -> Tensor:
    """Functions of groups, (f(z) - mean) * scale, in a row each or each of a share.

    Args:
        input: groups; half precision is computed in float32.
        functions: numbers of :data:`FUNCTIONS`.
        means: one for each function.
        scales: one for each function.
        partition: each function takes an equal share of the positions (groups, inner).

    Shape:
        `(rows, groups, k, inner)` to `(rows, functions, groups * inner)`, or in a partition to
        `(rows, 1, groups * inner)`.
    """
    operands = widened(input).movedim(2, 0).flatten(2)
    count = len(functions)
    shares = operands.chunk(count, 2) if partition and operands.numel() else [operands] * count
    members = zip(functions, shares, means, scales, strict=True)
    outputs = [(FORMS[FUNCTIONS[f]](z) - mean) * scale for f, z, mean, scale in members]
    if partition:
        joined = torch.cat(outputs, 1)[:, : operands.shape[2]]
        return joined.unsqueeze(1).to(input.dtype)
    return torch.stack(outputs, 1).to(input.dtype)


def logic_slopes(input: Tensor, functions: Sequence[int], partition: bool) -> Tensor:
    """Derivatives of piecewise linear functions by each operand, as small integers.

    A slope is 0, or `code` stands for 1 / code: a sign, shared by |code| operands.

    Args:
        input: groups.
        functions: numbers of :data:`FUNCTIONS`.
        partition: as in :func:`logic_form`.

    Shape:
        `(rows, groups, k, inner)` to `(rows, functions or 1, groups, k, inner)`.
    """
    parts = [functions] if partition else [[each] for each in functions]
    slopes = []
    for part in parts:
        form = (part, [0.0] * len(part), [1.0] * len(part), partition)

        def total(z: Tensor, form: Any = form) -> Tensor:
            return logic_form(z, *form).sum()

        slopes.append(torch.func.grad(total)(widened(input)))
    slope = torch.stack(slopes, 1)
    return torch.where(slope == 0, 0, 1 / slope).round().to(torch.int8)


def logic_gradient(
    grad_output: Tensor,
    saved: Tensor,
    functions: Sequence[int],
    scales: Sequence[float],
    partition: bool,
) -> Tensor:
    """Gradient of :func:`logic_form` by its input.

    Args:
        grad_output: gradient by the output.
        saved: the input, or the result of :func:`logic_slopes`.
        functions: numbers of :data:`FUNCTIONS`.
        scales: one for each function.
        partition: as in :func:`logic_form`.

    Shape:
        `(rows, functions or 1, groups * inner)` and that of `saved` to
        `(rows, groups, k, inner)`.
    """
    if saved.is_floating_point():
        form = (functions, [0.0] * len(functions), scales, partition)
        return torch.func.vjp(lambda z: logic_form(z, *form), saved)[1](grad_output)[0]
    wide = widened(grad_output)
    scale = torch.tensor(scales, dtype=wide.dtype, device=wide.device)
    if partition:
        wide = wide * scale.repeat_interleave(wide.shape[2] // len(scales))
    else:
        wide = wide * scale[:, None]
    code = saved.to(wide.dtype)
    slope = torch.where(code == 0, 0, 1 / code)
    groups, _, inner = saved.shape[2:]
    each = wide.reshape(*wide.shape[:2], groups, 1, inner) * slope
    return each.sum(1).to(grad_output.dtype)


def widened(tensor: Tensor) -> Tensor:
    """The tensor, in float32 at least."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
