"""The pages on Trask et al. 2018 say what the committed results do."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

from torchalu.cli.results import _digests
from torchalu.cli.run import _read
from torchalu.experiments import get
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.program_training import ProgramTraining, measured_sets
from torchalu.experiments.trask2018.published_digits import DIGIT_TABLES
from torchalu.experiments.trask2018.unread import unread

ROOT = Path(__file__).parents[2]
DOCS, RESULTS = ROOT / "docs" / "trask2018", ROOT / "results" / "trask2018"


def page(name):
    """The text of a page, in one line."""
    return " ".join((DOCS / f"{name}.md").read_text("utf-8").split())


def committed(name):
    return pl.read_csv(RESULTS / f"{name}.csv", infer_schema_length=None)


def test_what_a_nalu_makes_of_digits():
    now = _digests(get("trask2018.table2")(SeriesTraining(epochs=30)))
    runs = json.loads((RESULTS / "table2.json").read_text())["runs"]
    assert {k: v for run in runs for k, v in run["settings"].items()} == now
    text = page("digits")
    (count,) = committed("table2_count").filter(model="NALU").to_dicts()
    assert f"counts ten digits with an error of {count['mae_10_median']:.2f}, and" in text
    assert count["mae_100_median"] == float("inf")
    rows = {row["model"]: row for row in committed("table2_sum").to_dicts()}
    units = ("NALU", "NAC", "NAU", "GatedNAUNMU", "iNALU")
    assert min(units, key=lambda name: rows[name]["mae_10_median"]) == "NALU"
    assert f"with an error of {rows['NALU']['mae_10_median']:.2f}, less than" in text
    others = sorted(rows[name]["mae_100_median"] for name in ("NAC", "NAU", "GatedNAUNMU"))
    long = f"{rows['NALU']['mae_100_median']:.0f}, where NAC, NAU and gated NAU/NMU are off by"
    assert f"sums of 100 with {long} {others[0]:.0f} to {others[-1]:.0f}." in text


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


def test_test_and_validation_digits_would_admit_the_same_laws_as_far_as_the_page_says():
    rows = pl.concat(
        committed(name).select(
            "law", "certified_error", share=pl.col("read_right") / pl.col("read_images")
        )
        for name in ("table2_seeds", "perception_seeds")
    )
    lawful, other = rows.filter(pl.col("law").is_not_null()), rows.filter(pl.col("law").is_null())
    least, most = lawful["share"].min(), other["share"].max()
    assert 0.949 <= least < 0.95
    assert 0.833 < most <= 0.834
    assert "reads 94.9% of them right or more" in page("digits")
    assert "83.4% or less" in page("digits")


def test_what_numbers_in_words_say():
    text = page("words_programs")
    rows = {row["model"]: row for row in committed("table3").iter_rows(named=True)}
    snapped = rows["NMU+NAU,snapped"]
    seeds = committed("table3_seeds").filter(model="NMU+NAU,snapped")
    assert snapped["seeds"] == snapped["solved"] == 10
    assert seeds["test_right"].to_list() == [1.0] * 10
    assert "each of the ten networks reads each of the 631 test numbers without an error" in text
    others = [row for name, row in rows.items() if name != "NMU+NAU,snapped"]
    assert {row["seeds"] for row in others} == {3}
    assert not any(row["solved"] for row in others)
    assert "No other network is off by less than 0.5" in text
    test = {name: f"{row['test_mae']:.1f}" for name, row in rows.items()}
    assert f"NMU+NAU by {test['NMU+NAU']} on average, and the LSTM with iNALU by" in text
    assert f"iNALU by {test['LSTM+INALU']}; with NALU it is off by {test['LSTM+NALU']}" in text
    assert f"With NAC it is off by {test['LSTM+NAC']}, less than the paper's 114.3" in text
    laws = {row["model"]: row for row in committed("table3_rules").iter_rows(named=True)}
    assert laws["NMU+NAU,snapped"]["lawful"] == 10
    assert len(set(seeds["rules"])) == 1
    assert seeds["rules"][0].endswith("ninety +90; hundred ×100; and +0; thousand +999")
    assert sum(row["lawful"] for row in laws.values()) == 10


def test_what_a_nalu_makes_of_words_at_the_length_of_the_paper():
    """Thirty times the steps of table 3 do not bring it near the published error."""
    folder = RESULTS / "words_300000_steps"
    (run,) = json.loads((folder / "table3.json").read_text())["runs"]
    command = run["command"].removeprefix("torchalu run trask2018.")
    assert run["settings"] == _digests(study_of(command))
    assert command.startswith("table3 --models LSTM+NALU --depths 1 --seeds 3 --steps 300000 ")
    seeds = pl.read_csv(folder / "table3_seeds.csv", infer_schema_length=None)
    assert set(seeds["steps"]) == {300_000}
    assert seeds.group_by("embedding", "hidden").len().sort("hidden").rows() == [
        (16, 16, 3), (32, 32, 3),
    ]  # fmt: skip
    best = seeds.sort("validation_loss").row(0, named=True)
    text = page("words_programs")
    known = f"knows the numbers that it is trained on to {best['train_mae']:.1f} on average"
    assert f"{known}, and is off by {best['test_mae']:.1f} on test numbers" in text
    assert f"the median of the six by {seeds['test_mae'].median():.1f}" in text
    assert run["core_hours"] == pytest.approx(1, abs=0.05)
    assert seeds["learning_rate"].unique().to_list() == [0.01]


def test_what_the_sums_of_an_lstm_and_its_units_say():
    seeds = committed("figure6_seeds")
    assert set(seeds.group_by("model", "digits").len()["len"]) == {10}
    text = page("words_programs")
    assert "Ten seeds, of 10,000 steps each" in text
    exact = seeds.group_by("model", "digits").agg((pl.col("right") == 1).sum())
    exact = {(model, digits): count for model, digits, count in exact.iter_rows()}
    assert exact["NAC", 4] == exact["NAU", 4] == 10
    assert "add numbers of four digits without an error, with every one of the ten seeds" in text
    assert exact["GatedNAUNMU", 4] == 9
    assert seeds.filter(model="GatedNAUNMU", digits=4)["matching"].min() > 0.99
    assert "gated NAU/NMU with nine; the tenth has over 99% of the digits right" in text
    nalus = {name: exact[name, 4] for name in ("NALU", "NALU,gate")}
    assert nalus == {"NALU": 4, "NALU,gate": 3}
    assert "four of ten where the gate depends on the numbers, and with three where the" in text
    chosen = committed("figure6_digits").filter(digits=4).select("model", "chosen").rows()
    assert dict(chosen)["NALU"] == dict(chosen)["NALU,gate"] == 1.0
    assert "The seeds that validate best are among them" in text
    rows = {row[0]: row[1:] for row in _shares(seeds, 4)}
    said = f"the median seeds have {rows['NALU'][0]} and {rows['NALU,gate'][0]} of the digits"
    assert said in text
    for name in ("LSTM", "UGRNN", "DNC"):
        assert seeds.filter(model=name, digits=2)["matching"].min() > 0.99
        assert seeds.filter(model=name, digits=3)["matching"].max() < 0.1


def test_what_registers_that_are_not_kept_say():
    """The results of old stay those of the option that makes them."""
    before = RESULTS / "registers_not_kept"
    for figure in ("figure4", "figure6"):
        for run in json.loads((before / f"{figure}.json").read_text())["runs"]:
            command = run["command"].removeprefix("torchalu run trask2018.")
            assert "--no-keep-registers" in command
            assert run["settings"] == _digests(study_of(command))
    seeds = pl.read_csv(before / "figure6_seeds.csv", infer_schema_length=None)
    exact = seeds.filter(digits=4).group_by("model").agg(pl.len(), (pl.col("right") == 1).sum())
    assert dict(exact.select("model", "right").iter_rows()) == {
        "NAC": 10, "NAU": 10, "GatedNAUNMU": 1, "NALU": 0, "NALU,gate": 0,
        "LSTM": 0, "UGRNN": 0, "DNC": 0,
    }  # fmt: skip
    assert exact["len"].unique().to_list() == [10]
    text = page("words_programs")
    assert "no NALU of ten seeds adds numbers of four digits, by either gate, and one gated" in text


def test_what_programs_say():
    rows = committed("figure4_digits").iter_rows(named=True)
    shares = {(row["model"], row["sees_numbers"], row["digits"]): row["median"] for row in rows}
    text = page("words_programs")
    seeds = committed("figure4_seeds")
    assert set(seeds.group_by("model", "sees_numbers", "digits").len()["len"]) == {4}
    assert seeds["steps"].unique().to_list() == [10_000]
    assert "Four seeds so far of 10,000 steps each" in text

    def share(model, digits, *, sees=True):
        return f"{shares[model, sees, digits]:.1%}"

    units = ("NAC", "GatedNAUNMU", "NAU", "NALU", "NALU,gate")
    two = [share(model, 2) for model in units]
    said = "the NAC {}, the gated NAU/NMU {}, the NAU {}, the NALU {}, and {} where the LSTM"
    assert said.format(*two) in text
    recurrent = ("LSTM", "UGRNN", "DNC")
    two = [share(model, 2) for model in recurrent]
    assert "The LSTM by itself has {}, the UGRNN {}, the DNC {}".format(*two) in text
    assert 0.11 < max(shares[model, True, 4] for model in units) < 0.125
    assert 0.065 < max(shares[model, True, 4] for model in recurrent) < 0.075
    assert "they have 12% or less of the digits right, and the recurrent networks 7%" in text
    units = ("GatedNAUNMU", "NAC", "NAU", "NALU", "NALU,gate")
    four = [share(model, 4, sees=False) for model in units]
    said = "NAU/NMU has {} of the digits of four-digit numbers, the NAC {}, the NAU {}, the NALU {}"
    assert f"{said} and, with its gate set by the LSTM, {{}}".format(*four) in text
    whole = seeds.filter(digits=4).sort("right").row(-1, named=True)
    assert (whole["model"], whole["sees_numbers"]) == ("GatedNAUNMU", False)
    assert f"gets {whole['right']:.1%} of the four-digit programs right as a whole" in text
    gated = seeds.filter(model="GatedNAUNMU", sees_numbers=False, digits=2)
    training = ProgramTraining()
    sets = measured_sets(training.programs("programs", 0), training.count)
    of_one = (sets["validation"].targets - 1).square().mean().sqrt().item()
    assert gated["validation_loss"].max() == pytest.approx(of_one, rel=1e-6)
    assert "Another seed of it answers with 1 throughout" in text


def test_what_the_search_for_programs_says():
    table = committed("figure4_search")
    assert table["seeds"].unique().to_list() == [1]
    of_four = table.filter(pl.col("registers") != 8).sort("best_validation_loss")
    for (model, _), rates in of_four.group_by("model", "sees_numbers", maintain_order=True):
        best, second = rates["learning_rate"][:2]
        if model in ("NAU", "NALU,gate"):
            first, next_best = rates["best_validation_loss"][:2]
            assert (best, second) == (0.03, 0.01)
            assert next_best < 1.2 * first
        elif model == "DNC":
            assert (best, second) == (0.003, 0.01)
            first, next_best = rates["best_validation_loss"][:2]
            less = f"{1 - first / next_best:.0%}"
        else:
            assert best == 0.01
    eight = table.filter(registers=8).select("model", eight="best_validation_loss")
    four = table.filter(registers=4, learning_rate=0.01, sees_numbers=False)
    both = four.join(eight, on="model")
    assert both.height == 2
    assert (both["eight"] > both["best_validation_loss"]).all()
    text = page("words_programs")
    assert "with which 0.03 does better by less than a fifth" in text
    assert f"for the DNC, with which 0.003 does, by {less}" in text


def _shares(seeds, digits):
    """The median and the best part of digits that match, by model, as the page writes them."""
    rows = seeds.filter(digits=digits).group_by("model")
    shares = rows.agg(pl.col("matching").median(), pl.col("matching").max().alias("best"))
    return [(model, *(f"{100 * share:.1f}%" for share in two)) for model, *two in shares.rows()]


def study_of(command):
    """The study of a command without `torchalu run`."""
    name, *options = shlex.split(command)
    return _read(f"trask2018.{name}", get(f"trask2018.{name}"), options)[0]


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
    assert set(seeds["steps"]) == {4000}
    assert set(committed("table4_seeds")["steps"]) == {1000}
    text = page("digits")
    assert "two seeds of each rate, 4000 steps long, four times those" in text
    share = {row[:2]: f"{row[3]:.1%}" for row in rows.iter_rows()}
    said = "has {} of the validation pictures right on average, and {} with 0.001"
    assert said.format(share["linear", 0.003], share["linear", 0.001]) in text
    assert f"the NAC has {share['NAC', 0.003]}, and {share['NAC', 0.001]}." in text
    best = rows.sort("validation_loss").group_by("layer", maintain_order=True).first()
    assert set(best["learning_rate"]) == {rows["learning_rate"].max()} == {0.003}


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
