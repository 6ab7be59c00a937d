"""Checks of arguments that every room makes."""

from numbers import Integral


def check_positive_integers(**counts: int) -> None:
    """Refuse numbers of things, or sizes, that are not positive integers.

    Args:
        counts: by the name of the argument.

    Raises:
        TypeError: one is no integer.
        ValueError: one is 0 or negative.

    Example:
        >>> check_positive_integers(rows=3, seeds=0)
        Traceback (most recent call last):
        ValueError: seeds is 0; give a positive integer
    """
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{name} is {value!r}; give a positive integer")
        if value < 1:
            raise ValueError(f"{name} is {value}; give a positive integer")
