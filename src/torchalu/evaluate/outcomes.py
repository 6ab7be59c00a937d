"""From the records of training runs to one outcome a run."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from torchalu.arguments import check_texts

_MEASURES = ("step", "validation_loss", "extrapolation_loss", "sparsity_error")


def outcomes(
    records: pl.DataFrame, threshold: float, by: Sequence[str] = ("replica",)
) -> pl.DataFrame:
    """Say of each run whether it was solved, when, and how sparse it was.

    The best step is the first with the lowest validation loss. A run is solved if its
    extrapolation loss there is below the threshold; `solved_at_step` is its first evaluation below
    it. A run whose last validation loss is NaN or infinite counts as unsolved.

    Args:
        records: a row a run and evaluation, as in `torchalu.engine.Result.records`.
        threshold: on the extrapolation loss; see `torchalu.evaluate.threshold`.
        by: the columns that tell runs apart.

    Returns:
        A row a run, sorted by `by`: those columns, `solved`, `solved_at_step` (null if unsolved),
        `sparsity_error`, `best_step`, `validation_loss` and `extrapolation_loss` (all four at the
        best step; null if no evaluation gave a number), `steps` (of the last record) and `status`:
        "nan" or "finished". Records do not tell a run that was stopped early from a finished one;
        `torchalu.engine.Result.status` does.

    Raises:
        TypeError: `by` is no list of strings.
        ValueError: a column is missing, or the threshold is not positive.

    Source:
        Madsen & Johansen 2020, section 4.1.1. Departure: a run that ends not finite is unsolved;
        the authors' program looks for the best step before that as well.

    Example:
        >>> records = pl.DataFrame(
        ...     {
        ...         "replica": [0, 0, 0],
        ...         "step": [1000, 2000, 3000],
        ...         "validation_loss": [0.5, 0.1, 0.2],
        ...         "extrapolation_loss": [9.0, 0.3, 0.1],
        ...         "sparsity_error": [0.4, 0.01, 0.02],
        ...     }
        ... )
        >>> outcomes(records, threshold=0.5).row(0, named=True)["solved_at_step"]
        2000
    """
    check_texts("by", by)
    keys = list(by)
    missing = [name for name in (*keys, *_MEASURES) if name not in records.columns]
    if missing:
        raise ValueError(f"records has no column {missing[0]!r}; it has {records.columns}")
    if not threshold > 0:
        raise ValueError(f"threshold is {threshold}; give a positive number")
    validation = pl.col("validation_loss")
    best = validation.fill_nan(None).arg_min()
    below = pl.col("extrapolation_loss") < threshold
    finite = validation.last().is_finite().fill_null(True)
    measured = (
        records.sort(*keys, "step", maintain_order=True)  # two rows of a step: the later one last
        .group_by(keys, maintain_order=True)
        .agg(
            solved=below.get(best) & finite,
            solved_at_step=pl.col("step").filter(below).first().cast(pl.Int64),
            sparsity_error=pl.col("sparsity_error").get(best).cast(pl.Float64),
            best_step=pl.col("step").get(best).cast(pl.Int64),
            validation_loss=validation.get(best).cast(pl.Float64),
            extrapolation_loss=pl.col("extrapolation_loss").get(best).cast(pl.Float64),
            steps=pl.col("step").last().cast(pl.Int64),
            status=pl.when(finite).then(pl.lit("finished")).otherwise(pl.lit("nan")),
        )
    )
    return measured.with_columns(pl.col("solved").fill_null(False)).with_columns(
        solved_at_step=pl.when("solved").then("solved_at_step")
    )
