"""What the page on Madsen & Johansen 2020 says of figures 3, 7 and 8, and of the whole cost."""

import json
from pathlib import Path
from statistics import mean

import polars as pl
import pytest
from cost import projected_costs
from scipy.stats import binomtest, mannwhitneyu

from torchalu.experiments import get

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "madsen2020.md").read_text("utf-8").split())


def test_what_an_nmu_needs():
    runs = pl.read_csv(ROOT / "results/madsen2020/figure7_seeds.csv", infer_schema_length=None)
    counts = runs.group_by("model").agg(
        pl.col("solved").sum(),
        pl.len(),
        pl.col("solved_at_step").median(),
        pl.col("sparsity_error").filter("solved").median(),
    )
    found = {name: row for name, *row in counts.iter_rows()}
    both, neither = found["NMU"], found["NMU, no Rsparse, no W-clamp"]
    solved = {name: row[0] for name, row in found.items()}
    (runs_of_each,) = {row[1] for row in found.values()}
    assert f"The {runs['seed'].n_unique()} seeds show most of what the paper notes" in PAGE
    assert runs_of_each == 50 * runs["hidden_size"].n_unique()
    free = solved["NMU, no W clamp"]
    assert f"Without the clamp {free} of {runs_of_each} are, with both {solved['NMU']}." in PAGE
    assert f"Without both {neither[0]} are, which is no lower success rate to speak of" in PAGE
    intervals = [
        binomtest(count, runs_of_each).proportion_ci(method="wilson")
        for count in (neither[0], both[0])
    ]
    assert intervals[0].high > intervals[1].low
    assert f"but {(neither[2] - both[2]) / 1e6:.1f} million steps later" in PAGE
    assert f"(step {neither[2]:,.0f}, with both {both[2]:,.0f})" in PAGE
    assert f"the median of their sparsity errors is {neither[3]:.2f}" in PAGE
    steps = dict(runs.filter("solved").group_by("model").agg("solved_at_step").iter_rows())
    assert mannwhitneyu(steps["NMU, no W clamp"], steps["NMU"]).pvalue > 0.1  # no slower
    small = runs.filter(hidden_size=2)
    missed = small.filter(~pl.col("solved")).select("model", "seed").sort("model").rows()
    assert missed == [("NMU", 28), ("NMU, no W clamp", 28)]
    assert "without the penalty all are solved, with it all but one, clamped or not" in PAGE
    alone = runs.filter(pl.col("hidden_size") > 2, model="NMU, no Rsparse")["solved"]
    assert f"Without the penalty alone {alone.sum()} of {len(alone)} runs with three" in PAGE
    folder = ROOT / "results/madsen2020/figure7_nothing_clamped"
    free = pl.read_csv(folder / "figure7_seeds.csv", infer_schema_length=None)
    solved = dict(free.group_by("model").agg(pl.col("solved").sum()).iter_rows())
    assert solved == {"NMU, no W clamp": 29, "NMU, no Rsparse, no W-clamp": 0}
    assert "29 of 45 runs are solved with the penalty, and none of 45 without it" in PAGE


def test_runs_that_end_once_solved_are_judged_as_those_that_go_on():
    folder = ROOT / "results" / "madsen2020"
    whole, early = (
        pl.read_csv(path / "figure7_seeds.csv", infer_schema_length=None)
        .filter(model="NMU", hidden_size=6)
        .sort("seed")
        for path in (folder / "figure7_to_the_end", folder)
    )
    assert set(whole["steps"]) == {5_000_000}
    for name in ("seed", "solved", "solved_at_step"):
        assert whole[name].equals(early[name]), name
    ended, gone_on = (rows.filter("solved")["sparsity_error"] for rows in (early, whole))
    solved = f"of {len(whole)} NMUs with six hidden units (figure 7) {len(ended)} are solved"
    assert solved in PAGE
    assert f"is {ended.mean():.3f}, and {gone_on.mean():.3f} where all went on" in PAGE
    for rows in (early, whole):
        large = pl.col("sparsity_error") > 0.02
        six, others = rows.filter("solved", large), rows.filter("solved", ~large)
        assert len(six) == 6
        assert others["sparsity_error"].mean() < 1e-3
        assert six["extrapolation_loss"].max() <= others["extrapolation_loss"].max()


