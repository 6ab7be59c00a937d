"""From outcomes of runs to rates and means with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from torchalu.arguments import check_texts
from torchalu.evaluate.intervals import beta_mean_interval, gamma_mean_interval, wilson

_NEEDED = pl.Schema(
    {
        "solved": pl.Boolean,
        "solved_at_step": pl.Int64,
        "sparsity_error": pl.Float64,
        "steps": pl.Int64,
        "status": pl.String,
    }
)
_COLUMNS = {
    "seeds": pl.Int64,
    "solved": pl.Int64,
    "solved_rate": pl.Float64,
    "solved_low": pl.Float64,
    "solved_high": pl.Float64,
    "solved_at_median": pl.Float64,
    "solved_at_mean": pl.Float64,
    "solved_at_low": pl.Float64,
    "solved_at_high": pl.Float64,
    "sparsity_error_mean": pl.Float64,
    "sparsity_error_low": pl.Float64,
    "sparsity_error_high": pl.Float64,
    "nan": pl.Int64,
    "steps_mean": pl.Float64,
}


def summarize(outcomes: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Count what was solved, and give means over the solved runs, with 95% intervals.

    Args:
        outcomes: a row a run, as `torchalu.evaluate.outcomes` answers.
        by: the columns to group by; without any, all runs are one group.

    Returns:
        A row a group, in the order of its first run: the columns of `by`; `seeds`, how many runs;
        `solved`, how many were; `solved_rate`, `solved_low`, `solved_high` (Wilson);
        `solved_at_median`, `solved_at_mean`, `solved_at_low`, `solved_at_high` (gamma);
        `sparsity_error_mean`, `sparsity_error_low`, `sparsity_error_high` (beta on [0, 0.5]);
        `nan`, how many ended not finite; `steps_mean`, over all runs. Null where nothing was
        solved.

    Raises:
        TypeError: `by` is no list of strings.
        ValueError: a column is missing, or named twice.

    Source:
        Madsen & Johansen 2020, section 4.1.1.

    Example:
        >>> outcomes = pl.DataFrame(
        ...     {
        ...         "model": ["NMU", "NMU", "NALU"],
        ...         "solved": [True, True, False],
        ...         "solved_at_step": [1000, 3000, None],
        ...         "sparsity_error": [1e-7, 2e-7, 0.4],
        ...         "steps": [5000, 5000, 700],
        ...         "status": ["finished", "stopped", "nan"],
        ...     }
        ... )
        >>> summarize(outcomes, by=["model"]).select("model", "solved", "solved_at_median").rows()
        [('NMU', 2, 2000.0), ('NALU', 0, None)]
    """
    check_texts("by", by)
    keys = list(by)
    missing = [name for name in (*keys, *_NEEDED) if name not in outcomes.columns]
    if missing:
        raise ValueError(f"outcomes has no column {missing[0]!r}; it has {outcomes.columns}")
    if taken := [name for name in keys if name in _COLUMNS or keys.count(name) > 1]:
        raise ValueError(f"by holds {taken[0]!r}, a column of the summary or a repetition")
    if keys:
        groups = outcomes.cast(_NEEDED).group_by(keys, maintain_order=True)
    else:
        groups = [((), outcomes.cast(_NEEDED))]
    rows = [(*key, *_row(group)) for key, group in groups]
    schema = {name: outcomes.schema[name] for name in keys} | _COLUMNS
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(group: pl.DataFrame) -> tuple[object, ...]:
    """The values of `_COLUMNS` for one group."""
    solved = group.filter("solved")
    steps = solved["solved_at_step"].drop_nulls()
    at = gamma_mean_interval(steps.to_numpy())
    sparsity = solved["sparsity_error"].fill_nan(None).drop_nulls()
    error = beta_mean_interval(sparsity.to_numpy())
    low, high = wilson(len(solved), len(group))
    return (
        len(group),
        len(solved),
        len(solved) / len(group) if len(group) else None,
        low,
        high,
        steps.median(),
        *at,
        *error,
        group["status"].eq("nan").sum(),
        group["steps"].mean(),
    )
