"""The page on number words and programs says what the committed results do."""

import json

import polars as pl
import pytest

from torchalu.cli.provenance import digests_of
from torchalu.experiments.trask2018.program_networks import MODELS
from torchalu.experiments.trask2018.program_training import ProgramTraining, measured_sets
from torchalu.experiments.trask2018.programs import figure4
from trask2018_pages import RESULTS, committed, page, study_of


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
    assert run["settings"] == digests_of(study_of(command))
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
            assert run["settings"] == digests_of(study_of(command))
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
    assert set(seeds.group_by("model", "sees_numbers", "digits").len()["len"]) == {10}
    assert seeds["steps"].unique().to_list() == [10_000]
    assert "Ten seeds, as in the paper, of 10,000 steps each" in text

    def share(model, digits, *, sees=True):
        return f"{shares[model, sees, digits]:.1%}"

    units = ("NAC", "GatedNAUNMU", "NAU", "NALU", "NALU,gate")
    two = [share(model, 2) for model in units]
    said = "the NAC {}, the gated NAU/NMU {}, the NAU {}, the NALU {}, and {} where the LSTM"
    assert said.format(*two) in text
    recurrent = ("LSTM", "UGRNN", "DNC")
    two = [share(model, 2) for model in recurrent]
    assert "The LSTM by itself has {}, the UGRNN {}, the DNC {}".format(*two) in text
    assert 0.115 < max(shares[model, True, 4] for model in units) < 0.12
    assert 0.065 < max(shares[model, True, 4] for model in recurrent) < 0.075
    assert "they have 12% or less of the digits right, and the recurrent networks 7%" in text
    best = seeds.filter(digits=4, sees_numbers=True).sort("matching").row(-1, named=True)
    assert best["model"] == "GatedNAUNMU"
    assert f"the best seed of them all, a gated NAU/NMU, has {best['matching']:.1%}" in text
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
    least, second, third = gated.sort("matching")["matching"][:3]
    assert gated.sort("matching")["validation_loss"][0] == pytest.approx(of_one, rel=1e-6)
    assert least < second < 0.4 < third
    assert "of its ten seeds one answers with 1 throughout" in text
    assert f"one has {second:.1%} of the digits of two-digit numbers right" in text


def test_what_the_search_for_programs_says():
    table = committed("figure4_search")
    assert table["seeds"].unique().to_list() == [1]
    rates = {(s.model, s.learning_rate) for s in figure4().settings}
    assert rates == {(model, 0.003 if model == "DNC" else 0.01) for model in MODELS}
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
