"""The tables and figures of the papers, drawn again from committed summaries."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from torchalu.evaluate import wilson
from torchalu.report.comparisons import draw_accuracies, draw_networks, draw_successes
from torchalu.report.curves import draw_curves
from torchalu.report.exhibits import EXHIBITS
from torchalu.report.extrapolation import draw_extrapolation
from torchalu.report.identity import draw_identity
from torchalu.report.lengths import draw_lengths
from torchalu.report.maps import draw_counts, draw_gates, draw_surfaces
from torchalu.report.panels import draw_rates, draw_sweep
from torchalu.report.rankings import draw_correlations, draw_ranking
from torchalu.report.returns import draw_returns
from torchalu.report.traces import draw_traces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED_SEEDS = 100
"""Seeds behind each published success rate."""

LABELS = {
    "hidden_size": "hidden size",
    "interpolation_range": "interpolation range",
    "in_features": "input size",
    "overlap_ratio": "overlap of the subsets",
    "subset_ratio": "subset size, as a part of the input",
    "penalty": "sparsity weight",
    "length": "sequence length",
    "range": "interpolation range",
}
"""What the columns that are varied are called in a picture."""

_NOT_VARIED = ("model", "operation", "varied")
_DEFAULT_PAPER = "madsen2020"


def read_exhibit(name: str, folder: str | os.PathLike[str]) -> pl.DataFrame:
    """The committed results that a table or figure is made of.

    Args:
        name: one of `EXHIBITS`.
        folder: where the CSV files lie; histograms are made of each seed, all others of summaries.

    Raises:
        ValueError: there is no exhibit of this name.
        FileNotFoundError: it has not been run, or the folder is another one.

    Example:
        >>> read_exhibit("table3", "results")
        Traceback (most recent call last):
        ...
        ValueError: there is no exhibit 'table3'; choose from table1, table2, ...
    """
    if name not in EXHIBITS:
        raise ValueError(f"there is no exhibit {name!r}; choose from {', '.join(EXHIBITS)}")
    path = Path(folder) / f"{stem(name)}.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; make it with: {command(name, folder)}")
    return pl.read_csv(path, infer_schema_length=None)


def paper(name: str) -> str:
    """The paper that an exhibit is of.

    Args:
        name: one of `EXHIBITS`.

    Example:
        >>> paper("table1"), paper("lowe2022.figure4")
        ('madsen2020', 'lowe2022')
    """
    return name.partition(".")[0] if "." in name else _DEFAULT_PAPER


def stem(name: str) -> str:
    """The name, without its suffix, of the file that an exhibit is drawn from.

    Args:
        name: one of `EXHIBITS`.

    Example:
        >>> stem("table1"), stem("figure9"), stem("lowe2022.figure4")
        ('table1', 'figure9_seeds', 'figure4_networks')
    """
    endings = {"gates": "_seeds", "networks": "_networks"}
    return name.rpartition(".")[2] + endings.get(EXHIBITS[name].kind, "")


def command(name: str, folder: str | os.PathLike[str]) -> str:
    """The command that makes an exhibit's results.

    Args:
        name: one of `EXHIBITS`.
        folder: where the CSV files go.

    Example:
        >>> command("table5", "results/madsen2020")
        'torchalu run madsen2020.figure9 --results results/madsen2020'
    """
    experiment = f"{paper(name)}.{EXHIBITS[name].experiment or name.rpartition('.')[2]}"
    words = ["torchalu", "run", experiment, "--results", os.fspath(folder)]
    return shlex.join(words)


def draw_exhibit(name: str, folder: str | os.PathLike[str]) -> dict[str, Figure]:
    """Draw a table or figure from its committed results.

    Args:
        name: one of `EXHIBITS`.
        folder: where the CSV files lie.

    Returns:
        Figures by name: several where several quantities are varied, in turn; none of a table.

    Raises:
        ValueError: there is no exhibit of this name, or its file lacks a column or has no row.
        FileNotFoundError: it has not been run, or the folder is another one.
        ImportError: if matplotlib is missing.

    Source:
        Madsen & Johansen 2020; Lowe et al. 2022. Departures: figure 2 of the former shows the
        surface by color; its tables are drawn as success rates beside the published ones. Figure
        5 of the latter is drawn with test errors on a logarithmic axis.

    Example:
        >>> import tempfile
        >>> table = pl.DataFrame({"model": ["NMU"], "operation": ["mul"], "solved_rate": [0.98]})
        >>> table = table.with_columns(solved_low=0.93, solved_high=0.99, published_solved=98)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.write_csv(f"{folder}/table2.csv")
        ...     list(draw_exhibit("table2", folder))
        ['table2']
    """
    table = read_exhibit(name, folder)
    match EXHIBITS[name].kind:
        case "rates":
            return {name: draw_rates(with_published_rates(table))}
        case "gates":
            return {name: draw_gates(table)}
        case "surfaces":
            return {name: draw_surfaces(table)}
        case "counts":
            return dict(_counts(name, table))
        case "sweep":
            return dict(_sweeps(name, table))
        case "accuracies":
            labels = table.columns[: table.columns.index("activation")]
            return {name: draw_accuracies(table, *(key for key in labels if key != "width"))}
        case "ranking":
            return {name: draw_ranking(table, "dataset" if "dataset" in table.columns else None)}
        case "correlations":
            return {name: draw_correlations(table)}
        case "successes":
            return {name: draw_successes(table, "inputs", "bits")}
        case "networks":
            return {name: draw_networks(table)}
        case "identity":
            return {name: draw_identity(table)}
        case "lengths":
            return {name: draw_lengths(table)}
        case "traces":
            return {name: draw_traces(table)}
        case "returns":
            return {name: draw_returns(table)}
        case "curves":
            return {name: draw_curves(table)}
        case "extrapolation":
            return {name: draw_extrapolation(table)}
        case "table":
            return {}


def with_published_rates(summary: pl.DataFrame) -> pl.DataFrame:
    """A summary with the published rates and their Wilson intervals, null where there are none.

    Args:
        summary: with or without a column `published_solved`, counts of 100 seeds.

    Example:
        >>> table = with_published_rates(pl.DataFrame({"published_solved": [98, None]}))
        >>> table["published_rate"].to_list()
        [0.98, None]
    """
    if "published_solved" not in summary.columns:
        summary = summary.with_columns(published_solved=pl.lit(None, pl.Int64))
    counts = summary["published_solved"].to_list()
    intervals = [
        (None, None) if count is None else wilson(int(count), PUBLISHED_SEEDS) for count in counts
    ]
    return summary.with_columns(
        pl.Series(
            "published_rate",
            [None if n is None else n / PUBLISHED_SEEDS for n in counts],
            pl.Float64,
        ),
        pl.Series("published_low", [low for low, _ in intervals], pl.Float64),
        pl.Series("published_high", [high for _, high in intervals], pl.Float64),
    )


def overlap(row: dict) -> bool | None:
    """Whether our interval of the success rate and the published one share a value.

    Args:
        row: of `with_published_rates`.

    Returns:
        None where nothing was published.

    Example:
        >>> overlap({"solved_low": 0.5, "solved_high": 0.7, "published_low": 0.6,
        ...          "published_high": 0.8})
        True
    """
    if row["published_low"] is None:
        return None
    return row["solved_low"] <= row["published_high"] and row["published_low"] <= row["solved_high"]


def labels_of(table: pl.DataFrame) -> list[str]:
    """The columns of a summary that say what is varied, beside the model and the operation.

    Example:
        >>> labels_of(pl.DataFrame(schema=["model", "penalty", "seeds", "solved"]))
        ['penalty']
    """
    columns = table.columns[: table.columns.index("seeds")]
    return [name for name in columns if name not in _NOT_VARIED]


def _sweeps(name: str, table: pl.DataFrame) -> Iterator[tuple[str, Figure]]:
    """A figure for each quantity that is varied."""
    if "varied" not in table.columns:
        table = table.with_columns(varied=pl.lit(labels_of(table)[0]))
    quantities = table["varied"].unique(maintain_order=True).to_list()
    for varied in quantities:
        rows = table.filter(pl.col("varied") == varied)
        values = sorted(rows[varied].unique().to_list(), key=_order)
        rank = {value: index for index, value in enumerate(values)}
        rows = rows[sorted(range(rows.height), key=lambda k: rank[rows[varied][k]])]
        even = varied == "penalty" or isinstance(values[0], str)
        figure = draw_sweep(
            rows, varied, LABELS.get(varied, varied), scale="even" if even else "linear"
        )
        yield (f"{name}-{varied}" if len(quantities) > 1 else name), figure


def _counts(name: str, table: pl.DataFrame) -> Iterator[tuple[str, Figure]]:
    """A figure for each number of inputs."""
    across = next(label for label in labels_of(table) if "range" in label)
    size = next(label for label in labels_of(table) if label != across)
    for value in table[size].unique().sort().to_list():
        rows = table.filter(pl.col(size) == value)
        order = sorted(range(rows.height), key=lambda k: _order(rows[across][k]))
        yield f"{name}-{value}", draw_counts(rows[order], across, title=f"{value} inputs")


def _order(value: float | str) -> list[float]:
    """Numbers by size, ranges by their bounds."""
    if isinstance(value, str):
        return [float(number) for number in re.findall(r"-?\d*\.?\d+", value)]
    return [float(value)]
