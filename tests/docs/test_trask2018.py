"""The pages on Trask et al. 2018 say what the committed results do."""

import json
from pathlib import Path

import polars as pl

from torchalu.cli.results import _digests
from torchalu.experiments import get
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES
from torchalu.experiments.trask2018.unread import unread

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


def test_what_reads_nothing_is_as_far_off_as_the_page_says():
    text = page("digits")
    off = {task: [unread(task, length).mae for length in (100, 1000)] for task in ("sum", "count")}
    assert "off by {:.1f} on average in series of 100, and by {:.1f} in".format(*off["sum"]) in text
    assert "is off by {:.2f} and {:.2f}, where".format(*off["count"]) in text
    sums = DIGIT_TABLES.filter(task="sum", length=1000).sort("published_mae")
    assert sums["model"][0] == "NAC"
    assert 0.75 < sums["published_mae"][0] / off["sum"][1] < 1  # barely
    assert (sums["published_mae"][1:] > off["sum"][1]).all()
    rows = committed("table2_picks")
    assert set(rows["by"]) == {"nothing holds"}
    share = rows["median_mae"] / rows["unread_mae"]
    assert f"is {share.min():.0%}"[:-1] + f" to {share.max():.0%} of what reads nothing" in text


def test_the_last_row_of_table_2_is_of_what_reads_nothing():
    for task in ("count", "sum"):
        row = committed(f"table2_{task}").row(-1, named=True)
        assert row["model"] == "reads nothing"
        assert row["mae_1000_median"] == unread(task, 1000).mae


def test_the_published_error_beside_a_pick_is_the_papers_best():
    """That of the LSTM with NALU for words, and of the NAC for all of table 2."""
    (words,) = committed("table3_picks").select("published_test_mae", "published_model").rows()
    assert words == (0.41, "LSTM+NALU")
    rows = committed("table2_picks").select("published_mae", "published_model").rows()
    assert rows == [(mae, "NAC") for mae in (0.12, 0.76, 3.32, 1.42, 7.88, 57.3)]
