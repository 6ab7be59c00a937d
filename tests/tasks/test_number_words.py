"""Number words against another package, and the split against the paper's words."""

import pytest
import torch
from num2words import num2words

from torchalu.tasks import WORD_VOCABULARY, NumberWords, encode_words, number_words


def test_words_are_those_of_another_package():
    for number in range(1001):
        expected = num2words(number).replace("-", " ").replace(",", "").split()
        assert list(number_words(number)) == expected


def test_the_vocabulary_is_what_the_numbers_need():
    used = {word for number in range(1001) for word in number_words(number)}
    assert used == set(WORD_VOCABULARY[1:])
    assert len(WORD_VOCABULARY) == len(used) + 1 == 32


@pytest.mark.parametrize("seed", range(20))
def test_the_split_is_the_paper_s(seed):
    task = NumberWords(seed)
    parts = [set(task.numbers[part].tolist()) for part in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [169, 200, 631]
    train, validation, test = parts
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert train | validation | test <= set(range(1001))
    assert set(range(20)) <= train
    words = {word for number in train for word in number_words(number)}
    assert words == set(WORD_VOCABULARY[1:])


def test_a_seed_settles_the_split():
    first, same, other = NumberWords(3), NumberWords(3), NumberWords(4)
    assert first.numbers["test"].tolist() == same.numbers["test"].tolist()
    assert first.numbers["test"].tolist() != other.numbers["test"].tolist()


def test_each_number_is_as_likely_to_be_trained_on_except_the_one_with_a_word_of_its_own():
    trained = torch.zeros(1001)
    seeds = 400
    for seed in range(seeds):
        trained[NumberWords(seed).numbers["train"]] += 1
    assert trained[1000] == seeds
    others = trained[20:1000]
    assert others.mean().item() == pytest.approx(seeds * 148 / 980)
    share = 148 / 980
    assert others.var().item() == pytest.approx(seeds * share * (1 - share), rel=0.2)


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_a_part_can_be_read_back(part):
    task = NumberWords(1)
    batch = task.part(part)
    assert batch.targets.dtype == torch.float32
    assert batch.targets.flatten().tolist() == task.numbers[part].tolist()
    assert batch.tokens.shape[1] == batch.lengths.max() == 5
    for tokens, length, number in zip(*batch, strict=True):
        words = [WORD_VOCABULARY[token] for token in tokens[:length]]
        assert " ".join(words) == num2words(int(number)).replace("-", " ")
        assert not tokens[length:].any()


def test_phrases_that_are_no_numbers_are_encoded_too():
    tokens, lengths = encode_words([["twenty", "seven", "and", "eighty"], ["eighty"]])
    assert lengths.tolist() == [4, 1]
    assert [WORD_VOCABULARY[token] for token in tokens[0]] == ["twenty", "seven", "and", "eighty"]
    assert tokens[1].tolist() == [WORD_VOCABULARY.index("eighty"), 0, 0, 0]


@pytest.mark.parametrize("number", [-1, 1001, 2.5, float("nan"), float("inf")])
def test_numbers_out_of_bounds(number):
    with pytest.raises(ValueError, match="give an integer from 0 to 1000"):
        number_words(number)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="phrases holds 'dozen', which is no number word; choose"):
        encode_words([["one", "dozen"]])
    with pytest.raises(ValueError, match="phrases holds '<padding>'"):
        encode_words([["<padding>"]])
    with pytest.raises(ValueError, match="give one or more, of one word or more each"):
        encode_words([["one"], []])
    with pytest.raises(ValueError, match="part is 'tests'; choose from train, validation, test"):
        NumberWords().part("tests")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="seed is -1"):
        NumberWords(-1)
