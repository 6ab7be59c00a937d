"""A task as data that the native trainer reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import cast

import numpy as np
import torch
from torch import Tensor

from torchalu import _core
from torchalu.arguments import check_integers_from_zero, check_positive_integers
from torchalu.engine.stack import Stack
from torchalu.tasks import SimpleFunction, Table, intervals

ROW_GROUP = 16
"""Rows are padded to multiples of this, as kRowGroup in src/core/simd.hpp."""

OPERATIONS = ("add", "sub", "mul", "div", "square", "root")
"""By number as in src/core/plan.hpp."""


def sample_batch(
    task: SimpleFunction,
    *,
    seed: int,
    replica: int,
    step: int,
    batch_size: int = 128,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """The very batch that `train` draws at a step: inputs and targets.

    Args:
        task: what is drawn from.
        seed: of the training.
        replica: the number of the replica.
        step: counted from 0.
        batch_size: rows.
        dtype: `torch.float32` or `torch.float64`.

    Returns:
        Inputs, (batch_size, task.in_features), and targets, (batch_size, 1), with the task's noise.

    Raises:
        TypeError: seed, step or `batch_size` is no integer, or the dtype is another.
        ValueError: one of these is out of range, or `replica` is no integer below 2**64.

    Example:
        >>> from torchalu.tasks import SimpleFunction
        >>> x, y = sample_batch(SimpleFunction("mul"), seed=0, replica=0, step=0)
        >>> x.shape, y.shape
        (torch.Size([128, 100]), torch.Size([128, 1]))
    """
    check_integers_from_zero(seed=seed, step=step)
    check_positive_integers(batch_size=batch_size)
    if not isinstance(replica, Integral) or not 0 <= replica < 2**64:
        raise ValueError(f"replica is {replica!r}; give an integer from 0 to below 2**64")
    check_dtype(dtype)
    rows = -(-batch_size // ROW_GROUP) * ROW_GROUP
    columns = torch.empty(task.in_features, rows, dtype=dtype)
    interval = _native_range(task.interpolation_range)
    _core.sample(seed, replica, 0, step, interval, columns, task.common_part)
    x = columns.T[:batch_size].contiguous()
    y = task.target(x, *task.subsets_of(seed, replica))
    if task.noise > 0:
        normal = torch.empty(rows, dtype=dtype)
        _core.normal(seed, replica, 0, step, normal)
        y = y * (1 + task.noise * normal[:batch_size, None])
    return x, y


def check_dtype(dtype: torch.dtype) -> None:
    """Refuse what the native trainer does not compute in.

    Args:
        dtype: `torch.float32` or `torch.float64`.

    Raises:
        TypeError: it is another.
    """
    if dtype not in (torch.float32, torch.float64):
        raise TypeError(f"dtype is {dtype}; give torch.float32 or torch.float64")


Native = dict[str, object]
"""What a task is to `torchalu._core.train`: sampled, table and validation."""


def native_task(
    task: SimpleFunction | Table,
    validation: Table | None,
    network: Stack,
    seed: int,
    ids: np.ndarray,
    dtype: torch.dtype,
    batch_size: int,
) -> Native:
    """A task as the native trainer reads it.

    Raises:
        ValueError: the task has another number of inputs than the stack.
    """
    if isinstance(task, Table):
        order = np.random.default_rng(seed).permutation(len(task.y))
        if len(task.y) <= batch_size:
            order = np.arange(len(task.y))
        held_out = validation or task
        in_order = np.arange(len(held_out.y))
        return {
            "sampled": None,
            "table": _columns(task, order, batch_size, dtype, _evenly(len(order), batch_size)),
            "validation": _columns(held_out, in_order, batch_size, dtype),
        }
    if task.in_features != network.in_features:
        raise ValueError(
            f"task has in_features = {task.in_features}, but stack[0] takes {network.in_features}"
        )
    subsets = [task.subsets_of(seed, int(replica)) for replica in ids]
    first, second = (np.stack([pair[k] for pair in subsets]) for k in (0, 1))
    sampled = (
        OPERATIONS.index(task.operation),
        first,
        second,
        _native_range(task.interpolation_range),
        _native_range(task.extrapolation_range),
        task.common_part,
        task.evaluation_rows,
        task.noise,
    )
    return {"sampled": sampled, "table": None, "validation": None}


def share_subsets(tasks: Sequence[Native]) -> None:
    """Let tasks with equal subsets hold the same arrays: their sums are then formed once."""
    known: dict[bytes, np.ndarray] = {}
    for task in tasks:
        operation, first, second, *rest = cast("tuple", task["sampled"])
        first, second = (known.setdefault(a.tobytes(), a) for a in (first, second))
        task["sampled"] = (operation, first, second, *rest)


def _columns(
    table: Table,
    order: np.ndarray,
    batch_size: int,
    dtype: torch.dtype,
    factor: np.ndarray | float = 1.0,
) -> tuple[Tensor, Tensor, Tensor, int]:
    """The table feature by feature, its first rows repeated at the end.

    Sample weights are scaled to a mean of 1; `factor` multiplies those of the rows in order.
    """
    rows = len(order)
    slices = -(-rows // ROW_GROUP) * ROW_GROUP + -(-batch_size // ROW_GROUP) * ROW_GROUP
    place = np.arange(slices) % rows
    index = order[place]
    weight = np.ones(rows) if table.sample_weight is None else table.sample_weight
    weight = (weight / weight.mean())[index] * np.broadcast_to(factor, rows)[place]
    parts = {"X": table.X[index].T, "y": table.y[index][None], "sample_weight": weight}
    x, y, w = (_converted(name, part, dtype) for name, part in parts.items())
    return x, y, w, rows


def _evenly(rows: int, batch_size: int) -> np.ndarray:
    """For each place in a shuffled table, its share of all batches over how often it is in one.

    Batches begin at the multiples of a row group, the last of which runs over the end of a table
    that is no multiple of it: the rows there, and the first ones, are in more or fewer batches.
    """
    if rows <= batch_size:
        return np.ones(rows)
    starts = np.arange(0, rows, ROW_GROUP)
    changes = np.zeros(starts[-1] + batch_size + 1)
    changes[starts] += 1
    changes[starts + batch_size] -= 1
    inside = np.cumsum(changes[:-1])
    times = np.bincount(np.arange(len(inside)) % rows, inside, rows)
    return len(starts) * batch_size / (rows * times)


def _converted(name: str, values: np.ndarray, dtype: torch.dtype) -> Tensor:
    """Numbers for the native trainer, which knows them to be finite."""
    largest = np.abs(values).max(-1)
    least = math.sqrt(torch.finfo(dtype).tiny)
    if ((largest > 0) & (largest < least)).any():
        raise ValueError(
            f"{name} has a column of at most {largest[largest > 0].min():.3g}, whose square "
            f"{dtype} does not hold; give dtype=torch.float64, or scale the table"
        )
    tensor = _aligned(torch.from_numpy(np.ascontiguousarray(values)).to(dtype))
    if not tensor.isfinite().all():
        raise ValueError(
            f"{name} holds {np.abs(values).max():.3g}, too large for {dtype}; give "
            "dtype=torch.float64, or scale the table"
        )
    return tensor


def _aligned(tensor: Tensor) -> Tensor:
    """The same values on a 64-byte boundary, as the vectors of the native trainer need."""
    room = torch.empty(tensor.numel() + 64, dtype=tensor.dtype)
    skip = (-room.data_ptr() % 64) // room.element_size()
    return room[skip : skip + tensor.numel()].view(tensor.shape).copy_(tensor)


def _native_range(sampling_range: object) -> tuple[float, float, float, float, bool]:
    parts = intervals(sampling_range)  # pyright: ignore[reportArgumentType]
    (low, high), (low2, high2) = parts[0], parts[-1]
    return low, high, low2, high2, len(parts) == 2
