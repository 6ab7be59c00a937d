"""The page of a reproduction shows the committed results, and says what has not been run."""

import html
import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from torchalu.report import EXHIBITS
from torchalu.report.reproduction import LABELS, paper

DOCS = Path(__file__).parents[2] / "docs"
PAPERS = {
    "madsen2020": ("madsen2020",),
    "lowe2022": ("lowe2022",),
    "kaiser2016": ("kaiser2016",),
    "trask2018": tuple(
        f"trask2018/{name}"
        for name in ("index", "arithmetic", "digits", "words_programs", "grid_world")
    ),
}
PAGES = {
    name: "\n".join((DOCS / f"{page}.md").read_text("utf-8") for page in pages)
    for name, pages in PAPERS.items()
}
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
    source.mkdir()
    for name in PAPERS:
        (results / name).mkdir(parents=True)
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


@pytest.mark.parametrize("name", PAPERS)
def test_each_exhibit_is_on_the_page_of_its_paper_once(name):
    shown = re.findall(r"```\{exhibit\} ([\w.]+)", PAGES[name])
    assert sorted(shown) == sorted(one for one in EXHIBITS if paper(one) == name)
    assert PAGES[name].count(f"```{{exhibits}} {name}\n") == 1


@pytest.mark.parametrize("name", PAPERS)
def test_departures_are_numbered_from_1_without_a_gap(name):
    for part in PAGES[name].split("## Departures")[1:]:
        section = re.split(r"\n##? ", part)[0]
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert numbers


def test_what_is_varied_has_a_name_for_people():
    assert all(label.replace("_", " ") == label for label in LABELS.values())


def test_results_beside_the_published_ones(build):
    results, run = build
    summary().write_csv(results / "madsen2020" / "table2.csv")
    (results / "madsen2020" / "table2.json").write_text(json.dumps({"runs": [RUN]}))
    page = run("```{exhibits} madsen2020\n```\n\n```{exhibit} table2\n```")
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


@pytest.mark.parametrize(
    "name", ["figure8", "lowe2022.figure5", "kaiser2016.table1", "trask2018.table8"]
)
def test_what_has_not_been_run_is_said(build, name):
    _, run = build
    whose, short = paper(name), name.rpartition(".")[2]
    page = re.sub(
        r"<[^>]+>", "", run(f"```{{exhibits}} {whose}\n```\n\n```{{exhibit}} {name}\n```")
    )
    count = sum(paper(one) == whose and EXHIBITS[one].experiment is None for one in EXHIBITS)
    assert f"Run so far: 0 of {count}, in 0 core-hours." in page
    assert f"Not run yet: torchalu run {whose}.{short} --results results/{whose}." in page


def test_a_formula_in_a_table_is_shown_as_it_is(build):
    results, run = build
    readings = ["f0*f1*f2*f3", "|f0|*f1_2", "a<b [1](2)", "`f0`"]
    table = pl.DataFrame({"reading": readings})
    table.write_csv(results / "trask2018" / "perception.csv")
    page = run("```{exhibit} trask2018.perception\n```")
    cells = re.findall(r"<td[^>]*><p>(.*?)</p></td>", page)
    assert [html.unescape(cell) for cell in cells] == readings


def test_activations_compared_below_their_figure(build):
    results, run = build
    row = {"network": "mlp", "activation": "relu", "label": "ReLU", "n": 3, "mean": 0.97}
    row |= {"sd": 0.002, "p_best": 0.03, "p_baseline": None, "marks": "", "parameters": 1000}
    other = row | {"activation": "or_ail", "label": "OR AIL", "mean": 0.98, "p_best": None}
    other |= {"p_baseline": 0.025, "marks": "best above"}
    third = other | {"activation": "max_out", "label": "Max", "mean": 0.975, "marks": "tied"}
    table = pl.DataFrame([row, third, other])
    for file in ("figure5", "figure5_best"):
        table.write_csv(results / "lowe2022" / f"{file}.csv")
    page = run("```{exhibit} lowe2022.figure5\n```")
    cells = re.findall(r"<td[^>]*><p>(.*?)</p></td>", page)
    assert cells[1::7] == ["<strong>OR AIL</strong>", "<em>Max</em>", "ReLU"]
    assert cells[2::7] == ["98.00 ± 0.20%", "97.50 ± 0.20%", "97.00 ± 0.20%"]
    assert cells[3:7] == ["3", "–", "0.025", "1,000"]
    assert re.search(r'<img alt="lowe2022.figure5: MLP and CNN on MNIST"', page)


def test_a_table_without_a_figure_is_shown_as_it_is(build):
    results, run = build
    row = {"network": "mlp", "activation": "relu", "learning_rate": 0.0123456, "draws": 20}
    pl.DataFrame([row]).write_csv(results / "lowe2022" / "search.csv")
    page = run("```{exhibit} lowe2022.search\n```")
    assert re.findall(r"<td[^>]*><p>(.*?)</p></td>", page) == ["mlp", "relu", "0.0123", "20"]
    assert "<img" not in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(999_500, "1M"), (999_000, "999k"), (5_000, "5k"), (14_000, "14k"), (2_547_500, "2.55M")],
)
def test_steps_have_three_digits(exhibits, value, text):
    assert exhibits.steps(value) == text
