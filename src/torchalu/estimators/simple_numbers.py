"""Simple numbers that a constant may well be, and what it takes to write one down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class PiMultiple(NamedTuple):
    """A fraction times a power of pi.

    Attributes:
        fraction: in lowest terms, not 0.
        power: not 0.

    Example:
        >>> float(PiMultiple(Fraction(4, 3), 1))
        4.1887902047863905
    """

    fraction: Fraction
    power: int

    def __float__(self) -> float:
        return float(self.fraction) * math.pi**self.power


Simple = Fraction | PiMultiple
"""A number that stands in a formula as it is."""

_POWERS_OF_PI = (1, -1, 2, -2)
_LARGEST_OF_PI = 1000


def simple_value(value: float, error: float) -> Simple | None:
    """The simple number that a constant may well be, or None.

    A fraction as `simple_fraction` finds it, else, where the data are exact, such a fraction of
    parts up to 1000 times pi, its square, or one over them.

    Example:
        >>> simple_value(0.997, 0.002), simple_value(1 / (4 * math.pi), 1e-16)
        (Fraction(1, 1), PiMultiple(fraction=Fraction(1, 4), power=-1))
    """
    plain = simple_fraction(value, error)
    if plain is not None or not _is_exact(value, error):
        return plain
    found = []
    for power in _POWERS_OF_PI:
        unit = math.pi**power
        fraction = simple_fraction(value / unit, error / unit)
        if fraction and max(abs(fraction.numerator), fraction.denominator) <= _LARGEST_OF_PI:
            found.append(PiMultiple(fraction, power))
    return min(found, key=simple_nats, default=None)


def simple_fraction(value: float, error: float) -> Fraction | None:
    """The simple fraction that a constant may well be, or None.

    Where the data are exact (error below 1e-9 of the value) any fraction of small numerator and
    denominator is simple; under noise only 1/4 steps up to 12 are, for with wide intervals some
    fraction lies in each.

    Example:
        >>> simple_fraction(1.8000000000001, 1e-14), simple_fraction(0.997, 0.002)
        (Fraction(9, 5), Fraction(1, 1))
        >>> simple_fraction(3.14, 1e-3) is None
        True
    """
    if value == 0 or not math.isfinite(value) or not math.isfinite(error):
        return None
    exact = _is_exact(value, error)
    reach = max(4 * error, 1e-10 * abs(value)) if exact else 4 * error
    if reach >= 0.4 * abs(value):
        return None
    found = simplest_between(abs(value) - reach, abs(value) + reach)
    if exact:
        simple = found.denominator <= 1000 and found.numerator <= 100_000
    else:
        simple = found.denominator <= 4 and found.numerator <= 12
    return (found if value > 0 else -found) if simple else None


def _is_exact(value: float, error: float) -> bool:
    """Whether the data leave no doubt but that of rounding."""
    return error < 1e-9 * abs(value)


def simplest_between(low: float, high: float) -> Fraction:
    """The fraction of smallest denominator in [low, high], for 0 < low <= high.

    Example:
        >>> simplest_between(3.14, 3.15)
        Fraction(22, 7)
    """
    return _simplest(Fraction(low), Fraction(high))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Walks down the continued fraction that the two ends share."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    floor = math.floor(low)
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def simple_nats(number: Simple) -> float:
    """What it takes to write a simple number down."""
    if isinstance(number, PiMultiple):
        return simple_nats(number.fraction) + math.log(4 * len(_POWERS_OF_PI))
    if number == 1:
        return 0.0
    size = math.log(1 + abs(number.numerator)) + math.log(number.denominator)
    return size + math.log(2) * (number < 0)


def simple_nodes(number: Simple) -> int:
    """Nodes that a simple number adds to an expression.

    Example:
        >>> simple_nodes(Fraction(-1)), simple_nodes(Fraction(3, 2))
        (1, 2)
        >>> simple_nodes(PiMultiple(Fraction(3, 2), 1))
        4
    """
    if isinstance(number, PiMultiple):
        own = 0 if number.fraction == 1 else simple_nodes(number.fraction)
        return own + 1 + abs(number.power)
    return 1 if abs(number) == 1 else 2


def take_out(numbers: Sequence[Simple], power: Fraction) -> tuple[Simple, list[Simple]]:
    """What may stand before a sum that is raised to a power, and what that leaves of its numbers.

    That is the power of pi that all of them have, the largest number that leaves them whole, or
    both, if no root is left of it; whatever makes all together shortest.

    Args:
        numbers: before the terms of the sum.
        power: that the sum is raised to.

    Example:
        >>> take_out([Fraction(4), Fraction(8)], Fraction(1, 2))
        (Fraction(2, 1), [Fraction(1, 1), Fraction(2, 1)])
        >>> take_out([Fraction(1, 4), Fraction(1)], Fraction(1, 2))
        (Fraction(1, 1), [Fraction(1, 4), Fraction(1, 1)])
    """
    fractions, powers = zip(*map(_parts, numbers), strict=True)
    one, pi = Fraction(1), powers[0] if len({*powers}) == 1 else 0
    content = Fraction(
        math.gcd(*(fraction.numerator for fraction in fractions)),
        math.lcm(*(fraction.denominator for fraction in fractions)),
    )
    ways: list[tuple[Simple, list[Simple]]] = []
    for fraction, own in ((one, 0), (one, pi), (content, 0), (content, pi)):
        root, shift = _exact_power(fraction, power), own * power
        if root is not None and shift.denominator == 1:
            left = [_joined(f / fraction, p - own) for f, p in zip(fractions, powers, strict=True)]
            ways.append((_joined(root, int(shift)), left))
    return min(ways, key=lambda way: simple_nats(way[0]) + sum(map(simple_nats, way[1])))


def _parts(number: Simple) -> tuple[Fraction, int]:
    """The fraction, and the power of pi that it is multiplied with."""
    return (number, 0) if isinstance(number, Fraction) else (number.fraction, number.power)


def _joined(fraction: Fraction, power: int) -> Simple:
    """The fraction times a power of pi."""
    return PiMultiple(fraction, power) if power else fraction


def _exact_power(base: Fraction, power: Fraction) -> Fraction | None:
    """A positive fraction raised to a power, if that is a fraction."""
    whole = base**power.numerator
    parts = whole.numerator, whole.denominator
    roots = [round(part ** (1 / power.denominator)) for part in parts]
    if any(root**power.denominator != part for root, part in zip(roots, parts, strict=True)):
        return None
    return Fraction(*roots)
