"""What the page on Madsen & Johansen 2020 says of single runs is what the results say."""

import json
from pathlib import Path

import polars as pl
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "madsen2020.md").read_text("utf-8").split())


def test_table_2_agrees_with_the_published_outcomes():
    table = pl.read_csv(ROOT / "results" / "madsen2020" / "table2.csv")
    assert len(table) == 30
    assert set(table["seeds"]) == {100}
    differences = []
    for row in table.to_dicts():
        published = binomtest(row["published_solved"], 100).proportion_ci(method="wilson")
        assert row["solved_low"] <= published.high, row
        assert row["solved_high"] >= published.low, row
        if min(row["solved"], row["published_solved"]) >= 30:
            ratio = row["solved_at_median"] / row["published_solved_at_median"]
            differences.append(abs(ratio - 1))
    assert len(differences) == 11
    assert f"solved differ by {100 * max(differences):.0f}% at most" in PAGE
    (nmu,) = table.filter(model="NMU", operation="mul")["solved"]
    assert f"where {nmu} of 100 of table 2 are" in PAGE
    sources = json.loads((ROOT / "results" / "madsen2020" / "table2.json").read_text("utf-8"))
    hours = sum(run["core_hours"] for run in sources["runs"])
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"with 100 seeds each, took {hours:.1f} core-hours" in readme


def test_gated_units_that_end_in_nan():
    table = pl.read_csv(ROOT / "results" / "madsen2020" / "table6.csv")
    gated = table.filter(model="Gated NAU/NMU")
    assert gated.select("seeds", "nan").rows() == [(50, 35)] * 6
    assert dict(gated.filter(pl.col("solved") > 0).select("operation", "solved").rows()) == {
        "add": 3, "sub": 2, "square": 2
    }  # fmt: skip
    runs = pl.read_csv(ROOT / "results" / "madsen2020" / "table6_seeds.csv")
    ended = runs.filter(model="Gated NAU/NMU", status="nan").group_by("operation")
    seeds = ended.agg(pl.col("seed").sort())["seed"].to_list()
    assert seeds == seeds[:1] * 6
    late = ended.agg((pl.col("steps") > 112).sum())["steps"].to_list()
    assert late == [4] * 6
    assert "35 end in NaN, the same whatever the operation, all but 4 of them within 112" in PAGE
    assert "it solves three on +, two on −, two squares, and no product, quotient or root" in PAGE


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
    assert f"the NMRU finds {solved['NMRU', 'div', 2]} quotients of 225; it and the sNMU" in PAGE
    assert solved["NMRU", "mul", 2] == solved["sNMU", "mul", 2] == 225


def test_what_the_pages_of_units_say_of_one_unit_alone():
    table = pl.read_csv(ROOT / "results" / "madsen2020" / "single_module.csv")

    def runs(model, operation, inputs, *ranges):
        rows = table.filter(model=model, operation=operation, in_features=inputs)
        return rows.filter(~pl.col("interpolation_range").is_in(ranges))["solved"].sum()

    def page(name):
        return " ".join((ROOT / "docs" / f"{name}.md").read_text("utf-8").split())

    least = {name: runs(name, "mul", 2, "U[-2,-1]", "U[-1.2,-1.1]") for name in ("sNMU", "NMU")}
    assert least == {"sNMU": 175, "NMU": 175}
    two, ten = ([runs(name, "mul", n) for name in ("sNMU", "NMU")] for n in (2, 10))
    assert f"the product of two inputs in {two[0]} of 225 seeds, the NMU in {two[1]}" in page(
        "units/snmu"
    )
    assert f"Among 10 inputs it learned {ten[0]}, the NMU {ten[1]}" in page("units/snmu")
    small = table.filter(operation="mul", in_features=10, interpolation_range="U[0.1,0.2]")
    assert small.filter(model="sNMU")["solved"].item() == 15
    assert small.filter(model="NMU")["solved"].item() == 25
    real, modified, nmru = (
        [runs(name, "div", n) for n in (2, 10)]
        for name in ("RealNPU", "RealNPU (modified)", "NMRU")
    )
    assert f"learned {real[0]} of 225, its modified form {modified[0]} and the NMRU {nmru[0]}" in (
        page("choosing")
    )
    assert f"{nmru[1]} do (77 %), of the RealNPU {real[1]}, and of its modified form" in (
        page("units/nmru")
    )
    assert round(100 * nmru[1] / 225) == 77
    assert runs("iNALU", "div", 2) + runs("iNALU", "div", 10) == 0
    products = runs("iNALU", "mul", 2) + runs("iNALU", "mul", 10)
    assert f"none of 450 runs found a quotient, and {products} a product" in page("units/inalu")


