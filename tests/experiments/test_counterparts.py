"""Settings that two experiments train alike: which they are, and that they give the same."""

import json
from pathlib import Path

import polars as pl
import pytest

from torchalu.cli.outcome_tables import read_outcomes
from torchalu.experiments import counterparts, get, included, including, names

RESULTS = Path(__file__).parents[2] / "results" / "madsen2020"
PAIRS = [(part, whole) for whole in names() for part in included(whole)]


def seeds_on(instruction_set):
    """The seeds of figure 3 that ran on an instruction set, as its results note."""
    entries = json.loads((RESULTS / "figure3.json").read_text("utf-8"))["runs"]
    noted = (entry for entry in entries if entry.get("instruction_set") == instruction_set)
    spans = (entry["seeds"] for entry in noted)
    return sorted({seed for first, last in spans for seed in range(first, last + 1)})


def test_what_counts_where():
    assert {(part, whole) for part in names() for whole in including(part)} == set(PAIRS)
    expected = {"table2-table6": 30, "table2-figure3": 5, "figure7-figure3": 9}
    expected |= {"table2-figure8": 5, "table6-figure8": 6}
    found = {
        "-".join(name.removeprefix("madsen2020.") for name in pair): len(counterparts(*pair).pairs)
        for pair in PAIRS
    }
    assert found == expected


@pytest.mark.parametrize("pair", PAIRS)
def test_settings_of_both_differ_in_nothing_but_their_labels(pair):
    one, other = (get(name)().settings for name in pair)
    for mine, theirs in counterparts(*pair).pairs:
        (a,) = (setting for setting in one if setting.labels == mine)
        (b,) = (setting for setting in other if setting.labels == theirs)
        assert (a.model.name, a.task, a.steps) == (b.model.name, b.task, b.steps)
        assert repr(a.run(0).stack) == repr(b.run(0).stack)
        assert (a.run(0).learning_rate, a.run(0).penalty) == (
            b.run(0).learning_rate,
            b.run(0).penalty,
        )


def test_nothing_in_common():
    with pytest.raises(ValueError, match=r"'madsen2020\.table1' and .*3' have no setting"):
        counterparts("madsen2020.table1", "madsen2020.figure3")


@pytest.mark.parametrize("part", ["figure7", "table2"])
def test_committed_outcomes_of_a_setting_are_the_same_in_both(part):
    """Bit by bit, though other settings trained beside it; nearly so on other instruction sets."""
    whole = get("madsen2020.figure3")()
    ours = pl.read_csv(RESULTS / "figure3_seeds.csv", infer_schema_length=None)
    keys = get(f"madsen2020.{part}")().keys
    theirs = read_outcomes(RESULTS / f"{part}_seeds.csv", ours, keys)
    both = counterparts(f"madsen2020.{part}", whole.name).relabel(theirs)
    pairs = ours.filter(model="NMU").join(both, on=list(whole.keys), suffix=" too")
    assert pairs["hidden_size"].n_unique() == {"figure7": 9, "table2": 1}[part]
    without_avx512 = seeds_on("avx2")  # those of figure 7 and table 2 ran with it
    elsewhere = pl.col("seed").is_in(without_avx512)
    alike, near = pairs.filter(~elsewhere), pairs.filter(elsewhere)
    assert alike["seed"].n_unique() >= 26
    for name in ("solved", "solved_at_step", "best_step", "validation_loss", "steps"):
        assert alike[name].equals(alike[f"{name} too"]), name
    assert near["seed"].sort().to_list() == without_avx512
    assert near["solved"].equals(near["solved too"])
    steps = near.filter("solved")
    nearly = pytest.approx(steps["solved_at_step too"].to_list(), rel=0.01)
    assert steps["solved_at_step"].to_list() == nearly
    assert not near["validation_loss"].equals(near["validation_loss too"])  # or they are alike
