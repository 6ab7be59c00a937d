"""From the outcomes of all autoencoders to table 5 and figure 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from torchalu.evaluate import Estimate, t_interval, wilson
from torchalu.experiments.trask2018.picks import TOLERATED, picks
from torchalu.experiments.trask2018.published_arithmetic import TABLE5

SHOWN = 20
"""The number up to which figure 1 is drawn."""

SOLVED_BELOW = 0.05
"""Percent of the error of an answer that is always 0: what rounds to the table's 0.0."""

_ZERO_ERROR = 500.0  # what the paper divides by: the error of always answering 0


def errors_beyond(outcomes: pl.DataFrame, models: Sequence[str]) -> pl.DataFrame:
    """Table 5.

    Args:
        outcomes: of all seeds.
        models: in their order.

    Returns:
        A row a model: the `published` mean absolute error, `best`, that of the seed with the
        lowest training loss, `mean` with Student's interval, missing where an error is not finite,
        the `median`, `percent` of always answering 0, and how many seeds are `solved`, with
        Wilson's interval.
    """
    table = pl.DataFrame([_row(name, runs) for name, runs in _by_model(outcomes, models)])
    published = table.select("model").join(TABLE5, on="model", how="left")["published"]
    return table.insert_column(1, published)


def curves(outcomes: pl.DataFrame, models: Sequence[str]) -> pl.DataFrame:
    """Figure 1.

    Args:
        outcomes: of all seeds.
        models: in their order.

    Returns:
        A row a model and number: the mean absolute error with its interval, missing where an error
        is not finite.
    """
    points = [row for name, runs in _by_model(outcomes, models) for row in _curve(name, runs)]
    return pl.DataFrame(points)


def which_to_pick(table: pl.DataFrame) -> pl.DataFrame:
    """Which model to pick, beside the paper's NAC.

    Args:
        table: table 5.

    Returns:
        A row, as `picks` gives it; no error above 10% of that of always answering 0 can be lived
        with.
    """
    cells = table.with_columns(
        task=pl.lit("identity"), holds=pl.col("median") <= TOLERATED * _ZERO_ERROR
    )
    return picks(cells, ["task"], "median", ["NAC"])


def _by_model(outcomes: pl.DataFrame, models: Sequence[str]) -> list[tuple[str, pl.DataFrame]]:
    """The outcomes of each model, in their order."""
    groups = outcomes.partition_by("model", as_dict=True, maintain_order=True)
    return sorted(
        ((str(name), runs) for (name,), runs in groups.items()),
        key=lambda group: models.index(group[0]),
    )


def _row(model: str, runs: pl.DataFrame) -> dict:
    """The row of table 5."""
    mean = _mean(runs["error"].to_list())
    best = runs.sort("validation_loss", "seed").row(0, named=True)
    solved = int((100 * runs["error"] / _ZERO_ERROR < SOLVED_BELOW).sum())
    low, high = wilson(solved, runs.height)
    return {
        "model": model,
        "best": best["error"],
        "mean": mean.mean,
        "mean_low": mean.low,
        "mean_high": mean.high,
        "median": runs["error"].fill_nan(math.inf).median(),
        "percent": None if mean.mean is None else 100 * mean.mean / _ZERO_ERROR,
        "seeds": runs.height,
        "solved": solved,
        "solved_low": low,
        "solved_high": high,
    }


def _curve(model: str, runs: pl.DataFrame) -> list[dict]:
    """The points of figure 1."""
    rows = []
    by_number = zip(*runs["errors"].to_list(), strict=True)
    for number, errors in zip(range(-SHOWN, SHOWN + 1), by_number, strict=True):
        mean = _mean(errors)
        row = {"model": model, "number": number, "error": mean.mean}
        rows.append(row | {"error_low": mean.low, "error_high": mean.high})
    return rows


def _mean(errors: Sequence[float]) -> Estimate:
    """The mean of errors, which there is not where one is not finite."""
    return t_interval(errors if all(map(math.isfinite, errors)) else [])
