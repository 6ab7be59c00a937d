"""Operands on which learned arithmetic fails first."""

from __future__ import annotations

import numpy as np

from torchalu.tasks.algorithms.digits import DIGITS
from torchalu.tasks.algorithms.laws import spread_runs
from torchalu.tasks.algorithms.task import symbols_to_texts

Kinds = dict[str, list[tuple[str, ...]]]

_LARGEST = {2: "ones", 4: "threes", 10: "nines"}
_RUNS = 10
_POWERS = {2: "powers_of_two", 4: "powers_of_four", 10: "powers_of_ten"}


def common_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """The kinds that are hard for every operation.

    Args:
        length: digits of an operand.
        base: of the digits.
        operands: how many there are.
        rng: where the digits of some come from.
    """
    zero, largest = "0" * length, DIGITS[base - 1] * length
    powers = [single(place, length) for place in (0, length // 2, length - 1)]
    random = random_digits(length, base, 2 * operands, rng)
    even, odd = alternating(length, base)
    kinds = {
        _LARGEST[base]: [(largest,) * operands],
        _POWERS[base]: [(power,) * operands for power in powers] + turns(powers, operands),
        "zero": [(zero,) * operands],
        "alternating": [(even,) * operands, (odd,) * operands, *turns([even, odd], operands)],
        "sparse": [sparse(length, base, operands, rng) for _ in range(3)],
    }
    if operands > 1:
        kinds["zero"] += turns([zero, *random[: operands - 1]], operands)
        kinds["zero"] += turns([zero, *[largest] * (operands - 1)], operands)
        small = single(0, length, "1" if base == 2 else "2")
        both = [*random[-2:], small, small[::-1]]
        kinds["symmetric"] = [(one,) * operands for one in both]
    return kinds


def sum_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """Kinds for sums; *carry*: one carry through all digits, or all but the last."""
    largest, one, zeros = DIGITS[base - 1] * length, single(0, length), ["0" * length]
    carry = turns([largest, one, *zeros * (operands - 2)], operands)
    if length > 1:
        carry += turns([largest[1:] + "0", one, *zeros * (operands - 2)], operands)
    return {"carry": carry, **common_kinds(length, base, operands, rng)}


def increment_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """Kinds for adding 1; *carry*: through all digits, or all but the last."""
    largest = DIGITS[base - 1] * length
    carry = [(largest,), (largest[1:] + "0",)]
    return {"carry": carry, **common_kinds(length, base, operands, rng)}


def product_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """Kinds for products.

    *carry*: the largest number times base + 1, and times itself less 1; *runs*: both operands
    consist of runs of 0 and base - 1 of all sizes.
    """
    kinds = common_kinds(length, base, operands, rng)
    if length == 1:
        return kinds
    largest, eleven = DIGITS[base - 1] * length, "11" + "0" * (length - 2)
    less = DIGITS[base - 2] + largest[1:]
    carry = [(largest, eleven), (eleven, largest), (largest, less), (less, largest)]
    runs = spread_runs((_RUNS, operands, length), base, rng)
    return {"carry": carry, **kinds, "runs": [tuple(symbols_to_texts(r, DIGITS)) for r in runs]}


def difference_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """Kinds for differences; *borrow*: through all digits."""
    one, zero = single(0, length), "0" * length
    borrow = [(zero, one), (zero, DIGITS[base - 1] * length)]
    if length > 1:
        borrow.append((single(length - 1, length), one))
    return {"borrow": borrow, **common_kinds(length, base, operands, rng)}


def comparison_kinds(length: int, base: int, operands: int, rng: np.random.Generator) -> Kinds:
    """Kinds for comparisons; *one_digit*: operands that differ in one place alone."""
    nearly = []
    for place in {0, length // 2, length - 1}:
        (digits,) = random_digits(length, base, 1, rng)
        other = DIGITS[(DIGITS.index(digits[place]) + 1) % base]
        nearly += turns([digits, digits[:place] + other + digits[place + 1 :]], 2)
    return {"one_digit": nearly, **common_kinds(length, base, operands, rng)}


def random_digits(length: int, base: int, count: int, rng: np.random.Generator) -> list[str]:
    """Uniform digits."""
    return symbols_to_texts(rng.integers(base, size=(count, length)), DIGITS)


def sparse(length: int, base: int, operands: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Operands with three digits that are not 0, or fewer where there is no room."""
    digits = np.zeros((operands, length), np.int64)
    for row in digits:
        places = rng.choice(length, size=min(3, -(-length // 3)), replace=False)
        row[places] = rng.integers(1, base, size=len(places))
    return tuple(symbols_to_texts(digits, DIGITS))


def alternating(length: int, base: int) -> tuple[str, str]:
    """0 and base - 1 in turn, from each of them on."""
    pair = "0" + DIGITS[base - 1]
    return (pair * length)[:length], (pair[::-1] * length)[:length]


def single(place: int, length: int, digit: str = "1") -> str:
    """One digit among zeros."""
    return "0" * place + digit + "0" * (length - place - 1)


def turns(values: list[str], operands: int) -> list[tuple[str, ...]]:
    """As many of the values as there are operands, beginning with each in turn."""
    size = len(values)
    return [tuple(values[(i + j) % size] for j in range(operands)) for i in range(size)]
