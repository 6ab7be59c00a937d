"""From the outcomes of all seeds to the tables that are shown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from torchalu.evaluate import wilson
from torchalu.experiments.kaiser2016.measuring import RANDOM


def by_length(outcomes: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """What the seeds of each setting get right of each length and kind of strings.

    Args:
        outcomes: of a study.
        labels: tell settings apart.

    Returns:
        A row a setting, kind and length: `seeds`; `all_right`, the seeds without an error;
        `best_rate`, that of the best seed on these strings; and of the seed that validates best
        its number `chosen_seed`, `right`, `count`, and `rate` with its 95% interval.

    Example:
        >>> rows = {"model": ["a", "a"], "seed": [0, 1], "strings": ["random"] * 2}
        >>> rows |= {"length": [20, 20], "right": [9, 10], "count": [10, 10]}
        >>> rows |= {"validation_loss": [0.1, 0.2]}
        >>> table = by_length(pl.DataFrame(rows), ["model"])
        >>> table.select("all_right", "best_rate", "chosen_seed", "rate").row(0)
        (1, 1.0, 0, 0.9)
    """
    groups = [*labels, "strings", "length"]
    order = ["validation_loss", "seed"]
    table = (
        outcomes.sort(order, nulls_last=True)
        .group_by(groups, maintain_order=True)
        .agg(
            seeds=pl.len(),
            all_right=(pl.col("right") == pl.col("count")).sum(),
            best_rate=(pl.col("right") / pl.col("count")).max(),
            chosen_seed=pl.col("seed").first(),
            right=pl.col("right").first(),
            count=pl.col("count").first(),
        )
        .with_columns(rate=pl.col("right") / pl.col("count"))
        .sort(groups, maintain_order=True)
    )
    intervals = [wilson(*pair) for pair in table.select("right", "count").iter_rows()]
    return table.with_columns(
        pl.Series("rate_low", [low for low, _ in intervals], pl.Float64),
        pl.Series("rate_high", [high for _, high in intervals], pl.Float64),
    )


def learning(outcomes: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """How many seeds of each setting learn, how many hold everywhere, and how long it takes.

    Args:
        outcomes: of a study.
        labels: tell settings apart.

    Returns:
        A row a setting: `seeds`; `learned`, those that once had all validation strings of the
        longest training length right; `right_everywhere`, those without an error on random
        strings of any length, and `right_adversarial`, on adversarial ones; medians of the step
        and the seconds after which they had learned; `steps` and `seconds` in all, means.
    """
    random = pl.col("strings") == RANDOM
    wrong = pl.col("right") < pl.col("count")
    first = ("solved_at_step", "solved_at_seconds", "steps", "seconds", "parameters")
    seeds = outcomes.group_by([*labels, "seed"], maintain_order=True).agg(
        *(pl.col(name).first() for name in first),
        wrong_random=(random & wrong).sum(),
        wrong_adversarial=(~random & wrong).sum(),
        adversarial=(~random).sum(),
    )
    held = (pl.col("wrong_adversarial") == 0) & (pl.col("adversarial") > 0)
    return (
        seeds.group_by(labels, maintain_order=True)
        .agg(
            seeds=pl.len(),
            learned=pl.col("solved_at_step").count(),
            right_everywhere=(pl.col("wrong_random") == 0).sum(),
            right_adversarial=held.sum(),
            solved_at_step=pl.col("solved_at_step").median(),
            solved_at_seconds=pl.col("solved_at_seconds").median(),
            steps=pl.col("steps").mean(),
            seconds=pl.col("seconds").mean(),
            parameters=pl.col("parameters").first(),
        )
        .sort(labels, maintain_order=True)
    )


def adversarial(lengths: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """What the seed that validates best gets right of adversarial strings, a column a length.

    Args:
        lengths: as `by_length` gives it.
        labels: tell settings apart.

    Returns:
        A row a setting and kind, in percent; null where a length has no strings of the kind, or
        the network cannot take so many symbols. Without a row if nothing was tested.

    Example:
        >>> rows = {"model": ["a"] * 2, "strings": ["ones"] * 2, "length": [20, 25]}
        >>> adversarial(pl.DataFrame(rows | {"rate": [1.0, 0.5]}), ["model"]).rows()
        [('a', 'ones', 100.0, 50.0)]
    """
    groups = [*labels, "strings"]
    others = lengths.filter(pl.col("strings") != RANDOM)
    table = others.select(groups).unique(maintain_order=True)
    for length in others["length"].unique().sort():
        rows = others.filter(pl.col("length") == length)
        rates = rows.select(*groups, (100 * pl.col("rate")).alias(str(length)))
        table = table.join(rates, on=groups, how="left", maintain_order="left")
    return table.sort(groups)


def failures(outcomes: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Where each seed has strings wrong, random or adversarial.

    Args:
        outcomes: of a study.
        labels: tell settings apart.

    Returns:
        A row a setting, seed, kind and length with a string wrong: `right`, `count`, and
        `wrong_digits`, the fraction of all symbols, missing where strings count as wrong untried.

    Example:
        >>> rows = {"model": ["a", "a"], "seed": [0, 1], "strings": ["ones"] * 2}
        >>> rows |= {"length": [20, 20], "right": [4, 1], "count": [4, 4], "digits": [1.0, 0.75]}
        >>> failures(pl.DataFrame(rows), ["model"]).rows()
        [('a', 1, 'ones', 20, 1, 4, 0.25)]
    """
    keys = [*labels, "seed", "strings", "length"]
    wrong = outcomes.filter(pl.col("right") < pl.col("count"))
    digits = (1 - pl.col("digits")).alias("wrong_digits")
    return wrong.select(*keys, "right", "count", digits).sort(keys)


def beside_published(lengths: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """A row a task and length, a column a model, as the paper's table 1 has it.

    Args:
        lengths: of random strings, as `by_length` gives it, with the labels task and model.
        published: rates by task, model and length.

    Returns:
        The best seed's rates on random strings, in percent, each model's published ones behind
        its own.
    """
    wide = lengths.select("task", "length").unique(maintain_order=True)
    for model in lengths["model"].unique(maintain_order=True):
        for table, column, name in (
            (lengths, "best_rate", model),
            (published, "published_rate", f"{model}_published"),
        ):
            rows = table.filter(pl.col("model") == model)
            if rows.height:
                rates = rows.select("task", "length", (100 * pl.col(column)).alias(name))
                wide = wide.join(rates, on=["task", "length"], how="left", maintain_order="left")
    return wide.sort("task", "length")
