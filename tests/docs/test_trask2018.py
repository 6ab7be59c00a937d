"""The pages on Trask et al. 2018 say what the committed results do."""

import json

import polars as pl

from torchalu.cli.provenance import digests_of
from torchalu.experiments import get
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.parity import ParityTraining
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES
from torchalu.experiments.trask2018.unread import unread
from trask2018_pages import RESULTS, committed, page


def test_what_a_nalu_makes_of_digits():
    now = digests_of(get("trask2018.table2")(SeriesTraining(epochs=30)))
    runs = json.loads((RESULTS / "table2.json").read_text())["runs"]
    assert {k: v for run in runs for k, v in run["settings"].items()} == now
    text = page("digits")
    (count,) = committed("table2_count").filter(model="NALU").to_dicts()
    assert f"counts ten digits with an error of {count['mae_10_median']:.2f}, and" in text
    of_100 = committed("table2_seeds").filter(task="count", model="NALU", length=100)
    numbers = of_100.filter(pl.col("mae").is_finite())["mae"]
    assert (of_100.height, numbers.len()) == (3, 1)
    said = f"off by {numbers[0]:.0e} in one seed, and no numbers any more in two."
    assert said.replace("e+", "e") in text
    rows = {row["model"]: row for row in committed("table2_sum").to_dicts()}
    units = ("NALU", "NAC", "NAU", "GatedNAUNMU", "iNALU")
    assert min(units, key=lambda name: rows[name]["mae_10_median"]) == "NALU"
    assert f"with an error of {rows['NALU']['mae_10_median']:.2f}, less than" in text
    others = sorted(rows[name]["mae_100_median"] for name in ("NAC", "NAU", "GatedNAUNMU"))
    long = f"{rows['NALU']['mae_100_median']:.0f}, where NAC, NAU and gated NAU/NMU are off by"
    assert f"sums of 100 with {long} {others[0]:.0f} to {others[-1]:.0f}." in text


def test_what_units_make_of_a_thousand_digits_once_settled():
    seeds, text = committed("table2_seeds").filter(length=1000), page("digits")
    assert set(seeds.group_by("task", "model").len()["len"]) == {3}
    assert set(seeds["seed"]) == {0, 1, 2}
    assert "Three seeds of 30 epochs" in text

    def settled(task, model):
        return sorted(seeds.filter(task=task, model=model)["law_mae"])

    def span(errors):
        return f"{errors[0]:.1f} to {errors[-1]:.1f}"

    counted = settled("count", "NAC")
    assert f"the NAC counts 1000 digits with errors of {span(counted)}, where" in text
    *counts, other = settled("count", "NAU")
    assert span(counted) == f"{counted[0]:.1f} to {counts[-1]:.1f}"
    assert (
        f"so do two seeds of the NAU, and the third, which says no law, is off by {other:.0f}."
        in text
    )
    lawless = seeds.filter(pl.col("law").is_null(), task="count", model="NAU")
    assert lawless["law_mae"].to_list() == [other]
    added = [span(settled("sum", model)) for model in ("NAC", "NAU")]
    assert "with errors of {} (NAC) and of {} (NAU), where".format(*added) in text
    trained = seeds.filter(task="sum", model="NAC")["mae"]
    published = committed("table2_picks").filter(task="sum", length=1000)["published_mae"].item()
    assert (trained < published).sum() == 2
    assert f"has {published}, which two seeds of the NAC reach as trained, too;" in text


def test_what_the_least_error_of_digits_is_of_what_reads_nothing():
    picks = committed("table2_picks")
    assert set(picks["by"]) == {"nothing holds"}
    shares = (picks["median_mae"] / picks["unread_mae"]).sort()
    assert f"is {100 * shares[0]:.0f} to {shares[-1]:.0%} of what reads nothing" in page("digits")


def test_which_unit_to_pick_for_what_is_no_sum():
    text, picks = page("arithmetic"), committed("table7_picks")
    rows = {row["operation"]: row for row in picks.to_dicts()}
    assert [(rows[name]["pick"], rows[name]["solved"]) for name in ("div", "root")] == [
        ("RealNPU", 12), ("RealNPU", 12),
    ]  # fmt: skip
    assert "RealNPU is picked, on 12 of 20 solved seeds each" in text
    assert (rows["mul"]["pick"], rows["mul"]["solved"]) == ("iNALU", 20)
    assert "for products iNALU, whose seeds are all solved" in text
    (nmu,) = (
        committed("table7").filter(operation="mul", model="NMU", test="extrapolation").to_dicts()
    )
    assert (nmu["solved"], nmu["kept_solved"], nmu["snapped"]) == (17, 17, 0)
    seeds = committed("table6_seeds").filter(operation="mul", model="NMU", learning_rate=0.01)
    assert (seeds["steps"].max(), seeds["best_step"].max()) == (20_000, 4000)
    assert "The NMU solves 17 products, and none better once snapped" in text