def test_what_reads_digits_and_adds_them():
    folder = ROOT / "results" / "madsen2020"
    counts = pl.read_csv(folder / "figure13.csv").filter(pl.col("model") == "NAU")
    assert set(counts["solved_rate"]) == {1.0}
    above = counts.filter(pl.col("threshold") > pl.col("blind_error"))["length"].to_list()
    assert above == [length for length in counts["length"] if length >= 300]
    assert "above `blind_error` from 300 digits on" in PAGE
    assert set(counts["seeds"]) == {3}
    runs = pl.read_csv(folder / "figure13_seeds.csv")
    root = {
        (row["model"], row["seed"]): row["extrapolation_loss"] ** 0.5
        for row in runs.filter(pl.col("length") == 1000).to_dicts()
    }
    nau, without = ([root[name, seed] for seed in range(3)] for name in ("NAU", "NAU, no Rz"))
    assert f"the root of its mean squared error is {min(nau):.0f} to {max(nau):.0f}," in PAGE
    blind = [
        error for (name, _), error in root.items() if name in {"LSTM", "NAC+", "NALU", "NAC+,Rz"}
    ]
    assert len(blind) == 12
    assert min(blind) > 2500
    farther = sorted(without[seed] / nau[seed] for seed in (1, 2))
    assert "but at 1000 digits {:.1f} and {:.1f} times as far as with it".format(*farther) in PAGE
    table = pl.read_csv(folder / "figure14.csv").filter(pl.col("model") == "NAU, no Rz")
    assert table.filter(pl.col("solved") == 3)["length"].to_list() == [100, 200, 300, 400]
    assert table["solved"].min() == 2
    limits = dict(table.select("length", "threshold").iter_rows())
    for seed, lengths in ((0, {100, 200, 300, 400}), (1, set(limits)), (2, set(limits))):
        rows = runs.filter(pl.col("model") == "NAU, no Rz", pl.col("seed") == seed)
        errors = rows.select("length", "extrapolation_loss").iter_rows()
        assert {length for length, error in errors if error < limits[length]} == lengths


def test_what_reads_digits_and_multiplies_them():
    folder = ROOT / "results" / "madsen2020"
    table = pl.concat([pl.read_csv(folder / f"figure{n}.csv") for n in (4, 15)])
    limits = table.select("length", "threshold", "blind_error").unique().sort("length")
    above = limits.filter(pl.col("threshold") > pl.col("blind_error"))["length"].to_list()
    assert above == [*range(12, 17), 19]
    assert "above `blind_error` with 12 to 16 and with 19 digits" in PAGE
    assert set(table["seeds"]) == {3}
    runs = pl.read_csv(folder / "figure4_seeds.csv", infer_schema_length=None)
    runs = runs.join(limits.rename({"blind_error": "blind"}), on="length")
    runs = runs.filter(~pl.col("length").is_in(above), pl.col("model") != "reference")
    runs = runs.with_columns(share=pl.col("extrapolation_loss") / pl.col("threshold"))
    counting = sorted(set(runs["length"]))
    assert "Of the 14 other lengths NMU solves 9 with all three seeds" in PAGE
    assert len(counting) == 14
    solved = {
        key: rows["length"].sort().to_list()
        for key, rows in runs.filter(pl.col("share") < 1).group_by("model", "seed")
    }
    by_model = {
        name: sorted(solves for (other, _), solves in solved.items() if other == name)
        for name in set(runs["model"])
    }
    assert len(set.intersection(*map(set, by_model["NMU"]))) == 9
    assert counting in by_model["NMU"]
    assert counting in by_model["NAC*,NMU"]
    assert set.intersection(*map(set, by_model["NAC*,NMU"])) == {9, 10, 11, 17, 18}
    for name in ("LSTM", "NALU", "NAC*", "NAC*,sigma"):
        assert by_model[name] == []
    worst = runs.group_by("model", "seed").agg(pl.col("share").max())
    assert f"it errs by {worst.filter(model='NMU')['share'].max() - 1:.0%} above" in PAGE
    good, *others = worst.filter(model="NMU, no Rz")["share"].sort()
    assert good < 1.14
    assert f"the two others err by up to {max(others):.1f} times the limit" in PAGE
    without = by_model["NAC*,NMU, no Rz"]
    assert counting in without
    assert len(without) == 2, "one has none"


