"""From outcomes of the arithmetic tasks to the paper's tables."""

from __future__ import annotations

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.arithmetic_data import Form
from torchalu.experiments.trask2018.arithmetic_training import MEASURED
from torchalu.experiments.trask2018.picks import TOLERATED, picks
from torchalu.experiments.trask2018.published_arithmetic import PUBLISHED

SOLVED_BELOW = 0.05
"""Percent of a random start's error: what rounds to the 0.0 of the paper's tables."""

_TESTS = ("interpolation", "extrapolation")
_LABELS = ["operation", "test", "model"]


def raw(outcomes: pl.DataFrame, form: Form) -> pl.DataFrame:
    """Mean squared errors.

    Args:
        outcomes: of an `ArithmeticStudy`.
        form: of the task.

    Returns:
        A row an operation, test and model, with the learning rate of the lowest median validation
        loss: the `published` error; `best`, that of the seed with the lowest validation loss;
        `median`, `seeds`, and how many have diverged, `nan`. A model "Random" is the untrained one.
    """
    rows = [_untrained(outcomes, operation, test) for operation, test in _cells(outcomes, form)]
    rows += [
        {
            **label,
            "learning_rate": runs["learning_rate"][0],
            "best": best["error"],
            "median": runs["error"].median(),
            "seeds": runs.height,
            "nan": int((runs["status"] == "nan").sum()),
        }
        for label, runs, best in _groups(outcomes, form)
    ]
    return _with_published(rows, form, "published")


def relative(outcomes: pl.DataFrame, form: Form) -> pl.DataFrame:
    """Errors in percent of the error of an untrained model of the same seed.

    Args:
        outcomes: as of `raw`.
        form: of the task.

    Returns:
        As of `raw`; and `solved`, the seeds below `SOLVED_BELOW`, with the rate and its Wilson
        interval. Then the same of what `kept` makes of the outcomes: `snapped`, how many seeds
        are kept so, their `kept_median_relative` and `kept_solved`; missing where nothing can be
        snapped.
    """
    rows = []
    for label, runs, best in _groups(outcomes, form):
        count = int((runs["relative"] < SOLVED_BELOW).sum())
        low, high = wilson(count, runs.height)
        rows.append(
            {
                **label,
                "best_relative": best["relative"],
                "median_relative": runs["relative"].median(),
                "seeds": runs.height,
                "solved": count,
                "solved_rate": count / runs.height,
                "solved_low": low,
                "solved_high": high,
            }
        )
    table = _with_published(rows, form, "published_relative")
    return table.join(_kept(outcomes, form), on=_LABELS, how="left", maintain_order="left")


