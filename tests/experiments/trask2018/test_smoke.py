"""Each experiment from its options to its tables, all models of it, in two minutes at most."""

from dataclasses import replace

import pytest

from data_sets import needs
from torchalu import sweep
from torchalu.experiments import get, names
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018 import digit_data, parity
from torchalu.experiments.trask2018.arithmetic_training import ArithmeticRuns
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.grid_training import GridTraining
from torchalu.experiments.trask2018.identity import IdentityRuns
from torchalu.experiments.trask2018.parity import ParityTraining
from torchalu.experiments.trask2018.program_training import ProgramTraining
from torchalu.experiments.trask2018.word_training import WordTraining
from torchalu.tasks import Digits, load_mnist

ONE = Seeds(1)
ARITHMETIC = ArithmeticRuns(seeds=2, steps=100, learning_rates=(0.01,), evaluate_every=50, rows=50)
DIGITS = SeriesTraining(epochs=2, settle_epochs=1, evaluate_every=1)
PARITY = ParityTraining(
    steps=20, evaluate_every=10, batch_size=8, validation_pictures=50, test_pictures=50
)
GRID = GridTraining(updates=20, worlds=8, evaluate_every=10, validation_episodes=16)
WORDS = WordTraining(steps=50, evaluate_every=25)
PROGRAMS = ProgramTraining(steps=50, batch_size=16, evaluate_every=25, count=50)

SMALL = {
    "table5": {"runs": IdentityRuns(seeds=3, steps=200)},
    "table6": {"runs": ARITHMETIC},
    "table8": {"runs": replace(ARITHMETIC, rows=10)},
    "table2": {"training": DIGITS, "seeds": ONE},
    "table2_search": {
        "training": replace(DIGITS, epochs=1, settle_epochs=0),
        "seeds": ONE,
        "learning_rates": (1e-3,),
    },
    "perception": {"training": DIGITS, "seeds": ONE, "tasks": ("sum", "product", "count")},
    "table4": {"training": PARITY, "seeds": ONE},
    "table4_search": {
        "training": replace(PARITY, batch_size=64, test_pictures=10_000),
        "seeds": ONE,
        "learning_rates": (1e-3, 3e-3),
        "batch_sizes": (8,),
    },
    "table3": {"seeds": ONE, "training": WORDS},
    "figure4": {"seeds": ONE, "training": PROGRAMS},
    "figure4_search": {"seeds": ONE, "learning_rates": (0.003, 0.01), "training": PROGRAMS},
    "figure6": {"seeds": ONE, "training": PROGRAMS},
    "grid_world": {"seeds": ONE, "training": GRID, "instructions": (11, 14)},
    "grid_world_search": {"seeds": ONE, "training": replace(GRID, updates=10, worlds=4)},
}
"""Options of each experiment; those of one function under several names stand here once."""

IMAGES = {"table2", "table2_search", "perception", "table4", "table4_search"}


def few_digits(split, root=None):
    """The first of the real ones."""
    digits = load_mnist(split, root)
    return Digits(digits.images[:1000], digits.labels[:1000])


def test_no_experiment_is_left_out():
    every = {get(name) for name in names() if name.startswith("trask2018.")}
    assert {get(f"trask2018.{name}") for name in SMALL} == every


def run_small(name, folder):
    """All chunks have their outcomes, nearly all of them finite, and all tables have rows."""
    study = get(f"trask2018.{name}")(**SMALL[name])
    outcomes = sweep.run(study, folder, workers=1)
    assert outcomes.select(study.keys).is_unique().all()
    assert len(list((folder / "parts").glob("*.json"))) == len(study.chunks())
    tables = study.summarize(outcomes)
    assert name in tables
    assert all(table.height for table in tables.values())
    judged = "validation_loss" if "validation_loss" in outcomes.columns else "validation_reward"
    assert outcomes[judged].is_finite().fill_null(value=False).mean() > 0.8


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL.keys() - IMAGES))
def test_two_minutes_of_each_experiment(name, tmp_path):
    run_small(name, tmp_path / "run")


@needs("mnist")
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(IMAGES))
def test_two_minutes_of_each_experiment_on_digits(name, tmp_path, monkeypatch):
    monkeypatch.setattr(digit_data, "load_mnist", few_digits)
    monkeypatch.setattr(parity, "load_mnist", few_digits)
    run_small(name, tmp_path / "run")
