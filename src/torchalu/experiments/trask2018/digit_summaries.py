"""From the outcomes of all seeds to tables 2 and 10, the laws, and the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.digit_models import MODELS
from torchalu.experiments.trask2018.medians import median_interval
from torchalu.experiments.trask2018.picks import TOLERATED, best_published, picks
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES
from torchalu.experiments.trask2018.unread import unread

_CELL = ("task", "model", "length")
_MEASURES = ("mae", "mse", "accuracy")
_UNITS = [name for name, model in MODELS.items() if model.is_unit]


def errors_by_length(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The errors of all seeds by task, model and length, beside the published ones.

    Args:
        outcomes: of a study.

    Returns:
        A row a cell: `seeds`; for `mae` and `mse` the published number, that of the seed that
        validates best (`chosen`), and best, median and worst of all seeds, with the median's
        interval as `median_interval` gives it; the accuracy of single digits likewise; `reached`,
        how many seeds have no greater error than the best that the paper has for any model in
        this task and length (of single digits, no lower accuracy), with the 95% interval of their
        share.

    Example:
        >>> rows = {"task": ["sum"] * 2, "model": ["NAU"] * 2, "length": [100] * 2, "seed": [0, 1]}
        >>> rows |= {"mae": [0.5, 9.0], "mse": [1.0, 99.0], "accuracy": [0.6, 0.0]}
        >>> table = errors_by_length(pl.DataFrame(rows | {"validation_loss": [0.2, 0.1]}))
        >>> table.select("best_mae", "chosen_mae", "reached", "seeds").row(0)
        (0.5, 9.0, 1, 2)
    """
    single = pl.col("length") == 1
    seeds = outcomes.with_columns(
        pl.col("mae", "mse", "validation_loss").fill_nan(float("inf")),
        accuracy=pl.when(single).then(pl.col("accuracy")),
    )
    target = DIGIT_TABLES.group_by("task", "length").agg(
        target_mae=pl.col("published_mae").min(),
        target_accuracy=pl.col("published_accuracy").max(),
    )
    seeds = seeds.join(target, on=["task", "length"], how="left", maintain_order="left")
    reached = pl.when(single).then(pl.col("accuracy") >= pl.col("target_accuracy")).otherwise(
        pl.col("mae") <= pl.col("target_mae")
    )  # fmt: skip
    table = (
        seeds.with_columns(reached=reached)
        .sort("validation_loss", "seed")
        .group_by(_CELL, maintain_order=True)
        .agg(
            seeds=pl.len(),
            **{f"chosen_{name}": pl.col(name).first() for name in _MEASURES},
            **{
                f"{how}_{name}": getattr(pl.col(name), function)()
                for name in ("mae", "mse")
                for how, function in (("best", "min"), ("median", "median"), ("worst", "max"))
            },
            best_accuracy=pl.col("accuracy").max(),
            median_accuracy=pl.col("accuracy").median(),
            worst_accuracy=pl.col("accuracy").min(),
            **{f"all_{name}": pl.col(name).drop_nulls() for name in _MEASURES},
            reached=pl.when(pl.col("reached").is_not_null().any()).then(pl.col("reached").sum()),
        )
        .join(DIGIT_TABLES, on=_CELL, how="left", maintain_order="left")
    )
    for name in _MEASURES:
        ends = [median_interval(values) for values in table[f"all_{name}"].to_list()]
        table = table.with_columns(
            pl.Series(f"low_{name}", [low for low, _ in ends], pl.Float64),
            pl.Series(f"high_{name}", [high for _, high in ends], pl.Float64),
        ).drop(f"all_{name}")
    return _with_interval(table, "reached", "seeds").sort("task", "length", maintain_order=True)


def as_printed(errors: pl.DataFrame, task: str, error: str) -> pl.DataFrame:
    """A task as the paper prints it: a row a model, and for each length the paper's and ours.

    Args:
        errors: as `errors_by_length` gives them.
        task: "count", "sum" or "product".
        error: "mae" or "mse".

    Returns:
        For single digits accuracies in percent, for longer series errors: published, of the seed
        that validates best, and the median with its interval, `low` to `high`. Behind the model
        stands the number of seeds. In the last row, as `median`, the errors of an answer that
        reads no image, of `unread`.
    """
    rows = errors.filter(pl.col("task") == task)
    table = rows.group_by("model", maintain_order=True).agg(pl.col("seeds").min())
    blind: dict[str, Any] = {"model": "reads nothing"}
    for length in rows["length"].unique().sort():
        measure, factor = ("accuracy", 100.0) if length == 1 else (error, 1.0)
        short = "accuracy" if length == 1 else f"{error}_{length}"
        columns = [
            (factor * pl.col(f"{how}_{measure}")).alias(f"{short}_{how}")
            for how in ("published", "chosen", "median", "low", "high")
        ]
        cells = rows.filter(pl.col("length") == length).select("model", *columns)
        if length > 1:
            blind[f"{short}_median"] = getattr(unread(task, length), error)
        table = table.join(cells, on="model", how="left", maintain_order="left")
    table = pl.concat([table, pl.DataFrame([blind])], how="diagonal")
    bounds = ("_low", "_high")
    return table.select(
        name
        for name in table.columns
        if name == "model" or name.endswith(bounds) or table[name].is_not_null().any()
    )


