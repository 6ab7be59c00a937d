"""Curriculum and bins: what is drawn, against the laws written out, and when they advance."""

from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from torchalu.tasks import algorithm
from torchalu.train.algorithms import LengthBins, LengthCurriculum

COPY, BADD = algorithm("copy"), algorithm("badd")


def curriculum_law(least, current, most, longer, mixed):
    """The probability of each length, by adding up all outcomes of the draws."""
    law = Counter()
    low, high = range(least, current + 1), range(least, most + 1)
    for a, b, c in product(low, low, high):
        weight = 1 / (len(low) ** 2 * len(high))
        law[max(a, b, c)] += weight * longer * mixed
        law[max(a, b)] += weight * longer * (1 - mixed)
        law[max(a, c)] += weight * (1 - longer) * mixed
        law[a] += weight * (1 - longer) * (1 - mixed)
    return law


def advance(curriculum, error, drawn=0):
    """A period of steps with a fraction of wrong strings."""
    for _ in range(curriculum.every):
        curriculum.drawn = drawn
        curriculum.after_step(SimpleNamespace(measures={"string_error": torch.tensor(error)}))


def test_lengths_of_a_curriculum_follow_its_law():
    curriculum = LengthCurriculum(COPY, start=5, most=9, batch=1, longer=0.6, mixed=0.25)
    rng, count = np.random.default_rng(0), 20_000
    drawn = Counter(curriculum.draw(rng)[0].symbols for _ in range(count))
    law = curriculum_law(1, 5, 9, 0.6, 0.25)
    assert sum(law.values()) == pytest.approx(1)
    for length in range(1, 10):
        deviation = (law[length] * (1 - law[length]) / count) ** 0.5
        assert abs(drawn[length] / count - law[length]) < 4 * deviation


def test_all_strings_of_a_curriculum_s_step_have_one_length():
    curriculum = LengthCurriculum(BADD, start=11, most=41, batch=7)
    rng = np.random.default_rng(0)
    for _ in range(200):
        (group,) = curriculum.draw(rng)
        assert len(group.lengths) == 7
        assert {BADD.symbols(length) for length in group.lengths} == {group.symbols}
        assert group.symbols <= 41


def test_a_curriculum_advances_below_its_threshold_to_the_next_length_of_the_task():
    curriculum = LengthCurriculum(BADD, start=6, most=11, every=3, threshold=0.15)
    advance(curriculum, 0.15)
    assert (curriculum.length, curriculum.advances) == (6, 0)
    assert curriculum.error == pytest.approx(0.15)
    lengths = []
    for _ in range(5):
        advance(curriculum, 0.14)
        lengths.append(curriculum.length)
    assert lengths == [7, 9, 11, 11, 11]
    assert curriculum.advances == 5
    assert curriculum.columns() == {"curriculum_length": 11}


def test_strings_beyond_the_current_length_say_nothing_of_the_error():
    curriculum = LengthCurriculum(COPY, start=6, most=41, every=3)
    advance(curriculum, 0.0, drawn=7)
    assert (curriculum.advances, curriculum.error) == (0, 1.0)
    advance(curriculum, 0.0, drawn=6)
    assert (curriculum.advances, curriculum.error) == (1, 0.0)


def test_a_period_forgets_the_errors_of_those_before_it():
    curriculum = LengthCurriculum(COPY, every=3)
    advance(curriculum, 1.0)
    advance(curriculum, 0.1)
    assert curriculum.error == pytest.approx(0.1)
    assert curriculum.advances == 1


def test_each_bin_has_its_strings():
    bins = LengthBins(BADD, batch=32, smaller=0.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        groups = bins.draw(rng)
        assert [group.symbols for group in groups] == [8, 12, 16, 20, 25, 28, 31, 36, 41]
        for below, group in zip((0, 8, 12, 16, 20, 25, 28, 31, 36), groups, strict=True):
            assert len(group.lengths) == 32
            assert all(below < BADD.symbols(length) <= group.symbols for length in group.lengths)


def test_lengths_within_a_bin_are_uniform():
    bins = LengthBins(COPY, bins=(4, 8), batch=4000, smaller=0.0)
    drawn = Counter(bins.draw(np.random.default_rng(0))[1].lengths)
    assert sorted(drawn) == [5, 6, 7, 8]
    assert all(abs(count - 1000) < 4 * 27.4 for count in drawn.values())


def test_a_share_of_each_bin_but_the_first_comes_from_smaller_ones():
    bins = LengthBins(COPY, bins=(4, 8, 12), batch=10_000, smaller=0.05)
    first, second, third = bins.draw(np.random.default_rng(0))
    assert max(first.lengths) <= 4
    for group, below in ((second, 4), (third, 8)):
        smaller = [length for length in group.lengths if length <= below]
        assert abs(len(smaller) - 500) < 4 * 21.8
        assert set(smaller) == set(range(1, below + 1))


def test_a_subset_of_bins():
    bins = LengthBins(COPY, bins=(4, 8, 12, 16), batch=1, bins_per_step=2)
    rng = np.random.default_rng(0)
    drawn = Counter(tuple(group.symbols for group in bins.draw(rng)) for _ in range(600))
    assert set(drawn) == {(4, 8), (4, 12), (4, 16), (8, 12), (8, 16), (12, 16)}
    assert all(abs(count - 100) < 40 for count in drawn.values())


def test_bins_without_strings_are_left_out():
    bins = LengthBins(BADD, bins=(2, 3, 4, 9), batch=1)
    assert [group.symbols for group in bins.draw(np.random.default_rng(0))] == [3, 9]


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        (LengthBins, {"bins": (2,)}, "badd has no strings of at most 2 symbols; give longer"),
        (LengthBins, {"bins": (8, 4)}, r"bins is \(8, 4\); give symbols in growing order"),
        (LengthBins, {"bins": ()}, r"bins is \(\)"),
        (LengthBins, {"batch": 0}, "batch is 0; give a positive integer"),
        (LengthBins, {"smaller": 1.5}, "smaller is 1.5; give a number from 0 to 1"),
        (LengthBins, {"bins_per_step": -1}, "bins_per_step is -1"),
        (LengthBins, {"bins_per_step": 0}, "bins_per_step is 0; give a positive integer"),
        (LengthCurriculum, {"most": 2}, "badd has no strings of at most 2 symbols"),
        (LengthCurriculum, {"threshold": -0.1}, "threshold is -0.1"),
        (LengthCurriculum, {"every": 0}, "every is 0"),
    ],
)
def test_wrong_numbers_are_named(plan, options, message):
    with pytest.raises(ValueError, match=message):
        plan(BADD, **options)