def test_what_snapping_does_over_a_thousand_steps():
    text = page("arithmetic")
    assert 1 / 3 < 0.999**1000 < 0.4
    rows = committed("table9").filter(test="extrapolation")
    units = rows.filter(pl.col("snapped").is_not_null())
    kept = {(row["operation"], row["model"]): row["kept_solved"] for row in units.to_dicts()}
    assert units.filter(operation="add")["solved"].max() == 0
    others = rows.filter(pl.col("snapped").is_null(), pl.col("operation") == "add")
    assert dict(others.filter(pl.col("solved") > 0).select("model", "solved").rows()) == {
        "RNN-ReLU": 3
    }
    assert [kept["add", name] for name in ("NAU", "NAC", "iNALU")] == [5, 4, 4]
    assert "NAU solves it in 5, NAC and iNALU in 4" in text
    assert [kept["sub", "NMU"], kept["sub", "NAC"], kept["identity", "Gated NAU/NMU"]] == [8, 8, 7]
    assert "solved in 8 seeds by NMU and by NAC" in text
    assert "given back in 7 by gated NAU/NMU. Squares are solved in 6 at most (NMU)" in text
    best = {name: max(kept[name, model] for model in units["model"]) for name in rows["operation"]}
    assert (best["add"], best["sub"], best["identity"]) == (5, 8, 7)
    assert (best["square"], kept["square", "NMU"]) == (6, 6)
    picks = {row["operation"]: row for row in committed("table9_picks").to_dicts()}
    assert (picks["add"]["pick"], picks["add"]["by"]) == ("iNALU", "median")
    medians = {
        row["model"]: row["kept_median_relative"]
        for row in units.to_dicts()
        if row["operation"] == "add"
    }
    assert 0.5 < medians["iNALU"] / medians["NAU"] < 1
    assert (picks["div"]["pick"], picks["div"]["solved"]) == ("RNN-tanh", 0)
    assert "For quotients an RNN is picked, which solves none" in text
    assert units.filter(model="NALU")["solved"].max() == 0
    within = committed("table9").filter(test="interpolation", model="NALU")
    solved = dict(within.select("operation", "solved").rows())
    assert (solved["root"], solved["add"], solved["sub"]) == (9, 3, 3)
    assert "of roots 9 of 10 seeds are below 0.05%, of sums and differences 3" in text


def test_which_learning_rate_is_the_better():
    text = page("arithmetic")
    said = {"table6": "better rate for {} of {} models and", "table8": "it is for {} of {}."}
    for name, words in said.items():
        rates = committed(name).filter(test="extrapolation")["learning_rate"].drop_nulls()
        assert words.format(int((rates == 0.001).sum()), len(rates)) in text
        both = committed(f"{name}_seeds")["learning_rate"].drop_nulls()
        assert set(both) == {0.01, 0.001}


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


def test_the_published_errors_that_cannot_be_are_those_that_the_page_names():
    """Of a count that is taken twice, the error and its square are; then m² is at most 2 s."""
    margin = 1.01  # for rounding
    wrong = DIGIT_TABLES.filter(
        pl.col("published_mae") ** 2 > margin * 2 * pl.col("published_mse")
    ).select("model", "task", "length")
    expected = {("RNN-ReLU", "sum", 10), ("RNN-ReLU", "sum", 100)}
    expected |= {("RNN-ReLU", "count", 100), ("RNN-ReLU", "count", 1000)}
    expected |= {("NAC", task, length) for task in ("sum", "count") for length in (100, 1000)}
    assert set(wrong.rows()) == expected
    assert (
        "RNN-ReLU (sums of 10 and 100, counts of 100 and 1000) and of NAC (sums and counts of "
        "100 and 1000), squared, are above their mean square errors even if both are counted twice"
    ) in page("digits")