def test_products_of_many_inputs():
    folder = ROOT / "results" / "madsen2020"
    table = pl.read_csv(folder / "figure8.csv").filter(pl.col("in_features") <= 100)
    table = table.with_columns(missed=pl.col("seeds") - pl.col("solved"))
    of_tables_2_and_6 = pl.all_horizontal(
        pl.col("in_features") == 100, pl.col("overlap_ratio") == 0.5, pl.col("subset_ratio") == 0.25
    )
    assert "count (the gated unit's 50)" in PAGE
    counts = dict(table.filter(of_tables_2_and_6).select("model", "seeds").iter_rows())
    assert counts.pop("Gated NAU/NMU") == 50
    assert list(counts.values()) == [100] * 5
    own = table.filter(~of_tables_2_and_6)
    assert set(own["seeds"]) == {50}

    def missed(model, least=1, **at):
        rows = table.filter(pl.col("missed") >= least, model=model, **at)
        keys = ("in_features", "overlap_ratio", "subset_ratio", "missed")
        return sorted(set(rows.select(keys).iter_rows()))

    half = (100, 0.5, 0.5, 50)
    lost = [(4, 0.5, 0.25, 1), (100, 0.5, 0.25, 2), (100, 0.5, 0.5, 9), (100, 0.75, 0.25, 15)]
    assert missed("NMU") == lost
    assert missed("NAC*,sigma") == [(4, 0.5, 0.25, 3), half]
    assert missed("NAC*,NMU", varied="in_features") == [(75, 0.5, 0.25, 1), (100, 0.5, 0.25, 6)]
    assert missed("NAC*,NMU", overlap_ratio=0.75) == [(100, 0.75, 0.25, 27)]
    for model in ("NAC*", "NAC*,NMU", "NALU", "Gated NAU/NMU"):
        assert half in missed(model)
    solved = {
        name: {(row["in_features"]): row["solved"] for row in rows.iter_rows(named=True)}
        for (name,), rows in table.filter(varied="in_features").group_by("model")
    }
    assert [solved["NAC*"][size] for size in (4, 25, 100)] == [15, 47, 33]
    assert {size: n for size, n in solved["Gated NAU/NMU"].items() if n} == {4: 46, 10: 6, 25: 2}
    assert {size: n for size, n in solved["NALU"].items() if n} == {
        4: 27,
        10: 2,
        25: 3,
        50: 1,
        75: 1,
    }
    seeds = max(own["seeds"])
    (*_, of_half, steep), (*_, both) = missed("NMU"), missed("NAC*,NMU", overlap_ratio=0.75)
    for sentence in (
        f"in all runs but one of {seeds} with 4 inputs and 2 of the 100 with 100",
        f"in all runs but {steep[-1]} of {seeds} at three quarters",
        f"and {seeds - of_half[-1]} of {seeds} runs where a subset is half of the inputs",
        f"of those that overlap by three quarters {seeds - both[-1]} of {seeds}",
        f"it solved {solved['NAC*'][4]} of {seeds} runs with 4 inputs",
        f"{solved['NAC*'][25]} of {seeds} with 25, and 33 of the 100 with 100",
        f"The gated unit solved {solved['Gated NAU/NMU'][4]} of {seeds} with 4 inputs, six with 10",
        f"NALU {solved['NALU'][4]} of {seeds} with 4, two with 10, three with 25, one each with 50",
    ):
        assert sentence in PAGE
    others = table.filter(
        pl.col("varied") != "in_features", pl.col("model").is_in(["NALU", "Gated NAU/NMU"])
    )
    keys = ("model", "overlap_ratio", "subset_ratio", "solved")
    rows = others.filter(pl.col("solved") > 0).select(keys).rows()
    assert sorted(rows) == [("Gated NAU/NMU", 1.0, 0.25, 2), ("NALU", 0.5, 0.1, 1)]


def test_products_of_more_than_100_inputs():
    runs = pl.read_csv(
        ROOT / "results/madsen2020/figure8_seeds.csv", infer_schema_length=None
    ).filter(pl.col("in_features") > 100)
    seeds, sizes = runs["seed"].n_unique(), runs["in_features"].n_unique()
    assert len(runs) == 6 * sizes * seeds
    assert f"50 seeds have been run, and {seeds} where figure 8 has more than 100 inputs" in PAGE
    assert f"So far 50 seeds of up to 100 inputs, and {seeds} of more." in PAGE
    solved = dict(runs.group_by("model").agg(pl.col("solved").sum()).iter_rows())
    both = solved["NAC*,NMU"]
    of_125 = runs.filter(in_features=125, model="NAC*,NMU")["solved"].sum()
    assert [solved[name] for name in ("NALU", "Gated NAU/NMU")] == [0, 0]
    assert solved["NAC*,sigma"] == sizes * seeds
    gated = runs.filter(model="Gated NAU/NMU")
    assert set(gated["status"]) == {"nan"}
    at_once = gated.filter(pl.col("steps") < 2).height
    for sentence in (
        f"NAC*,sigma solved all {sizes * seeds} runs, NMU {solved['NMU']} of them",
        f"NAC* {solved['NAC*']}, and NAC*,NMU {both}, of which {of_125} have 125 inputs.",
        f"overflowed in each run, in {at_once} at the first or second step",
    ):
        assert sentence in PAGE


