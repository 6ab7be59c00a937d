"""A directive that shows what a paper's experiments would cost whole, by those that were run."""

import json
from pathlib import Path

import polars as pl
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

MADSEN = Path(__file__).parents[2] / "results" / "madsen2020"
SEEDS = {"table1": 100, "table2": 100, "table6": 100, "figure9": 100} | dict.fromkeys(
    ("figure3", "figure7", "figure8", "figure10", "figure11", "figure12"), 50
)
"""The paper's number of seeds of each setting, of all that the native trainer runs."""

_SECONDS = 3600.0


class Cost(SphinxDirective):
    """`{cost}`: the experiments of Madsen & Johansen 2020, as a table."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        for name in SEEDS:
            self.env.note_dependency(MADSEN / f"{name}_seeds.csv")
            self.env.note_dependency(MADSEN / f"{name}.json")
        return self.parse_text_to_nodes(cost_markdown(projected_costs()))


def projected_costs(folder: Path = MADSEN) -> pl.DataFrame:
    """Core-hours at the paper's number of seeds, by those of the seeds that were run.

    Outcomes that have been replaced by others count in what one costs.

    Returns:
        A row an experiment: settings, seeds that were run (the most of a setting), runs at the
        paper's number of seeds; core-microseconds a step; core-hours as these runs ended, and if
        none had ended before its last step.
    """
    rows = []
    for name, seeds in SEEDS.items():
        outcomes = pl.read_csv(folder / f"{name}_seeds.csv", infer_schema_length=None)
        note = json.loads((folder / f"{name}.json").read_text("utf-8"))
        each = sum(run["core_hours"] for run in note["runs"]) / sum(
            run["rows"] for run in note["runs"]
        )
        labels = outcomes.columns[: outcomes.columns.index("seed")]
        settings = outcomes.group_by(labels).agg(pl.len().alias("run"))
        runs = settings.height * seeds
        step = each * outcomes.height * _SECONDS / outcomes["steps"].sum()
        whole = last_steps(name, outcomes) * runs / outcomes.height
        rows.append(
            {
                "experiment": name,
                "settings": settings.height,
                "seeds": settings["run"].max(),
                "runs": runs,
                "microseconds": 1e6 * step,
                "hours": each * runs,
                "hours_to_the_end": whole * step / _SECONDS,
            }
        )
    return pl.DataFrame(rows)


def last_steps(name: str, outcomes: pl.DataFrame) -> int:
    """The sum over the runs of an experiment of the steps at which they end at the latest.

    Example:
        >>> last_steps("figure8", pl.DataFrame({"in_features": [4, 100, 125, 300]}))
        35000000
    """
    if name == "table1":
        return 200_000 * outcomes.height
    if name == "figure8":
        sizes = outcomes["in_features"]
        return 5_000_000 * (outcomes.height + (sizes > 100).sum() + (sizes > 200).sum())
    return 5_000_000 * outcomes.height


def cost_markdown(costs: pl.DataFrame) -> str:
    """Costs as a Markdown table, with their sums."""
    lines = [
        "| | settings | seeds so far | µs a step | runs of the paper | core-hours | to the end |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in costs.iter_rows(named=True):
        name = row["experiment"].replace("table", "table ").replace("figure", "figure ")
        numbers = f"{row['settings']} | {row['seeds']} | {row['microseconds']:.1f}"
        hours = f"{row['hours']:.1f} | {row['hours_to_the_end']:.1f}"
        lines.append(f"| {name} | {numbers} | {row['runs']:,} | {hours} |")
    total = costs.select("runs", "hours", "hours_to_the_end").sum().row(0)
    lines.append(f"| all | | | | {total[0]:,} | {total[1]:.0f} | {total[2]:.0f} |")
    return "\n".join(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("cost", Cost)
    return {"parallel_read_safe": True}
