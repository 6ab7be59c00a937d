"""Texts to symbol numbers and back."""

import numpy as np
import pytest
import torch

from torchalu.tasks import algorithm, algorithm_names, decode, encode


@pytest.mark.parametrize("name", algorithm_names())
def test_symbol_by_symbol(name):
    task, rng = algorithm(name), np.random.default_rng(0)
    texts = [text for length in (1, 5, 2) for text in task.sample(length, 20, rng)]
    batch = encode(task, texts)
    assert batch.inputs.dtype == batch.targets.dtype == batch.lengths.dtype == torch.int64
    width = task.symbols(5)
    assert batch.inputs.shape == batch.targets.shape == (60, width)
    assert batch.lengths.tolist() == [task.symbols(n) for n in (1, 5, 2) for _ in range(20)]
    numbers = {symbol: number for number, symbol in enumerate(task.alphabet, 1)}
    for text, row, target, n in zip(texts, batch.inputs, batch.targets, batch.lengths, strict=True):
        expected = [numbers[symbol] for symbol in text]
        assert row.tolist() == expected + [0] * (width - len(text))
        answer = [numbers[symbol] for symbol in task.solve(text)]
        rest = [numbers["0"] if task.filled else 0] * (int(n) - len(answer))
        assert target.tolist() == answer + rest + [0] * (width - int(n))


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize("filled", [None, False])
def test_decode_gives_the_answer_back(name, filled):
    task, rng = algorithm(name, filled=filled), np.random.default_rng(0)
    for length in (1, 2, 13):
        texts = task.sample(length, 20, rng)
        batch = encode(task, texts)
        for text, target, n in zip(texts, batch.targets, batch.lengths, strict=True):
            assert decode(task, target[:n]) == task.solve(text)
            assert decode(task, target[:n].tolist()) == task.solve(text)


def test_the_papers_form_pads_what_follows_the_answer():
    batch = encode(algorithm("badd", filled=False), ["1010+0111"])
    assert batch.targets.tolist() == [[2, 2, 1, 1, 2, 0, 0, 0, 0]]
    assert encode(algorithm("badd"), ["1010+0111"]).targets.tolist() == [[2, 2, 1, 1, 2] + [1] * 4]


def test_padding_to_a_length_and_without_targets():
    batch = encode(algorithm("copy"), ["01", "1"], length=4, targets=False)
    assert batch.inputs.tolist() == [[1, 2, 0, 0], [2, 0, 0, 0]]
    assert batch.targets is None
    assert batch.lengths.tolist() == [2, 1]


def test_decode_hides_no_mistake():
    task = algorithm("badd")
    assert decode(task, [2, 1, 1, 1, 1]) == "100"
    assert decode(task, [2, 1, 1, 1, 2]) == "10001"
    assert decode(task, [2, 0, 1, 1, 1]) == "1␀0"
    assert decode(task, [2, 1, 1, 3, 1]) == "100+0"
    assert decode(task, [2, 1, 0, 0, 0]) == "10"
    assert decode(algorithm("copy"), [2, 1, 0, 1, 0, 0]) == "10␀0"
    assert decode(algorithm("copy"), [0, 0]) == ""


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "texts is \\[\\]; give a list of at least one input"),
        ("1+1", {}, "texts is '1\\+1'; give a list"),
        (["1+1", ""], {}, "text '' is no input of 'badd': it is empty"),
        (["1+1", "1+2"], {"targets": False}, "symbol '2' at position 2"),
        (["1+1", "11+1"], {"targets": False}, "2 and 1 digits"),
        (["1+1", "11+10"], {"length": 4}, "length is 4, and text number 1 needs 5 symbols"),
    ],
)
def test_errors(texts, options, message):
    with pytest.raises(ValueError, match=message):
        encode(algorithm("badd"), texts, **options)


@pytest.mark.parametrize("number", [-1, 4])
def test_numbers_of_no_symbol(number):
    with pytest.raises(ValueError, match=f"row has the number {number}; .* 0 to 3"):
        decode(algorithm("badd"), [1, number, 1])
