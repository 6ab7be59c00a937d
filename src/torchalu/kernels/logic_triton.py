# pyright: reportIndexIssue=false, reportArgumentType=false, reportGeneralTypeIssues=false
"""The functions of groups of logits on CUDA devices, in Triton.

Imported only where a CUDA tensor comes and Triton is installed. Each program takes a block of
positions of one function, forward or backward; the arithmetic is that of the native core.
"""

from collections.abc import Iterator, Sequence

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

_BLOCK = 512


@triton.jit
def _power(a):
    """exp(-a) and 1 - exp(-a) for a >= 0, both with all their digits."""
    value = tl.exp(-a)
    near = value > 0.5
    corrected = (1.0 - value) * (-a / tl.log(tl.where(near & (value < 1.0), value, 0.5)))
    return value, tl.where(value == 1.0, a, tl.where(near, corrected, 1.0 - value))


@triton.jit
def _log_near_one(near, x, y):
    """log(1 + x) where near, else log(y)."""
    total = 1.0 + x
    added = total - 1.0
    logarithm = tl.log(tl.where(near, total, y))
    exact = tl.where(added == 0.0, x, logarithm * (x / tl.where(added == 0.0, 1.0, added)))
    return tl.where(near, exact, logarithm)


@triton.jit
def _load(input, first, mask, j, inner, sign, wide: tl.constexpr):
    """An operand, with its sign turned round where De Morgan's law asks for it."""
    return sign * tl.load(input + first + j * inner, mask=mask, other=0.0).to(wide)


