"""Whole-number rules of words: read off a network exactly, and snapped to its training phrases."""

import numpy as np
import pytest
import torch

from torchalu.experiments.trask2018.word_networks import SNAPPED, WordArithmetic
from torchalu.experiments.trask2018.word_rules import Rule, obey
from torchalu.experiments.trask2018.word_snapping import snap_rules, snapped
from torchalu.experiments.trask2018.word_training import WordSetting, WordTraining
from torchalu.tasks import WORD_VOCABULARY, NumberWords, encode_words, number_words
from torchalu.train import seeded

SIZE = len(WORD_VOCABULARY)


def told(factors, addends, phrase):
    """What a phrase comes to, a word at a time."""
    number = 0.0
    for word in phrase:
        number = factors[word] * number + addends[word]
    return number


@pytest.mark.parametrize("weights", [((1.0, 1.0), (1.0, 1.0)), ((0.7, 0.4), (0.9, -0.6))])
def test_rules_are_what_each_word_does(weights):
    torch.manual_seed(0)
    network = WordArithmetic()
    with torch.no_grad():
        network.factors.normal_()
        network.times.weight.copy_(torch.tensor([weights[0]]))
        network.plus.weight.copy_(torch.tensor([weights[1]]))
        tokens = torch.randint(1, SIZE, (20, 5))
        answers = network(tokens)
        factors, addends = (part.tolist() for part in network.rules())
    for phrase, answer in zip(tokens.tolist(), answers.tolist(), strict=True):
        for place in range(5):
            expected = told(factors, addends, phrase[: place + 1])
            assert answer[place] == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_a_network_of_rules_has_them():
    torch.manual_seed(1)
    factors, addends = torch.rand(SIZE) + 0.5, torch.randn(SIZE)
    torch.testing.assert_close(WordArithmetic.of(factors, addends).rules(), (factors, addends))
    nothing = WordArithmetic.of(torch.zeros(SIZE), addends).rules()[0]
    assert nothing.tolist() == [0.0] * SIZE


@pytest.mark.parametrize("seed", range(5))
def test_rules_of_a_language_are_found_from_phrases(seed):
    """Eight words, two of which multiply; from a start that is nowhere near."""
    random = np.random.default_rng(seed)
    factors = np.array([1.0, 1, 1, 1, 1, 1, 1, 7, 20])
    addends = np.array([0.0, *random.integers(-9, 30, 6), 0, 2])
    tokens = random.integers(1, 9, (200, 4))
    targets = np.array([told(factors, addends, phrase) for phrase in tokens])
    start = factors + random.normal(size=9) / 10, addends + random.normal(size=9) * 5
    found = snap_rules(*start, tokens, targets)
    assert found[0].tolist() == factors.tolist()
    assert found[1].tolist() == addends.tolist()


def test_a_word_with_the_same_words_before_it_adds():
    tokens, targets = np.array([[1, 2], [1, 0], [3, 0]]), np.array([1000.0, 1.0, 4.0])
    factors, addends = snap_rules(np.full(4, 1.4), np.zeros(4), tokens, targets)
    assert factors.tolist() == [1.0] * 4
    assert addends.tolist() == [0.0, 1.0, 999.0, 4.0]


def test_no_factor_is_below_0():
    """Where the data have one, the rules do not fit, and are whole numbers all the same."""
    tokens = np.array(
        [
            [1, 2],
            [
                1,
                1,
            ],
            [2, 2],
            [1, 0],
        ]
    )
    targets = np.array([-6.0, 6.0, 0.0, 3.0])
    factors, addends = snap_rules(np.ones(3), np.zeros(3), tokens, targets)
    assert factors.min() >= 0
    assert (addends == np.round(addends)).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_law_of_number_words_follows_from_169_of_them(seed):
    """From the start of a network, as trained next to nothing: all of 0 to 1000."""
    batch = NumberWords(1).part("train")
    assert len(batch.tokens) == 169
    with seeded(seed):
        network = snapped(WordArithmetic(), batch)
    tokens, lengths = encode_words([number_words(number) for number in range(1001)])
    with torch.no_grad():
        answers = network(tokens)[torch.arange(1001), lengths - 1]
    assert (answers - torch.arange(1001)).abs().max() < 0.01


def test_a_network_that_ended_in_nan_stays_as_it_is():
    network = WordArithmetic()
    with torch.no_grad():
        network.factors[3] = torch.nan
    assert snapped(network, NumberWords(1).part("train")) is network


def test_other_rules_fit_the_training_phrases_too():
    """Of "N hundred" only 400 is there: "and" can undo what "hundred" adds."""
    phrases = {number: number_words(number) for number in range(100)}
    rules = {words[0]: Rule(1, number) for number, words in phrases.items() if len(words) == 1}
    rules |= {"hundred": Rule(50, 200), "and": Rule(2, -400), "thousand": Rule(1, 999)}
    task = NumberWords(1)
    for part, wrong in (("train", []), ("validation", [300])):
        numbers = task.numbers[part].tolist()
        told = obey(rules, [number_words(number) for number in numbers]).tolist()
        assert [number for number, one in zip(numbers, told, strict=True) if number != one] == wrong


def test_the_errors_of_an_outcome_are_those_of_the_snapped_network(tmp_path):
    training = WordTraining(steps=20, evaluate_every=10)
    setting = WordSetting(SNAPPED, 0, 0, 1, 0.01, training)
    part = setting.run(0, tmp_path, lambda fraction: None)
    (row,) = part.outcomes.rows(named=True)
    assert max(row[f"{name}_mae"] for name in ("train", "test")) < 0.001
    assert row["validation_loss"] < 0.001
    assert row["test_right"] == row["rules_test_right"] == 1.0
    assert row["rules_all_right"]
    assert "hundred ×100; and +0; thousand +999" in row["rules"]
    assert row["last_test_mae"] > 10  # of the network before
    network = WordArithmetic()
    network.load_state_dict(part.weights)
    assert sorted({round(f, 3) for f in network.rules()[0].tolist()}) == [1.0, 100.0]
