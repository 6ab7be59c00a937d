"""The needle of the demo: 100 columns, (sum of 25) x (sum of another, overlapping 25)."""

import time

import numpy as np

from benchmarks.row import Row
from torchalu.estimators import ArithmeticRegressor
from torchalu.tasks import Needle, Table

ROWS = {0.0: 1_000, 0.01: 40_000}
"""Rows by noise. With 1% noise fewer than about 40,000 do not tell the truth from its neighbors."""

QUADRATIC_ROWS = 8_000


def fit(table: Table) -> float:
    """Seconds of one fit, restarts included, on all cores."""
    start = time.perf_counter()
    ArithmeticRegressor(random_state=0).fit(table.X, table.y)
    return time.perf_counter() - start


def quadratic_least_squares() -> float:
    """Seconds of least squares on all products of two columns, which solves the clean table."""
    table = Needle(seed=0).sample(QUADRATIC_ROWS, 1.0, 2.0)
    i, j = np.triu_indices(table.X.shape[1])
    start = time.perf_counter()
    np.linalg.lstsq(table.X[:, i] * table.X[:, j], table.y, rcond=None)
    return time.perf_counter() - start


def benchmark() -> list[Row]:
    """A row for the clean table, one for the noisy one."""
    baseline = quadratic_least_squares()
    return [
        Row(
            name=f"needle, {rows:,} rows, {'1% noise' if noise else 'no noise'}",
            unit="s",
            ours=fit(Needle(seed=0).sample(rows, 1.0, 2.0, noise=noise, seed=0)),
            baseline=None if noise else baseline,
            baseline_name="" if noise else f"quadratic least squares, {QUADRATIC_ROWS:,} rows",
            floor=None,
            target="<= 30 s",
        )
        for noise, rows in ROWS.items()
    ]
