"""Directives that show the tables and figures of the papers as the folder results has them."""

import json
import os
from pathlib import Path

import polars as pl
from comparison import comparison_markdown, escaped, scientific, table_markdown
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchalu.experiments import included
from torchalu.report.panels import OPERATIONS
from torchalu.report.reproduction import (
    EXHIBITS,
    command,
    draw_exhibit,
    overlap,
    paper,
    read_exhibit,
    stem,
    with_published_rates,
)
from torchalu.report.style import image
from torchalu.train.files import write_atomic

RESULTS = Path(__file__).parents[2] / "results"


class Exhibit(SphinxDirective):
    """`{exhibit} NAME`: its table, its figures, and the command that made them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build them, or say that they have not been run."""
        name = self.arguments[0]
        folder = RESULTS / paper(name)
        for file in (f"{stem(name)}.csv", f"{best_stem(name)}.csv", f"{made_by(name)}.json"):
            self.env.note_dependency(folder / file)
        try:
            table = read_exhibit(name, folder)
        except FileNotFoundError:
            return self.parse_text_to_nodes(
                f"*Not run yet:* `{command(name, f'results/{paper(name)}')}`."
            )
        shown = []
        if EXHIBITS[name].kind == "rates":
            shown += self.parse_text_to_nodes(rates_markdown(table))
        if EXHIBITS[name].kind in ("table", "correlations"):
            shown += self.parse_text_to_nodes(table_markdown(table))
        if EXHIBITS[name].kind == "ranking":
            shown += self.parse_text_to_nodes(comparison_markdown(table))
        for figure_name, figure in draw_exhibit(name, folder).items():
            shown.append(self._figure(figure_name, image(figure, "svg"), EXHIBITS[name].title))
        best = folder / f"{best_stem(name)}.csv"
        if best.is_file():
            shown += self.parse_text_to_nodes(comparison_markdown(pl.read_csv(best)))
        return shown + self.parse_text_to_nodes(provenance(name, table, read_runs(name)))

    def _figure(self, name: str, content: bytes, title: str) -> nodes.Node:
        """The picture, written beside Sphinx's own cache, whence Sphinx copies it to the pages."""
        folder = Path(self.env.doctreedir) / "exhibits"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.svg"
        write_atomic(path, content)
        page = Path(self.env.doc2path(self.env.docname)).parent
        uri = Path(os.path.relpath(path, page)).as_posix()
        return nodes.image(uri=uri, alt=f"{name}: {title}", width="100%")


class Overview(SphinxDirective):
    """`{exhibits} PAPER`: what has been run, how many outcomes that gave, and at what cost."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        names = [
            name
            for name, exhibit in EXHIBITS.items()
            if exhibit.experiment is None and paper(name) == self.arguments[0]
        ]
        for name in names:
            self.env.note_dependency(RESULTS / paper(name) / f"{made_by(name)}.json")
        return self.parse_text_to_nodes(
            overview_markdown({name: read_note(name) for name in names})
        )


def made_by(name: str) -> str:
    """The short name of the experiment that makes an exhibit.

    Example:
        >>> made_by("table5"), made_by("lowe2022.figure4")
        ('figure9', 'figure4')
    """
    return EXHIBITS[name].experiment or name.rpartition(".")[2]


def best_stem(name: str) -> str:
    """The file in which the best of each activation are compared; only some exhibits have it."""
    return f"{name.rpartition('.')[2]}_best"


def read_note(name: str) -> dict:
    """What made an exhibit's results: `runs`, and `outcomes` where these do not add up to it."""
    path = RESULTS / paper(name) / f"{made_by(name)}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {"runs": []}


def read_runs(name: str) -> list[dict]:
    """The runs that an exhibit's results were merged from; none if it has not been run."""
    return read_note(name)["runs"]


def rates_markdown(summary: pl.DataFrame) -> str:
    """A summary as a Markdown table, the published numbers beside ours.

    Example:
        >>> row = {"model": "NMU", "operation": "mul", "seeds": 100, "solved": 98}
        >>> row |= {"solved_low": 0.93, "solved_high": 0.994, "solved_at_median": 1.43e6}
        >>> row |= {"sparsity_error_mean": None, "published_solved": 98}
        >>> print(rates_markdown(pl.DataFrame([row])))
        The intervals of ours and of the published success rate overlap in 1 of 1 cells.
        <BLANKLINE>
        | model | | solved | published | solved at | sparsity error |
        | :-- | :-- | --: | --: | --: | --: |
        | NMU | × | 98 of 100, 93–99% | 98, 93–99% | 1.43M | – |
    """
    table = with_published_rates(summary)
    published = table["published_solved"].is_not_null().any()
    columns = [
        ("model", lambda row: escaped(row["model"])),
        ("", lambda row: OPERATIONS[row["operation"]]),
        ("solved", lambda row: f"{row['solved']} of {row['seeds']}, {_interval(row, 'solved')}"),
    ]
    if published:
        columns.append(("published", _published))
    if "error_to_noise_median" in table.columns:
        columns.append(("error to noise", lambda row: scientific(row["error_to_noise_median"])))
    for title, name, form in (
        ("solved at", "solved_at_median", steps),
        ("sparsity error", "sparsity_error_mean", scientific),
    ):
        columns.append((title, lambda row, name=name, form=form: form(row[name])))
        if f"published_{name}" in table.columns and table[f"published_{name}"].is_not_null().any():
            columns.append(
                ("published", lambda row, name=name, form=form: form(row[f"published_{name}"]))
            )
    order = list(OPERATIONS)
    rows = sorted(table.iter_rows(named=True), key=lambda row: order.index(row["operation"]))
    lines = [
        "| " + " | ".join(title for title, _ in columns).replace("|  |", "| |") + " |",
        "| :-- | :-- |" + " --: |" * (len(columns) - 2),
        *("| " + " | ".join(cell(row) for _, cell in columns) + " |" for row in rows),
    ]
    return "\n".join([*_agreement(rows), *lines])