def kept(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The outcomes of networks that are snapped where that validates no worse.

    Args:
        outcomes: as of `raw`.

    Returns:
        The outcomes with the snapped errors in place of the trained ones wherever the snapped
        validation loss is not above the trained one, as `snapped` tells.
    """
    trained, after = (
        pl.col(name).fill_null(float("inf"))
        for name in ("validation_loss", f"snapped_{MEASURED[0]}")
    )
    return outcomes.with_columns(snapped=after.is_finite() & (after <= trained)).with_columns(
        pl.when("snapped").then(f"snapped_{name}").otherwise(name).alias(name) for name in MEASURED
    )


def which_to_pick(outcomes: pl.DataFrame, form: Form) -> pl.DataFrame:
    """Which model to pick for each operation, by its errors in extrapolation.

    Args:
        outcomes: as of `raw`.
        form: of the task.

    Returns:
        A row an operation, as `picks` gives it, with the number of the pick's seeds that are
        `snapped`. Models are as `kept` has them, the paper's NAC and NALU as trained; errors are
        those of `relative`, and none above 10% of a random start's can be lived with.
    """
    error = "median_relative"
    table = relative(outcomes, form).filter(pl.col("test") == "extrapolation")
    holds = pl.col(error) <= 100 * TOLERATED
    trained = table.with_columns(holds=holds)
    cells = table.with_columns(
        pl.coalesce(f"kept_{name}", name).alias(name) for name in (error, "solved")
    ).with_columns(holds=holds)
    return picks(cells, ["operation"], error, ["NAC", "NALU"], kept=["snapped"], theirs=trained)


def chosen(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The outcomes of each model and operation at the learning rate that validates best.

    Args:
        outcomes: as of `raw`; a validation loss that is missing counts as infinite.
    """
    labels = ["model", "operation"]
    loss = pl.col("validation_loss").fill_null(float("inf")).median()
    medians = outcomes.group_by(*labels, "learning_rate").agg(loss.alias("loss"))
    best = medians.sort("loss", "learning_rate").unique(labels, keep="first", maintain_order=True)
    return outcomes.join(best, on=[*labels, "learning_rate"], how="semi", maintain_order="left")


def _kept(outcomes: pl.DataFrame, form: Form) -> pl.DataFrame:
    """The columns of `relative` that tell of snapped networks, for the models that have units."""
    rows = [
        {
            **label,
            "snapped": int(runs["snapped"].sum()),
            "kept_median_relative": runs["relative"].median(),
            "kept_solved": int((runs["relative"] < SOLVED_BELOW).sum()),
        }
        for label, runs, _ in _groups(kept(outcomes), form)
        if runs[f"snapped_{MEASURED[0]}"].is_not_null().any()
    ]
    types = {"snapped": pl.Int64, "kept_median_relative": pl.Float64, "kept_solved": pl.Int64}
    return pl.DataFrame(rows, {**dict.fromkeys(_LABELS, pl.String), **types})


def _groups(outcomes: pl.DataFrame, form: Form) -> list[tuple[dict, pl.DataFrame, dict]]:
    """For each cell of a table its label, its runs, and the one that validates best."""
    runs, groups = chosen(outcomes), []
    for operation, test in _cells(outcomes, form):
        error = pl.col(f"{test}_error").fill_null(float("inf"))
        own = runs.filter(pl.col("operation") == operation).with_columns(
            error=error,
            relative=100 * error / pl.col(f"{test}_random"),
            validation_loss=pl.col("validation_loss").fill_null(float("inf")),
        )
        for (model,), part in own.group_by("model", maintain_order=True):
            best = part.sort("validation_loss", "seed").row(0, named=True)
            groups.append(({"operation": operation, "test": test, "model": model}, part, best))
    return groups


def _cells(outcomes: pl.DataFrame, form: Form) -> list[tuple[str, str]]:
    there = set(outcomes["operation"])
    return [(name, test) for name in form.operations if name in there for test in _TESTS]


def _untrained(outcomes: pl.DataFrame, operation: str, test: str) -> dict:
    runs = outcomes.filter(pl.col("operation") == operation).unique("seed")
    return {
        "operation": operation,
        "test": test,
        "model": "Random",
        "learning_rate": None,
        "best": None,
        "median": runs[f"{test}_random"].median(),
        "seeds": runs.height,
        "nan": 0,
    }


def _with_published(rows: list[dict], form: Form, column: str) -> pl.DataFrame:
    """The rows in the order of the paper's table, the published numbers beside them."""
    published = PUBLISHED[form.name].select(*_LABELS, column)
    table = pl.DataFrame(rows, infer_schema_length=None).join(published, on=_LABELS, how="left")
    return _in_order(table, form, ["operation", "test"]).select(
        *_LABELS, column, pl.all().exclude(*_LABELS, column)
    )


def _in_order(table: pl.DataFrame, form: Form, by: list[str]) -> pl.DataFrame:
    """By operation and test as the paper has them; models as they came."""
    ranks = {"operation": list(form.operations), "test": list(_TESTS)}
    keys = [
        pl.col(name).replace_strict({value: k for k, value in enumerate(ranks[name])})
        for name in by
    ]
    return table.sort(keys, maintain_order=True)
