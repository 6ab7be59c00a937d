"""Directives that show what is committed elsewhere: benchmark results and BibTeX entries."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchalu.cli.cite import cite

LATEST = Path(__file__).parents[2] / "benchmarks" / "latest.json"


class Benchmarks(SphinxDirective):
    """`{benchmarks}`: the results in benchmarks/latest.json as a table."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        if not LATEST.exists():
            return self.parse_text_to_nodes("No results yet: `make bench` writes them.")
        self.env.note_dependency(LATEST)
        return self.parse_text_to_nodes(markdown(json.loads(LATEST.read_text("utf-8"))))


class Bibtex(SphinxDirective):
    """`{bibtex} UNIT [UNIT ...]`: what `torchalu cite` prints for these units."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Build the block."""
        text = cite(tuple(self.arguments[0].split()))
        return [nodes.literal_block(text, text, language="bibtex")]


def markdown(report: dict) -> str:
    """The results as a Markdown table, the machine above it.

    Example:
        >>> row = {"name": "n", "unit": "us", "ours": 2.0, "baseline": 8.0, "ratio": 4.0}
        >>> row |= {"baseline_name": "b", "floor": None, "target": ">= 3x"}
        >>> print(markdown({"command": "make", "machine": {"cores": 2}, "results": [row]}))
        Command: `make`. Machine: cores 2.
        <BLANKLINE>
        | benchmark | torchalu | baseline | ratio | goal | floor |
        | :-- | --: | --: | --: | --: | --: |
        | n; against b | 2 µs | 8 µs | 4x | ≥ 3x | |
    """
    machine = ", ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in report["machine"].items()
    )
    lines = [
        f"Command: `{report['command']}`. Machine: {machine}.",
        "",
        "| benchmark | torchalu | baseline | ratio | goal | floor |",
        "| :-- | --: | --: | --: | --: | --: |",
    ]
    for row in report["results"]:
        values = [_measured(row[key], row["unit"]) for key in ("ours", "baseline", "floor")]
        against = f"; against {row['baseline_name']}" if row["baseline"] is not None else ""
        ratio = "" if row["ratio"] is None else f"{_number(row['ratio'])}x"
        goal = row["target"].replace(">=", "≥").replace("<=", "≤")
        cells = (row["name"] + against, *values[:2], ratio, goal, values[2])
        lines.append("| " + "".join(f"{cell} | " if cell else "| " for cell in cells).rstrip())
    return "\n".join(lines)


def _measured(value: float | None, unit: str) -> str:
    """A value with its unit; nothing where there is none."""
    return "" if value is None else f"{_number(value)} {unit.replace('us', 'µs')}"


def _number(value: float) -> str:
    """Three digits of a number."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives with Sphinx."""
    app.add_directive("benchmarks", Benchmarks)
    app.add_directive("bibtex", Bibtex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
