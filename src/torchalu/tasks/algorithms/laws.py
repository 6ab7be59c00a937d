"""Laws by which digits are drawn so that carries, borrows and comparisons go far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, UInt8

Operands = UInt8[np.ndarray, "count operands length"]


class Runs(NamedTuple):
    """A run of places in each row.

    Attributes:
        inside: which places belong to it.
        first: the first of them.
    """

    inside: Bool[np.ndarray, "count length"]
    first: Bool[np.ndarray, "count length"]


def long_runs(
    count: int,
    length: int,
    rng: np.random.Generator,
    latest: Int[np.ndarray, " count"] | None = None,
) -> Runs:
    """Runs over at least half of the places, of a random size in a random place.

    Args:
        count: number of rows.
        length: number of places.
        rng: where the random numbers come from.
        latest: the last place at which the run of each row may begin.
    """
    sizes = rng.integers((length + 1) // 2, length + 1, size=count)
    starts = rng.integers(length - sizes + 1)
    if latest is not None:
        starts = np.minimum(starts, latest)
    places = np.arange(length)
    inside = (places >= starts[:, None]) & (places < (starts + sizes)[:, None])
    return Runs(inside, places == starts[:, None])


def equal_runs(
    shape: tuple[int, ...], base: int, rng: np.random.Generator
) -> Int[np.ndarray, "... length"]:
    """Digits that are 0 or base - 1, with three changes from one to the other on average.

    Args:
        shape: of the digits, places last.
        base: of the digits.
        rng: where the random numbers come from.
    """
    return _by_turns(rng.random(shape) < 3 / shape[-1], base, rng)


def spread_runs(
    shape: tuple[int, ...], base: int, rng: np.random.Generator
) -> Int[np.ndarray, "... length"]:
    """Digits that are 0 or base - 1 in runs of all sizes: a size's logarithm is uniform.

    Args:
        shape: of the digits, places last.
        base: of the digits.
        rng: where the random numbers come from.
    """
    return _by_turns(spread_switches(shape, rng), base, rng)


def spread_switches(
    shape: tuple[int, ...], rng: np.random.Generator
) -> Bool[np.ndarray, "... length"]:
    """Where runs of all sizes begin, but for the first: a size's logarithm is uniform.

    Args:
        shape: of the places, a row each.
        rng: where the random numbers come from.
    """
    length = shape[-1]
    sizes = np.floor(length ** rng.random(shape)).astype(int)
    ends = np.minimum(sizes.cumsum(-1), length)
    switches = np.zeros((*shape[:-1], length + 1), bool)
    np.put_along_axis(switches, ends, True, -1)
    return switches[..., :length]


def _by_turns(
    switches: Bool[np.ndarray, "... length"], base: int, rng: np.random.Generator
) -> Int[np.ndarray, "... length"]:
    """0 and base - 1 by turns, from one to the other at each switch; either may come first."""
    start = rng.integers(2, size=(*switches.shape[:-1], 1))
    return (base - 1) * ((switches.cumsum(-1) + start) % 2)


def half_in_equal_runs(
    digits: UInt8[np.ndarray, "count length"], base: int, rng: np.random.Generator
) -> UInt8[np.ndarray, "count length"]:
    """The same digits, but for half of the rows, which get equal runs.

    Of digits that are drawn one by one, long runs of equal ones hardly ever occur.
    """
    chosen = rng.random((len(digits), 1)) < 0.5
    return np.where(chosen, equal_runs(digits.shape, base, rng), digits).astype(np.uint8)


def carry_in_sum(digits: Operands, runs: Runs, base: int, rng: np.random.Generator) -> Operands:
    """Operands whose sum carries along each run: a carry at its first place, then base - 1.

    In half of the rows the first operand consists of runs of equal digits.
    """
    first, second = half_in_equal_runs(digits[:, 0], base, rng), digits[:, 1].copy()
    second[runs.inside] = base - 1 - first[runs.inside]
    larger = rng.integers(1, base, size=len(digits))
    first[runs.first] = larger
    second[runs.first] = base - larger + rng.integers(larger)
    others = np.where(runs.inside[:, None], 0, digits[:, 2:])
    made = np.concatenate([np.stack((first, second), 1), others], 1)
    order = rng.random(made.shape[:2]).argsort(1)
    return np.take_along_axis(made, order[:, :, None], 1).astype(np.uint8)


def carry_in_sum_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Operands whose sum carries over at least half of the places."""
    runs = long_runs(len(digits), digits.shape[2], rng)
    return carry_in_sum(digits, runs, base, rng)


def no_carry_in_sum_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Operands of such runs, but with no carry to hand on: both digits of the first place are 0."""
    runs = long_runs(len(digits), digits.shape[2], rng)
    made = carry_in_sum(digits, runs, base, rng)
    return np.where(runs.first[:, None], 0, made).astype(np.uint8)


def carry_from_one_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Numbers to which adding 1 carries over at least half of the places."""
    length = digits.shape[2]
    sizes = rng.integers((length + 1) // 2, length + 1, size=(len(digits), 1, 1))
    return np.where(np.arange(length) < sizes, base - 1, digits).astype(np.uint8)


def borrow_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Operands whose difference borrows over at least half of the places.

    In half of the rows the first operand consists of runs of equal digits.
    """
    runs = long_runs(len(digits), digits.shape[2], rng)
    first, second = half_in_equal_runs(digits[:, 0], base, rng), digits[:, 1].copy()
    second[runs.inside] = first[runs.inside]
    larger = rng.integers(1, base, size=len(digits))
    second[runs.first] = larger
    first[runs.first] = rng.integers(larger)
    return np.stack((first, second), 1)


def agreeing_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Operands that agree in at least half of the places, from the most significant on.

    In half of the rows the first operand consists of runs of equal digits.
    """
    length = digits.shape[2]
    sizes = rng.integers((length + 1) // 2, length + 1, size=(len(digits), 1))
    first = half_in_equal_runs(digits[:, 0], base, rng)
    second = np.where(np.arange(length) >= length - sizes, first, digits[:, 1])
    return np.stack((first, second), 1)


def carry_in_product_law(digits: Operands, base: int, rng: np.random.Generator) -> Operands:
    """Operands each of which is uniform, or long runs of 0 and base - 1, or nearly all 0, or dense.

    Of a dense operand a random share of the digits is base - 1, whose products make the greatest
    carries.
    """
    length = digits.shape[2]
    runs = equal_runs(digits.shape, base, rng)
    sparse = np.where(rng.random(digits.shape) < 2 / length, digits, 0)
    share = rng.random((*digits.shape[:2], 1))
    dense = np.where(rng.random(digits.shape) < share, base - 1, digits)
    law = rng.integers(4, size=(*digits.shape[:2], 1))
    return np.choose(law, (digits, runs, sparse, dense)).astype(np.uint8)
