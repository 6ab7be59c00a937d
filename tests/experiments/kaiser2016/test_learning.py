"""The baselines really learn short strings that they have not seen."""

from dataclasses import replace

import polars as pl
import pytest

from torchalu.experiments.kaiser2016.baselines import LSTMLearner, TransformerLearner
from torchalu.experiments.kaiser2016.teaching import Teaching
from torchalu.tasks import algorithm

SHORT = Teaching(4000, 2e-3, clip_norm=1.0, evaluate_every=200, end_after=1, validate_at=(1.0,))
REVERSE = LSTMLearner(
    size=32, layers=1, symbols=8, numbers=replace(SHORT, steps=3000, learning_rate=3e-3)
)
SUMS = TransformerLearner(
    size=48, layers=3, positions=60, symbols=9, batch=48, warmup=100, numbers=SHORT
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("learner", "task"), [(REVERSE, "reverse"), (SUMS, "badd")], ids=["lstm", "transformer"]
)
def test_most_strings_of_the_training_lengths_come_out_right(learner, task):
    trained = learner.train(algorithm(task), 0, None, lambda fraction: None)
    best = trained.records.filter(pl.col("step") == trained.best_step)
    assert best["right"][0] >= 0.75
    assert trained.records["right"][0] < 0.5
