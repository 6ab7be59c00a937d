"""What the README and the page on Neural GPUs say, against the committed results."""

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from torchalu import zoo
from torchalu.evaluate import string_accuracy
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.stored import stored_networks
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/kaiser2016"


def test_no_seed_of_sums_makes_an_error():
    seeds = pl.read_csv(RESULTS / "table1_seeds.csv").filter(task="badd", model="improved")
    assert seeds["seed"].unique().sort().to_list() == [0, 1, 2, 3, 4]
    assert seeds.filter(pl.col("right") < pl.col("count")).is_empty()
    random = seeds.filter(strings="random").select("length", "count").unique().sort("length")
    assert dict(random.iter_rows()) == {20: 1000, 25: 1000, 100: 1000, 200: 1000, 2000: 100}
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "on 1000 pairs of numbers of 20, 25, 100 and 200 bits each, on 100 of 2000" in readme
    assert "Nor did any of the other four" in readme
    card = zoo.load("badd").card
    best = seeds.sort("validation_loss").row(0, named=True)
    assert (card.seed, card.seeds_generalizing, card.seeds_tried) == (best["seed"], 5, 5)


def test_a_transformer_adds_what_is_little_longer_than_it_has_seen():
    rates = pl.read_csv(RESULTS / "table1_lengths.csv").filter(task="badd", model="transformer")
    assert set(rates["seeds"]) == {1}
    assert rates.filter(length=25)["rate"].item() > 0.99
    assert rates.filter(pl.col("length") >= 100)["right"].to_list() == [0, 0]
    products = pl.read_csv(RESULTS / "table1_lengths.csv").filter(task="bmul", model="transformer")
    assert set(products["right"]) == {0}


def test_what_the_original_form_adds():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    seeds = pl.read_csv(RESULTS / "table1_seeds.csv").sort("seed")
    random = seeds.filter(task="badd", model="original", strings="random")
    right, counts = random.filter(length=200).select("right", "count")
    shares = [f"{100 * good / of:.1f}%" for good, of in zip(right, counts, strict=True)]
    assert f"of 200 bits they add {shares[0]}, {shares[1]} and {shares[2]} without an error" in page
    (first, second, third), counts = random.filter(length=2000).select("right", "count")
    assert counts.to_list() == [20, 20, 20]
    assert f"of 2000 bits {first}, {second} and {third} of 20" in page
    learning = pl.read_csv(RESULTS / "table1_learning.csv").filter(task="badd", model="original")
    (seconds,) = learning["solved_at_seconds"]
    assert learning["steps"].to_list() == [20_000]
    assert learning["learned"].to_list() == [3]
    assert f"of 20 bits right, after {seconds:.0f} seconds of one core at the median" in page
    adversarial = pl.read_csv(RESULTS / "table1_adversarial.csv").filter(model="original")
    sums = {row.pop("strings"): row for row in adversarial.filter(task="badd").to_dicts()}
    assert [sums["carry"][length] for length in ("100", "200", "2000")] == [50] * 3
    assert min(sums["carry"]["20"], sums["carry"]["25"]) > 50
    assert "half of the carries wrong from 100 bits on" in page
    assert [sums["zero"][length] for length in ("20", "25", "100", "200", "2000")] == [60] * 4 + [
        40
    ]
    assert "two of five sums at every length where an operand is zero, at 2000 bits three" in page


