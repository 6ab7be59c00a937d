"""What the page on logic activations answers is what the committed results say."""

from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "lowe2022"
PAGE = " ".join((ROOT / "docs" / "lowe2022.md").read_text("utf-8").split())
ANSWER = PAGE.partition("## The answer so far")[2].partition("## What has been run")[0]


def read(name):
    return pl.read_csv(RESULTS / f"{name}.csv", infer_schema_length=None)


def percent(value, digits=0):
    return f"{100 * value:.{digits}f}%"


def test_four_logits():
    runs = {str(name): part for (name,), part in read("figure4_seeds").group_by("activation")}
    xnor, relu = runs["xnor_ail"], runs["relu"]
    means = [percent(part["test_accuracy"].mean()) for part in (xnor, relu)]
    solved = xnor.filter(pl.col("test_accuracy") > 0.99)
    by_table = xnor.filter("read", method="truth table")
    assert solved["method"].to_list() == ["structure"] * 3
    assert f"{means[0]} on average, ReLU on {means[1]}; above 99% are 3 of {len(xnor)}" in ANSWER
    assert f"parity of {xnor['read'].sum()} of 20 seeds of XNOR AIL, but only of 3" in PAGE
    least, most = (percent(getattr(by_table["test_accuracy"], end)()) for end in ("min", "max"))
    assert f"of the other {len(by_table)} it was read from the *truth table*" in PAGE.lower()
    assert PAGE.count(f"get {least} to {most}") == 2
    assert relu["read"].sum() == 0


def test_the_table_of_readings_has_all_seeds():
    readings, summary = read("figure4_readings"), read("figure4")
    whole, parts = readings.filter(formula="all"), readings.filter(pl.col("formula") != "all")
    columns = ["accuracy_mean", "accuracy_low", "accuracy_high"]
    for row, expected in zip(whole.to_dicts(), summary.to_dicts(), strict=True):
        assert row["activation"] == expected["label"]
        got = [row[name] for name in columns]
        assert got == pytest.approx([expected[name] for name in ("mean", "low", "high")])
        assert parts.filter(activation=row["activation"])["seeds"].sum() == row["seeds"] == 20


def test_parity_of_many_bits():
    table = read("parity")
    found = {
        (row["activation"], row["law"], row["inputs"]): row["read"]
        for row in table.iter_rows(named=True)
    }
    assert table["seeds"].unique().to_list() == [3]
    for name, counts in {"xnor_ail": [3, 3], "xnor_il": [3, 3], "relu": [1, 0]}.items():
        assert [found[name, "mixed", inputs] for inputs in (24, 32)] == counts
        assert found[name, "fair", 24] == found[name, "fair", 32] == 0
    assert all(found["relu", "fair", n] > found["xnor_il", "fair", n] for n in (12, 16))


def test_chorales():
    rows = {row["activation"]: row for row in read("bach").iter_rows(named=True)}
    best = {percent(rows[name]["mean"], 1) for name in ("or_ail", "ail_or_and_d", "max_out")}
    assert best == {"71.2%"}
    assert f"right on 71.2%, ReLU on {percent(rows['relu']['mean'], 1)}; so is Max" in ANSWER
    for name in ("xnor_ail", "ail_or_xnor_d", "ail_or_and_xnor_d"):
        assert rows[name]["p_baseline"] > 0.05
    assert rows["signed_geomean"]["p_baseline"] < 0.05
    assert "below" in rows["signed_geomean"]["marks"]
    assert "best" in rows["ail_or_and_d"]["marks"]
    assert rows["ail_or_and_xnor_d"]["p_best"] < 0.05


def test_mnist():
    best, sizes = read("figure5_best"), read("figure5")
    assert set(best["n"]) == {2}
    assert (best["p_baseline"].drop_nulls() > 0.05).all()
    few = sizes.filter(pl.col("width") <= 64)
    for _, part in few.group_by("width"):
        first = part.sort("mean", descending=True).row(0, named=True)
        assert first["activation"] == "ail_or_and_xnor_d"
        assert first["p_baseline"] > 0.05


def test_covertype():
    table = read("covertype")
    rows = {(row["activation"], row["width"]): row for row in table.iter_rows(named=True)}
    assert rows["gradient_boosting", 0]["n"] == 1
    assert {row["n"] for (_, width), row in rows.items() if width} == {2}
    wide = {name: row for (name, width), row in rows.items() if width == 128}
    means = {name: percent(row["mean"], 1) for name, row in wide.items()}
    order = sorted(wide, key=lambda name: wide[name]["mean"])
    assert (order[0], order[-2:]) == ("or_ail", ["xnor_ail", "ail_or_xnor_d"])
    assert f"right on {means['ail_or_xnor_d']} of the patches" in ANSWER
    assert f"XNOR AIL on {means['xnor_ail']}, ReLU on {means['relu']}, PReLU on" in ANSWER
    assert f"{means['prelu']}; OR AIL alone is last with {means['or_ail']}" in ANSWER
    assert f"(p = {wide['ail_or_xnor_d']['p_baseline']:.2f})" in ANSWER
    assert f"trees are right on {percent(rows['gradient_boosting', 0]['mean'], 1)}" in ANSWER
    narrow = [percent(rows[name, 32]["mean"], 1) for name in ("xnor_ail", "relu")]
    assert f"With width 32 XNOR AIL has {narrow[0]} and ReLU {narrow[1]}" in PAGE


def test_features_of_an_encoder():
    rows = {row["activation"]: row for row in read("table1").iter_rows(named=True)}
    assert {row["n"] for row in rows.values()} == {5}
    assert "best" in rows["nail_or_and_xnor_d"]["marks"]
    means = {name: percent(row["mean"], 1) for name, row in rows.items()}
    assert f"has {means['nail_or_and_xnor_d']}, as SiLU has, ReLU {means['relu']}," in ANSWER
    assert means["silu"] == means["nail_or_and_xnor_d"]
    assert f"a linear layer only {means['identity']}" in ANSWER
    for name in ("nail_or_and_xnor_d", "nil_or_xnor_d", "nail_or_xnor_d", "nil_or_and_xnor_d"):
        assert rows[name]["mean"] > rows["relu"]["mean"]
        assert rows[name]["p_baseline"] > 0.05
    assert rows["softshrink"]["mean"] == 0.1


def test_what_is_not_measured_has_no_results():
    assert set(read("figure5")["network"]) == {"mlp"}
    assert not (RESULTS / "figure6.csv").exists()
