"""Checks of arguments that every room makes."""

import math
from numbers import Integral, Real
from typing import Any

_MOST = 2**63 - 1  # of what PyTorch and NumPy count


def check_positive_integers(**counts: int) -> None:
    """Refuse numbers of things, or sizes, that are not positive integers.

    Args:
        counts: by the name of the argument.

    Raises:
        TypeError: one is no integer.
        ValueError: one is 0 or negative, or above 2**63 - 1.

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
        if value > _MOST:
            raise ValueError(f"{name} is {value}; give a positive integer, 2**63 - 1 at most")


def check_integers_from_zero(**numbers: int) -> None:
    """Refuse what is no integer, or below 0.

    Args:
        numbers: by the name of the argument.

    Raises:
        TypeError: one is no integer.
        ValueError: one is negative, or above 2**63 - 1.

    Example:
        >>> check_integers_from_zero(seed=-1)
        Traceback (most recent call last):
        ValueError: seed is -1; give an integer, 0 or more
    """
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{name} is {value!r}; give an integer, 0 or more")
        if value < 0:
            raise ValueError(f"{name} is {value}; give an integer, 0 or more")
        if value > _MOST:
            raise ValueError(f"{name} is {value}; give an integer, 0 or more, 2**63 - 1 at most")


def check_positive(**numbers: float) -> None:
    """Refuse numbers that are not positive or not finite.

    Args:
        numbers: by the name of the argument.

    Raises:
        TypeError: one is no real number.
        ValueError: one is not positive, is infinite, or is NaN.

    Example:
        >>> check_positive(learning_rate=float("nan"))
        Traceback (most recent call last):
        ValueError: learning_rate is nan; give a finite number above 0
    """
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name} is {value!r}; give a finite number above 0")
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; give a finite number above 0")


def check_from_zero(**numbers: float) -> None:
    """Refuse numbers that are negative or not finite.

    Args:
        numbers: by the name of the argument.

    Raises:
        TypeError: one is no real number.
        ValueError: one is negative, is infinite, or is NaN.

    Example:
        >>> check_from_zero(penalty=-1.0)
        Traceback (most recent call last):
        ValueError: penalty is -1.0; give a finite number, 0 or more
    """
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name} is {value!r}; give a finite number, 0 or more")
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; give a finite number, 0 or more")


def check_shares(**numbers: float) -> None:
    """Refuse what is no share.

    Args:
        numbers: by the names of the arguments.

    Raises:
        TypeError: one is no real number.
        ValueError: one is less than 0 or more than 1, or is NaN.

    Example:
        >>> check_shares(smaller=1.5)
        Traceback (most recent call last):
        ValueError: smaller is 1.5; give a number from 0 to 1
    """
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name} is {value!r}; give a number from 0 to 1")
        if not 0 <= value <= 1:
            raise ValueError(f"{name} is {value}; give a number from 0 to 1")


def check_texts(name: str, texts: Any) -> None:
    """Refuse what is no list of strings.

    Args:
        name: of the argument.
        texts: its value.

    Raises:
        TypeError: it is no list or tuple, or something in it is no string.

    Example:
        >>> check_texts("texts", ["1+0", 10])
        Traceback (most recent call last):
        TypeError: texts holds 10 at position 1; give a list of strings
    """
    if not isinstance(texts, list | tuple):
        raise TypeError(f"{name} is {texts!r}; give a list of strings")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name} holds {text!r} at position {position}; give a list of strings")
