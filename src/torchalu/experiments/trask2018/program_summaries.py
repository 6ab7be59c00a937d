"""From the outcomes of all networks on programs to the tables and curves that are shown."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.digit_summaries import ranked
from torchalu.experiments.trask2018.medians import median_interval
from torchalu.experiments.trask2018.picks import TOLERATED, picks

_SHOWN = ("model", "sees_numbers")
_CELL = (*_SHOWN, "hidden", "learning_rate", "registers")
_SOLVED = 0.99
_SIGMAS = 2.0


def program_tables(figure: str) -> Callable[[pl.DataFrame], dict[str, pl.DataFrame]]:
    """The tables of a figure: its curves, the results, and which model to pick.

    Of each model, with and without the numbers, the cell whose median validates best is shown.

    Args:
        figure: its name, such as "figure4".
    """

    def tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        cells = _ranked(outcomes).unique(_SHOWN, keep="first", maintain_order=True)
        chosen = outcomes.join(cells, on=list(_CELL), how="semi", maintain_order="left")
        digits = results(chosen)
        return {
            figure: curves(chosen),
            f"{figure}_digits": digits,
            f"{figure}_picks": which_to_pick(digits),
        }

    return tables


def search_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The cells of the search for figure 4, those of each model by their validation loss.

    Args:
        outcomes: of `figure4_search`.
    """
    return {"figure4_search": _ranked(outcomes)}


def curves(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The digits that match against the steps taken, with bands of two standard deviations.

    Args:
        outcomes: of one cell of each model, or of one with and one without the numbers.

    Returns:
        A row a model, `sees_numbers`, number of digits and step: `seeds`, the `mean` over them, and
        `low` and `high`, two standard deviations from it and cut off at 0 and 1, null of one seed.
        A seed that ended early in NaN keeps its last number.

    Source:
        Trask et al. 2018, figures 4 and 6.

    Example:
        >>> rows = {"model": ["NAC"] * 2, "sees_numbers": [False] * 2, "digits": [2, 2]}
        >>> rows |= {"seed": [0, 1], "evaluation_steps": [[5]] * 2}
        >>> rows |= {"matching_digits": [[0.5], [0.7]]}
        >>> curves(pl.DataFrame(rows)).select("seeds", "mean", "high").row(0)
        (2, 0.6, 0.88284...)
    """
    lines = [*_SHOWN, "digits"]
    long = outcomes.select(
        *lines,
        "seed",
        pl.col("evaluation_steps").alias("step"),
        pl.col("matching_digits").alias("matching"),
    ).explode("step", "matching")
    every = long.select("step").unique()
    runs = long.select(*lines, "seed").unique(maintain_order=True)
    filled = (
        runs.join(every, how="cross")
        .join(long, on=[*lines, "seed", "step"], how="left")
        .sort(*lines, "seed", "step")
        .with_columns(pl.col("matching").forward_fill().over(*lines, "seed"))
    )
    spread = pl.col("matching").std()
    mean = pl.col("matching").mean()
    return (
        filled.group_by(*lines, "step")
        .agg(
            seeds=pl.len(),
            mean=mean,
            low=(mean - _SIGMAS * spread).clip(0, 1),
            high=(mean + _SIGMAS * spread).clip(0, 1),
        )
        .sort(*lines, "step")
    )


def results(outcomes: pl.DataFrame) -> pl.DataFrame:
    """What is right at the best step by validation, by the digits of the numbers.

    Args:
        outcomes: of one cell of each model, or of one with and one without the numbers.

    Returns:
        A row a number of digits and cell, the best median first: `seeds`; the share of matching
        digits of the seed that validates best, `chosen`, of the `best` seed and of the `median`
        one, whose interval is from `low` to `high` as `median_interval` gives it; the median share
        of programs that are right as a whole, and the median error; and `solved`, the seeds with
        99% of the digits, with a 95% interval.
    """
    table = (
        outcomes.with_columns(pl.col("validation_loss").fill_nan(float("inf")))
        .sort("validation_loss", "seed", nulls_last=True)
        .group_by("digits", *_CELL, maintain_order=True)
        .agg(
            seeds=pl.len(),
            chosen_seed=pl.col("seed").first(),
            chosen=pl.col("matching").first(),
            best=pl.col("matching").max(),
            median=pl.col("matching").median(),
            low=pl.col("matching"),
            high=pl.col("matching"),
            median_right=pl.col("right").median(),
            median_rmse=pl.col("rmse").fill_nan(float("inf")).median(),
            solved=(pl.col("matching") >= _SOLVED).sum(),
        )
        .sort("digits", "median", *_SHOWN, descending=[False, True, False, False])
    )
    ends = [median_interval(values) for values in table["low"].to_list()]
    intervals = [wilson(*pair) for pair in table.select("solved", "seeds").iter_rows()]
    return table.with_columns(
        pl.Series("low", [low for low, _ in ends], pl.Float64),
        pl.Series("high", [high for _, high in ends], pl.Float64),
        pl.Series("solved_low", [low for low, _ in intervals], pl.Float64),
        pl.Series("solved_high", [high for _, high in intervals], pl.Float64),
    )


def which_to_pick(table: pl.DataFrame) -> pl.DataFrame:
    """Which model to pick for numbers of so many digits.

    Args:
        table: as `results` gives it.

    Returns:
        A row a number of digits, as `picks` gives it; a model that misses more than 10% of the
        digits cannot be lived with. Both forms of the gate are the paper's NALU.
    """
    cells = table.with_columns(holds=pl.col("median") >= 1 - TOLERATED)
    paper = ["NALU", "NALU,gate"]
    return picks(cells, ["digits"], "median_rmse", paper, kept=["sees_numbers"])


def _ranked(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The cells of each model, with and without the numbers, by their validation loss."""
    validated = outcomes.filter(pl.col("digits") == pl.col("digits").min())
    return ranked(validated, _CELL, _SHOWN)
