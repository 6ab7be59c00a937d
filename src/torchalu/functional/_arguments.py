"""Checks that every function makes of its arguments."""

import torch
from torch import Tensor

_CAST = (torch.float32, torch.float16, torch.bfloat16)  # what autocast makes one dtype of


def check_weight(input: Tensor, weight: Tensor, name: str = "weight") -> None:
    """Refuse a weight that is no (out, in) matrix for `input`, or has another dtype.

    Args:
        input: what the function is given, (*, in).
        weight: a matrix, (out, in).
        name: what the function calls `weight`.

    Raises:
        TypeError: `input` is no tensor, or it and `weight` differ in dtype outside autocast.
        ValueError: `weight` is no matrix, or its width is not the last dimension of `input`.
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"input is a {type(input).__name__}; give a tensor (*, in)")
    if weight.ndim != 2:
        raise ValueError(f"{name} has shape {tuple(weight.shape)}; give a matrix (out, in)")
    if input.ndim == 0 or input.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"input has shape {tuple(input.shape)} and {name} {tuple(weight.shape)}: the last "
            f"dimension of input must be in_features = {weight.shape[1]}"
        )
    check_alike(input, weight, name)


def check_alike(input: Tensor, other: Tensor, name: str) -> None:
    """Refuse two dtypes in one function, but for those that autocast makes one of.

    Args:
        input: what the function is given.
        other: another of its arguments.
        name: what the function calls it.

    Raises:
        TypeError: they differ, outside autocast or in a dtype that it leaves as it is.
    """
    if input.dtype == other.dtype:
        return
    cast = input.dtype in _CAST and other.dtype in _CAST
    if not (cast and under_autocast(input)):
        remedy = ", or run under torch.autocast" if cast else ""
        raise TypeError(
            f"input is {input.dtype} and {name} {other.dtype}: convert one with .to(){remedy}"
        )


def under_autocast(input: Tensor) -> bool:
    """Whether torch.autocast is on where a tensor lives; for a `meta` tensor it never is.

    Args:
        input: the tensor.
    """
    kind = input.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


def check_floating(dtype: torch.dtype, name: str = "input") -> None:
    """Refuse an argument that holds no real numbers.

    Args:
        dtype: its dtype.
        name: what the function calls it.

    Raises:
        TypeError: `dtype` is not a floating one.
    """
    if not dtype.is_floating_point:
        raise TypeError(f"{name} is {dtype}; convert it with .to(torch.float32) or another float")


def check_gate(input: Tensor, gate: Tensor) -> None:
    """Refuse a gate that does not hold one number for each feature of `input`.

    Args:
        input: what the function is given, (*, in).
        gate: a vector, (in,).

    Raises:
        ValueError: `gate` is no vector of that length.
    """
    if gate.shape != input.shape[-1:]:
        raise ValueError(
            f"gate has shape {tuple(gate.shape)}; give one number for each of the "
            f"{input.shape[-1]} features of input: ({input.shape[-1]},)"
        )


def check_eps(eps: float, dtype: torch.dtype) -> None:
    """Refuse an eps under which the logarithm or the reciprocal of zero would be infinite.

    Args:
        eps: what is added to a magnitude, or its least value, before its logarithm or reciprocal.
        dtype: the dtype in which it is added.

    Raises:
        TypeError: `dtype` is not a floating one.
        ValueError: `eps` is not positive and finite, or vanishes in `dtype`.
    """
    check_floating(dtype)
    smallest = torch.finfo(dtype).tiny
    if not smallest <= eps < float("inf"):
        raise ValueError(
            f"eps is {eps}; the logarithm and the reciprocal of eps are finite in {dtype} only "
            f"for a finite eps of at least {smallest:.3g}; 1e-7 is usual"
        )
