"""Numbers of experiments that are refused before a run folder is begun."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def check_each(name: str, values: Sequence[T], valid: Callable[[T], bool], allowed: str) -> None:
    """Refuse an option of several values if one is not allowed or there twice, or there is none.

    Args:
        name: of the option.
        values: that are given.
        valid: whether a value is allowed.
        allowed: says which ones are.

    Raises:
        ValueError: there are no values, one is not allowed, or one is there twice.

    Example:
        >>> check_each("depths", (1, 3), lambda depth: depth in (1, 2), "1 and 2, or one of them")
        Traceback (most recent call last):
        ValueError: depths holds 3; give 1 and 2, or one of them
    """
    if not values:
        raise ValueError(f"{name} is empty; give {allowed}")
    for value in values:
        if not valid(value):
            raise ValueError(f"{name} holds {value}; give {allowed}")
        if values.count(value) > 1:
            raise ValueError(f"{name} holds {value} twice; give each once")


def check_rates(learning_rates: Sequence[float]) -> None:
    """Refuse learning rates that are not positive and finite, each there once.

    Args:
        learning_rates: to be tried.

    Raises:
        ValueError: as for `check_each`.

    Example:
        >>> check_rates((0.01, -1.0))
        Traceback (most recent call last):
        ValueError: learning_rates holds -1.0; give finite numbers above 0
    """
    check_each("learning_rates", learning_rates, _is_positive, "finite numbers above 0")


def check_sizes(**sizes: Sequence[int]) -> None:
    """Refuse sizes that are not positive, each there once.

    Args:
        sizes: to be tried, by the name of the option.

    Raises:
        ValueError: as for `check_each`.

    Example:
        >>> check_sizes(hidden=(64, 0))
        Traceback (most recent call last):
        ValueError: hidden holds 0; give positive integers
    """
    for name, values in sizes.items():
        check_each(name, values, _is_positive, "positive integers")


def check_unused(training: Any, left: Any, instead: Mapping[str, str | None]) -> None:
    """Refuse numbers of a training that a search does not take from it.

    Args:
        training: the numbers that are given.
        left: the numbers where none is given.
        instead: for each field that is not taken, the option that is, if any.

    Raises:
        ValueError: such a field is given.

    Example:
        >>> from torchalu.experiments.trask2018.parity import ParityTraining
        >>> given = ParityTraining(learning_rate=0.1)
        >>> check_unused(given, ParityTraining(), {"learning_rate": "learning_rates"})
        Traceback (most recent call last):
        ValueError: learning_rate is 0.1, which this search has no use for; give learning_rates
    """
    for name, option in instead.items():
        value = getattr(training, name)
        if value != getattr(left, name):
            remedy = "leave it out" if option is None else f"give {option}"
            raise ValueError(f"{name} is {value}, which this search has no use for; {remedy}")


def _is_positive(value: float) -> bool:
    """Whether a number is positive and finite."""
    return 0 < value < math.inf
