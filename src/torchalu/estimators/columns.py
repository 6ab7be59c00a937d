"""What a regressor is handed, column by column, before scikit-learn makes one array of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from torchalu.estimators.optional import DataFrame


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


def target_column(y: Any) -> list[tuple[str, np.ndarray]]:
    """The target likewise, called y."""
    array = _array(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return [] if array is None or array.ndim not in (1, 2) else [("y", array.ravel())]


def _array(values: Any) -> np.ndarray | None:
    """An array or nested lists as an array; None for all else, and for ragged lists."""
    if not isinstance(values, (np.ndarray, list, tuple)):
        return None
    try:
        return np.asarray(values)
    except ValueError:
        return None