def test_what_the_original_form_adds_after_all_its_steps():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    folder = RESULTS / "table1_original_60000"
    seeds = pl.read_csv(folder / "table1_seeds.csv").filter(strings="random").sort("length")
    assert seeds.select("task", "model", "seed").unique().rows() == [("badd", "original", 2)]
    (run,) = json.loads((folder / "table1.json").read_text("utf-8"))["runs"]
    hours = f"table1_original_60000`, {run['core_hours']:.1f} core-hours"
    assert f"for all the 60,000 steps that are the default (`results/kaiser2016/{hours})" in page
    assert set(seeds["steps"]) == {60_000}
    (best,) = set(seeds["best_step"])
    later = (60_000 - best) // AlgorithmTraining.original(algorithm("badd")).every
    assert f"The network that it keeps, of step {best:,}, has one of 128 validation" in page
    assert f"and none of the {later} evaluations after it has fewer" in page
    assert 128 * seeds["validation_loss"][0] == pytest.approx(1, abs=1e-3)
    share = {n: 100 * r / c for n, r, c in seeds.select("length", "right", "count").iter_rows()}
    said = f"it adds {share[100]:.1f}% without an error, of 200 bits {share[200]:.1f}%"
    assert f"Of random pairs of 100 bits {said}" in page
    assert share[2000] == 0
    assert "and of 2000 bits none" in page
    assert f"Of sums of 20 bits, the longest that it learns from, it has {share[20]:.1f}%" in page
    earlier = pl.read_csv(RESULTS / "table1_seeds.csv").filter(
        task="badd", model="original", strings="random", length=200
    )
    assert earlier["seed"].to_list() == [0, 1, 2]
    assert max(share[200], *(100 * earlier["right"] / earlier["count"])) < 100


def test_what_an_lstm_with_attention_adds():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rates = pl.read_csv(RESULTS / "table1_lengths.csv").filter(model="lstm_attention")
    assert set(rates["seeds"]) == {1}
    assert set(rates.filter(task="bmul")["right"]) == {0}
    sums = dict(rates.filter(task="badd").select("length", "rate").iter_rows())
    said = (
        f"20 bits the one seed has {100 * sums[20]:.1f}% right and of 25 bits {100 * sums[25]:.1f}%"
    )
    assert said in page
    assert {sums[length] for length in (100, 200, 2000)} == {0}
    learning = pl.read_csv(RESULTS / "table1_learning.csv")
    assert learning.filter(model="lstm_attention")["steps"].to_list() == [60_000, 60_000]


def test_which_methods_sums_need_first():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rates = pl.read_csv(RESULTS / "ablations.csv").filter(task="badd", model="original")
    assert set(rates["seeds"]) == {1}
    learning = pl.read_csv(RESULTS / "ablations_learning.csv").filter(model="original")
    assert set(learning["steps"]) == {5000}
    short = {
        variant: f"{100 * rate:.1f}%"
        for variant, rate in rates.filter(length=20).select("variant", "rate").iter_rows()
    }
    long = dict(rates.filter(length=100).select("variant", "rate").iter_rows())
    for said in (
        f"without the curriculum {short['no_curriculum']} of sums of 20 bits are right",
        f"without relaxation {short['no_relaxation']}, where it is {short['full']} with everything",
        f"Gate cutoff helps too ({short['no_cutoff']} without it)",
        f"Noise on gradients ({short['no_gradient_noise']}) and dropout ({short['no_dropout']}",
        f"and {100 * long['no_dropout']:.1f}% of sums of 100 bits",
        f"where everything has {100 * long['full']:.1f}%",
    ):
        assert said in page


def test_what_a_stack_rnn_adds():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rates = pl.read_csv(RESULTS / "table1_lengths.csv").filter(model="stack_rnn")
    assert set(rates["seeds"]) == {1}
    sums = dict(rates.filter(task="badd").select("length", "rate").iter_rows())
    share = {length: f"{100 * rate:.1f}%" for length, rate in sums.items()}
    assert f"adds {share[20]} of random pairs of 20 bits, {share[25]} of 25" in page
    assert f"{share[25]} of 25 and {share[100]} of 100" in page
    assert sums[200] == sums[2000] == 0
    learning = pl.read_csv(RESULTS / "table1_learning.csv").filter(model="stack_rnn")
    assert learning.select("steps", "parameters").row(0) == (48_000, 6_900)
    assert f"after {learning['seconds'].item() / 60:.0f} minutes of one core" in page