def overview_markdown(notes: dict[str, dict]) -> str:
    """What there is: a row an exhibit, its outcomes and core-hours, and the sum of these.

    Example:
        >>> run = {"rows": 330, "core_hours": 0.5}
        >>> notes = {"table1": {"outcomes": 300, "runs": [run]}, "table2": {"runs": []}}
        >>> print(overview_markdown(notes))
        Run so far: 1 of 2, in 0.5 core-hours.
        <BLANKLINE>
        | | what | outcomes | core-hours |
        | :-- | :-- | --: | --: |
        | table 1 | (x₁ + x₂) · (x₁ + x₂ + x₃ + x₄) | 300 | 0.5 |
        | table 2 | ten models on ×, + and − | not run yet | |
    """
    runs = {name: note["runs"] for name, note in notes.items()}
    spent = {name: sum(run["core_hours"] for run in each) for name, each in runs.items()}
    done = sum(bool(each) for each in runs.values())
    lines = [
        f"Run so far: {done} of {len(runs)}, in {sum(spent.values()):.3g} core-hours.",
        "",
        "| | what | outcomes | core-hours |",
        "| :-- | :-- | --: | --: |",
    ]
    for name, each in runs.items():
        outcomes = notes[name].get("outcomes", sum(run["rows"] for run in each))
        cost = f"{outcomes:,} | {spent[name]:.3g} |" if each else "not run yet | |"
        lines.append(f"| {readable(name)} | {EXHIBITS[name].title} | {cost}")
    return "\n".join(lines)


def provenance(name: str, table: pl.DataFrame, runs: list[dict]) -> str:
    """Where the numbers lie, how many seeds they are of, which commands made them, at what cost.

    Example:
        >>> run = {"command": "torchalu run madsen2020.table1", "torchalu": "0.1.0"}
        >>> run |= {"core_hours": 0.5, "processor": "a core", "date": "2026-01-01"}
        >>> print(provenance("table1", pl.DataFrame({"seeds": [50, 100]}), [run]))
        Numbers: `results/madsen2020/table1.csv`, 50 to 100 seeds each. Made by
        `torchalu run madsen2020.table1` (torchalu 0.1.0, 0.5 core-hours on a core, 2026-01-01).
        >>> provenance("figure3", pl.DataFrame(), [run])[-43:]
        'Outcomes of table 2 and figure 7 count too.'
    """
    where = f"Numbers: `results/{paper(name)}/{stem(name)}.csv`"
    if "seeds" in table.columns:
        least, most = table["seeds"].min(), table["seeds"].max()
        where += f", {least} seeds each" if least == most else f", {least} to {most} seeds each"
    made = [
        f"`{run['command']}` (torchalu {run['torchalu']}, {run['core_hours']:.3g} core-hours on "
        f"{run['processor']}, {run['date']})"
        for run in runs
    ]
    more = [readable(other) for other in included(f"{paper(name)}.{made_by(name)}")]
    also = f" Outcomes of {' and '.join(more)} count too." if more else ""
    return f"{where}. Made by\n{'; '.join(made)}.{also}" if made else f"{where}."


def readable(name: str) -> str:
    """A name with a space before its number, and without underscores.

    Example:
        >>> readable("figure10"), readable("single_module")
        ('figure 10', 'single module')
    """
    name = name.rpartition(".")[2]
    letters = name.rstrip("0123456789")
    return f"{letters} {name[len(letters) :]}".replace("_", " ").strip()


def steps(value: float | None) -> str:
    """A number of steps, three digits.

    Example:
        >>> steps(1434500), steps(18000), steps(None)
        ('1.43M', '18k', '–')
    """
    if value is None:
        return "–"
    return f"{value / 1e6:.3g}M" if value >= 999_500 else f"{value / 1e3:.3g}k"


def _interval(row: dict, name: str) -> str:
    low, high = (100 * row[f"{name}_{end}"] for end in ("low", "high"))
    return f"{low:.0f}–{high:.0f}%"


def _published(row: dict) -> str:
    """The published count, in bold where its interval and ours are apart."""
    if row["published_solved"] is None:
        return "–"
    text = f"{row['published_solved']}, {_interval(row, 'published')}"
    return text if overlap(row) else f"**{text}**"


def _agreement(rows: list[dict]) -> list[str]:
    """In how many cells the intervals overlap."""
    answers = [overlap(row) for row in rows if row["published_solved"] is not None]
    if not answers:
        return []
    text = (
        "The intervals of ours and of the published success rate overlap in "
        f"{sum(map(bool, answers))} of {len(answers)} cells"
    )
    return [text + ("." if all(answers) else "; the others are in bold."), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives with Sphinx."""
    app.add_directive("exhibit", Exhibit)
    app.add_directive("exhibits", Overview)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
