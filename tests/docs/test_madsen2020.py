"""What the page on Madsen & Johansen 2020 says of one unit alone is what the results say."""

from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "madsen2020.md").read_text("utf-8").split())


def test_units_that_are_made_for_quotients():
    table = pl.read_csv(ROOT / "results" / "madsen2020" / "single_module.csv")
    keys = ["model", "operation", "in_features"]
    sums = table.group_by(keys).agg(pl.col("solved", "seeds").sum())
    assert set(sums["seeds"]) == {225}
    solved = {tuple(row[name] for name in keys): row["solved"] for row in sums.to_dicts()}
    names = "RealNPU (modified)", "NMRU", "RealNPU"
    modified, nmru, before = (solved[name, "div", 10] for name in names)
    assert f"of 225 runs with 10 inputs the modified RealNPU {modified} and the NMRU {nmru}" in PAGE
    assert f"of the units before them the RealNPU most, {before}" in PAGE
    older = [n for (name, *rest), n in solved.items() if rest == ["div", 10] and _is_older(name)]
    assert before == max(older)
    assert f"the NMRU finds {solved['NMRU', 'div', 2]} quotients and all products" in PAGE
    assert solved["NMRU", "mul", 2] == solved["sNMU", "mul", 2] == 225


def _is_older(name):
    return name not in ("RealNPU (modified)", "NMRU", "sNMU") and "squares" not in name
