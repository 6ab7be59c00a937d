"""What the units that multiply in log space have in common."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ParamSpec

import torch
from torch import Tensor

from torchalu.functional._arguments import check_alike, under_autocast

_Arguments = ParamSpec("_Arguments")
_HALF = (torch.float16, torch.bfloat16)


def full_precision(function: Callable[_Arguments, Tensor]) -> Callable[_Arguments, Tensor]:
    """Run a function of tensors in float32 where it would run in half precision.

    A logarithm that is off by 1/256, as one in bfloat16 is, makes a product that is off by as
    much again for every unit of its size. Half-precision arguments are therefore widened, and
    the result is narrowed to the first argument's dtype. What is finite in float32 saturates
    there at the largest finite number, with gradients of 0, instead of becoming infinite. Under
    autocast the result stays in float32.

    Args:
        function: takes tensors, the first of which, `input`, decides the dtype of the result.

    Returns:
        The function, with the same arguments; it raises a TypeError where tensors differ in
        dtype outside autocast.
    """
    names = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def widened(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Tensor:
        input: Any = args[0] if args else kwargs.get("input")
        if not isinstance(input, Tensor):
            return function(*args, **kwargs)
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            if isinstance(value, Tensor) and value.is_floating_point():
                check_alike(input, value, name)
        wide_args: Any = [_widen(value) for value in args]
        wide_kwargs: Any = {name: _widen(value) for name, value in kwargs.items()}
        wide = functools.partial(function, *wide_args, **wide_kwargs)
        if under_autocast(input):
            with torch.autocast(input.device.type, enabled=False):
                return wide()
        result = wide()
        if input.dtype not in _HALF:
            return result
        limit = torch.finfo(input.dtype).max
        finite = result.clamp(-limit, limit)
        return torch.where(result.isinf(), result, finite).to(input.dtype)

    return widened


def magnitude(input: Tensor) -> Tensor:
    """|input|, whose gradient at 0 is 0 even where an infinite one arrives."""
    return torch.where(input == 0, 0, input.abs())


def saturating_exp(exponent: Tensor, factor: Tensor | float = 1.0) -> Tensor:
    """exp(exponent) * factor, where exp stops at the largest finite number.

    There the gradients are 0: an infinite product would meet a gate or a gradient of 0 and
    become NaN.
    """
    finfo = torch.finfo(exponent.dtype)
    limit = math.log(finfo.max) * (1 - finfo.eps)
    if isinstance(factor, Tensor):
        factor = torch.where(exponent < limit, factor, factor.detach())
    return torch.exp(exponent.clamp(max=limit)) * factor


def cos_pi(half_turns: Tensor) -> Tensor:
    """cos(pi * half_turns), exactly 0 or 1 or -1 at multiples of 1/2."""
    reduced = half_turns - 2 * torch.round(half_turns / 2)
    distance = reduced.abs()
    near = torch.cos(torch.pi * reduced)
    return torch.where(distance < 0.25, near, torch.sin(torch.pi * (0.5 - distance)))


def _widen(value: Any) -> Any:
    """The value, in float32 where it is a tensor in half precision."""
    if isinstance(value, Tensor) and value.dtype in _HALF:
        return value.float()
    return value