def test_what_is_found_among_correlated_inputs():
    folder = ROOT / "results" / "madsen2020"
    table = pl.read_csv(folder / "correlated.csv")
    (seeds,) = set(table["seeds"])
    assert f"of 0.5; {seeds} seeds of each model. The NAU" in PAGE
    found = dict(table.select(pl.concat_str("model", "operation"), "solved").iter_rows())
    others = {
        name: dict(rows.filter(pl.col("solved") > 0).select("model", "solved").iter_rows())
        for (name,), rows in table.group_by("operation")
    }
    all_by = {"NMU": seeds, "NAC*,NMU": seeds}
    assert others["square"] == {**all_by, "NAC*,sigma": 10, "NAC*": 2}
    assert others["root"] == {"NAC*,NMU": 12, "NAC*": 6}
    assert others["div"] == {}
    table6 = pl.read_csv(folder / "table6.csv", infer_schema_length=None).filter(seeds=seeds)
    before = dict(table6.select(pl.concat_str("model", "operation"), "solved").iter_rows())
    assert (before["NAC*,sigmasquare"], before["NAC*square"]) == (50, 44)
    assert (before["NAC*,NMUroot"], before["NAC*root"]) == (0, 4)
    assert not any(table6.filter(operation="div")["solved"])
    assert found["NAUadd"] == found["NAUsub"] == found["NAC+add"] == seeds
    assert f"NAC+ all sums, but {found['NAC+sub']} difference of {seeds}" in PAGE
    assert set(table.filter(operation="mul")["solved"]) == {0}
    assert f"of {seeds} seeds of the NMU none is solved" in PAGE
    independent = pl.read_csv(folder / "table2.csv").select("model", "operation", "solved", "seeds")
    assert {("NMU", "mul", 98, 100), ("NAC+", "sub", 100, 100)} <= set(independent.iter_rows())
    runs = pl.read_csv(folder / "correlated_seeds.csv").filter(model="NMU", operation="mul")
    assert set(runs["steps"]) == {3_000_000}


def test_what_noise_and_correlation_do_to_table_1():
    folder = ROOT / "results" / "madsen2020"
    names = ("table1", "noise_table1", "correlated_table1")
    plain, noisy, correlated = (
        {row["model"]: row for row in pl.read_csv(folder / f"{name}.csv").to_dicts()}
        for name in names
    )
    for model, row in plain.items():
        assert row["seeds"] == noisy[model]["seeds"] == correlated[model]["seeds"] == 100
        for other in (noisy, correlated):
            assert other[model]["solved_low"] < row["solved_rate"] < other[model]["solved_high"]
        assert correlated[model]["solved_at_median"] > row["solved_at_median"]
        assert noisy[model]["solved"] >= row["solved"], "no fewer than without noise"
    solved = [plain[model]["solved"] for model in ("NMU", "NAC*", "NALU")]
    assert "of table 1 the NMU {}, NAC\\* {} and NALU {}".format(*solved) in PAGE
    precision = 1 / noisy["NMU"]["error_to_noise_median"]
    assert f"is {precision:.0f} times more precise outside the training range" in PAGE
    ours, independent = (rows["NMU"]["solved"] for rows in (correlated, plain))
    assert f"the NMU {ours}, where it solves {independent} of independent ones" in PAGE


def test_what_ended_before_its_time():
    runs = pl.read_csv(ROOT / "results/madsen2020/table2_seeds.csv", infer_schema_length=None)
    stopped = runs.filter(pl.col("status") == "stopped", ~pl.col("solved"))
    cells = stopped.select("model", "operation").unique()
    assert f"in {cells.height} of these, {stopped.height:,} of the runs ended" in PAGE
    assert f"the earliest at step {stopped['steps'].min():,}" in PAGE
    whole = runs.filter(pl.col("steps") == 5_000_000).join(cells, on=["model", "operation"])
    assert set(whole["solved"]) == {False}
    assert whole.group_by("model", "operation").len()["len"].min() == 3


