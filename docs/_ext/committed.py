"""Directives that show what is committed elsewhere: benchmarks, BibTeX entries, the zoo's cards."""

import json
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchalu.cli.cite import cite
from torchalu.zoo import RANDOM, Card

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CARDS = Path(__file__).parents[2] / "src" / "torchalu" / "zoo" / "weights"


class Benchmarks(SphinxDirective):
    """`{benchmarks} [FILE]`: the results in benchmarks/latest.json, or another file there."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        path = BENCHMARKS / (self.arguments[0] if self.arguments else "latest.json")
        if not path.exists():
            return self.parse_text_to_nodes(f"No results yet in `benchmarks/{path.name}`.")
        self.env.note_dependency(path)
        return self.parse_text_to_nodes(markdown(json.loads(path.read_text("utf-8"))))


class Bibtex(SphinxDirective):
    """`{bibtex} UNIT [UNIT ...]`: what `torchalu cite` prints for these units."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Build the block."""
        text = cite(tuple(self.arguments[0].split()))
        return [nodes.literal_block(text, text, language="bibtex")]


class Zoo(SphinxDirective):
    """`{zoo}`: what the cards of the learned algorithms say, as a table."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        paths = sorted(CARDS.glob("*.json"))
        for path in paths:
            self.env.note_dependency(path)
        cards = [Card.from_json(path.read_text("utf-8")) for path in paths]
        return self.parse_text_to_nodes(zoo_markdown(cards))


def zoo_markdown(cards: Sequence[Card]) -> str:
    """Cards as a Markdown table, a row a length, and below it what was changed after the training.

    Example:
        >>> from torchalu.zoo import Measurement
        >>> measured = (Measurement(20, 1000, 1000), Measurement(20, 4, 3, "carry"))
        >>> card = Card("bmul", "DiagonalNeuralGPU", {}, changes="sharpened", seeds_tried=1,
        ...             measured=(*measured, Measurement(20, 1, 1, "ones")))
        >>> print(zoo_markdown([card]))
        | name | form | seeds | length | random | adversarial | where it fails |
        | :-- | :-- | --: | --: | --: | --: | :-- |
        | `bmul` | DiagonalNeuralGPU | 0 of 1 | 20 | 1000 of 1000 | 4 of 5 | carry: 1 of 4 |
        <BLANKLINE>
        - `bmul` was changed after its training, and its seeds were counted before: sharpened.
    """
    lines = [
        "| name | form | seeds | length | random | adversarial | where it fails |",
        "| :-- | :-- | --: | --: | --: | --: | :-- |",
    ]
    for card in cards:
        first = [f"`{card.task}`", card.form, f"{card.seeds_generalizing} of {card.seeds_tried}"]
        for length in sorted({entry.length for entry in card.measured}):
            entries = [entry for entry in card.measured if entry.length == length]
            cells = [*first, str(length)]
            for random in (True, False):
                some = [entry for entry in entries if (entry.kind == RANDOM) == random]
                right, count = (sum(getattr(e, name) for e in some) for name in ("right", "count"))
                cells.append(f"{right} of {count}" if some else "–")
            wrong = [e for e in entries if e in card.failures]
            cells.append(", ".join(f"{e.kind}: {e.count - e.right} of {e.count}" for e in wrong))
            lines.append("| " + " | ".join(cells).rstrip() + " |")
            first = ["", "", ""]
    changed = [
        f"- `{card.task}` was changed after its training, and its seeds were counted before: "
        f"{card.changes}."
        for card in cards
        if card.changes
    ]
    return "\n".join([*lines, *([""] if changed else []), *changed])


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
        >>> row |= {"floor": 1.6, "target": "at most 2.5x the floor"}
        >>> report = {"command": "make", "machine": {"cores": 2}, "results": [row]}
        >>> print(markdown(report).splitlines()[-1])
        | n; against b | 2 µs | 8 µs | 4x | at most 2.5x the floor: 1.25x | 1.6 µs |
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
        if goal.endswith("the floor"):
            goal += f": {_number(row['ours'] / row['floor'])}x"
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
    app.add_directive("zoo", Zoo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
