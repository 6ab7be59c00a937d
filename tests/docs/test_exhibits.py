"""The page of a reproduction shows the committed results, and says what has not been run."""

import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from torchalu.report import EXHIBITS
from torchalu.report.reproduction import LABELS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "madsen2020.md").read_text("utf-8")
RUN = {
    "command": "torchalu run madsen2020.table2 --seeds 100 --results results/madsen2020",
    "torchalu": "0.1.0",
    "date": "2026-01-01",
    "rows": 200,
    "core_hours": 1.25,
    "processor": "a processor",
}


@pytest.fixture
def exhibits(monkeypatch):
    """The extension, as Sphinx imports it."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    monkeypatch.delitem(sys.modules, "exhibits", raising=False)
    import exhibits  # pyright: ignore[reportMissingImports]

    return exhibits


@pytest.fixture
def build(exhibits, tmp_path, monkeypatch):
    """Builds a page in a folder of its own, over results of its own."""
    results, source = tmp_path / "results", tmp_path / "source"
    results.mkdir()
    source.mkdir()
    monkeypatch.setattr(exhibits, "RESULTS", results)

    def run(text):
        (source / "index.md").write_text(f"# Page\n\n{text}\n", "utf-8")
        settings = {
            "extensions": ["myst_parser", "exhibits"],
            "myst_enable_extensions": ["dollarmath"],
        }
        with docutils_namespace():
            app = Sphinx(
                source, None, tmp_path / "html", tmp_path / "cache", "html",
                confoverrides=settings, status=None, warningiserror=True, exception_on_warning=True,
            )  # fmt: skip
            app.build()
        return (tmp_path / "html" / "index.html").read_text("utf-8")

    return results, run


def summary():
    """Two rows as `evaluate.summarize` gives them with what was published; NAC* is worse here."""
    common = {"operation": "mul", "seeds": 100, "sparsity_error_mean": 4.2e-7}
    return pl.DataFrame([
        {"model": "NMU", "solved": 97, "solved_rate": 0.97, "solved_low": 0.915,
         "solved_high": 0.99, "solved_at_median": 1.5e6, "published_solved": 98} | common,
        {"model": "NAC*", "solved": 10, "solved_rate": 0.1, "solved_low": 0.055,
         "solved_high": 0.174, "solved_at_median": None, "published_solved": 31} | common,
    ])  # fmt: skip


def test_each_exhibit_is_on_the_page_once():
    assert sorted(re.findall(r"```\{exhibit\} (\w+)", PAGE)) == sorted(EXHIBITS)
    assert PAGE.count("```{exhibits}") == 1


def test_departures_are_numbered_from_1_without_a_gap():
    section = PAGE.split("## Departures")[1].split("\n## ")[0]
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_is_varied_has_a_name_for_people():
    assert all(label.replace("_", " ") == label for label in LABELS.values())


def test_results_beside_the_published_ones(build):
    results, run = build
    summary().write_csv(results / "table2.csv")
    (results / "table2.json").write_text(json.dumps({"runs": [RUN]}))
    page = run("```{exhibits}\n```\n\n```{exhibit} table2\n```")
    cells = re.findall(r"<td[^>]*><p>(.*?)</p></td>", page)
    start = cells.index("table 2")
    assert cells[start : start + 4] == ["table 2", "ten models on ×, + and −", "200", "1.25"]
    assert "97 of 100, 92–99%" in cells
    assert "98, 93–99%" in cells
    assert "<strong>31, 23–41%</strong>" in cells
    assert "overlap in 1 of 2 cells" in page
    assert "1.25 core-hours" in page
    assert RUN["command"] in re.sub(r"<[^>]+>", "", page)
    picture = re.search(r'<img alt="table2: [^"]*" src="([^"]+)"', page)
    assert picture
    assert (results.parent / "html" / picture[1]).read_text("utf-8").startswith("<?xml")


def test_what_has_not_been_run_is_said(build):
    _, run = build
    page = re.sub(r"<[^>]+>", "", run("```{exhibits}\n```\n\n```{exhibit} figure8\n```"))
    assert f"Run so far: 0 of {len(EXHIBITS) - 1}, in 0 core-hours." in page
    assert "Not run yet: torchalu run madsen2020.figure8 --results results/madsen2020." in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(999_500, "1M"), (999_000, "999k"), (5_000, "5k"), (14_000, "14k"), (2_547_500, "2.55M")],
)
def test_steps_have_three_digits(exhibits, value, text):
    assert exhibits.steps(value) == text
