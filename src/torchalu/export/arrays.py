"""Tables as arrays, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def real_array(name: str, values: Any, *dimensions: int) -> np.ndarray:
    """The values as an array of real numbers, in their own dtype; bfloat16 becomes float32."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values.float() if values.dtype == torch.bfloat16 else values
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; allowed: none; remove these rows")
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} has the dtype {array.dtype}; allowed: real numbers; convert it before"
        )
    if array.ndim not in dimensions:
        allowed = {1: "(rows,)", 2: "(rows, columns)"}
        raise ValueError(
            f"{name} has the shape {array.shape}; allowed: "
            f"{' or '.join(allowed[dimension] for dimension in dimensions)}"
        )
    return array


def finite(name: str, array: np.ndarray) -> np.ndarray:
    """The array in float64, without NaN and infinities."""
    array = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        position = ", ".join(map(str, bad[0].tolist()))
        raise ValueError(
            f"{name} has {len(bad)} entries that are NaN or infinite, the first one at "
            f"[{position}]; allowed: finite numbers; remove these rows"
        )
    return array


def input_names(names: Sequence[str] | None, count: int) -> list[str]:
    """The inputs' names."""
    if names is None:
        return [f"x{index}" for index in range(count)]
    names = list(names)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(
            f"names has {len(names)} entries, {len(set(names))} of them different; allowed: one "
            f"for each of the {count} columns of X, all different"
        )
    return names
