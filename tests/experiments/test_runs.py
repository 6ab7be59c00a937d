"""Which seeds an experiment has, and when a run ends."""

import pytest

from torchalu.experiments import Runs


@pytest.mark.parametrize("option", ["seeds", "steps", "settle", "stall", "give_up", "team"])
@pytest.mark.parametrize("value", [0, -1])
def test_counts_have_to_be_positive(option, value):
    with pytest.raises(ValueError, match=f"^{option} is {value}; give a positive integer$"):
        Runs(**{option: value})


def test_the_first_seed_may_not_be_negative():
    with pytest.raises(ValueError, match=r"^first_seed is -1; give an integer, 0 or more$"):
        Runs(first_seed=-1)
    with pytest.raises(
        ValueError, match=r"^first_seed is 9223372036854775807; give one so that all"
    ):
        Runs(first_seed=2**63 - 1, seeds=2)
    for value in (0.5, "0", True):
        with pytest.raises(
            TypeError, match=f"^first_seed is {value!r}; give an integer, 0 or more$"
        ):
            Runs(first_seed=value)


def test_the_numbers_of_the_seeds():
    assert list(Runs(seeds=3, first_seed=7).seed_numbers) == [7, 8, 9]
    assert list(Runs(seeds=1).seed_numbers) == [0]
