"""What a regressor is handed, column by column, before scikit-learn makes one array of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from torchalu.estimators.optional import DataFrame


def as_arrays(name: str, values: Any) -> Any:
    """A tensor as an array of its dtype, all else as it is.

    Args:
        name: of the argument, for the error.
        values: features, a target or weights.

    Raises:
        TypeError: what NumPy has no numbers for.
    """
    if isinstance(values, pl.LazyFrame):
        raise TypeError(f"{name} is a polars LazyFrame; allowed: a DataFrame; call .collect()")
    if not isinstance(values, Tensor):
        return values
    if values.dtype == torch.bfloat16:
        raise TypeError(
            f"{name} is a tensor of torch.bfloat16, which NumPy does not have; call .float(), and "
            "set tolerance=8e-2"
        )
    return values.detach().cpu().numpy()


def feature_columns(X: Any) -> list[tuple[str, np.ndarray]]:
    """The names and values of the features; none where only scikit-learn can tell what X is."""
    if isinstance(X, DataFrame):
        return [(str(name), column.to_numpy()) for name, column in X.items()]
    if isinstance(X, pl.DataFrame):
        return [(column.name, column.to_numpy()) for column in X]
    array = _array(X)
    if array is None or array.ndim != 2:
        return []
    return [(f"x{index}", column) for index, column in enumerate(array.T)]


def check_names(names: Iterable[str]) -> None:
    """Refuse features of which two have the same name, or one has none that can be read.

    Raises:
        ValueError: there are such names.
    """
    names = list(names)
    for number, name in enumerate(names, 1):
        if not name.strip() or len(name.splitlines()) > 1:
            raise ValueError(
                f"column {number} of X has the name {name!r}; allowed: a name on one line that is "
                "not blank; rename it"
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column {repeated[0]!r}; allowed: a name for each; rename them"
        )


def target_column(y: Any) -> list[tuple[str, np.ndarray]]:
    """The target likewise, called y."""
    array = _array(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return [] if array is None or array.ndim not in (1, 2) else [("y", array.ravel())]


def _array(values: Any) -> np.ndarray | None:
    """An array or nested lists as an array; None for all else, and for ragged lists."""
    if not isinstance(values, (np.ndarray, list, tuple)):
        return None
    try:
        return values if np.ma.isMaskedArray(values) else np.asarray(values)
    except ValueError:
        return None
