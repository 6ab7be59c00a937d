"""What is measured on strings that no step of training is made of."""

import numpy as np
import polars as pl
import pytest
from torch import nn

from torchalu.evaluate import Noisy, StringAccuracy
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import StringFileTask, algorithm
from torchalu.train.algorithms import LengthBins, StringValidation, TrainingStrings


class Scripted:
    """Stands for `string_accuracy`, with rates by length."""

    def __init__(self, rates, loss=0.5):
        self.rates, self.loss = rates, loss

    def __call__(self, module, task, texts):
        n = task.symbols(task.length_of(texts[0]))
        right = round(self.rates[n] * len(texts))
        correct = np.arange(len(texts)) < right
        return StringAccuracy(correct, 0.9, self.loss, np.zeros(len(texts)))


def test_more_right_strings_count_more_than_a_lower_cross_entropy(monkeypatch):
    validation = StringValidation(algorithm("copy"), [4, 8], count=10, seed=0)

    def score(short, long, loss):
        accuracy = Scripted({4: short, 8: long}, loss)
        monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", accuracy)
        return validation(nn.Identity())["validation_loss"]

    assert score(1.0, 1.0, 1e9) < score(1.0, 0.9, 0.0)
    assert score(1.0, 0.9, float("inf")) < score(0.9, 0.9, 0.0)
    assert score(1.0, 0.9, 0.1) < score(1.0, 0.9, 0.2)
    assert score(1.0, 1.0, 0.0) == 0


def test_long_strings_are_left_out_while_most_shorter_ones_are_wrong(monkeypatch):
    validation = StringValidation(algorithm("copy"), [4, 8, 16], count=10, seed=0)
    accuracy = Scripted({4: 0.5, 8: 0.4})
    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", accuracy)
    row = validation(nn.Identity())
    assert (row["right@4"], row["right@8"]) == (0.5, 0.4)
    assert np.isnan(row["right@16"])
    assert 1 - 0.9 / 3 < row["validation_loss"] < 1 - 0.9 / 3 + 1 / 60
    records = validation.by_length(pl.DataFrame({"step": [5], **{k: [v] for k, v in row.items()}}))
    assert records["symbols"].to_list() == [4, 8]
    assert records["right"].to_list() == [0.5, 0.4]


def test_validation_strings_are_not_those_of_training():
    task = algorithm("badd")
    first, second = (StringValidation(task, [41], count=20, seed=seed).texts[41] for seed in (0, 1))
    assert not set(first) & set(second)
    assert len(first[0]) == 41
    drawn = TrainingStrings(task, LengthBins(task, bins=(41,), batch=500), seed=0)(0)[0].inputs
    characters = "?" + task.alphabet
    trained = {"".join(characters[n] for n in row if n) for row in drawn.tolist()}
    assert len(next(iter(trained))) <= 41
    assert not set(first) & trained


def test_long_validation_strings_are_fewer():
    validation = StringValidation(algorithm("badd"), [41, 1001, 1003], 20, seed=0, long_count=3)
    assert {n: len(texts) for n, texts in validation.texts.items()} == {41: 20, 1001: 3, 1003: 3}


def test_rows_are_validated_on_once_at_most(monkeypatch):
    rows = {text: text for text in ("a", "b", "ab", "ba", "bb", *(f"{'ab' * n}a" for n in (2, 3)))}
    task = StringFileTask(
        name="own", title="rows", alphabet="ab", example="a", size=(1, 0), rows=rows
    )
    validation = StringValidation(task, [2, 4, 5], count=2, seed=0)
    assert {n: len({*texts}) for n, texts in validation.texts.items()} == {2: 2, 5: 1}
    accuracy = Scripted({2: 0.5, 5: 1.0})
    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", accuracy)
    row = validation(nn.Identity())
    assert row["validation_loss"] == pytest.approx(1 - 1.5 / 2 + 0.5 / 1.5 / (2 * 2 * 2))
    records = validation.by_length(pl.DataFrame({"step": [5], **{k: [v] for k, v in row.items()}}))
    assert records["count"].to_list() == [2, 1]
    assert records["right"].to_list() == [0.5, 1.0]


def test_strings_under_noise_count_as_those_of_more_lengths(monkeypatch):
    module = DiagonalNeuralGPU(3, maps=6)
    calls = []

    def accuracy(tried, task, texts):
        noise = tried.amplitude if isinstance(tried, Noisy) else 0.0
        calls.append((noise, len(texts[0])))
        right = {(0.5, 8): 5, (0.5, 16): 3}.get(calls[-1], 8)
        return StringAccuracy(np.arange(10) < right, 0.9, 1.0, np.zeros(10))

    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", accuracy)
    validation = StringValidation(algorithm("copy"), [4, 8, 16, 32], count=10, seed=0, noise=0.5)
    row = validation(module)
    assert calls == [(0.0, 4), (0.0, 8), (0.0, 16), (0.0, 32), (0.5, 8), (0.5, 16)]
    assert row["right_under_noise"] == 0.4
    assert row["validation_loss"] == pytest.approx(1 - 4.0 / 6 + 0.5 / (2 * 10 * 6))
    records = validation.by_length(pl.DataFrame({"step": [5], **{k: [v] for k, v in row.items()}}))
    assert records["right_under_noise"].to_list() == [0.4] * 4


def test_noise_is_not_tried_while_most_strings_are_wrong_without_it(monkeypatch):
    monkeypatch.setattr(
        "torchalu.train.algorithms.validation.string_accuracy", Scripted({4: 0.4}, loss=0.0)
    )
    validation = StringValidation(algorithm("copy"), [4, 8], count=10, seed=0, noise=0.5)
    row = validation(DiagonalNeuralGPU(3, maps=6))
    guess = 2 * np.log(3) / 3
    assert row["right_under_noise"] == 0.0
    assert row["validation_loss"] == pytest.approx(1 - 0.4 / 3 + guess / (1 + guess) / (2 * 10 * 3))
