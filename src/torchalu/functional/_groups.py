"""How functions of groups of features find their groups, and what they check."""

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Literal, get_args

import torch
from torch import Tensor

from torchalu import kernels
from torchalu.functional._arguments import check_floating
from torchalu.functional.logic_moments import logic_moments
from torchalu.kernels.tracing import wants_torch_operations

Layout = Literal["pairs", "halves"]


def reduce_groups(
    input: Tensor,
    operators: Sequence[str],
    *,
    k: int,
    dim: int,
    layout: str,
    normalized: bool = False,
    partition: bool = False,
) -> Tensor:
    """Functions of groups of k features, their outputs side by side along `dim`.

    Args:
        input: features along `dim`.
        operators: names of the functions.
        k: features in a group.
        dim: the dimension that holds the features.
        layout: `"pairs"` or `"halves"`.
        normalized: each function with mean 0 and variance 1 on standard normal input.
        partition: each function takes an equal share of the groups, in place of all.

    Raises:
        TypeError: the input is no tensor, or holds integers; `k` or `dim` is no integer;
            `normalized` is no bool.
        ValueError: `k`, `dim` or `layout` is not one of those allowed, or the features cannot
            be divided so; `k` is so large that a normalized function has no scale in the dtype
            of the input, or in float32 where that is half precision.
    """
    _check(input, k, dim, layout, normalized, len(operators) if partition else 1)
    k, dim = int(k), int(dim) % input.ndim
    moments = [logic_moments(each, k) if normalized else (0.0, 1.0) for each in operators]
    _check_scales(operators, moments, k, input.dtype)
    last = not input.is_contiguous() and input.movedim(dim, -1).is_contiguous()  # channels_last
    if last:
        return _reduce(
            input.movedim(dim, -1), operators, moments, k, input.ndim - 1, layout, partition
        ).movedim(-1, dim)
    return _reduce(input, operators, moments, k, dim, layout, partition)


def _reduce(
    input: Tensor,
    operators: Sequence[str],
    moments: Sequence[tuple[float, float]],
    k: int,
    dim: int,
    layout: str,
    partition: bool,
) -> Tensor:
    """The functions of an input that lies in memory in the order of its dimensions."""
    before, features, after = input.shape[:dim], input.shape[dim], input.shape[dim + 1 :]
    rows, groups, inner = math.prod(before), features // k, math.prod(after)
    shape = (rows, groups, k, inner) if layout == "pairs" else (rows, 1, k, groups * inner)
    grouped = input.reshape(shape)
    if wants_torch_operations(forward=1):
        functions = [kernels.FUNCTIONS.index(each) for each in operators]
        means, scales = [mean for mean, _ in moments], [1 / deviation for _, deviation in moments]
        output = kernels.logic_form(grouped, functions, means, scales, partition)
    else:
        output = kernels.logic(grouped, operators, moments, partition=partition)
    return output.reshape(*before, output.shape[1] * groups, *after)


def _check_scales(
    operators: Sequence[str], moments: Sequence[tuple[float, float]], k: int, dtype: torch.dtype
) -> None:
    """Refuse a normalized function whose scale is infinite in the dtype that it is computed in."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    for name, (_, deviation) in zip(operators, moments, strict=True):
        if deviation < 1 / torch.finfo(wide).max:
            raise ValueError(
                f"k is {k}: the deviation of {name} is {deviation:.3g}, too small for {wide}; take "
                "a smaller k, or an input in torch.float64"
            )


def check_normalized(normalized: bool) -> None:
    """Refuse what is neither True nor False.

    Args:
        normalized: as :func:`reduce_groups` takes it.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(normalized, bool):
        raise TypeError(f"normalized is {normalized!r}; give True or False")


def _check(input: Tensor, k: int, dim: int, layout: str, normalized: bool, shares: int) -> None:
    """Refuse what cannot be divided into groups."""
    if not isinstance(input, Tensor):
        raise TypeError(f"input is a {type(input).__name__}; give a tensor")
    check_floating(input.dtype)
    for name, value in (("k", k), ("dim", dim)):
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{name} is {value!r}; give an integer")
    if k < 2:
        raise ValueError(f"k is {k}; a group has 2 features or more")
    if layout not in get_args(Layout):
        raise ValueError(f"layout is {layout!r}; give 'pairs' or 'halves'")
    check_normalized(normalized)
    if not -input.ndim <= dim < input.ndim:
        raise ValueError(
            f"dim is {dim}, but input has shape {tuple(input.shape)}; give a dimension that it "
            "has, such as -1 for the last one of one or more"
        )
    multiple = k * shares
    if input.shape[dim] % multiple:
        parts = f"groups of {k}" if shares == 1 else f"{shares} equal shares of groups of {k}"
        raise ValueError(
            f"input has {input.shape[dim]} features along dimension {dim}, which do not make "
            f"{parts}; give a multiple of {multiple}"
        )
