"""The search in networks of the zoo: what it calls wrong is, and the table says how many."""

import polars as pl
import pytest
from scipy.stats import binomtest

from torchalu import zoo
from torchalu.experiments.kaiser2016.searched import counterexamples


def test_what_is_searched_and_the_table_of_it(tmp_path):
    study = counterexamples(("copy", "bmul"), lengths=(4, 20), count=100)
    done = []
    parts = [study.run(chunk, tmp_path, done.append) for chunk in study.chunks()]
    assert 0 < min(done) < max(done) <= 1
    outcomes = pl.concat([part.outcomes for part in parts])
    table = study.summarize(outcomes)["counterexamples"]
    assert table.select("task", "length").rows() == [
        ("bmul", 4), ("bmul", 20), ("copy", 4), ("copy", 20)
    ]  # fmt: skip
    assert table["new"][0] <= 256  # as many products of 4 bits as there are
    assert 75 < table["new"][1] <= 100
    assert table.filter(task="copy")["wrong"].to_list() == [0, 0]
    assert table.filter(task="copy")["first"].to_list() == ["", ""]
    for row in table.iter_rows(named=True):
        interval = binomtest(row["wrong"], row["new"]).proportion_ci(method="wilson")
        assert row["low"] == pytest.approx(100 * interval.low, rel=1e-9, abs=1e-12)
        assert row["high"] == pytest.approx(100 * interval.high, rel=1e-9)
        if row["first"]:
            learned = zoo.load(row["task"])
            assert learned.run(row["first"]) != learned.task.solve(row["first"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lengths": ()}, r"lengths is \(\); give positive integers, each once"),
        ({"lengths": (4, 4)}, r"lengths is \(4, 4\)"),
        ({"lengths": (0,)}, r"lengths is \(0,\)"),
        ({"count": 0}, "count is 0; give a positive integer"),
        ({"generations": 0}, "generations is 0; give a positive integer"),
        ({"checkpoints": ()}, r"checkpoints is \[\], which have learned \[\]; give one or more"),
        ({"checkpoints": ("copy", "copy")}, r"checkpoints is \['copy', 'copy'\]"),
    ],
)
def test_what_cannot_be_searched_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        counterexamples(**arguments)