def test_what_an_ensemble_adds():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rates = pl.read_csv(RESULTS / "ensemble.csv")
    long = rates.filter(length=200)
    assert long.select("members", "seeds").rows() == [(1, 3), (3, 1)]
    alone, together = (f"{100 * rate:.1f}%" for rate in long["rate"])
    assert f"they have {together} of sums of 200 bits right" in page
    assert f"the best of them has {alone}" in page
    hard = pl.read_csv(RESULTS / "ensemble_adversarial.csv")
    lengths = ("20", "25", "100", "200")
    for kind in set(hard["strings"]):
        one, three = hard.filter(strings=kind).select(lengths).rows()
        pairs = set(zip(one, three, strict=True))
        if kind == "zero":
            assert pairs == {(60, 80)}
            assert "where an operand is zero, 80% for 60%" in page
        elif kind in ("carry", "alternating"):
            assert {a == b for a, b in pairs} == {True, False}
            assert all(a >= b for a, b in pairs)
        else:
            assert pairs == {(100, 100)}


def test_how_long_the_parameter_sets_stay_several():
    """Runs that end before they are one have all six."""
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    recipe = AlgorithmTraining.original(algorithm("badd"))
    pull, advances = recipe.pull, 1
    while pull < 0.1:
        pull, advances = pull * recipe.pull_factor, advances + 1
    assert f"takes {advances} advances of the curriculum" in page
    assert f"{advances * recipe.every} steps at the least" in page
    runs = pl.concat(
        [
            pl.read_csv(RESULTS / f"{name}_seeds.csv", infer_schema_length=None)
            .with_columns(pl.lit("full").alias("variant") if name == "grid" else pl.col("variant"))
            .select("variant", "parameters", "steps")
            for name in ("grid", "ablations")
        ]
    )
    assert set(runs["steps"]) == {5000}
    relaxed = ~pl.col("variant").is_in(["no_relaxation", "no_curriculum"])
    assert set(runs.filter(relaxed)["parameters"]) == {188_280}
    assert set(runs.filter(~relaxed)["parameters"]) == {32_040}


def test_what_steps_beyond_the_symbols_do():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    wrong = {row["task"]: row for row in pl.read_csv(RESULTS / "steps.csv").to_dicts()}
    for task in ("copy", "sort"):
        assert {wrong[task][str(n)] for n in (0, 1, 2, 4, 8, 16, 32)} == {0}
    assert "after one step more every reversed string is wrong" in page
    assert wrong["reverse"]["1"] == wrong["duplicate"]["2"] == 2000
    assert wrong["duplicate"]["1"] == wrong["badd"]["2"] == 0
    assert wrong["badd"]["4"] > 0


def test_how_much_of_the_grid_is_run():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    cells = pl.read_csv(RESULTS / "grid_cells.csv")
    assert set(cells["seeds"]) == {1}
    learning = pl.read_csv(RESULTS / "grid_learning.csv")
    assert learning["steps"].to_list() == [5000] * 4
    assert "4 of the 729 cells on sums, with 5000 steps" in page
    rates = {
        length: [f"{100 * rate:.1f}%" for rate in sorted(rows["rate"])]
        for (length,), rows in cells.group_by("length")
    }
    assert f"{rates[20][0]} to {rates[20][3]} of sums of 20 bits are right" in page
    assert f"has {rates[100][3]} at 100 bits and {rates[200][3]} at 200" in page
    assert f"the others {rates[100][2]} at most at 100 and none at 200" in page
    assert rates[200][2] == "0.0%"
    best = cells.filter(length=20).sort("rate").row(3, named=True)
    for name in ("learning_rate", "gradient_noise"):
        assert best[name] == cells[name].max()
        assert cells.filter(pl.col(name) == best[name])["rate"].len() == 4


