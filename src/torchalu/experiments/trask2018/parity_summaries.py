"""From the outcomes of all seeds to table 4."""

from __future__ import annotations

import polars as pl

from torchalu.evaluate import t_interval, wilson
from torchalu.experiments.trask2018.picks import TOLERATED, picks
from torchalu.experiments.trask2018.published_digits import SEGUI_ACCURACY, TABLE4


def accuracies(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The test accuracies of all seeds by last layer, beside the published ones.

    Args:
        outcomes: of a study.

    Returns:
        A row a layer: `seeds`; the published accuracy, that of Seguí et al. for the first; the
        best of all seeds (the paper does not say how it chose), that of the seed that validates
        best, median, and mean with Student's 95% interval; `reached`, how many seeds are no worse
        than the published NAC, with the 95% interval of their share.

    Example:
        >>> rows = {"layer": ["NAC"] * 2, "seed": [0, 1], "validation_loss": [0.2, 0.1]}
        >>> table = accuracies(pl.DataFrame(rows | {"test_accuracy": [0.95, 0.91]}))
        >>> table.select("best", "chosen", "reached").row(0)
        (0.95, 0.91, 1)
    """
    target = TABLE4["published_accuracy"].max()
    accuracy = pl.col("test_accuracy")
    table = (
        outcomes.with_columns(pl.col("validation_loss").fill_nan(float("inf")))
        .sort("validation_loss", "seed")
        .group_by("layer", maintain_order=True)
        .agg(
            seeds=pl.len(),
            best=accuracy.max(),
            chosen=accuracy.first(),
            median=accuracy.median(),
            all=accuracy,
            reached=(accuracy >= target).sum(),
        )
        .join(TABLE4, on="layer", how="left", maintain_order="left")
        .with_columns(
            segui=pl.when(pl.col("layer") == "linear").then(pl.lit(SEGUI_ACCURACY)),
        )
    )
    means = [t_interval(values, bounds=(0, 1)) for values in table["all"].to_list()]
    shares = [wilson(*pair) for pair in table.select("reached", "seeds").iter_rows()]
    order = {name: index for index, name in enumerate(TABLE4["layer"])}
    return (
        table.drop("all")
        .with_columns(
            pl.Series("mean", [value.mean for value in means], pl.Float64),
            pl.Series("mean_low", [value.low for value in means], pl.Float64),
            pl.Series("mean_high", [value.high for value in means], pl.Float64),
            pl.Series("reached_low", [low for low, _ in shares], pl.Float64),
            pl.Series("reached_high", [high for _, high in shares], pl.Float64),
            place=pl.col("layer").replace_strict(order, default=len(order)),
        )
        .sort("place", "layer")
        .drop("place")
    )


def which_to_pick(table: pl.DataFrame) -> pl.DataFrame:
    """Which last layer to pick, by the share of pictures that are wrong.

    Args:
        table: as `accuracies` gives it.

    Returns:
        A row, as `picks` gives it, of which `reached` are the solved seeds; a layer that is wrong
        in more than 10% of the pictures cannot be lived with.

    Example:
        >>> rows = {"layer": ["NAC", "NAU"], "seed": [0, 0], "validation_loss": [0.2, 0.1]}
        >>> table = accuracies(pl.DataFrame(rows | {"test_accuracy": [0.91, 0.97]}))
        >>> which_to_pick(table).select("pick", "seeds", "paper").row(0)
        ('NAU', 1, 'NAC')
    """
    cells = table.rename({"layer": "model"}).with_columns(
        task=pl.lit("even digits"),
        median_error=1 - pl.col("median"),
        holds=pl.col("median") >= 1 - TOLERATED,
    )
    return picks(cells, ["task"], "median_error", ["NAC", "NALU"], count="reached")
