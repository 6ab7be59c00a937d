"""The pages on Trask et al. 2018 say what the committed results do."""

import json
from pathlib import Path

import polars as pl

from torchalu.cli.results import _digests
from torchalu.experiments import get
from torchalu.experiments.trask2018.digit_training import SeriesTraining

ROOT = Path(__file__).parents[2]
DOCS, RESULTS = ROOT / "docs" / "trask2018", ROOT / "results" / "trask2018"


def page(name):
    """The text of a page, in one line."""
    return " ".join((DOCS / f"{name}.md").read_text("utf-8").split())


def committed(name):
    return pl.read_csv(RESULTS / f"{name}.csv", infer_schema_length=None)


def test_the_rows_of_the_nalu_are_of_an_earlier_start_as_long_as_the_page_says_so():
    """Who runs them anew takes the paragraph out."""
    (run,) = json.loads((RESULTS / "table2.json").read_text())["runs"]
    now = _digests(get("trask2018.table2")(SeriesTraining(epochs=30)))
    earlier = {labels for labels, digest in run["settings"].items() if now[labels] != digest}
    assert {json.loads(labels)["model"] for labels in earlier} == {"NALU"}
    assert "The NALU's rows are of an earlier start" in page("digits")
    rows = committed("table2_seeds").filter(pl.col("model") == "NALU")
    ends = dict(rows.select("task", "status").unique().iter_rows())
    assert ends == {"count": "nan", "sum": "finished"}
