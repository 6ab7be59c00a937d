"""What `results/demo.csv` tells of measured tables is what the demo finds in them."""

import csv
from pathlib import Path

import pytest
import sympy
from examples import demo

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "learn"),
    [("kepler", demo.kepler), ("boyle", demo.boyle), ("boyle_half", demo.boyle_from_half)],
)
def test_committed_formulas_are_those_that_are_found(name, learn, monkeypatch):
    monkeypatch.setattr(demo, "fit_mlp", lambda _: None)
    with (ROOT / "results" / "demo.csv").open(newline="") as file:
        committed = {row["formula"] for row in csv.DictReader(file) if row["example"] == name}
    formula = learn().model.formula_
    (symbol,) = formula.free_symbols
    ratio = sympy.sympify(committed.pop()) / formula
    assert committed == set()
    for value in (2, 30):
        assert float(ratio.subs(symbol, value)) == pytest.approx(1, rel=1e-9)
