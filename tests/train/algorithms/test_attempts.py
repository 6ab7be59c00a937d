"""Attempts at a training: which are given up, and what is made of them all."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from torch import nn

from exact_copy import copying_module
from torchalu.evaluate import string_accuracy
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining, new_module, train_algorithm
from torchalu.train.algorithms.give_up import GiveUp
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.algorithms.result import AlgorithmResult, joined
from torchalu.train.algorithms.training import attempt_seed
from torchalu.train.algorithms.validation import StringValidation


@pytest.mark.usefixtures("every_step_reports")
def test_attempts_that_hold_on_no_longer_strings_are_given_up(tmp_path, monkeypatch):
    """Each has a seed of its own, the last goes on to its end; broken off, they end the same."""

    def wrong_when_longer(module, task, texts):
        found = string_accuracy(module, task, texts)
        right = found.correct & (len(texts[0]) <= 3)
        return dataclasses.replace(found, correct=right)

    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", wrong_when_longer)
    task = algorithm("copy")
    training = AlgorithmTraining(
        maps=12, bins=(2, 3), batch=16, learning_rate=0.02, steps=300, ramp=40, settle=40,
        evaluate_every=10, checkpoint_every=5, validate_at=(1.0, 2.0), validation_strings=8,
        attempts=2, patience=20,
    )  # fmt: skip

    def stop(progress):
        if (progress.attempt, progress.step) == (1, 7):
            raise InterruptedError

    whole = train_algorithm(task, training)
    with pytest.raises(InterruptedError):
        train_algorithm(task, training, folder=tmp_path, report=stop)
    again = train_algorithm(task, training, folder=tmp_path)
    assert again.records.drop("seconds").equals(whole.records.drop("seconds"))
    first, second = whole.records.partition_by("attempt")
    assert first["step"].max() - first["hardening_began"].max() == 20
    assert second["step"].max() - second["hardening_began"].max() == 80
    assert whole.steps == second["step"].max() > second["step"].min() > first["step"].max()
    assert whole.chosen["validation_loss"][0] == whole.records["validation_loss"].min()
    given = train_algorithm(task, training, module=new_module(task, training))
    assert given.steps - given.records["hardening_began"].max() == 80
    alone = train_algorithm(task, dataclasses.replace(training, seed=attempt_seed(0, 1)))
    losses = [rows.filter(hardening_began=-1)["training_loss"] for rows in (second, alone.records)]
    assert losses[0][0] == losses[1][0] != first["training_loss"][0]


@pytest.mark.parametrize(("wrong", "attempts"), [(1, 2), (0, 1)])
def test_an_attempt_whose_end_finds_a_wrong_string_is_given_up(monkeypatch, wrong, attempts):
    """It takes all its steps, as 15 of 16 longer strings are right, which is enough until then."""

    def all_but(module, task, texts):
        correct = np.arange(len(texts)) >= wrong * (len(texts[0]) > 3)
        return dataclasses.replace(string_accuracy(module, task, texts), correct=correct)

    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", all_but)
    training = AlgorithmTraining(
        maps=6, bins=(2, 3), batch=8, steps=300, ramp=20, settle=20, evaluate_every=10,
        validate_at=(1.0, 2.0), validation_strings=16, attempts=2, patience=20,
    )  # fmt: skip
    result = train_algorithm(algorithm("copy"), training)
    tries = result.records.partition_by("attempt")
    assert len(tries) == attempts
    assert result.generalizes is (wrong == 0)
    for each in tries:
        assert each["step"].max() - each["hardening_began"].max() == 40
    assert result.chosen["validation_loss"][0] == result.records["validation_loss"].min()


def test_attempts_are_joined_one_after_the_other():
    def attempt(steps, losses, began, seconds):
        records = pl.DataFrame(
            {"step": steps, "seconds": seconds, "validation_loss": losses, "hardening_began": began}
        )
        best = steps[losses.index(min(losses))]
        return AlgorithmResult(nn.Identity(), records, "ended", steps[-1], best, seconds[-1])

    first = attempt([10, 20], [0.5, 0.4], [-1.0, 20.0], [1.0, 3.0])
    second = attempt([10, 20, 30], [0.6, 0.2, 0.3], [-1.0, 10.0, 10.0], [2.0, 4.0, 7.0])
    whole = joined([first, second])
    assert (whole.module, whole.best_step, whole.steps) == (second.module, 40, 50)
    assert whole.seconds == 10.0
    assert whole.records.select("attempt", "step", "seconds", "hardening_began").rows() == [
        *((0, 10, 1.0, -1.0), (0, 20, 3.0, 20.0)),
        *((1, 30, 5.0, -1.0), (1, 40, 7.0, 30.0), (1, 50, 10.0, 30.0)),
    ]


@pytest.mark.parametrize(
    ("right", "noise", "generalizes"),
    [
        ([1.0, 1.0], None, True),
        ([1.0, 1.0], 1.0, True),
        ([1.0, 31 / 32], 1.0, False),
        ([1.0, 1.0], 63 / 64, False),
        ([1.0, 1.0], math.nan, False),
        ([], 1.0, False),
    ],
)
def test_what_generalizes_is_right_on_all_validation_strings(right, noise, generalizes):
    rows = {"step": [20] * len(right), "right": pl.Series(right, dtype=pl.Float64)}
    if noise is not None:
        rows["right_under_noise"] = [noise] * len(right)
    worse = {name: [10 if name == "step" else 0.0] for name in rows}
    records = pl.concat([pl.DataFrame(worse), pl.DataFrame(rows, pl.DataFrame(worse).schema)])
    assert AlgorithmResult(nn.Identity(), records, "ended", 20, 20, 1.0).generalizes is generalizes


def test_lengths_that_a_giving_up_needs():
    validation = StringValidation(algorithm("copy"), [3], count=2, seed=0)
    hook = GiveUp(Hardening(0.5, ramp=10, settle=10), patience=5)
    row = validation(copying_module())
    with pytest.raises(ValueError, match=r"at is None, and the training validates at 3 symbols; g"):
        hook.after_evaluation(SimpleNamespace(step=1), row)
    with pytest.raises(ValueError, match=r"symbols names no length to validate at"):
        StringValidation(algorithm("copy"), [], count=2, seed=0)