def test_of_which_runs_it_matters_whether_test_or_validation_digits_admit_a_law():
    rows = pl.concat(
        committed(name).select(
            "model", "seed", "law", share=pl.col("read_right") / pl.col("read_images")
        )
        for name in ("table2_seeds", "perception_seeds")
    ).drop_nulls("share")
    lawful, said = pl.col("law").is_not_null(), pl.col("share") >= 0.9
    first = rows.filter(seed=0)
    least, most = first.filter(lawful)["share"].min(), first.filter(~lawful)["share"].max()
    text = page("digits")
    assert f"none of them reads between {most:.1%} and {least:.1%} of the test digits" in text
    assert most < least
    other = rows.filter(lawful != said).select("model", "seed", "share").unique().rows()
    ((model, seed, share),) = other
    assert f"one: the {model} of seed {seed} is lawful with {share:.1%} of the test" in text


def test_what_units_that_multiply_say_of_images():
    rows, text = committed("perception_seeds").filter(length=2), page("digits")
    assert set(rows.group_by("model").len()["len"]) == {3}
    rows = rows.with_columns(share=pl.col("read_right") / pl.col("read_images"))
    lawful = rows.filter(pl.col("law").is_not_null())

    def of(model):
        return lawful.filter(model=model)

    assert of("NMU")["exact"].to_list() == [True] * 3
    least, most = of("NMU")["share"].min(), of("NMU")["share"].max()
    assert f"and reads {100 * least:.1f} to {most:.1%} of the test digits right" in text
    assert of("NMRU").select("exact", divides=pl.col("reading").str.contains("/")).sort(
        "exact"
    ).rows() == [(False, True), (True, False)]
    assert of("NACMul")["exact"].to_list() == [False]
    assert of("RealNPU").is_empty()
    rest = rows.filter(pl.col("law").is_null(), pl.col("model") != "RealNPU")["share"]
    assert f"read {100 * rest.min():.1f} to {rest.max():.1%} right once they have" in text
    medians = rows.group_by("model").agg(pl.col("mae").median()).sort("mae")
    assert medians["model"].to_list()[:2] == ["NACMul", "RealNPU"]


def test_what_the_search_on_digits_says():
    table = committed("table2_search").sort("best_validation_loss")
    text = page("digits")
    assert "one seed so far, of ten epochs (`--seeds 1 --epochs 10`)" in text
    assert table["seeds"].unique().to_list() == [1]

    def best(**cell):
        return table.filter(**cell).row(0, named=True)

    def ours(**cell):
        at = {"output": "linear", "dropout": False, "keep_state": True, "learning_rate": 0.001}
        return best(**at, **cell)

    cells = {
        (task, model): best(task=task, model=model)
        for task in ("count", "sum")
        for model in ("LSTM", "NAC", "NALU")
    }
    assert all(cell["keep_state"] and not cell["dropout"] for cell in cells.values())
    equal = [cell for cell, row in cells.items() if row == ours(task=cell[0], model=cell[1])]
    assert equal == [("count", "NAC")]
    after = {cell for cell, row in cells.items() if row["output"] == "log_softmax"}
    assert after == {("sum", "NAC"), ("sum", "NALU"), ("count", "NALU")}
    rates = {cell for cell, row in cells.items() if row["learning_rate"] == 0.01}
    assert rates == {("sum", "NAC"), ("sum", "LSTM"), ("count", "LSTM")}
    loss = {
        (*cell, name): row["best_validation_loss"]
        for cell, both in cells.items()
        for name, row in (("best", both), ("ours", ours(task=cell[0], model=cell[1])))
    }
    for task, model, places in (
        ("sum", "NAC", 1), ("sum", "NALU", 1), ("count", "NALU", 2),
        ("count", "LSTM", 3), ("sum", "LSTM", 1),
    ):  # fmt: skip
        found = [f"{loss[task, model, name]:.{places}f}" for name in ("best", "ours")]
        assert f"{found[0]} in place of {found[1]}" in text
    assert f"NALU's counts near the NAC's, {loss['count', 'NAC', 'best']:.2f}." in text
    assert loss["count", "NALU", "best"] > 5 * loss["count", "NAC", "best"]


