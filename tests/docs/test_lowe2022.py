"""What the page on logic activations answers is what the committed results say."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
import torch
from torch.nn.utils import vector_to_parameters

from torchalu.experiments.lowe2022.networks import mlp
from torchalu.experiments.lowe2022.parity import four_logits

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
    solved = xnor.filter(pl.col("test_accuracy") > 0.99)
    by_table = xnor.filter(method="truth table")
    assert set(solved["method"]) == {"structure"}
    assert len(solved) + len(by_table) == xnor["read"].sum() == len(xnor) == 20
    assert f"learned by {len(solved)} of 20 seeds of XNOR AIL, all of them above 99.7%" in ANSWER
    assert f"is right on {percent(relu['test_accuracy'].mean())} on average, as in" in ANSWER
    assert f"of {len(solved)} from the weights (*structure*), which solve the task, with" in PAGE
    least, most = (percent(getattr(solved["test_accuracy"], end)(), 1) for end in ("min", "max"))
    assert f"Of XNOR AIL {len(solved)} come to that, with {least} to {most}" in PAGE
    least, most = (percent(getattr(by_table["test_accuracy"], end)()) for end in ("min", "max"))
    assert f"of the other {len(by_table)} it was read from the *truth table*" in PAGE.lower()
    assert f"get {least} to {most} right" in PAGE
    assert relu["read"].sum() == 1


def test_solutions_of_four_logits_are_wrong_only_beside_zero():
    test = four_logits().test
    rows = read("figure4_seeds").filter(pl.col("test_accuracy") > 0.99)
    for run in rows.iter_rows(named=True):
        network = mlp(4, (4, 2), 1, run["activation"])
        vector_to_parameters(torch.tensor(json.loads(run["weights"])), network.parameters())
        with torch.no_grad():
            wrong = (network(test.inputs)[:, 0] > 0) != (test.labels > 0)
        assert 1 - wrong.double().mean().item() == pytest.approx(run["test_accuracy"], abs=2e-4)
        assert test.inputs[wrong].abs().amin(1).max() < 0.0051
    assert "one of the four logits is within 0.005 of 0" in PAGE


def test_the_search_of_four_logits():
    table = read("search_seeds").filter(network="four_logits")
    draws = table.group_by("activation", "draw").agg(
        pl.col("learning_rate").first(),
        solved=(pl.col("validation_accuracy") > 0.99).sum(),
        mean=pl.col("validation_accuracy").mean(),
        seeds=pl.len(),
    )
    assert draws["seeds"].unique().to_list() == [10]
    xnor, relu = (draws.filter(activation=name) for name in ("xnor_ail", "relu"))
    assert (len(xnor), len(relu)) == (20, 20)
    assert (xnor["solved"].min(), xnor["solved"].max(), relu["solved"].max()) == (2, 8, 0)
    best = xnor.sort("solved", descending=True)["learning_rate"][0]
    assert f"most at a learning rate of {best:.2f}; and none of ReLU" in PAGE
    assert (
        f"whose best rate is {relu.sort('mean', descending=True)['learning_rate'][0]:.3f}" in PAGE
    )


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
    best = read("figure5_best").filter(network="mlp")
    sizes = read("figure5").filter(network="mlp")
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
    assert {row["n"] for (_, width), row in rows.items() if width} == {5}
    wide = {name: row for (name, width), row in rows.items() if width == 128}
    means = {name: percent(row["mean"], 1) for name, row in wide.items()}
    order = sorted(wide, key=lambda name: wide[name]["mean"])
    assert (order[0], order[-2:]) == ("or_ail", ["xnor_ail", "ail_or_xnor_d"])
    assert f"right on {means['ail_or_xnor_d']} of the patches" in ANSWER
    assert f"XNOR AIL on {means['xnor_ail']}, ReLU on {means['relu']}, PReLU on" in ANSWER
    assert f"{means['prelu']}; all five ensembles" in ANSWER
    ensembles = {name for name in wide if name.startswith("ail_")}
    assert len(ensembles) == 5
    assert all("above" in wide[name]["marks"] for name in {*ensembles, "xnor_ail"})
    assert "below" in wide["or_ail"]["marks"]
    assert f"OR AIL, alone, is last with {means['or_ail']}" in ANSWER
    assert f"trees are right on {percent(rows['gradient_boosting', 0]['mean'], 1)}" in ANSWER
    narrow = {name: row for (name, width), row in rows.items() if width == 32}
    ahead = {name for name, row in narrow.items() if "above" in row["marks"]}
    assert ahead == {"xnor_ail", "silu", "ail_or_xnor_p"}
    assert {n for n, row in narrow.items() if row["mean"] > narrow["relu"]["mean"]} == ahead
    xnor, silu, relu = (percent(narrow[n]["mean"], 1) for n in ("xnor_ail", "silu", "relu"))
    assert f"With width 32 XNOR AIL has {xnor}, SiLU {silu} and ReLU {relu}" in PAGE


def test_features_of_an_encoder():
    table = read("table1")
    assert set(table["n"]) == {5}
    rows = {row["activation"]: row for row in table.filter(dataset="cifar10").to_dicts()}
    assert "best" in rows["nail_or_and_xnor_d"]["marks"]
    means = {name: percent(row["mean"], 1) for name, row in rows.items()}
    assert f"has {means['nail_or_and_xnor_d']}, as SiLU has, ReLU {means['relu']}," in ANSWER
    assert means["silu"] == means["nail_or_and_xnor_d"]
    assert f"a linear layer only {means['identity']}" in ANSWER
    for name in ("nail_or_and_xnor_d", "nil_or_xnor_d", "nail_or_xnor_d", "nil_or_and_xnor_d"):
        assert rows[name]["mean"] > rows["relu"]["mean"]
        assert rows[name]["p_baseline"] > 0.05
    assert not any("above" in row["marks"] for row in rows.values())
    assert rows["nail_or_and_d"]["mean"] < rows["relu"]["mean"]
    assert f"{{OR, AND NAIL (d)}} is below it, with {means['nail_or_and_d']}" in ANSWER
    assert rows["softshrink"]["mean"] == 0.1
    rows = {row["activation"]: row for row in table.filter(dataset="mnist").to_dicts()}
    assert not any("above" in row["marks"] for row in rows.values())
    means = {name: percent(row["mean"], 2) for name, row in rows.items()}
    assert "best" in rows["gelu"]["marks"]
    assert f"GELU is first with {means['gelu']}, {{OR, AND, XNOR NAIL (d)}} has" in ANSWER
    logic = [name for name in rows if re.search("or_.*il|^n?a?il_", name)]
    behind = [name for name in logic if "below" in rows[name]["marks"]]
    assert f"has {means['nail_or_and_xnor_d']}, ReLU {means['relu']}, and" in ANSWER
    assert f"{len(behind)} of the {len(logic)} logic activations are significantly behind" in ANSWER
    assert f"XNOR AIL with {means['xnor_ail']} among them" in ANSWER
    assert "xnor_ail" in behind
    assert rows["softshrink"]["sd"] == 0
    runs = read("table1_seeds").filter(dataset="mnist", activation="hardshrink")
    assert (runs["test_accuracy"] > 0.2).sum() == 1


def test_what_the_residual_networks_know():
    networks = read("figure6")
    assert networks.select("depth", "width", "n").unique().rows() == [(26, 0.25, 1)]
    right = {row["activation"]: 100 * row["mean"] for row in networks.to_dicts()}
    xnor = right.pop("xnor_ail")
    between = f"{min(right.values()):.1f}% to {max(right.values()):.1f}%"
    assert f"All but one have {between} of the test pictures right" in PAGE
    assert f"XNOR AIL alone has {xnor:.1f}%" in PAGE
    parameters = {row["activation"]: row["parameters"] for row in networks.to_dicts()}
    half = [name for name in right if parameters[name] < 0.51 * parameters["relu"]]
    assert "four of them with half of ReLU's parameters" in PAGE
    assert len(half) == 4
    (run,) = json.loads((RESULTS / "figure6.json").read_text("utf-8"))["runs"]
    assert f"which took {run['core_hours']:.1f} core-hours" in PAGE


def test_what_is_not_measured_has_no_results():
    assert set(read("figure5").filter(network="cnn")["width"]) == {2, 4, 8}
    assert "CNNs of more than 8 channels" in ANSWER


def test_a_small_cnn_on_mnist():
    rows = read("figure5_best").filter(network="cnn").sort("mean", descending=True)
    assert set(rows["n"]) == {2}
    assert len(rows) == 13
    assert (rows["p_baseline"].drop_nulls() > 0.05).all()
    names, shares = rows["activation"].to_list(), [percent(mean, 1) for mean in rows["mean"]]
    assert (names[0], names[-1]) == ("silu", "signed_geomean")
    assert f"SiLU has the highest accuracy, {shares[0]}, SignedGeomean the lowest" in ANSWER
    said = f"each activation but SignedGeomean has {shares[-2]} to {shares[0]} of the test pictures"
    assert f"{said} right, SignedGeomean {shares[-1]}." in PAGE
    every = read("figure5").filter(network="cnn")
    significant = every.filter(pl.col("p_baseline") < 0.05)
    assert significant.select("activation", "width").rows() == [("ail_or_xnor_d", 4)]
    means = {
        (name, width): mean
        for name, width, mean in every.select("activation", "width", "mean").iter_rows()
    }
    assert means["ail_or_xnor_d", 4] < means["relu", 4]
    small = {name: percent(mean, 1) for (name, width), mean in means.items() if width == 2}
    assert f"PReLU has {small['prelu']}, {{Max, Min (d)}} {small['max_min_d']} and the" in PAGE
    assert f"OR, AND and XNOR {small['ail_or_and_xnor_p']}, ReLU {small['relu']}, XNOR" in PAGE
    assert f"XNOR AIL {small['xnor_ail']}. The four draws" in PAGE


def test_a_learning_rate_that_three_epochs_do_not_bear():
    chosen = read("search").filter(network="cnn")
    assert set(chosen["draws"]) == {4}
    fast = chosen.filter(pl.col("learning_rate") > 0.04)
    unfit = {"or_ail", "xnor_ail", "max_min_d", "ail_or_xnor_p"}
    assert set(fast["activation"]) == unfit | {"prelu"}
    assert set(fast["learning_rate"].round(3)) == {0.042}
    rows = read("figure5").filter(pl.col("activation").is_in(unfit), network="cnn").sort("mean")
    wide, narrow = (
        [percent(mean, 1) for mean in rows.filter(width=width)["mean"]] for width in (8, 4)
    )
    assert f"the other four have {wide[0]} to {wide[-1]} there" in PAGE
    assert f"with 4 channels they have {narrow[0]} to {narrow[-1]}." in PAGE
    found = fast.filter(pl.col("activation") != "prelu")["validation_accuracy"].sort()
    assert f"with {percent(found[0], 1)} to {percent(found[-1], 1)} of the validation" in PAGE
    prelu = read("figure5").filter(network="cnn", activation="prelu", width=8)
    assert prelu["mean"].item() > 0.99


def test_how_far_networks_of_one_width_differ_in_size():
    mlps = read("figure5_seeds").filter(network="mlp")
    of_relu = mlps.filter(activation="relu").select("width", relu="parameters").unique()
    sizes = mlps.join(of_relu, on="width")
    sizes = sizes.with_columns(off=(pl.col("parameters") / pl.col("relu") - 1).abs())
    off = dict(sizes.group_by("width").agg(pl.col("off").max()).iter_rows())
    assert f"width 256 and 512 differ by {percent(max(off[256], off[512]), 1)} at most" in PAGE
    assert max(off.values()) == off[8]
    assert f"by up to {percent(off[8])}" in PAGE
