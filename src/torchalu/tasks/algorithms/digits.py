"""Whole numbers as digits, the least significant first, of any length."""

from __future__ import annotations

DIGITS = "0123456789"
_PIECE = 1024  # digits; Python itself refuses to convert more than 4300 decimal ones at once


def read_digits(digits: str, base: int) -> int:
    """The number that digits stand for.

    Args:
        digits: the least significant first.
        base: from 2 to 10.

    Example:
        >>> read_digits("0011", base=2)
        12
    """
    if len(digits) <= _PIECE:
        return int(digits[::-1], base)
    half = len(digits) // 2
    return read_digits(digits[:half], base) + base**half * read_digits(digits[half:], base)


def write_digits(value: int, base: int, count: int) -> str:
    """The lowest digits of a number, the least significant first.

    A negative number is written in the base's complement: in base 2, two's complement.

    Args:
        value: the number.
        base: from 2 to 10.
        count: how many digits.

    Example:
        >>> write_digits(12, base=2, count=6), write_digits(-1, base=2, count=3)
        ('001100', '111')
    """
    value %= base**count
    if base == 2:
        return f"{value:0{count}b}"[::-1]
    if count <= 16:
        return "".join(DIGITS[value // base**place % base] for place in range(count))
    half = count // 2
    high, low = divmod(value, base**half)
    return write_digits(low, base, half) + write_digits(high, base, count - half)