def test_how_far_a_cell_of_the_grid_gets():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (network,) = stored_networks(RESULTS / "networks" / "badd_grid")
    assert network.setting["learner"]["training"]["steps"] == 20_000
    (start,) = page.split("A fifth cell had up to 20,000 steps: ")[1:]
    for name, value in list(network.labels.items())[1:]:
        assert f"{name.replace('_', ' ')} {value}" in start.split(" (")[0]
    hours = network.cost.core_seconds / 3600
    assert f"networks/badd_grid`, {hours:.1f} core-hours). With the greater" in start
    records = pl.read_parquet(network.path.with_suffix(".parquet"))
    one = records.filter(averaged=1)["step"].min()
    assert f"the parameter sets are one after {one} steps" in page
    worst = records.group_by("step").agg(pl.col("right").min()).sort("step")
    assert (worst["right"].tail(5) == 1).all()
    assert f"ended at step {worst['step'].max():,}, when five evaluations in a row" in page
    right = {row["length"]: row["right"] for row in network.outcomes.iter_rows(named=True)}
    assert right[20] == right[25] == 1000
    assert (
        f"all of 1000 right, of 100 bits {right[100] / 10:.1f}%, of 200 bits "
        f"{right[200] / 10:.1f}%, and of 2000 bits {right[2000]} of 20, the most of" in page
    )
    assert f"step {right[200] / 10:.1f}% and {right[2000]} of 20" in page
    assert max(right_of_the_original_form(2000)) == right[2000]


def right_of_the_original_form(bits):
    """How many random sums of `bits` bits each network of the original form has right."""
    seeds = [pl.read_csv(path) for path in RESULTS.glob("table1*/table1_seeds.csv")]
    seeds += [pl.read_csv(RESULTS / "table1_seeds.csv")]
    rows = [
        table.filter(task="badd", model="original", strings="random", length=bits)["right"]
        for table in seeds
    ]
    rows += [
        network.outcomes.filter(strings="random", length=bits)["right"]
        for folder in sorted(RESULTS.glob("networks/badd_*"))
        for network in stored_networks(folder)
    ]
    return pl.concat(rows).to_list()


def test_a_cell_of_the_grid_with_more_validation_strings():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (network,) = stored_networks(RESULTS / "networks" / "badd_more_validation")
    (shorter,) = stored_networks(RESULTS / "networks" / "badd_grid")
    settings = [one.setting["learner"]["training"] for one in (network, shorter)]
    assert [one.pop("validation_strings") for one in settings] == [128, 32]
    assert settings[0] == settings[1]
    records, earlier = (
        pl.read_parquet(one.path.with_suffix(".parquet")) for one in (network, shorter)
    )
    until, common = (
        table.select("step", "training_loss", "pull").unique().sort("step")
        for table in (records.filter(pl.col("step") <= earlier["step"].max()), earlier)
    )
    assert until.equals(common)
    hours = network.cost.core_seconds / 3600
    (start,) = page.split("is the same training, as far as that one went. It goes on to step ")[1:]
    assert start.startswith(
        f"{records['step'].max():,} (`results/kaiser2016/networks/badd_more_validation`, "
        f"{hours:.1f} core-hours)"
    )
    wrong = records.group_by("step").agg(
        wrong=(pl.col("count") * (1 - pl.col("right"))).sum(),
        count=pl.col("count").sum(),
        loss=pl.col("loss").mean(),
    )
    assert wrong["count"].max() == 512
    wrong = wrong.filter(count=512)  # before, short strings alone were evaluated
    assert wrong["wrong"].min() == 1
    best = wrong.filter(wrong=1).sort("step")
    assert f"At steps {best['step'][0]:,} and {best['step'][1]:,} one of them is wrong" in start
    assert best.height == 2
    assert best["loss"][1] < best["loss"][0]
    right = dict(network.outcomes.select("length", "right").iter_rows())
    assert right[20] == 1000
    assert (
        f"all of 1000 right, of 25 bits {right[25] / 10:.1f}%, of 100 bits "
        f"{right[100] / 10:.1f}%, of 200 bits {right[200] / 10:.1f}%, the most of all runs of the "
        f"original form, and of 2000 bits {right[2000]} of 20." in start
    )
    assert f"grid has {right[200] / 10:.1f}% of 200 bits and {right[2000]} of 20 of 2000" in page
    assert max(right_of_the_original_form(200)) == right[200]


