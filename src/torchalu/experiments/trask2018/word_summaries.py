"""From the outcomes of all networks on number words to the tables that are shown."""

from __future__ import annotations

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.digit_summaries import ranked
from torchalu.experiments.trask2018.picks import TOLERATED, best_published, picks
from torchalu.experiments.trask2018.published_words import FIGURE3, TABLE3
from torchalu.experiments.trask2018.word_training import QUERIES

_CELL = ("model", "embedding", "hidden", "depth", "learning_rate")
_SOLVED_MAE = 0.5
_MIDDLE_ERROR = 250.0  # of always answering 500
_ORDER = ["validation_loss", "seed"]


def word_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Tables 3 and 11, figure 3, which network to pick, the rules, and the search.

    Args:
        outcomes: of all chunks of `table3`.
    """
    table = errors(outcomes)
    return {
        "table3": table,
        "table3_picks": which_to_pick(table),
        "table3_words": word_by_word(outcomes),
        "table3_rules": rules(outcomes),
        "table3_search": ranked(outcomes, _CELL, ["model"]),
    }


def errors(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute errors, ours and the paper's.

    Args:
        outcomes: of all cells and seeds.

    Returns:
        A row a model, the paper's first: of the best network by validation among all cells and
        seeds its cell and errors, with those that the paper prints; then, over all seeds of the
        cell whose median validates best, `seeds`, the `median` test error and its quartiles
        `quarter` and `three_quarters`, and `solved`, how many have a test error below 0.5, as a
        share with its 95% interval. A seed that ended in NaN counts.
    """
    by_validation = outcomes.with_columns(pl.col("validation_loss").fill_nan(float("inf")))
    best = (
        by_validation.sort(_ORDER, nulls_last=True)
        .unique("model", keep="first", maintain_order=True)
        .select(
            *_CELL,
            "seed",
            "train_mae",
            validation_mae="validation_loss",
            test_mae="test_mae",
        )
    )
    cells = ranked(outcomes, _CELL, ["model"]).unique("model", keep="first", maintain_order=True)
    test = pl.col("test_mae").fill_nan(float("inf"))
    spread = (
        outcomes.join(cells, on=list(_CELL), how="semi")
        .group_by("model")
        .agg(
            seeds=pl.len(),
            quarter=test.quantile(0.25, "linear"),
            median=test.median(),
            three_quarters=test.quantile(0.75, "linear"),
            solved=(test < _SOLVED_MAE).sum(),
        )
    )
    table = (
        best.join(TABLE3, on="model", how="left", maintain_order="left")
        .join(spread, on="model", how="left", maintain_order="left")
        .sort(_place("model"), "test_mae", maintain_order=True)
    )
    intervals = [wilson(*pair) for pair in table.select("solved", "seeds").iter_rows()]
    return table.with_columns(
        pl.Series("solved_low", [low for low, _ in intervals], pl.Float64),
        pl.Series("solved_high", [high for _, high in intervals], pl.Float64),
    )


def which_to_pick(table: pl.DataFrame) -> pl.DataFrame:
    """Which network to pick, by its errors on test numbers.

    Args:
        table: as `errors` gives it.

    Returns:
        A row, as `picks` gives it, and the best published error with its model; no error above 10%
        of that of always answering 500 can be lived with.
    """
    task = pl.lit("numbers in words").alias("task")
    cells = table.with_columns(task, holds=pl.col("median") <= TOLERATED * _MIDDLE_ERROR)
    printed = TABLE3.with_columns(task)
    return picks(cells, ["task"], "median", ["LSTM+NAC", "LSTM+NALU"]).join(
        best_published(printed, ["task"], "published_test_mae"), on="task"
    )


def word_by_word(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Figure 3: what the best network of each model answers after each word.

    Args:
        outcomes: of all cells and seeds.

    Returns:
        A row a phrase and word, with the part that holds the phrase, the paper's number, and a
        column a model. "twenty seven and eighty" is no number that any part holds.
    """
    best, rows = _best(outcomes), []
    for phrase, part in zip(QUERIES, best["parts"][0], strict=True):
        text = " ".join(phrase)
        printed = FIGURE3.get(text, (None,) * len(phrase))
        rows += [
            (text, part, place, word, number)
            for place, (word, number) in enumerate(zip(phrase, printed, strict=True), 1)
        ]
    schema = {
        "phrase": pl.String,
        "part": pl.String,
        "place": pl.Int64,
        "word": pl.String,
        "published": pl.Float64,
    }
    answers = {
        row["model"]: [number for phrase in row["answers"] for number in phrase]
        for row in best.iter_rows(named=True)
    }
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(
        pl.Series(name, numbers, pl.Float64) for name, numbers in answers.items()
    )


def rules(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The rounded rule of each word, of the best network of each model by validation.

    Args:
        outcomes: of all cells and seeds.

    Returns:
        A row a model: `lawful`, in how many of all runs the rules give each number from 0 to
        1000; of the best network the share of test numbers that follow from its rules, whether
        all numbers do, and the rules.
    """
    counts = outcomes.group_by("model").agg(runs=pl.len(), lawful=pl.col("rules_all_right").sum())
    chosen = _best(outcomes).select("model", "rules_test_right", "rules_all_right", "rules")
    return counts.join(chosen, on="model").sort(
        "rules_test_right", "model", descending=[True, False]
    )


def _best(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The best run of each model by validation, the paper's models first."""
    loss = pl.col("validation_loss").fill_nan(float("inf"))
    return (
        outcomes.with_columns(loss)
        .sort(_ORDER, nulls_last=True)
        .unique("model", keep="first", maintain_order=True)
        .sort(_place("model"), "validation_loss", maintain_order=True)
    )


def _place(column: str) -> pl.Expr:
    """The place of a model among those that the paper prints; others after them."""
    printed = {name: place for place, name in enumerate(TABLE3["model"])}
    return pl.col(column).replace_strict(printed, default=len(printed), return_dtype=pl.Int64)
