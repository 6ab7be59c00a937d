"""Number words: the networks, the rules that are read off them, the study and its tables."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from torchalu import sweep
from torchalu.experiments import get
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018.devices import moved
from torchalu.experiments.trask2018.published_words import FIGURE3, TABLE3
from torchalu.experiments.trask2018.word_networks import (
    HEADS,
    MODELS,
    WordArithmetic,
    WordNetwork,
    last_answers,
    word_network,
)
from torchalu.experiments.trask2018.word_rules import Rule, obey, read_rules
from torchalu.experiments.trask2018.word_summaries import word_tables
from torchalu.experiments.trask2018.word_training import (
    QUERIES,
    WordSetting,
    WordTraining,
    part_of,
    rules_outcome,
)
from torchalu.experiments.trask2018.words import table3
from torchalu.nn import constrain_after
from torchalu.tasks import WORD_VOCABULARY, NumberWords, encode_words, number_words
from torchalu.train import Stopped, seeded

TINY = WordTraining(steps=20, evaluate_every=10)
LAWS = {
    **{word: (1.0, number) for word, number in zip(WORD_VOCABULARY[1:21], range(20), strict=True)},
    **{
        word: (1.0, number)
        for word, number in zip(WORD_VOCABULARY[21:29], range(20, 100, 10), strict=True)
    },
    "hundred": (100.0, 0),
    "and": (1.0, 0),
    "thousand": (1000.0, 0),
}


def exact():
    """A network that reads each word as it is meant."""
    network = WordArithmetic()
    with torch.no_grad():
        for word, (factor, addend) in LAWS.items():
            index = WORD_VOCABULARY.index(word)
            network.factors[index] = np.log(factor)
            network.addends[index] = addend / 10
        for unit in (network.times, network.plus):
            unit.weight.fill_(1.0)
    return network


def test_the_network_over_words_can_hold_the_rules_and_they_are_read_off_it():
    network = exact()
    tokens, lengths = encode_words([number_words(n) for n in range(1001)])
    with torch.no_grad():
        answers = last_answers(network(tokens), lengths)
    torch.testing.assert_close(answers, torch.arange(1001.0), rtol=1e-5, atol=1e-3)
    outcome = rules_outcome(network, NumberWords(0))
    assert outcome["rules_all_right"]
    assert outcome["rules_test_right"] == 1.0
    assert "hundred ×100; and +0; thousand +999" in outcome["rules"]
    assert "eighty +80" in outcome["rules"]


def test_a_wrong_word_makes_exactly_its_numbers_wrong():
    network = exact()
    with torch.no_grad():
        network.addends[WORD_VOCABULARY.index("eighty")] = 8.1
    task = NumberWords(0)
    outcome = rules_outcome(network, task)
    wrong = [n for n in task.numbers["test"] if "eighty" in number_words(int(n))]
    assert not outcome["rules_all_right"]
    assert outcome["rules_test_right"] == pytest.approx(1 - len(wrong) / 631)


def test_rules_are_rounded_and_their_distance_is_known():
    answers = np.array([[2.02, 204.0], [4.98, 503.0], [7.0, 703.7]])
    tokens, _ = encode_words([(word, "hundred") for word in ("two", "five", "seven")])
    rules = read_rules(answers, tokens.numpy(), np.array([2, 2, 2]))
    assert rules["hundred"][:2] == (100, 4)
    assert rules["hundred"].residual == pytest.approx(2.0, abs=1e-9)  # 202 + 4 against 204
    assert rules["five"][:2] == (1, 5)
    assert obey(rules, [("seven", "hundred")]).tolist() == [704.0]


def test_answers_that_are_not_finite_have_no_rule():
    tokens, lengths = encode_words([("two",)])
    rules = read_rules(np.array([[np.nan]]), tokens.numpy(), lengths.numpy())
    assert rules == {"two": Rule(1, 0, float("inf"))}


@pytest.mark.parametrize("name", MODELS)
def test_padding_changes_no_answer(name):
    torch.manual_seed(0)
    network = word_network(name, 5, 4, 1)
    tokens, lengths = encode_words([("seven",), ("two", "hundred", "and", "thirty", "one")])
    both = last_answers(network(tokens), lengths)
    alone = last_answers(network(tokens[:1, :1]), lengths[:1])
    torch.testing.assert_close(both[:1], alone)


@pytest.mark.parametrize("name", MODELS)
def test_each_network_overfits_a_few_numbers(name):
    torch.manual_seed(1)
    network = word_network(name, 8, 8, 2 if name in HEADS and HEADS[name].stacks else 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    constrain_after(optimizer, network)
    tokens, lengths = encode_words([number_words(n) for n in (0, 1, 3, 5, 20, 21, 25)])
    targets = torch.tensor([0.0, 1.0, 3.0, 5.0, 20.0, 21.0, 25.0])
    losses = []
    for _ in range(150):
        loss = nn.functional.mse_loss(last_answers(network(tokens), lengths), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert min(losses) < 0.3 * targets.var().item()


def test_an_lstm_that_is_summed_answers_the_sum_of_its_states():
    torch.manual_seed(0)
    summed, last = (WordNetwork(name, 3, 4) for name in ("LSTM,summed", "LSTM,last"))
    last.load_state_dict(summed.state_dict())
    tokens, _ = encode_words([("two", "hundred")])
    states = summed.lstm(summed.embedding(tokens))[0][0]
    head = summed.head[0]
    torch.testing.assert_close(summed(tokens)[0, 1], head(states[0] + states[1])[0])
    torch.testing.assert_close(last(tokens)[0, 1], head(states[1])[0])


def test_a_linear_layer_is_not_stacked():
    with pytest.raises(ValueError, match=r"depth is 2; LSTM,last has one of \(1,\)"):
        WordNetwork("LSTM,last", 3, 4, 2)


def settings_study(*models, seeds=1):
    return table3(Seeds(seeds), models=models, layers=((6, 5),), depths=(2,), training=TINY)


def test_twenty_steps_of_each_network(tmp_path):
    outcomes = sweep.run(settings_study(*MODELS), tmp_path / "run", workers=1)
    assert outcomes["model"].to_list() == list(MODELS)
    assert outcomes["steps"].unique().to_list() == [20]
    assert [len(row) for row in outcomes["answers"][0]] == [len(query) for query in QUERIES]
    weights = list((tmp_path / "run" / "parts").glob("*.safetensors"))
    assert len(weights) == len(MODELS)
    tables = word_tables(outcomes)
    assert tables["table3"].height == len(MODELS)
    assert tables["table3_words"].columns[5:] == [
        *TABLE3["model"], *sorted(set(MODELS) - set(TABLE3["model"]), key=_loss(outcomes))
    ]  # fmt: skip


def _loss(outcomes):
    losses = dict(outcomes.select("model", "validation_loss").iter_rows())
    return lambda name: losses[name]


@pytest.mark.usefixtures("every_step_reports")
def test_a_broken_run_goes_on_as_if_it_had_not_been(tmp_path):
    made = settings_study("LSTM+NALU")
    (chunk,) = made.chunks()
    whole = made.run(chunk, tmp_path / "whole", lambda fraction: None)

    def stop(fraction):
        if fraction > 0:
            raise Stopped("enough")

    with pytest.raises(Stopped):
        made.run(chunk, tmp_path / "broken", stop)
    again = made.run(chunk, tmp_path / "broken", lambda fraction: None)
    assert again.outcomes.equals(whole.outcomes)
    assert again.records.equals(whole.records)
    assert all(torch.equal(value, again.weights[key]) for key, value in whole.weights.items())


@pytest.mark.usefixtures("meta_device")
def test_a_setting_is_described_by_its_labels_and_its_split():
    setting = WordSetting("LSTM+NAC", 4, 4, 1, 0.01, TINY)
    labels = {"model": "LSTM+NAC", "embedding": 4, "hidden": 4, "depth": 1, "learning_rate": 0.01}
    assert setting.labels == labels
    described = setting.describe()["training"]
    assert isinstance(described, dict)
    assert described["split_seed"] == 1
    elsewhere = replace(setting, training=replace(TINY, device="meta")).describe()["training"]
    assert elsewhere == described | {"device": "meta"}


@pytest.mark.parametrize("name", MODELS)
def test_a_network_is_where_it_is_trained(name):
    """All that it works with lies on its device, or it would not answer."""
    network = word_network(name, 5, 4, 1).to("meta")
    batch = moved(NumberWords(1).part("train"), "meta")
    answers = last_answers(network(batch.tokens), batch.lengths)
    answers.sum().backward()
    assert answers.device.type == "meta"


def test_the_first_split_that_trains_on_no_number_of_figure_3_is_the_default():
    queries = {334, 702, 88}
    unseen = [
        seed
        for seed in range(WordTraining().split_seed + 1)
        if queries.isdisjoint(NumberWords(seed).numbers["train"].tolist())
    ]
    assert unseen == [WordTraining().split_seed]
    task = NumberWords(*unseen)
    words = {word for n in task.numbers["train"] for word in number_words(int(n))}
    assert words == set(WORD_VOCABULARY[1:])
    parts = ["test", "test", "test", None, "train", "train"]
    assert [part_of(query, task) for query in QUERIES] == parts


def test_the_gradient_is_clipped(tmp_path):
    """A bound that no gradient reaches changes nothing; a bound near 0 keeps the start."""
    losses = []
    for clip_norm in (1e-12, 1e30, float("inf")):
        training = replace(TINY, clip_norm=clip_norm)
        setting = WordSetting("LSTM+NALU", 6, 5, 1, 0.01, training)
        part = setting.run(0, tmp_path / f"{clip_norm}", lambda fraction: None)
        losses.append(part.records["train_mae"].to_list())
    with seeded(0):
        network = word_network("LSTM+NALU", 6, 5, 1)
    batch = NumberWords(1).part("train")
    with torch.no_grad():
        errors = last_answers(network(batch.tokens), batch.lengths) - batch.targets[:, 0]
    assert losses[0] == pytest.approx([errors.abs().mean().item()] * 2, rel=1e-3)
    assert losses[1] == losses[2]
    assert losses[2][1] < 0.999 * losses[0][1]


def test_the_whole_grid_of_the_paper_is_a_matter_of_options():
    made = table3(
        models=("LSTM,last", "LSTM,summed", "LSTM+NAC", "LSTM+NALU"),
        depths=(1,),
        learning_rates=(0.01, 0.001),
        training=WordTraining(steps=300_000),
    )
    assert len(made.chunks()) == 4 * 2 * 2 * 10
    names = [chunk.name for chunk in get("trask2018.table3")().chunks()]
    assert len(set(names)) == len(names) == 300
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._,+=-]{0,149}", name) for name in names)
    assert json.loads(json.dumps(made.configuration)) == made.configuration


def made_up():
    """Two cells of the NALU, of which the second has the best seed, the first the best median."""
    answers = [[float(place) for place, _ in enumerate(query)] for query in QUERIES]
    parts = ["test", "test", "train", None, "test", "train"]
    rows = []
    for hidden, losses in ((16, (1.0, 2.0, 3.0)), (32, (0.3, 8.0, float("nan")))):
        for seed, loss in enumerate(losses):
            rows.append({
                "model": "LSTM+NALU", "embedding": 8, "hidden": hidden, "depth": 1,
                "learning_rate": 0.01, "seed": seed, "train_mae": loss / 2,
                "validation_loss": loss, "test_mae": 0.2 * loss, "test_right": 0.9,
                "answers": answers, "parts": parts, "rules": f"one +{hidden}",
                "rules_test_right": 0.5, "rules_all_right": seed == 0,
            })  # fmt: skip
    return pl.DataFrame(rows)


def test_the_best_is_chosen_by_validation_and_the_spread_is_of_one_cell():
    tables = word_tables(made_up())
    (row,) = tables["table3"].rows(named=True)
    assert (row["hidden"], row["seed"], row["validation_mae"]) == (32, 0, 0.3)
    assert row["test_mae"] == pytest.approx(0.06)
    assert row["published_test_mae"] == 0.41
    assert (row["seeds"], row["solved"]) == (3, 2)
    assert row["median"] == pytest.approx(0.4)
    assert row["solved_low"] == pytest.approx(0.2077, abs=1e-3)  # Wilson's interval of 2 of 3
    (pick,) = tables["table3_picks"].rows(named=True)
    assert (pick["pick"], pick["by"], pick["seeds"]) == ("LSTM+NALU", "median", 3)
    assert (pick["paper"], pick["published_test_mae"], pick["factor"]) == ("LSTM+NALU", 0.41, 1.0)
    (rule,) = tables["table3_rules"].rows(named=True)
    assert (rule["runs"], rule["lawful"], rule["rules"]) == (6, 2, "one +32")
    assert tables["table3_search"]["hidden"].to_list() == [16, 32]
    words = tables["table3_words"]
    assert words.height == sum(map(len, QUERIES))
    assert words.filter(phrase="seven hundred and two")["published"].to_list() == [
        6.98, 699.9, 701.3, 702.2,
    ]  # fmt: skip
    assert words.filter(phrase="eighty eight")["part"].to_list() == ["train"] * 2
    assert words.filter(phrase="twenty seven and eighty")["part"].to_list() == [None] * 4


def test_the_published_numbers_are_the_papers():
    numbers = {row[0]: row[1:] for row in TABLE3.rows()}
    assert numbers["LSTM+NALU"] == (0.12, 0.39, 0.41)
    assert numbers["LSTM,last"] == (0.0085, 32.1, 32.2)
    assert numbers["LSTM+NAC"] == (80.0, 114.1, 114.3)
    assert set(numbers) < set(MODELS)
    assert all(len(phrase.split()) == len(row) for phrase, row in FIGURE3.items())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0; give a positive integer"),
        ({"penalty": -1.0}, "penalty is -1.0; give a finite number, 0 or more"),
        ({"clip_norm": 0.0}, "clip_norm is 0.0; give a positive number"),
        ({"device": "nowhere"}, "device is 'nowhere'"),
    ],
)
def test_numbers_out_of_range(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        WordTraining(**options)


def test_an_unknown_network():
    with pytest.raises(ValueError, match=r"did you mean 'LSTM\+NALU'"):
        table3(models=("LSTM+NALUE",))


@pytest.mark.long
def test_a_network_over_words_comes_near_the_rules(tmp_path):
    training = WordTraining(steps=12_000, evaluate_every=2000)
    study = table3(Seeds(1), models=("NMU+NAU", "LSTM,last"), layers=((32, 32),), training=training)
    outcomes = sweep.run(study, tmp_path / "run", workers=1)
    errors = dict(outcomes.select("model", "test_mae").iter_rows())
    assert errors["NMU+NAU"] < 20 < errors["LSTM,last"]


@pytest.mark.parametrize(("loss", "power"), [("squared", 2), ("absolute", 1)])
def test_each_seed_has_its_start_and_the_loss_is_the_one_asked_for(tmp_path, loss, power):
    """A bound near 0 on the gradient keeps the start."""
    training = replace(TINY, loss=loss, clip_norm=1e-12)
    batch, weights = NumberWords(1).part("train"), []
    for seed in (0, 3):
        setting = WordSetting("LSTM+NAC", 6, 5, 1, 0.01, training)
        part = setting.run(seed, tmp_path / f"{seed}", lambda fraction: None)
        with seeded(seed):
            network = word_network("LSTM+NAC", 6, 5, 1)
        for name, value in network.state_dict().items():
            torch.testing.assert_close(part.weights[name], value, rtol=0, atol=1e-4)
        with torch.no_grad():
            errors = last_answers(network(batch.tokens), batch.lengths) - batch.targets[:, 0]
        expected = errors.abs().pow(power).mean().item()
        assert part.records["training_loss"].to_list() == pytest.approx([expected] * 2, rel=1e-3)
        weights.append(part.weights["embedding.weight"])
    assert (weights[0] - weights[1]).abs().max() > 0.1


def test_the_penalty_drives_a_units_weights_toward_whole_numbers(tmp_path):
    """One that outweighs the error moves each weight by Adam's rate in each step."""
    moved = {}
    for penalty in (0.0, 1e9):
        training = replace(TINY, penalty=penalty, clip_norm=1e9)
        setting = WordSetting("NMU+NAU", 0, 0, 0, 1e-3, training)
        part = setting.run(0, tmp_path / f"{penalty}", lambda fraction: None)
        with seeded(0):
            start = word_network("NMU+NAU", 0, 0, 0).times.weight.detach()
        whole = (start > 0.5).float()
        closer = (start - whole).abs() - (part.weights["times.weight"] - whole).abs()
        moved[penalty] = closer.min().item() / (part.outcomes["best_step"][0] * 1e-3)
    assert moved[1e9] == pytest.approx(1.0, rel=0.1)  # it sets in after the first step
    assert moved[0.0] < 0.5


def test_quartiles_are_of_the_cell_whose_median_validates_best():
    """Its test errors are 0.2, 0.4 and 0.6."""
    (row,) = word_tables(made_up())["table3"].rows(named=True)
    quartiles = [row[name] for name in ("quarter", "median", "three_quarters")]
    assert quartiles == pytest.approx([0.3, 0.4, 0.5])