def settled(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The units as they answer once snapped and settled, in place of what was trained.

    Args:
        outcomes: of a study.

    Returns:
        The rows of units that were snapped, whose `mae` is the error behind the snapped unit.
        Accuracies and square errors are not measured there, and missing.

    Example:
        >>> rows = {"model": ["NAU", "GRU"], "mae": [3.0, 2.0], "law_mae": [0.5, None]}
        >>> rows |= {"mse": [9.0, 4.0], "accuracy": [0.1, 0.2]}
        >>> settled(pl.DataFrame(rows)).select("model", "mae", "mse").rows()
        [('NAU', 0.5, None)]
    """
    missing = pl.lit(None, pl.Float64)
    return outcomes.filter(pl.col("law_mae").is_not_null()).with_columns(
        mae="law_mae", mse=missing, accuracy=missing
    )


def which_to_pick(trained: pl.DataFrame, snapped: pl.DataFrame) -> pl.DataFrame:
    """Which model to pick for each task and length of more than one digit.

    Args:
        trained: the errors of networks as trained, as `errors_by_length` gives them.
        snapped: the same of those that are snapped and settled. A model with fewer seeds there
            than trained is left out: what could not be snapped is missing, and so are its errors.

    Returns:
        A row a task and length, as `picks` gives it, with the pick's `form`, "trained" or
        "settled". The paper's are NAC and NALU as trained; `reached` are the solved seeds. Behind
        them stands the best published error with its model, of all that the paper tries. An
        error can be lived with if it is not above 10% of `unread_mae`, that of an answer that
        reads no image.

    Example:
        >>> rows = {"task": ["sum"] * 2, "model": ["NAC", "NAU"], "length": [10] * 2}
        >>> rows |= {"median_mae": [3.0, 1.0], "reached": [0, 2], "seeds": [2, 2]}
        >>> trained = pl.DataFrame(rows)
        >>> snapped = trained.with_columns(median_mae=pl.lit(0.5))
        >>> which_to_pick(trained, snapped).select("pick", "form", "paper", "factor").row(0)
        ('NAC', 'settled', 'NAC', 6.0)
    """
    snapped = snapped.join(trained.select(*_CELL, "seeds"), on=[*_CELL, "seeds"], how="semi")
    forms = {"trained": trained, "settled": snapped}
    columns = [*_CELL, "median_mae", "reached", "seeds"]
    cells = pl.concat(
        table.select(*columns, form=pl.lit(form)) for form, table in forms.items() if table.height
    ).filter(pl.col("length") > 1)
    blind = [unread(task, n).mae for task, n in cells.select("task", "length").rows()]
    cells = cells.with_columns(pl.Series("unread_mae", blind, pl.Float64))
    holds = pl.col("median_mae") <= TOLERATED * pl.col("unread_mae")
    cells = cells.with_columns(holds=holds).sort("task", "length", maintain_order=True)
    table = picks(
        cells,
        ["task", "length"],
        "median_mae",
        ["NAC", "NALU"],
        count="reached",
        kept=["form", "unread_mae"],
        theirs=cells.filter(pl.col("form") == "trained"),
    )
    best = best_published(DIGIT_TABLES, ["task", "length"], "published_mae")
    return table.join(best, on=["task", "length"], how="left", maintain_order="left")


def laws(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The laws that snapped units say, and how well their images' part reads digits.

    Args:
        outcomes: of a study.

    Returns:
        A row a task, unit and length: `seeds`; `lawful`, how many say a law that is verified, with
        the 95% interval of their share; `exact`, how many of these are certified; and of the
        lawful seed that
        validates best: the `law`, the `reading`, the `read_accuracy` of digits with its 95%
        interval, and the mean absolute errors trained, snapped, settled, and of the law of
        rounded readings.
    """
    units = outcomes.filter(pl.col("model").is_in(_UNITS))
    order = [pl.col("law").is_null(), pl.col("validation_loss").fill_nan(float("inf")), "seed"]
    table = (
        units.sort(order)
        .group_by(_CELL, maintain_order=True)
        .agg(
            seeds=pl.len(),
            lawful=pl.col("law").count(),
            exact=pl.col("exact").fill_null(value=False).sum(),
            law=pl.col("law").first(),
            read_accuracy=pl.col("read_right").first() / pl.col("read_images").first(),
            read_low=pl.col("read_low").first(),
            read_high=pl.col("read_high").first(),
            trained_mae=pl.col("mae").first(),
            snapped_mae=pl.col("snapped_mae").first(),
            settled_mae=pl.col("law_mae").first(),
            rounded_mae=pl.col("rounded_mae").first(),
            reading=pl.col("reading").first(),
        )
        .sort("task", "length", maintain_order=True)
    )
    return _with_interval(table, "lawful", "seeds")


def ranked(outcomes: pl.DataFrame, labels: Sequence[str], within: Sequence[str]) -> pl.DataFrame:
    """Settings by their validation loss, the best first.

    Args:
        outcomes: of a search.
        labels: tell settings apart.
        within: the labels whose settings are ranked among themselves.

    Returns:
        A row a setting: `seeds`, and median and best of the validation loss.

    Example:
        >>> rows = {"model": ["NAC"] * 2, "rate": [0.1, 0.01], "validation_loss": [2.0, 1.0]}
        >>> ranked(pl.DataFrame(rows), ["model", "rate"], ["model"])["rate"].to_list()
        [0.01, 0.1]
    """
    loss = pl.col("validation_loss").fill_nan(float("inf"))
    return (
        outcomes.group_by(labels, maintain_order=True)
        .agg(seeds=pl.len(), median_validation_loss=loss.median(), best_validation_loss=loss.min())
        .sort(*within, "median_validation_loss", maintain_order=True)
    )


def _with_interval(table: pl.DataFrame, count: str, of: str) -> pl.DataFrame:
    """A table with the 95% interval of a share behind its count."""
    pairs = table.select(count, of).iter_rows()
    intervals = [(None, None) if n is None else wilson(n, total) for n, total in pairs]
    return table.with_columns(
        pl.Series(f"{count}_low", [low for low, _ in intervals], pl.Float64),
        pl.Series(f"{count}_high", [high for _, high in intervals], pl.Float64),
    )
