"""What the README and the page on Neural GPUs say of products, against the committed results."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from scipy.stats import fisher_exact

from torchalu import zoo
from torchalu.evaluate import string_accuracy
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.stored import stored_networks
from torchalu.tasks import encode

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/kaiser2016"
ONE_ATTEMPT = RESULTS / "table1_one_attempt"
ATTEMPTS = {0: 2, 2: 1, 3: 3}
NETWORKS = [f"bmul_{'attempts' if n in ATTEMPTS else 'hardest'}_seed{n}" for n in range(5)]


def products(folder=RESULTS):
    """The outcomes of all seeds of products."""
    return pl.read_csv(folder / "table1_seeds.csv").filter(task="bmul", model="improved")


def listed(values):
    """As the page has them: 1, 2, 3, 4 and 5."""
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}"


def right(seeds, length, kind="random"):
    """How many strings each seed has right."""
    rows = seeds.filter(strings=kind, length=length).sort("seed")
    return dict(rows.select("seed", "right").iter_rows())


def test_what_three_networks_of_products_mend():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (row,) = pl.read_csv(RESULTS / "products_by_three" / "ensemble_seeds.csv").to_dicts()
    assert (row["members"], row["strings"], row["length"]) == (3, "random", 2000)
    alone = []
    for network in row["networks"].split():
        folder, _, name = network.partition("/")
        table = "no_counterexamples" if "no_counterexamples" in folder else "earlier_search"
        seed = int(name.removeprefix("bmul-improved-seed"))
        alone.append(right(products(RESULTS / f"table1_{table}"), 2000)[seed])
    said = "have {}, {} and {} of {} random products of 2000 bits".format(*alone, row["count"])
    assert f"{said} right alone, and all {row['right']} together (`results" in page
    assert row["right"] == row["count"] > max(alone[1:])
    folder = RESULTS / "products_by_three_hardest"
    (row,) = pl.read_csv(folder / "ensemble_seeds.csv").to_dicts()
    assert row["networks"].split() == [f"bmul-improved-seed{seed}" for seed in (0, 2, 3)]
    assert (row["strings"], row["length"], row["right"], row["count"]) == ("random", 2000, 20, 20)
    alone = right(products(ONE_ATTEMPT), 2000)
    said = "which have {}, {} and {} of the same 20".format(*(alone[seed] for seed in (0, 2, 3)))
    assert f"{said}, have all 20 together" in page
    (row,) = pl.read_csv(RESULTS / "products_by_five" / "ensemble_seeds.csv").to_dicts()
    named = ["bmul_seed1/bmul-improved-seed1"]
    named += [f"bmul_hardest_seed{seed}/bmul-improved-seed{seed}" for seed in (0, 2, 3, 4)]
    assert row["networks"].split() == named
    assert (row["strings"], row["length"], row["right"], row["count"]) == ("random", 2000, 20, 20)
    said = "so have five: seed 1 of the earlier search and the first attempts of seeds 0, 2, 3 and"
    assert f"{said} 4 (`results" in page


def test_which_of_four_starts_is_chosen():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    (row,) = pl.read_csv(RESULTS / "starts_choices.csv").to_dicts()
    tables = products(ONE_ATTEMPT), products().filter(seed=4)
    seeds = pl.concat(tables, how="vertical_relaxed")
    among = [int(seed) for seed in row["seeds_of_starts"].split()]
    assert among == [0, 2, 3, 4]
    tested = {seed: right(seeds, 2000)[seed] for seed in among}
    said = "the first attempts of seeds 0, 2, 3 and 4 have {}, {}, {} and {} of 16 right; "
    said = f"{said}of the 20 of the tests they have "
    said = said.format(*row["validation_right"].split()) + "{}, {}, {} and {}.".format(
        *tested.values()
    )
    assert said in page
    assert (row["chosen"], row["validation_count"]) == (3, 16)
    assert (
        "Chosen is seed 3, which has all right but one of 1000 of 100 bits and one of 200" in page
    )
    wrong = seeds.filter(seed=3, strings="random").with_columns(pl.col("count") - pl.col("right"))
    assert dict(wrong.select("length", "count").iter_rows()) == {
        20: 0, 25: 0, 100: 1, 200: 1, 2000: 0,
    }  # fmt: skip
    measured = pl.read_csv(RESULTS / "starts_seeds.csv").select("length", "right", "count")
    chosen = seeds.filter(seed=3, strings="random").select("length", "right", "count")
    assert measured.sort("length").equals(chosen.sort("length"))


def test_what_the_order_of_operands_tells():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rows = pl.read_csv(RESULTS / "orders_seeds.csv")
    far = {row["seed"]: row for row in rows.filter(length=2000).to_dicts()}
    first, second = far[0], far[3]
    assert {row["strings"] for row in far.values()} == {"random"}
    said = f"Seed 0 has {first['right']} of {first['count']} products of 2000 bits right"
    assert f"{said} there, and {first['agree']} in both orders alike" in page
    assert (second["agree"], second["wrong_agreeing"], second["count"]) == (20, 0, 20)
    assert "seed 3 all 20 in both orders" in page
    agreeing, wrong = rows["agree"].sum(), rows["wrong_agreeing"].sum()
    assert f"Of {agreeing:,} answers that agree none is wrong" in page
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"of {agreeing:,} answers of two other networks that agreed, none was wrong" in readme
    assert wrong == 0
    lost = rows.select((pl.col("count") - pl.col("agree")).sum()).item()
    errs = rows.select((pl.col("count") - pl.col("right")).sum()).item()
    assert f"All {errs} wrong ones are among the {lost} that do not" in page


def test_what_five_seeds_of_products_say():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    seeds = products()
    lengths = (20, 25, 100, 200, 2000)
    ours = {length: [*right(seeds, length).values()] for length in lengths}
    each = seeds.filter(strings="random", length=20).sort("seed")
    assert each["seed"].to_list() == [0, 1, 2, 3, 4]
    solved, seconds = each["solved_at_seconds"].round(), each["seconds"].round()
    assert f"once, after {solved.min():.0f} to {solved.max():.0f} seconds, within the 60" in page
    assert f"trainings of {seconds.min():.0f} to {seconds.max():.0f} seconds keep" in page
    assert {*ours[20], *ours[25]} == {1000}
    assert set(seeds.filter(strings="random")["count"]) == {1000, 20}
    assert {*ours[100], *ours[200]} == {1000}
    assert "All have 1000 of 1000 of 100 and of 200 bits right, too; of 20 of 2000 bits" in page
    assert f"bits seeds 0 to 4 have {listed(ours[2000])}." in page
    assert {round(32 * 6 * loss) for loss in each["validation_loss"]} == {0}
    assert "All five have every one of the 192 validation strings right, with and without" in page
    (far,) = seeds.filter(strings="random", length=2000, seed=2)["digits"]
    assert (ours[2000][2], round((1 - far) * 20 * 4001)) == (19, 1)
    assert "of seed 2 only the 20 have been tried, of which it has one bit of one wrong." in page
    first = products(ONE_ATTEMPT)
    lost = round(32 * 6 * first.filter(seed=0)["validation_loss"][0])
    near, far = (right(first, length)[0] for length in (200, 2000))
    said = f"which had {lost} of the 192 wrong, {near} of 1000 products of 200 bits are right, and"
    assert f"{said} {far} of 20 of 2000. Seed 3" in page
    assert "Seed 0 took two attempts by this rule" in page
    lost = round(32 * 6 * first.filter(seed=3)["validation_loss"][0])
    near, far = (1000 - right(first, length)[3] for length in (100, 200))
    said = f"Seed 3 took three; its first had {lost} of the 192 wrong, and {near} of 1000 products"
    assert f"{said} of 100 bits and {far} of 200 (`results" in page
    lost = round(32 * 6 * first.filter(seed=2)["validation_loss"][0])
    short, near = (1000 - right(first, length)[2] for length in (100, 200))
    said = (
        f"its first attempt had {lost} of the 192 wrong, {short} of 1000 products of 100 bits and"
    )
    assert f"{said} {near} of 200, and {20 - right(first, 2000)[2]} of 20 of 2000; later" in page
    for seed, attempts in ATTEMPTS.items():
        parts = RESULTS / "networks" / NETWORKS[seed] / "parts"
        records = pl.read_parquet(parts / f"bmul-improved-seed{seed}.parquet")
        assert records["attempt"].n_unique() == attempts
    (row,) = (
        pl.read_csv(RESULTS / "table1_learning.csv")
        .filter(task="bmul", model="improved")
        .to_dicts()
    )
    everywhere = sum(
        all(ours[length][seed] == (20 if length == 2000 else 1000) for length in lengths)
        for seed in range(5)
    )
    assert row["right_everywhere"] == everywhere
    numbers = ("none", "one", "two", "three", "four", "all five")
    assert (
        f"string is what we wanted: of the table's {numbers[everywhere]} are, seeds 0, 1, 3" in page
    )
    assert f"of products {numbers[5 - everywhere]} of the five does, at 2000 bits" in page
    chosen = pl.read_csv(RESULTS / "table1_lengths.csv").filter(task="bmul", model="improved")
    assert set(chosen["chosen_seed"]) == {each.sort("validation_loss")["seed"][0]}
    assert (chosen["right"] == chosen["count"]).all()
    for seed, network in enumerate(NETWORKS):
        parts = RESULTS / "networks" / network / "parts"
        records = pl.read_parquet(parts / f"bmul-improved-seed{seed}.parquet")
        assert records.sort("step")["found_wrong"][-1] == 0
    noise = pl.read_csv(RESULTS / "noise_seeds.csv").filter(task="bmul")
    far = {row["seed"]: row["far_count"] - row["far_right"] for row in noise.to_dicts()}
    said = listed(far[seed] for seed in range(5))
    assert far == {seed: 20 - ours[2000][seed] for seed in range(5)}
    assert f"and yet of 20 of 2000 bits {said} are wrong by seeds 0 to 4" in page


def test_what_other_recipes_of_products_give():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    earlier, without, half = (
        products(RESULTS / f"table1_{name}")
        for name in ("earlier_search", "no_counterexamples", "noise_half")
    )
    near, far = (listed(right(earlier, length).values()) for length in (200, 2000))
    assert right(earlier, 2000).keys() == right(without, 2000).keys() == {0, 1}
    said = f"seeds 0 and 1 have {near} of 1000 products of 200 bits right, and {far} of 20 of"
    assert said in page
    assert [right(products(), 2000)[seed] for seed in (0, 1)] == [20, 20]
    assert right(earlier, 2000)[1] == 20
    lost = [20 - right(table, 2000)[0] for table in (products(ONE_ATTEMPT), earlier)]
    said = "first attempt of seed 0 errs in {} or {} of 20 products of 2000 bits".format(*lost)
    assert f"{said}, and seed 1 in none; nor does the second attempt of seed 0 err" in page
    near, far = (listed(right(without, length).values()) for length in (200, 2000))
    assert f"the same two have {near} of 200 bits, and {far} of 20 of 2000" in page
    short, near, far = (right(half, length)[0] for length in (20, 200, 2000))
    said = f"one seed has {short} of 1000 of 20 bits right, {near} of 200 and {far} of 20 of 2000"
    assert said in page


def test_what_counterexamples_are_good_for():
    """Of 2000 products of 200 bits fewer are wrong, by more than chance would have it."""
    with_them, without = (
        right(products(RESULTS / f"table1_{name}"), 200)
        for name in ("earlier_search", "no_counterexamples")
    )
    table = [[sum(one.values()), 2000 - sum(one.values())] for one in (with_them, without)]
    assert fisher_exact(table).pvalue < 0.05


@pytest.mark.long  # a network answers to products of 200 digits
def test_what_runs_of_equal_digits_do_to_products():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    ours = [listed(right(products(), n, "runs").values()) for n in (100, 200, 2000)]
    assert (
        "Of these seeds 0 to 4 have {} of 100 bits right, {} of 200, and {} of".format(*ours)
        in page
    )
    folder = RESULTS / "networks" / "bmul_no_counterexamples_seed1"
    (network,) = stored_networks(folder, task="bmul")
    module = network.load()
    older = {
        length: string_accuracy(module, network.task, network.task.adversarial(length)["runs"])
        for length in (100, 200)
    }
    assert f"seed 1 has {older[100].right} of 100 bits right and {older[200].right} of 200" in page
    tried = pl.read_csv(RESULTS / "table1_runs" / "table1_seeds.csv").sort("length", "seed")
    runs, random = tried.filter(strings="runs"), tried.filter(strings="random")
    assert (set(tried["seed"]), set(runs["count"])) == ({0, 1}, {10})
    losses = random.filter(length=20)["validation_loss"]  # strings of four lengths, two with noise
    wrong = [round(32 * 6 * loss) for loss in losses]
    assert f"of these 192, with and without noise, {wrong[0]} and {wrong[1]} are wrong" in page
    lengths = (100, 200, 2000)
    short, long, far = (runs.filter(length=length)["right"].to_list() for length in lengths)
    assert f"have {short[0]} and {short[1]} right of 100 bits, {long[0]} and {long[1]} of" in page
    assert f"of 200, and {far[0]} and {far[1]} of 2000. Random products" in page
    short, long = (random.filter(length=length)["right"].to_list() for length in (200, 2000))
    assert f"{short[0]} and {short[1]} of 1000 of 200 bits are right, and {long[0]} and" in page
    assert f"and {long[1]} of 20 of 2000. What goes wrong there is not" in page


@pytest.mark.parametrize(
    ("folder", "seed", "table"),
    [
        ("bmul_seed0", 0, "table1_earlier_search"),
        ("bmul_seed1", 1, "table1_earlier_search"),
        ("bmul_no_counterexamples_seed1", 1, "table1_no_counterexamples"),
        *((network, seed, ".") for seed, network in enumerate(NETWORKS)),
        *((f"bmul_hardest_seed{seed}", seed, "table1_one_attempt") for seed in (0, 2, 3)),
    ],
)
def test_the_networks_that_are_kept_are_those_that_were_measured(folder, seed, table):
    (network,) = stored_networks(RESULTS / "networks" / folder, task="bmul")
    seeds = products(RESULTS / table).filter(seed=seed)
    assert network.seed == seed
    assert network.validation_loss == seeds["validation_loss"][0]
    texts = network.task.sample(20, 20, np.random.default_rng(0))
    assert string_accuracy(network.load(), network.task, texts).right == 20


def test_where_the_digits_are_that_go_wrong():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    assert "at 200 bits have two or three beside each other, far from both ends" in page
    folder = RESULTS / "networks" / "bmul_no_counterexamples_seed1"
    (network,) = stored_networks(folder, task="bmul")
    seeds = products(RESULTS / "table1_no_counterexamples").filter(seed=1)
    named = seeds.filter(strings="random", length=200)["failed"].item().split()
    assert len(named) == 3
    sets = {kind: strings for kind, _, strings in Strings((200,), count=1000).sets(network.task)}
    failed = encode(network.task, [sets["random"][int(place[1:])] for place in named])
    with torch.no_grad():
        wrong = network.load()(failed.inputs, failed.lengths).argmax(-1) != failed.targets
    for row in wrong:
        places = row.nonzero().flatten().tolist()
        assert places == list(range(places[0], places[0] + len(places)))
        assert len(places) in (2, 3)
        assert 100 < places[0] < 301


def test_what_a_search_finds():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    rows = {row["task"]: row for row in pl.read_csv(RESULTS / "counterexamples.csv").to_dicts()}
    assert rows.keys() == {"badd", "bmul", "copy", "duplicate", "reverse", "sort"}
    assert {row["wrong"] for row in rows.values()} == {0}
    assert {row["wrong_neighbors"] for row in rows.values()} == {0}
    assert "in no network of the zoo does the search find a wrong answer" in page
    assert min(row["least_margin"] for row in rows.values()) > 3
    folder = RESULTS / "table1_no_counterexamples"
    older = pl.read_csv(folder / "counterexamples.csv").row(0, named=True)
    assert older["wrong"] == 0
    said = f"counterexamples has none wrong of {older['new']:,} new ones, and"
    assert f"{said} {older['wrong_neighbors']:,} of {older['neighbors']:,} neighbors" in page
    assert right(products(folder), 100)[1] == 1000
    (network,) = stored_networks(RESULTS / "networks" / "bmul_no_counterexamples_seed1")
    assert string_accuracy(network.load(), network.task, [older["first"]]).right == 0


def test_what_the_zoos_products_are():
    page = " ".join((ROOT / "docs/kaiser2016.md").read_text(encoding="utf-8").split())
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    learned = zoo.load("bmul")
    card, seeds = learned.card, products()
    (network,) = stored_networks(RESULTS / "networks" / "bmul_hardest_seed4", task="bmul")
    ours, kept = learned.module.state_dict(), network.load().state_dict()
    assert all(torch.equal(ours[name], value) for name, value in kept.items())
    best = seeds.sort("validation_loss").row(0, named=True)
    counts = card.seed, card.seeds_tried, card.seeds_generalizing
    assert counts == (best["seed"], 5, 4) == (4, 5, 4)
    measured = {(one.kind, one.length): (one.right, one.count) for one in card.measured}
    table = seeds.filter(seed=4).select("strings", "length", "right", "count").iter_rows()
    assert measured == {(kind, length): (good, count) for kind, length, good, count in table}
    random = {length: counts for (kind, length), counts in measured.items() if kind == "random"}
    assert random == dict.fromkeys((20, 25, 100, 200), (1000, 1000)) | {2000: (20, 20)}
    for seed in (0, 1, 3, 4):
        more = pl.read_csv(RESULTS / f"products_of_2000_bits_seed{seed}" / "ensemble_seeds.csv")
        (row,) = more.filter(strings="random", length=2000).to_dicts()
        assert row["networks"] == f"bmul-improved-seed{seed}"
        wrong = 1 if seed == 3 else 0
        assert (row["count"], row["right"]) == (100, 100 - wrong)
        assert round((1 - row["digits"]) * 100 * 4001) == wrong
    assert "seeds 0, 1 and 4 have all right, and seed 3 has 99 and one bit wrong in the" in page
    said = "all of 1000 pairs of 20, 25, 100 and 200 bits each are right and all of 100 of 2000"
    lost = seeds.filter(strings="random").with_columns(pl.col("count") - pl.col("right"))
    shorter = {
        seed: lost.filter(pl.col("length") < 2000, seed=seed)["count"].sum() for seed in range(5)
    }
    assert shorter == dict.fromkeys(range(5), 0)
    said = f"{said}, and so it is with two other seeds; the fourth errs in one bit of one of these"
    assert right(seeds, 2000)[2] == 19
    assert f"{said} 100 alone, the last in one bit of one of the first 20 of them." in readme
    assert (
        "are the first 20, the chosen seed has all right (`results/kaiser2016/products_of" in page
    )
    texts = [next(Strings((2000,), 1, n, False).sets(learned.task))[2] for n in (20, 100)]
    assert texts[0] == texts[1][:20]
    runs = [measured["runs", length][0] for length in (200, 2000)]
    said = f"runs of equal digits, {runs[0]} of 10 of 200 bits are right, and {runs[1]} of 10 of"
    assert f"{said} 2000" in readme
    wrong = {key: count - good for key, (good, count) in measured.items() if good < count}
    assert wrong.keys() == {("runs", n) for n in (100, 200, 2000)} | {("sparse", 2000)}
    assert wrong["sparse", 2000] == 2
    assert "but some runs of 100 bits and more and two sparse ones of 2000" in page
