"""Targets against sums written out, ranges, and the static form against its bound."""

import math
from itertools import pairwise

import pytest
import torch

from torchalu.tasks import RecurrentFunction, SimpleFunction, random_sections

OPERATIONS = {
    "identity": lambda a, b: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "square": lambda a, b: a**2,
    "root": lambda a, b: math.sqrt(a),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_targets_are_sums_over_time_and_sections(operation):
    task = RecurrentFunction(operation, in_features=6, extrapolation_length=50, seed=3)
    sections = task.summed_sections
    for batch in (task.batch(0, 4), task.interpolation(4), task.extrapolation(4)):
        for series, target in zip(batch.inputs.tolist(), batch.targets[:, 0].tolist(), strict=True):
            a, b = (
                math.fsum(step[i] for step in series for i in range(start, end))
                for start, end in sections
            )
            assert target == pytest.approx(OPERATIONS[operation](a, b), rel=2e-7, abs=1e-6)


def test_lengths_and_ranges_are_those_asked_for():
    task = RecurrentFunction("sub", sampling_range=(-1.0, 3.0), seed=1)
    assert task.batch(5, 32).inputs.shape == (32, 10, 10)
    assert task.interpolation(8).inputs.shape == (8, 10, 10)
    inputs = task.extrapolation(20).inputs.double()
    assert inputs.shape == (20, 1000, 10)
    assert -1 <= inputs.min() < -0.99
    assert 2.99 < inputs.max() <= 3
    assert inputs.mean().item() == pytest.approx(1, abs=0.02)
    assert inputs.var().item() == pytest.approx(16 / 12, rel=0.02)


def test_series_follow_from_seed_and_step_and_differ_between_sets():
    task, same, other = (RecurrentFunction(seed=seed) for seed in (1, 1, 2))
    assert task.batch(3).inputs.equal(same.batch(3).inputs)
    sets = [task.batch(0, 9), task.batch(1, 9), task.interpolation(9), other.batch(0, 9)]
    means = sorted(batch.inputs.double().mean().item() for batch in sets)
    assert all(one != following for one, following in pairwise(means))
    assert task.summed_sections == same.summed_sections


def test_extrapolation_is_beyond_every_sum_of_training():
    task = RecurrentFunction("add", seed=5)
    most = [task.length * (end - start) for start, end in task.summed_sections]
    inputs = task.extrapolation(100).inputs
    for bound, (start, end) in zip(most, task.summed_sections, strict=True):
        assert inputs[:, :, start:end].sum((1, 2)).min() > bound


@pytest.mark.parametrize("in_features", [1, 2, 10, 100])
def test_sections_lie_within_and_differ(in_features):
    lengths, starts, ends = set(), set(), set()
    for seed in range(300):
        first, second = random_sections(in_features, seed)
        assert first != second or in_features == 1
        for start, end in (first, second):
            assert 0 <= start < end <= in_features
            lengths.add(end - start)
            starts.add(start)
            ends.add(end)
    assert min(lengths) == max(1, in_features // 10)
    assert max(lengths) == max(1, in_features // 2)
    assert min(starts) == 0
    assert max(ends) == in_features


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "square", "root"])
def test_the_static_form_has_test_rows_beyond_all_of_training(operation):
    for seed in range(5):
        first, second = (range(*section) for section in random_sections(100, seed))
        task = SimpleFunction(operation, subsets=(first, second))
        low, high = task.extrapolation_range
        rows = low + (high - low) * torch.rand(1000, 100, generator=torch.manual_seed(seed))
        for subset in (first, second):
            assert rows[:, list(subset)].sum(1).min() > task.interpolation_range[1] * len(subset)


def test_given_sections_are_kept():
    task = RecurrentFunction("sub", in_features=3, sections=((0, 1), (1, 3)))
    inputs = torch.tensor([[[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]])
    assert task.target(inputs).tolist() == [[9.0 - 54.0]]


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="operation is 'mean'; choose from identity, add, sub"):
        RecurrentFunction("mean")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="length is 0; give a positive integer"):
        RecurrentFunction(length=0)
    with pytest.raises(ValueError, match=r"sampling_range is \(1.0, 1.0\)"):
        RecurrentFunction(sampling_range=(1.0, 1.0))
    with pytest.raises(ValueError, match="operation 'root' needs sums that are positive"):
        RecurrentFunction("root", sampling_range=(-1.0, 1.0))
    with pytest.raises(ValueError, match="that float32 does not hold; give a smaller range"):
        RecurrentFunction(sampling_range=(1e39, 2e39)).batch(0)
    with pytest.raises(ValueError, match=r"\(0.0, 1e\+20\), and series of 1000 steps .* 'mul'"):
        RecurrentFunction("mul", sampling_range=(0.0, 1e20)).extrapolation(3)
    with pytest.raises(ValueError, match=r"sections holds \(2, 4\); give 0 <= start < end <= in_f"):
        RecurrentFunction(in_features=3, sections=((0, 1), (2, 4)))
    with pytest.raises(ValueError, match=r"sections is \(\(0, 1\),\); give"):
        RecurrentFunction(sections=((0, 1),))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="seed is -1"):
        RecurrentFunction(seed=-1)
    with pytest.raises(ValueError, match="step is -1"):
        RecurrentFunction().batch(-1)
    with pytest.raises(ValueError, match="batch_size is 0; give a positive integer"):
        RecurrentFunction().batch(0, batch_size=0)
    with pytest.raises(ValueError, match="rows is 0; give a positive integer"):
        RecurrentFunction().interpolation(0)
    with pytest.raises(ValueError, match="in_features is 0"):
        random_sections(0)