def test_late_successes_and_gated_units():
    runs = pl.read_csv(ROOT / "results/madsen2020/table2_seeds.csv", infer_schema_length=None)
    pairs = [("NAU", "add"), ("NAU", "sub"), ("NAC+", "add")]
    cells = pl.DataFrame(pairs, schema=["model", "operation"], orient="row")
    latest = runs.join(cells, on=cells.columns).filter("solved")["solved_at_step"].max()
    assert f"of ours none needed more than {latest:,}" in PAGE
    means = dict(
        runs.filter("solved", model="NAU").group_by("operation").agg(
            pl.col("solved_at_step").mean()
        ).iter_rows()
    )  # fmt: skip
    assert f"{means['add']:,.0f} and {means['sub']:,.0f} here" in PAGE
    gated = pl.read_csv(ROOT / "results/madsen2020/table6.csv").filter(model="Gated NAU/NMU")
    solved, seeds = gated.select("solved", "seeds").sum().row(0)
    assert f"is solved by {solved} of {seeds} runs here" in PAGE


def _is_older(name):
    return name not in ("RealNPU (modified)", "NMRU", "sNMU") and "squares" not in name


def test_what_is_found_under_noise():
    folder = ROOT / "results" / "madsen2020"
    rows = pl.read_csv(folder / "noise.csv", infer_schema_length=None)
    paper = pl.col("operation").is_in(["add", "sub", "mul"])
    (seeds,) = set(rows["seeds"])
    assert len(rows) == 66
    assert f"{seeds} seeds of each model and operation. NMU" in PAGE
    solved = {(row["model"], row["operation"]): row["solved"] for row in rows.to_dicts()}
    precise = {
        (row["model"], row["operation"]): row["error_to_noise_median"] for row in rows.to_dicts()
    }

    def found(operation):
        return {model: n for (model, other), n in solved.items() if other == operation and n}

    assert found("div") == {"NAC*": 48, "NALU": 6}
    assert round(1 / precise["NAC*", "div"]) == 4
    both = {"NMU": seeds, "NAC*,NMU": seeds}
    assert found("square") == both | {"NAC*,sigma": 49, "NAC*": 46, "NALU": 1}
    hardly = [precise[model, "square"] for model in ("NAC*", "NAC*,sigma", "NMU", "NAC*,NMU")]
    assert min(hardly[:2]) > 0.7 > 0.1 > max(hardly[2:])
    assert found("root") == {"NAC*,NMU": seeds, "NAC*,sigma": 47, "NAC*": 47, "NALU": 14}
    assert f"NAC\\*, 48 of {seeds}, four times" in PAGE
    assert "by 49 of `NAC*,sigma`, 46 of NAC\\* and 1 of NALU, but" in PAGE
    assert "47 of `NAC*,sigma`, 47 of NAC\\* and 14 of NALU." in PAGE
    all_of = [("NMU", "mul"), ("NAC*,NMU", "mul")]
    all_of += [(model, operation) for model in ("NAU", "NAC+") for operation in ("add", "sub")]
    assert all(solved[cell] == seeds for cell in [*all_of, ("Linear", "add")])
    assert solved["Linear", "sub"] == seeds - 2
    times = [1 / precise[cell] for cell in [*all_of, ("Linear", "add"), ("Linear", "sub")]]
    assert (round(min(times)), round(max(times), -1)) == (8, 40)
    whole = rows.filter(paper, pl.col("sparsity_error_mean") < 0.3).select("model", "operation")
    assert set(whole.rows()) == {("NAU", "sub"), ("NMU", "sub"), ("Gated NAU/NMU", "sub")}
    table = pl.read_csv(folder / "table6.csv", infer_schema_length=None).filter(seeds=50)
    assert table.filter(operation="div")["solved"].sum() == 0
    roots = table.filter(pl.col("operation") == "root", pl.col("solved") > 0)
    assert dict(roots.select("model", "solved").rows()) == {"NAC*": 4, "NALU": 2}
