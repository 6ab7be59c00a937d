"""A directive that shows what a paper's experiments would cost whole, by those that were run."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchalu.experiments import get

MADSEN = Path(__file__).parents[2] / "results" / "madsen2020"
NAMES = (
    *("table1", "table2", "table6", "figure3", "figure7", "figure8"),
    *("figure9", "figure10", "figure11", "figure12"),
)
"""What the native trainer runs of the paper; the seeds of each by default are the paper's."""

_SECONDS = 3600.0


class Cost(SphinxDirective):
    """`{cost}`: the experiments of Madsen & Johansen 2020, as a table."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        for name in NAMES:
            self.env.note_dependency(MADSEN / f"{name}_seeds.csv")
            self.env.note_dependency(MADSEN / f"{name}.json")
        return self.parse_text_to_nodes(cost_markdown(projected_costs()))


def projected_costs(folder: Path = MADSEN) -> pl.DataFrame:
    """Core-hours at the paper's number of seeds, by those of the seeds that were run.

    Outcomes that have been replaced by others count in what a run costs. Settings differ in cost,
    and some have more seeds than others: the hours of the committed runs are for what
    `Setting.cost` gives of theirs, and the paper's for what it gives of all.

    Returns:
        A row an experiment: settings, seeds that were run, runs at the
        paper's number of seeds; core-microseconds a step; core-hours as these runs ended, and if
        none had ended before its last step.
    """
    rows = []
    for name in NAMES:
        study = get(f"madsen2020.{name}")()
        outcomes = pl.read_csv(folder / f"{name}_seeds.csv", infer_schema_length=None)
        spent = json.loads((folder / f"{name}.json").read_text("utf-8"))["runs"]
        labels = [key for key in study.keys if key != "seed"]
        costs = {tuple(map(one.labels.get, labels)): one.cost for one in study.settings}
        run = outcomes.select(labels).rows()
        settings = [one for one in study.settings if tuple(map(one.labels.get, labels)) in set(run)]
        seeds = len(study.runs.seed_numbers)
        hours = sum(entry["core_hours"] for entry in spent)
        each = hours / sum(entry["rows"] * _mean_cost(entry, labels, costs) for entry in spent)
        step = each * sum(map(costs.__getitem__, run)) * _SECONDS / outcomes["steps"].sum()
        last = {tuple(map(one.labels.get, labels)): one.steps for one in study.settings}
        done = sum(
            costs[one] * steps / last[one]
            for one, steps in zip(run, outcomes["steps"].to_list(), strict=True)
        )
        whole = each * sum(map(costs.__getitem__, run)) / done
        rows.append(
            {
                "experiment": name,
                "settings": len(settings),
                "seeds": outcomes["seed"].n_unique(),
                "runs": len(settings) * seeds,
                "microseconds": 1e6 * step,
                "hours": each * sum(one.cost for one in settings) * seeds,
                "hours_to_the_end": whole * sum(one.cost for one in settings) * seeds,
            }
        )
    return pl.DataFrame(rows)


def _mean_cost(
    entry: dict[str, Any], labels: list[str], costs: dict[tuple[Any, ...], float]
) -> float:
    """Of the settings of a committed run: all, where it does not say which they are."""
    named = [tuple(map(json.loads(one).get, labels)) for one in entry.get("settings", ())]
    of_these = [costs[one] for one in named or costs]
    return sum(of_these) / len(of_these)


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