def test_what_a_cell_of_the_grid_gets_wrong_are_long_runs_of_unequal_digits():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (network,) = stored_networks(RESULTS / "networks" / "badd_grid")

    def longest(text):
        unequal = groupby(one != other for one, other in zip(*text.split("+"), strict=True))
        return max((len(list(run)) for differ, run in unequal if differ), default=0)

    sets = Strings((100, 200), count=1000).sets(algorithm("badd"))
    runs = {
        bits: [longest(text) for text in texts] for kind, bits, texts in sets if kind == "random"
    }
    failed = dict(network.outcomes.select("length", "failed").iter_rows())
    named = [runs[bits][int(name[1:])] for bits in runs for name in failed[bits].split()]
    assert (len(named), sum(run >= 11 for run in named)) == (6, 5)
    assert "of the six wrong strings that the outcomes name five have a run of 11 or more" in page
    long = {bits: sum(run >= 11 for run in found) for bits, found in runs.items()}
    assert f"as have {long[100]} of the 1000 sums of 100 bits and {long[200]} of those of" in page
    unequal = np.arange(2**20)  # each a sum of 20 bits: where its operands differ
    for _ in range(10):
        unequal &= unequal >> 1
    assert f"which it learns from, {np.mean(unequal > 0):.2%} have one" in page


def test_what_long_carries_alone_teach_the_original_form():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (network,) = stored_networks(RESULTS / "networks" / "badd_long_carries")
    (without,) = stored_networks(RESULTS / "networks" / "badd_grid")
    assert network.labels == without.labels
    assert network.setting["learner"]["training"]["long_carries"] == 0.25
    hours = network.cost.core_seconds / 3600
    assert f"networks/badd_long_carries`, {hours:.1f} core-hours), is worse" in page
    right = dict(network.outcomes.select("length", "right").iter_rows())
    assert right[20] == right[25]
    assert (
        f"of 20 and of 25 bits {right[20] / 10:.1f}% are right, of 100 bits "
        f"{right[100] / 10:.1f}%, of 200 bits {right[200] / 10:.1f}%, and of 2000 bits "
        f"{right[2000]} of 20." in page
    )
    texts = [
        algorithm("badd", filled=False, **{option: 1.0}).sample(20, 200, np.random.default_rng(0))
        for option in ("long_carries", "absent_carries")
    ]
    learned = zoo.load("badd")
    modules = [(one.load(), one.task) for one in (network, without)] + [
        (learned.module, learned.task)
    ]
    answers = [
        [string_accuracy(module, task, of_kind).right for of_kind in texts]
        for module, task in modules
    ]
    assert answers[0][0] == answers[2][0] == answers[2][1] == 200
    said = f"all right, and of 200 with as long a run that begins with two zeros {answers[0][1]},"
    assert f"{said} where the network without has {answers[1][0]} and {answers[1][1]}." in page


def test_what_is_learned_of_decimal_products():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    seeds = pl.read_csv(RESULTS / "decimal_seeds.csv")
    rows = {row["length"]: row for row in seeds.filter(strings="random").iter_rows(named=True)}
    assert f"{rows[5]['seconds'] / 60:.0f} minutes of one core" in page
    right = 100 * rows[5]["right"] / rows[5]["count"]
    assert f"of 5 digits {right:.1f}% are right, with {100 * rows[5]['digits']:.0f}% of" in page
    assert rows[10]["right"] == 0
    assert f"none, with {100 * rows[10]['digits']:.0f}%" in page
    assert (rows[5]["steps"], set(seeds["maps"])) == (10_000, {192})
    easy = seeds.filter(pl.col("strings").is_in(["zero", "powers_of_ten"]), pl.col("length") <= 10)
    assert (easy["right"] == easy["count"]).all()


def test_two_levels_cost_no_string():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    assert "cost none of them a string of 20 or of 100, nor `bmul` one of ten products of" in page
    rates = pl.read_csv(RESULTS / "levels_rates.csv").filter(levels=2)
    assert set(rates["task"]) == {"badd", "bmul", "copy", "duplicate", "reverse", "sort"}
    assert set(rates["wrong"]) == {0}
    assert rates.filter(task="bmul", length=2000)["count"].item() == 10