@triton.jit
def _place(block: tl.constexpr, total, length, start, share, plane, planes, inner, k):
    """Positions: whether they exist, their place in the output, that of their first operand."""
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    mask = at < total
    row = at // share
    position = start + at % share
    first = (row * length + position // inner * inner) * k + position % inner
    return mask, (row * planes + plane) * length + position, first, row


@triton.jit
def _linear_forward(
    input, output, slopes, total, length, start, share, plane, planes, inner, mean, scale,
    function: tl.constexpr, k: tl.constexpr, kept: tl.constexpr, wide: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """Piecewise linear functions: value, and the code of each slope."""
    mask, place, first, row = _place(block, total, length, start, share, plane, planes, inner, k)
    sign = -1.0 if function == 1 or function == 3 else 1.0
    parity: tl.constexpr = function == 2
    least = tl.full((block,), float("inf"), wide)
    added = tl.zeros((block,), wide)
    odd = tl.zeros((block,), tl.int32)
    negative = tl.zeros((block,), tl.int32)
    broken = tl.zeros((block,), tl.int32)
    for j in range(k):
        z = _load(input, first, mask, j, inner, sign, wide)
        broken += (z != z).to(tl.int32)
        negative += (z < 0).to(tl.int32)
        odd ^= (z < 0).to(tl.int32)
        added += tl.where(z < 0, z, 0.0)
        least = tl.minimum(least, tl.abs(z) if parity else z)
    if parity:
        value = tl.where(odd == 1, -least, least)
    elif function < 2:
        value = sign * tl.where(negative > 0, added, least)
    else:
        value = sign * least
    value = tl.where(broken > 0, float("nan"), value)
    result = ((value - mean) * scale).to(output.dtype.element_ty)
    tl.store(output + place, result, mask=mask)
    if kept:
        ties = tl.zeros((block,), tl.int32)
        for j in range(k):
            z = _load(input, first, mask, j, inner, sign, wide)
            ties += ((tl.abs(z) if parity else z) == least).to(tl.int32)
        for j in range(k):
            z = _load(input, first, mask, j, inner, sign, wide)
            code = tl.where((tl.abs(z) if parity else z) == least, ties, 0)
            if parity:
                code = tl.where(odd != (z < 0).to(tl.int32), -code, code)
            elif function < 2:
                code = tl.where(negative > 0, (z < 0).to(tl.int32), code)
            offset = first + (row * (planes - 1) + plane) * length * k
            tl.store(slopes + offset + j * inner, code.to(slopes.dtype.element_ty), mask=mask)


@triton.jit
def _linear_backward(
    grad_output, slopes, grad_input, total, length, start, share, plane, planes, inner, scale,
    k: tl.constexpr, add: tl.constexpr, wide: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Gradient from the codes of slopes; `add` to what other functions left."""
    mask, place, first, row = _place(block, total, length, start, share, plane, planes, inner, k)
    slope_of_one = scale * tl.load(grad_output + place, mask=mask, other=0.0).to(wide)
    offset = first + (row * (planes - 1) + plane) * length * k
    for j in range(k):
        code = tl.load(slopes + offset + j * inner, mask=mask, other=0).to(wide)
        grad = tl.where(code == 0, 0.0, slope_of_one / tl.where(code == 0, 1.0, code))
        to = grad_input + first + j * inner
        if add:
            grad += tl.load(to, mask=mask, other=0.0)
        tl.store(to, grad, mask=mask)


@triton.jit
def _smooth(
    input, output, grad_output, grad_input,
    total, length, start, share, plane, planes, inner, mean, scale,
    function: tl.constexpr, k: tl.constexpr, backward: tl.constexpr, add: tl.constexpr,
    wide: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """The exact functions and the geometric mean: value, or gradient from the input."""
    mask, place, first, _ = _place(block, total, length, start, share, plane, planes, inner, k)
    sign = -1.0 if function == 6 else 1.0
    one = tl.full((block,), 1.0, wide)
    none = tl.zeros((block,), wide)
    least = tl.full((block,), float("inf"), wide)
    negatives = none
    for j in range(k):
        z = _load(input, first, mask, j, inner, sign, wide)
        least = tl.minimum(least, tl.abs(z))
        negatives += tl.where(z < 0, z, 0.0)
    q, rest = _power(least)
    positive = negatives == 0
    shift = least if function == 7 else tl.where(positive, least, none)
    lifted = q if function == 7 else tl.where(positive, q, one)
    # logit_and: see the native core; logit_xnor: product of tanh, and d = (1 - product) exp(shift)
    r = none
    w = one
    found = none
    last_negative = none
    product = one
    d = none
    zeros = none
    logs = none
    odd = tl.zeros((block,), tl.int32)
    for j in range(k):
        z = _load(input, first, mask, j, inner, sign, wide)
        size = tl.abs(z)
        v, v_rest = _power(tl.where(size == shift, none, size - shift))
        odd ^= (z < 0).to(tl.int32)
        if function == 8:
            zeros += (z == 0).to(wide)
            logs += tl.log(tl.where(z == 0, one, size))
        elif function == 7:
            t = (rest + q * v_rest) / (1.0 + q * v)
            product *= t
            d = d * t + 2.0 * v / (1.0 + q * v)
        else:
            is_last = (size == least) & (found == 0)
            found += is_last.to(wide)
            last_negative += (is_last & (z < 0)).to(wide)
            r = tl.where(is_last, r, r + v * (1.0 + lifted * r))
            w = tl.where((z < 0) & (is_last == 0), w * v, w)
    if function == 8:
        value = tl.where(zeros > 0, logs - logs, tl.exp(logs / k))  # beside 0, infinity is NaN
        value = tl.where(odd == 1, -value, value)
    elif function == 7:
        near = product < 0.5
        logarithm = _log_near_one(near, 2.0 * product / (q * d), (1.0 + product) / d)
        value = tl.where(near, none, least) + logarithm
        value = tl.where(odd == 1, -value, value)
    else:
        alone = last_negative > 0
        excess = lifted * r * (1.0 + q) + tl.where(alone, q * (1.0 - w), (1.0 - w) - rest)
        w = tl.where(alone, w * q, w)
        r = r + tl.where(positive, one, q) * (1.0 + lifted * r)
        d = r + (1.0 - w)
        near = tl.abs(excess) < 0.5
        logarithm = _log_near_one(near, excess, d)
        value = sign * (negatives + (tl.where(near, none, shift) - logarithm))
    if backward:
        slope_of_one = scale * tl.load(grad_output + place, mask=mask, other=0.0).to(wide)
        for j in range(k):
            z = _load(input, first, mask, j, inner, sign, wide)
            size = tl.abs(z)
            v, v_rest = _power(tl.where(size == shift, none, size - shift))
            if function == 8:
                slope = tl.where(z == 0, none, value / tl.where(z == 0, one, z) / k)
            elif function == 7:
                others = one
                for i in range(k):
                    x = _load(input, first, mask, i, inner, sign, wide)
                    u, u_rest = _power(tl.where(tl.abs(x) == shift, none, tl.abs(x) - shift))
                    t = (rest + q * u_rest) / (1.0 + q * u)
                    others *= tl.where(i == j, one, tl.where(x < 0, -t, t))
                inverse = 1.0 / (1.0 + q * v)
                slope = others * 4.0 * v * inverse * inverse / (d * (1.0 + product))
            else:
                share_of_one = (1.0 + lifted * r) / d
                slope = tl.where(z < 0, one, v) * share_of_one / (1.0 + lifted * v)
            grad = slope_of_one * slope
            to = grad_input + first + j * inner
            if add:
                grad += tl.load(to, mask=mask, other=0.0)
            tl.store(to, grad, mask=mask)
    else:
        result = ((value - mean) * scale).to(output.dtype.element_ty)
        tl.store(output + place, result, mask=mask)


def logic_forward(
    input: Tensor,
    output: Tensor,
    slopes: Tensor | None,
    functions: Sequence[int],
    means: Sequence[float],
    scales: Sequence[float],
    partition: bool,
    linear: int,
) -> None:
    """Fill the output and, where there is room for them, the slopes.

    Args:
        input: `(rows, groups, k, inner)`, contiguous.
        output: `(rows, functions or 1, groups * inner)`.
        slopes: `(rows, functions or 1, groups, k, inner)`, of the piecewise linear functions.
        functions: numbers of the functions.
        means: one for each function.
        scales: one for each function.
        partition: each function takes an equal share of the positions.
        linear: how many functions, from the first on, are piecewise linear.
    """
    k, inner, wide = input.shape[2], input.shape[3], _wide(input)
    moments = zip(functions, means, scales, strict=True)
    planes = output.shape[1]
    for (function, mean, scale), place in zip(
        moments, _places(output, len(functions), partition), strict=True
    ):
        grid, where = place
        if function < linear:
            kept = slopes is not None
            room = output if slopes is None else slopes
            _linear_forward[grid](
                input, output, room, *where, planes, inner, mean, scale,
                function, k, kept, wide, _BLOCK,
            )  # fmt: skip
        else:
            _smooth[grid](
                input, output, output, output, *where, planes, inner, mean, scale,
                function, k, False, False, wide, _BLOCK,
            )  # fmt: skip


def logic_backward(
    grad_output: Tensor,
    saved: Tensor,
    functions: Sequence[int],
    scales: Sequence[float],
    partition: bool,
    linear: int,
) -> Tensor:
    """Gradient by the input, from it or from its slopes.

    Args:
        grad_output: `(rows, functions or 1, groups * inner)`, contiguous.
        saved: the input, or the slopes; see :func:`logic_forward`.
        functions: numbers of the functions.
        scales: one for each function.
        partition: each function takes an equal share of the positions.
        linear: how many functions, from the first on, are piecewise linear.
    """
    k, inner, wide = saved.shape[-2], saved.shape[-1], _wide(grad_output)
    shape = [saved.shape[0], *saved.shape[-3:]]
    grad = grad_output.new_zeros(shape, dtype=torch.float64 if wide == tl.float64 else torch.float)
    planes = grad_output.shape[1]
    places = _places(grad_output, len(functions), partition)
    for number, (grid, where) in enumerate(places):
        add, scale = number > 0 and not partition, scales[number]
        if functions[number] >= linear:
            _smooth[grid](
                saved, saved, grad_output, grad, *where, planes, inner, 0.0, scale,
                functions[number], k, True, add, wide, _BLOCK,
            )  # fmt: skip
            continue
        codes = saved
        if saved.is_floating_point():
            codes = saved.new_empty((planes, *shape), dtype=torch.int16)
            _linear_forward[grid](
                saved, torch.empty_like(grad_output), codes, *where, planes, inner, 0.0, 1.0,
                functions[number], k, True, wide, _BLOCK,
            )  # fmt: skip
        _linear_backward[grid](
            grad_output, codes, grad, *where, planes, inner, scale, k, add, wide, _BLOCK
        )
    return grad.to(grad_output.dtype)


def _places(
    output: Tensor, members: int, partition: bool
) -> Iterator[tuple[tuple[int], tuple[int, int, int, int, int]]]:
    """The programs of each function, and which positions they take."""
    rows, _, length = output.shape
    share = length // members if partition else length
    for number in range(members):
        start, plane = (number * share, 0) if partition else (0, number)
        total = rows * share
        yield (-(-total // _BLOCK),), (total, length, start, share, plane)


def _wide(tensor: Tensor) -> tl.dtype:
    """What is computed in."""
    return tl.float64 if tensor.dtype == torch.float64 else tl.float32
