"""The tables and figures of a paper, drawn again from committed summaries."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from torchalu.evaluate import wilson
from torchalu.report.maps import draw_counts, draw_gates, draw_surfaces
from torchalu.report.panels import draw_rates, draw_sweep

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


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a paper.

    Attributes:
        title: what it is about.
        kind: what is drawn: success rates, measures against what is varied, histograms of gates,
            loss surfaces, or counts over a grid.
        experiment: what it is made by, where it is not the experiment of its own name.
    """

    title: str
    kind: Literal["rates", "sweep", "gates", "surfaces", "counts"]
    experiment: str | None = None


EXHIBITS = {
    "table1": Exhibit("(x₁ + x₂) · (x₁ + x₂ + x₃ + x₄)", "rates"),
    "table2": Exhibit("ten models on ×, + and −", "rates"),
    "table5": Exhibit("gated units on × and +", "rates", experiment="figure9"),
    "table6": Exhibit("eleven models on six operations", "rates"),
    "figure2": Exhibit("loss surface of the NAC with two weights", "surfaces"),
    "figure3": Exhibit("hidden size and interpolation range", "sweep"),
    "figure4": Exhibit("sequential MNIST, product", "sweep"),
    "figure7": Exhibit("ablation of the NMU", "sweep"),
    "figure8": Exhibit("input size, overlap and subset size", "sweep"),
    "figure9": Exhibit("values of the gate; table 5", "gates"),
    "figure10": Exhibit("sparsity weight of the NAU on +", "sweep"),
    "figure11": Exhibit("sparsity weight of the NAU on −", "sweep"),
    "figure12": Exhibit("sparsity weight of the NMU on ×", "sweep"),
    "figure13": Exhibit("sequential MNIST, sum", "sweep"),
    "figure14": Exhibit("sequential MNIST, sum, NAU without $R_z$", "sweep"),
    "figure15": Exhibit("sequential MNIST, product, NMU without $R_z$", "sweep"),
    "noise": Exhibit("table 2 again, targets with 1% noise", "rates"),
    "correlated": Exhibit("table 2 again, correlated inputs", "rates"),
    "single_module": Exhibit("one unit, 2 and 10 inputs, nine ranges", "counts"),
}
"""Of Madsen & Johansen 2020, and beyond; named as the experiments and their files are."""


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
    stem = f"{name}_seeds" if EXHIBITS[name].kind == "gates" else name
    path = Path(folder) / f"{stem}.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; make it with: {command(name, folder)}")
    return pl.read_csv(path, infer_schema_length=None)


def command(name: str, folder: str | os.PathLike[str]) -> str:
    """The command that makes an exhibit's results.

    Args:
        name: one of `EXHIBITS`.
        folder: where the CSV files go.

    Example:
        >>> command("table5", "results/madsen2020")
        'torchalu run madsen2020.figure9 --results results/madsen2020'
    """
    experiment = EXHIBITS[name].experiment or name
    words = ["torchalu", "run", f"madsen2020.{experiment}", "--results", os.fspath(folder)]
    return shlex.join(words)


def draw_exhibit(name: str, folder: str | os.PathLike[str]) -> dict[str, Figure]:
    """Draw a table or figure from its committed results.

    Args:
        name: one of `EXHIBITS`.
        folder: where the CSV files lie.

    Returns:
        Figures by name: several where several quantities are varied, in turn.

    Raises:
        ValueError: there is no exhibit of this name, or its file lacks a column or has no row.
        FileNotFoundError: it has not been run, or the folder is another one.
        ImportError: if matplotlib is missing.

    Source:
        Madsen & Johansen 2020. Departures: figure 2 shows the surface by color; tables are drawn
        as success rates beside the published ones.

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