def test_what_the_whole_paper_would_cost():
    costs = projected_costs()
    runs, hours, to_the_end = costs.select("runs", "hours", "hours_to_the_end").sum().row(0)
    assert f"they are {runs:,} runs, sequential MNIST apart" in PAGE
    assert f"come to {hours:.0f} core-hours at the cost of those that have been run" in PAGE
    assert f"to {to_the_end:.0f} if none ended before its last step" in PAGE
    assert f"{round(17.5 * 365.25 * 24 / hours, -1):,.0f} times less" in PAGE
    assert f"about {hours / 2 / 24:.1f} days on two cores" in PAGE
    few = costs.filter(pl.col("experiment").is_in(["figure3", "figure8"]))
    assert few["seeds"].to_list() == [50, 50]
    assert few["hours"].sum() > 0.8 * hours
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"come to {hours:.0f} core-hours here" in readme
    ran = json.loads((ROOT / "results/madsen2020/figure3.json").read_text("utf-8"))["runs"]
    steps = {"NMU": 1.0, "NAC*,NMU": 1.0, "NAC*,sigma": 1.3, "NAC*": 1.3, "NALU": 3.0}

    def weigh(entry):
        labels = [json.loads(one) for one in entry["settings"]]
        return sum(steps[one["model"]] * (100 * one["hidden_size"] + 100) for one in labels)

    spent = sum(entry["core_hours"] for entry in ran) / sum(map(weigh, ran))
    of_all_settings = next(entry for entry in ran if entry["rows"] == 75)
    whole = 50 * weigh(of_all_settings)
    assert few.filter(experiment="figure3")["hours"].item() == pytest.approx(spent * whole)


def test_what_a_seed_of_figure_3_costs_without_avx512():
    ran = json.loads((ROOT / "results/madsen2020/figure3.json").read_text("utf-8"))["runs"]
    hours = {entry["seeds"][0]: entry["core_hours"] for entry in ran if entry["rows"] == 56}
    on_avx2 = sorted({e["seeds"][0] for e in ran if e.get("instruction_set") == "avx2"})
    without = [hours.pop(seed) for seed in on_avx2]
    first, last = on_avx2[0], on_avx2[-1]
    assert on_avx2 == list(range(first, last + 1))
    assert f"seeds {first} to {last} of figure 3, ran on processors without AVX-512" in PAGE
    assert f"and {mean(without) / mean(hours.values()):.1f} times (figure 3) as long" in PAGE


def test_what_figures_3_and_8_have_in_common_with_other_rows():
    figure3, figure8 = (get(f"madsen2020.{name}")().settings for name in ("figure3", "figure8"))
    default = {"hidden_size": 2, "interpolation_range": "U[1,2]"}
    of_table2 = [one for one in figure3 if default.items() <= one.labels.items()]
    of_figure7 = [
        one for one in figure3 if one.labels["model"] == "NMU" and one.labels["hidden_size"] > 2
    ]
    default = {"in_features": 100, "overlap_ratio": 0.5, "subset_ratio": 0.25}
    of_tables = [one for one in figure8 if default.items() <= one.labels.items()]
    shared = len(of_table2) + len(of_figure7)
    assert f"figures 3 and 8 have {shared} and {len(of_tables)} settings" in PAGE
    assert f"{50 * (shared + len(of_tables))} runs that need to be trained only once" in PAGE


def test_what_figure_3_shows():
    table = pl.read_csv(ROOT / "results/madsen2020/figure3.csv")
    sizes = table.filter(varied="hidden_size")
    ranges = table.filter(varied="interpolation_range")
    own = pl.concat([sizes, ranges]).filter(pl.col("seeds") < 100)
    (seeds,) = own["seeds"].unique()
    assert f"All others have {seeds} seeds." in PAGE
    large = sizes.filter(pl.col("hidden_size") > 5)
    assert large.filter(pl.col("model") != "NMU")["solved"].sum() == 0
    assert large.filter(pl.col("model") == "NMU")["solved"].min() > 0
    others = sizes.filter(pl.col("model") != "NMU", hidden_size=5).filter(pl.col("solved") > 0)
    (name,), (solved,) = others["model"], others["solved"]
    assert f"with five {name.replace('*', chr(92) + '*')} learns in {solved} of {seeds}." in PAGE
    solved, of = sizes.filter(model="NMU", hidden_size=10).select("solved", "seeds").row(0)
    assert f"with ten in {solved} of {of} seeds" in PAGE
    both_sides = ranges.filter(interpolation_range="U[-2,2]")
    solved, of = both_sides.filter(model="NMU").select("solved", "seeds").row(0)
    assert f"the NMU learns in {solved} of {of}, and no other model in one" in PAGE
    assert both_sides.filter(pl.col("model") != "NMU")["solved"].sum() == 0
    assert ranges.filter(interpolation_range="U[1.1,1.2]")["solved"].sum() == 0
    nalu = table.filter(pl.col("solved") > 0, model="NALU")
    (where,), (solved,), (of,) = nalu["interpolation_range"], nalu["solved"], nalu["seeds"]
    assert f"NALU learns in {solved} of {of} on {where}, and nowhere else." in PAGE