def test_what_the_search_on_even_digits_says():
    seeds = committed("table4_search_seeds")
    rows = seeds.group_by("layer", "learning_rate").agg(
        pl.len(), pl.col("validation_accuracy").mean(), pl.col("validation_loss").median()
    )
    assert set(rows["len"]) == {2}
    assert set(seeds["steps"]) == set(committed("table4_seeds")["steps"]) == {4000}
    text = page("digits")
    assert "two seeds of each rate, 4000 steps long, as those of the table above." in text
    share = {row[:2]: f"{row[3]:.1%}" for row in rows.iter_rows()}
    rates = (0.003, 0.001, 0.01)
    linear, nac = ([share[layer, rate] for rate in rates] for layer in ("linear", "NAC"))
    said = "has {} of the validation pictures right on average, with 0.001 {}, and with 0.01 {};"
    assert said.format(*linear) in text
    assert "the NAC has {}, {}, and {}.".format(*nac) in text
    best = rows.sort("validation_loss").group_by("layer", maintain_order=True).first()
    assert set(best["learning_rate"]) == {0.003} == {ParityTraining().learning_rate}
    assert set(rows["learning_rate"]) == {0.0003, 0.001, 0.003, 0.01}


def test_what_the_last_layers_say():
    table, text = committed("table4"), page("digits")
    runs = json.loads((RESULTS / "table4.json").read_text("utf-8"))["runs"]
    assert table["seeds"].unique().to_list() == [3]
    hours = sum(run["core_hours"] for run in runs)
    assert f"(`--steps 4000 --seeds 3`, {hours:.1f} core-hours)" in text
    found = dict(table.select("layer", "mean").iter_rows())
    paper = dict(table.select("layer", "published_accuracy").drop_nulls().iter_rows())
    said = f"has {found['linear']:.1%} of the pictures right, the most of all, and the paper's has"
    assert f"{said} {paper['linear']:.1%}. The NAC's {paper['NAC']:.1%} there" in text
    assert max(paper, key=paper.get) == "NAC"
    seeds = committed("table4_seeds")
    assert f"no seed of any layer has more than {seeds['test_accuracy'].max():.1%}" in text
    after = f"fifth behind NAU, {found['NAU']:.1%}, the linear layer without a bias,"
    after = f"{after} {found['linear_no_bias']:.1%}, and the gated unit, {found['GatedNAUNMU']:.1%}"
    assert f"the NAC has {found['NAC']:.1%}, {after}." in text
    order = sorted(found, key=found.get)
    assert order[-5:] == ["NAC", "GatedNAUNMU", "linear_no_bias", "NAU", "linear"]
    had = [f"{accuracy['sigmoid_bias']:.1%}" for accuracy in (found, paper)]
    assert "sigmoid with a bias has {} where the paper's has {},".format(*had) in text
    accuracy = pl.col("test_accuracy")
    apart = seeds.group_by("layer").agg(accuracy.max() - accuracy.min()).sort("test_accuracy")
    most, differ = apart.row(-1)
    assert (most, order[0]) == ("NALU", "NALU")
    assert f"last is the NALU, with {found['NALU']:.1%}" in text
    assert f"The NALU's seeds are {100 * differ:.1f} points apart, more than" in text
    assert differ > found["linear"] - found["NALU"]


def test_what_the_search_of_agents_says():
    """The setting that the agents of figure 5 are trained with is not the best, nor far off."""
    rows = committed("grid_world_search").sort("model", "validation_mean", descending=[False, True])
    assert rows["seeds"].to_list() == [1] * 18
    ours = rows.filter(learning_rate=0.001, entropy=0.01).rows_by_key("model", named=True)
    best = rows.group_by("model", maintain_order=True).first().rows_by_key("model", named=True)
    paid = {name: row[0]["validation_mean"] for name, row in ours.items()}
    most = {name: row[0]["validation_mean"] for name, row in best.items()}
    text = page("grid_world")
    assert f"the LSTM is paid {paid['LSTM']:.2f} with them, its second best" in text
    assert rows.filter(model="LSTM")["validation_mean"][1] == paid["LSTM"]
    assert f"where 0.003 for both has {most['LSTM']:.2f}" in text
    sums = (
        f"the NAC that sums {paid['NAC-summing']:.2f}, where a rate of 0.003 and the same entropy"
    )
    assert f"{sums} has {most['NAC-summing']:.2f}" in text
    assert best["LSTM"][0]["entropy"] == best["LSTM"][0]["learning_rate"] == 0.003
    assert best["NAC-summing"][0]["entropy"] == 0.01
    slow = rows.filter(learning_rate=0.0003)["validation_mean"].max()
    assert f"no agent is paid more than {slow:.2f} by then" in text
    fast = rows.filter(model="LSTM", learning_rate=0.003)["validation_mean"].to_list()
    assert f"its other two settings have {fast[1]:.2f} and {fast[2]:.2f}" in text
