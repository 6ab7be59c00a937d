"""The numbers of a training: which are refused, and those of the two recipes."""

import dataclasses

import pytest

from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining, LengthCurriculum


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "gru"}, "form is 'gru'; give 'diagonal' or 'cgru'"),
        ({"lengths": "all"}, "lengths is 'all'; give 'bins' or 'curriculum'"),
        ({"optimizer": "sgd"}, "optimizer is 'sgd'"),
        ({"batch": 0}, "batch is 0; give a positive integer"),
        ({"examples": -1}, "examples is -1"),
        ({"examples": 0}, "examples is 0; give a positive integer"),
        ({"bins_per_step": 0}, "bins_per_step is 0; give a positive integer"),
        ({"plateau_factor": float("nan")}, "plateau_factor is nan; give a number above 0, 1 at"),
        ({"plateau_factor": 1.5}, "plateau_factor is 1.5"),
        ({"plateau_factor": 0.0}, "plateau_factor is 0.0"),
        ({"validate_at": (1.0, float("nan"))}, r"validate_at is \(1.0, nan\)"),
        ({"attempts": 0}, "attempts is 0; give a positive integer"),
        ({"patience": 0}, "patience is 0; give a positive integer"),
        ({"long_carries": 2.0}, "long_carries is 2.0; give a number from 0 to 1"),
        ({"absent_carries": -1.0}, "absent_carries is -1.0; give a number from 0 to 1"),
        ({"absent_carries": 0.9}, "absent_carries is 0.9 and long_carries 0.25; give shares"),
        ({"bins": (8, 4)}, r"bins is \(8, 4\)"),
        ({"validate_at": ()}, r"validate_at is \(\); give positive multiples"),
        ({"end_after": -1}, "end_after is -1"),
        ({"extra_steps": -1}, "extra_steps is -1; give an integer, 0 or more"),
        ({"counterexamples": -1}, "counterexamples is -1; give an integer, 0 or more"),
        ({"seed": -1}, "seed is -1; give an integer, 0 or more"),
        ({"start": -4}, "start is -4; give a positive integer"),
        ({"average": 1.0}, "average is 1.0; give a number from 0 up, below 1"),
        ({"dropout": 1.0}, "dropout is 1.0; give a number from 0 up, below 1"),
        ({"noise": -1.0}, "noise is -1.0; give a finite number, 0 or more"),
        ({"initial_noise": 2.0}, "initial_noise is 2.0 and noise 0.5; give a number from 0 to"),
        ({"saturation_least": 1.0}, "saturation_least is 1.0 and saturation 0.001; give"),
        ({"saturation": -1.0}, "saturation is -1.0; give a finite number, 0 or more"),
        ({"learning_rate": float("inf")}, "learning_rate is inf; give a finite number above 0"),
        ({"epsilon": -1.0}, "epsilon is -1.0; give a finite number, 0 or more"),
        ({"gradient_noise": float("nan")}, "gradient_noise is nan; give a finite number, 0 or"),
        ({"pull_factor": 1.0}, "pull_factor is 1.0; give a finite factor above 1"),
        ({"clip_norm": 0.0}, "clip_norm is 0.0; give a number above 0; infinite for none"),
        ({"parameter_sets": 6}, "parameter_sets is 6 and lengths 'bins'"),
        ({"form": "cgru"}, "saturation is 0.001 and form 'cgru'"),
    ],
)
def test_numbers_that_do_not_go_together_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(AlgorithmTraining(), **changes)


def test_the_recipes_have_the_papers_numbers():
    improved = AlgorithmTraining.improved(algorithm("bmul"))
    assert (improved.maps, improved.learning_rate, improved.steps) == (96, 0.005, 20_000)
    assert (min(improved.bins), max(improved.bins), improved.bins_per_step) == (2, 41, 9)
    assert (improved.extra_steps, improved.smaller, improved.counterexamples) == (16, 0.05, 1000)
    sums = AlgorithmTraining.improved(algorithm("badd"))
    assert (sums.extra_steps, sums.sharpening, sums.wait, max(sums.validate_at)) == (0, 1, 2000, 40)
    assert sums.counterexamples == 0
    assert (sums.levels, AlgorithmTraining.improved(algorithm("bmul")).levels) == (2, 0)
    original = AlgorithmTraining.original(algorithm("badd"))
    assert (original.maps, original.width, original.layers) == (24, 4, 2)
    assert (original.epsilon, original.clip_norm, original.batch) == (1e-4, 1.0, 32)
    assert (original.parameter_sets, original.pull, original.threshold) == (6, 5e-4, 0.15)
    assert LengthCurriculum(algorithm("badd")).length == 6


@pytest.mark.parametrize(("name", "value"), [("steps", 2.5), ("batch", True), ("maps", 6.0)])
def test_counts_that_are_no_integers_are_type_errors(name, value):
    with pytest.raises(TypeError, match=f"{name} is {value}; give a positive integer"):
        dataclasses.replace(AlgorithmTraining(), **{name: value})


@pytest.mark.parametrize("changes", [{"bins": 41}, {"validate_at": 2.0}])
def test_numbers_where_several_are_due(changes):
    ((name, value),) = changes.items()
    with pytest.raises(TypeError, match=rf"{name} is {value}; give a tuple of numbers"):
        AlgorithmTraining(**changes)
    with pytest.raises(ValueError, match=r"seed is \d+; give an integer, 0 or more, 2\*\*63 - 1"):
        AlgorithmTraining(seed=2**70)
