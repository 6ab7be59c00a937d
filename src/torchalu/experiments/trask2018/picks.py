"""Which model to pick now, and by how much it beats the paper's: one rule for all tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from torchalu.evaluate import wilson

TOLERATED = 0.1
"""The part of a reference error, such as that of a random start, above which no model holds."""

_READABLE = {"None": "linear"}  # what the paper calls a network without a nonlinearity


def picks(
    cells: pl.DataFrame,
    within: Sequence[str],
    error: str,
    paper: Sequence[str],
    *,
    count: str = "solved",
    kept: Sequence[str] = (),
    theirs: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Which model to pick in each group of cells, beside the better of the paper's own.

    Models whose 95% interval of solved seeds lies below that of another are left out; of the
    others the one with the least median error is picked.

    Args:
        cells: a row a group and model: `model`, `seeds`, the solved ones, the median error, and
            `holds`, whether that error can be lived with.
        within: the columns that tell groups apart.
        error: the column of the median error.
        paper: the models of the paper that the pick is compared with.
        count: the column of solved seeds; missing where nothing says what is solved.
        kept: columns of the pick that are shown as well.
        theirs: the cells of which the paper's model is taken; the same if left out.

    Returns:
        A row a group: `pick`; `by`, what settled it: "solved", where intervals leave one model,
        "median", or "nothing holds", where the pick is nothing but the nearest: its error cannot
        be lived with, and its solved seeds cannot be told from none; the pick's seeds, the solved
        ones with the interval of their share, and its median error; the same of `paper`, the
        better of the paper's models by the same rule; and the `factor` between their errors.

    Example:
        >>> rows = {"task": ["mul"] * 3, "model": ["NAC", "NMU", "NALU"], "seeds": [20] * 3}
        >>> rows |= {"solved": [0, 17, 1], "error": [40.0, 0.5, 60.0]}
        >>> cells = pl.DataFrame(rows | {"holds": [False, True, False]})
        >>> table = picks(cells, ["task"], "error", ["NAC", "NALU"])
        >>> table.select("pick", "by", "seeds", "paper", "factor").row(0)
        ('NMU', 'solved', 20, 'NAC', 80.0)
    """
    theirs = (cells if theirs is None else theirs).filter(pl.col("model").is_in(paper))
    others = theirs.partition_by(within, as_dict=True)
    rows = []
    for key, group in cells.partition_by(within, as_dict=True).items():
        best = _first(group, error, count)
        rest = others.get(key)
        other = dict[str, Any]() if rest is None else _first(rest, error, count)
        rows.append(
            dict(zip(within, key, strict=True))
            | {"pick": _READABLE.get(best["model"], best["model"]), "by": best["by"]}
            | {name: best[name] for name in kept}
            | {name: best[name] for name in ("seeds", count, f"{count}_low", f"{count}_high")}
            | {error: best[error], "paper": other.get("model")}
            | {f"paper_{name}": other.get(name) for name in ("seeds", count, error)}
        )
    types = {name: cells.schema[name] for name in (*within, *kept, "seeds", count, error)}
    types |= {f"paper_{name}": types[name] for name in ("seeds", count, error)}
    types |= {f"{count}_{end}": pl.Float64() for end in ("low", "high")}
    types |= {"paper": pl.String()}
    table = pl.DataFrame(rows, schema_overrides=types)
    return table.with_columns(factor=pl.col(f"paper_{error}") / pl.col(error))


def best_published(printed: pl.DataFrame, within: Sequence[str], error: str) -> pl.DataFrame:
    """The least error that the paper prints in each group, and whose it is.

    Args:
        printed: a row a group and model, errors where they are printed.
        within: the columns that tell groups apart.
        error: the column of the errors.

    Returns:
        A row a group: `within`, the error, and the model as `published_model`.

    Example:
        >>> rows = {"task": ["sum"] * 2, "model": ["LSTM", "NAC"], "published_mae": [14.8, 1.42]}
        >>> best_published(pl.DataFrame(rows), ["task"], "published_mae").row(0)
        ('sum', 1.42, 'NAC')
    """
    return (
        printed.drop_nulls(error)
        .sort(error, maintain_order=True)
        .unique(within, keep="first", maintain_order=True)
        .select(*within, error, published_model="model")
    )


def _first(group: pl.DataFrame, error: str, count: str) -> dict[str, Any]:
    """The model to pick of a group, with the interval of its solved seeds and what settled it."""
    pairs = group.select(pl.col(count).fill_null(0), "seeds").iter_rows()
    intervals = [wilson(int(solved), seeds) for solved, seeds in pairs]
    low = pl.Series([low for low, _ in intervals], dtype=pl.Float64)
    high = pl.Series([high for _, high in intervals], dtype=pl.Float64)
    table = group.with_columns(low.alias(f"{count}_low"), high.alias(f"{count}_high"))
    left = table.filter(high >= low.max())
    best = left.sort(error, nulls_last=True, maintain_order=True).row(0, named=True)
    by = "solved" if left.height == 1 < table.height else "median"
    if not best["holds"] and best[f"{count}_low"] <= wilson(0, best["seeds"])[1]:
        by = "nothing holds"
    if best[count] is None:
        best |= {f"{count}_low": None, f"{count}_high": None}
    return best | {"by": by}
