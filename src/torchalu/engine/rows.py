"""A task as data that the native trainer reads."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchalu import _core
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
    """The very batch that `train` draws at a step (counted from 0): inputs and targets."""
    rows = -(-batch_size // ROW_GROUP) * ROW_GROUP
    columns = torch.empty(task.in_features, rows, dtype=dtype)
    _core.sample(seed, replica, 0, step, _native_range(task.interpolation_range), columns)
    x = columns.T[:batch_size].contiguous()
    return x, task.target(x, *task.subsets_of(seed, replica))


def native_task(
    task: SimpleFunction | Table,
    validation: Table | None,
    network: Stack,
    seed: int,
    ids: np.ndarray,
    dtype: torch.dtype,
    batch_size: int,
) -> dict[str, object]:
    """The arguments sampled, table and validation of `torchalu._core.train`.

    Raises:
        ValueError: the task has another number of inputs than the stack.
    """
    if isinstance(task, Table):
        order = np.random.default_rng(seed).permutation(len(task.y))
        if len(task.y) <= batch_size:
            order = np.arange(len(task.y))
        return {
            "sampled": None,
            "table": _columns(task, order, batch_size, dtype),
            "validation": _columns(
                validation or task, np.arange(len((validation or task).y)), batch_size, dtype
            ),
        }
    if task.in_features != network.in_features:
        raise ValueError(
            f"task has in_features = {task.in_features}, but stack[0] takes {network.in_features}"
        )
    subsets = [task.subsets_of(seed, int(replica)) for replica in ids]
    first, second = (np.stack([pair[k] for pair in subsets]) for k in (0, 1))
    return {
        "sampled": (
            OPERATIONS.index(task.operation),
            first,
            second,
            _native_range(task.interpolation_range),
            _native_range(task.extrapolation_range),
            task.evaluation_rows,
        ),
        "table": None,
        "validation": None,
    }


def _columns(
    table: Table, order: np.ndarray, batch_size: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, int]:
    """The table feature by feature, its first rows repeated at the end.

    Sample weights are scaled to a mean of 1.
    """
    rows = len(order)
    slices = -(-rows // ROW_GROUP) * ROW_GROUP + -(-batch_size // ROW_GROUP) * ROW_GROUP
    index = order[np.arange(slices) % rows]
    weight = np.ones(rows) if table.sample_weight is None else table.sample_weight
    weight = weight / weight.mean()
    parts = (table.X[index].T, table.y[index][None], weight[index])
    x, y, w = (_aligned(torch.from_numpy(np.ascontiguousarray(part)).to(dtype)) for part in parts)
    return x, y, w, rows


def _aligned(tensor: Tensor) -> Tensor:
    """The same values on a 64-byte boundary, as the vectors of the native trainer need."""
    room = torch.empty(tensor.numel() + 64, dtype=tensor.dtype)
    skip = (-room.data_ptr() % 64) // room.element_size()
    return room[skip : skip + tensor.numel()].view(tensor.shape).copy_(tensor)


def _native_range(sampling_range: object) -> tuple[float, float, float, float, bool]:
    parts = intervals(sampling_range)  # pyright: ignore[reportArgumentType]
    (low, high), (low2, high2) = parts[0], parts[-1]
    return low, high, low2, high2, len(parts) == 2
