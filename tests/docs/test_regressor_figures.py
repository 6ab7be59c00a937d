"""What the pages say of the Feynman benchmark is what its committed run found."""

import csv
from pathlib import Path
from statistics import median

import pytest
from benchmarks.feynman import equations, run_trial

ROOT = Path(__file__).parents[2]


def rows(noise, bonus):
    with (ROOT / "results" / "feynman.csv").open(newline="") as file:
        found = [row for row in csv.DictReader(file) if float(row["noise"]) == noise]
    return [row for row in found if row["equation"].startswith("bonus") is bonus]


def missed(noise):
    """The equations that were not found in every seed, as the page names them."""
    some = [row for bonus in (False, True) for row in rows(noise, bonus)]
    return [f"{row['equation']} ({row['found']})" for row in some if row["found"] != row["seeds"]]


def every(found):
    return sum(row["found"] == row["seeds"] for row in found)


def text(*path):
    return " ".join(ROOT.joinpath(*path).read_text("utf-8").split())


def test_the_page_tells_what_was_found():
    page = text("docs", "regressor.md")
    exact, bonus = rows(0.0, bonus=False), rows(0.0, bonus=True)
    assert {row["seeds"] for row in exact + bonus} == {"5"}
    assert every(exact) == len(exact) == 71
    assert f"finds all 71 in each of 5 seeds, and {every(bonus)} of the 10" in page
    seconds = [float(row["seconds"]) for row in exact]
    assert f"half of the 71 in {median(seconds):.1f} s or less" in page
    noisy, hard = rows(0.01, bonus=False), rows(0.01, bonus=True)
    fits = sum(int(row["found"]) for row in noisy)
    assert f"{every(noisy)} of the 71 in each seed, {fits} of {5 * 71} tables" in page
    assert f"and {every(hard)} of the 10" in page
    assert f"Without noise it misses {' and '.join(missed(0.0))}" in page
    *first, last = missed(0.01)
    assert f"with noise {', '.join(first)} and {last}" in page


def test_the_readme_tells_it_too():
    assert "finds all 71 of these without noise" in text("README.md")


@pytest.mark.long
def test_ten_and_the_square_of_pi_are_one_under_noise():
    (equation,) = [one for one in equations() if one.number == "II.24.17"]
    formula = run_trial(equation, noise=0.01, seed=0).formula
    assert formula == "sqrt(-10/d**2 + omega**2/c**2)"
    assert f"such as `{formula}` with 10 in place of π²" in text("docs", "regressor.md")
