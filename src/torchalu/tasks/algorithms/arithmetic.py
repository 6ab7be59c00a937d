"""Arithmetic on whole numbers, written with the least significant digit first."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from torchalu.tasks.algorithms.digits import DIGITS, read_digits, write_digits
from torchalu.tasks.algorithms.kinds import Kinds
from torchalu.tasks.algorithms.laws import Operands, carry_in_sum, long_runs
from torchalu.tasks.algorithms.task import CarryTask, rows_to_texts

Law: TypeAlias = Callable[[Operands, int, np.random.Generator], Operands]
"""Makes of uniform digits, of a base, such as are rare among them."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic(CarryTask):
    """An operation on numbers with the same number of digits, least significant digit first.

    Args:
        operation: the truth, a function of whole numbers.
        sign: the character between operands.
        base: of the digits.
        operands: how many there are.
        answer_size: the answer to operands of d digits has `answer_size[0] * d + answer_size[1]`
            digits; a negative number is written in the base's complement.
        carry_law: makes of uniform digits some with long carries.
        absence_law: makes of them some in which a carry would go as far, but none comes.
        kinds: the adversarial operands.
        commutative: whether the operation gives the same in each order of the operands.

    Raises:
        ValueError: a share of absent carries without a law for them.
    """

    operation: Callable[..., int]
    sign: str
    base: int
    operands: int
    answer_size: tuple[int, int]
    carry_law: Law
    absence_law: Law | None = None
    kinds: Callable[[int, int, int, np.random.Generator], Kinds]
    commutative: bool = False
    filled: bool = True

    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.absent_carries and self.absence_law is None:
            raise ValueError(
                f"absent_carries is {self.absent_carries} and {self.name!r} has no law for it; "
                "give 0, or long_carries alone"
            )

    def answer_symbols(self, length: int) -> int:
        """How many digits an answer has.

        Args:
            length: digits of an operand.
        """
        return self.answer_size[0] * length + self.answer_size[1]

    def _operands(self, text: str) -> list[str]:
        """The operands in a text."""
        return text.split(self.sign) if self.sign else [text]

    def _measure(self, text: str) -> int:
        parts = self._operands(text)
        if len(parts) != self.operands:
            self._refuse(text, f"it has {len(parts)} operands and not {self.operands}")
        if any(not part or part.strip(DIGITS) for part in parts):
            self._refuse(text, "an operand is empty, or not made of digits alone")
        lengths = [len(part) for part in parts]
        if self.aligned and len(set(lengths)) > 1:
            shown = " and ".join(map(str, lengths))
            self._refuse(
                text,
                f"its operands have {shown} digits and not the same number; write zeros at the "
                "end of the shorter one",
            )
        return max(lengths)

    def _answer(self, text: str, length: int) -> str:
        value = self.operation(*(read_digits(part, self.base) for part in self._operands(text)))
        return write_digits(value, self.base, self.answer_symbols(length))

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        digits = rng.integers(self.base, size=(count, self.operands, length), dtype=np.uint8)
        if self.long_carries or self.absent_carries:
            place = rng.random(count)
            chosen = place < self.long_carries
            digits[chosen] = self.carry_law(digits[chosen], self.base, rng)
            if self.absence_law is not None:
                chosen = ~chosen & (place < self.long_carries + self.absent_carries)
                digits[chosen] = self.absence_law(digits[chosen], self.base, rng)
        codes = np.full((count, self.operands, length + 1), ord(self.sign or " "), np.uint32)
        codes[:, :, :length] = digits + ord("0")
        return rows_to_texts(codes.reshape(count, self.operands * (length + 1))[:, :-1])

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        kinds = self.kinds(length, self.base, self.operands, rng)
        return {kind: [self.sign.join(parts) for parts in rows] for kind, rows in kinds.items()}

    def _orders(self, text: str) -> list[str]:
        if not self.commutative:
            return [text]
        orders = itertools.permutations(self._operands(text))
        return list(dict.fromkeys(map(self.sign.join, orders)))


@dataclass(frozen=True, kw_only=True)
class Comparison(Arithmetic):
    """Which of two numbers is the greater one: the answer is `<`, `=` or `>`."""

    filled: bool = False

    def _answer(self, text: str, length: int) -> str:  # noqa: ARG002
        first, second = (read_digits(part, self.base) for part in self._operands(text))
        return "=><"[self.operation(first, second)]


@dataclass(frozen=True, kw_only=True)
class UnalignedSum(Arithmetic):
    """The sum of two numbers, one of which may have fewer digits.

    The length is that of the longer one. Samples have the 2d - 1 pairs of lengths whose greater
    one is d with the same probability, and uniform digits.
    """

    aligned = False

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        pair = rng.integers(2 * length - 1, size=count)
        sizes = np.stack((np.minimum(pair + 1, length), np.minimum(2 * length - 1 - pair, length)))
        shorter = sizes.min(0)
        digits = rng.integers(self.base, size=(count, 2, length), dtype=np.uint8)
        runs = long_runs(count, length, rng, latest=shorter - 1)
        carried = carry_in_sum(digits, runs, self.base, rng)
        alone = runs.inside & (np.arange(length) >= shorter[:, None])
        carried = np.where(alone[:, None], self.base - 1, carried)
        digits = np.where((rng.random(count) < self.long_carries)[:, None, None], carried, digits)
        parts = [rows_to_texts(digits[:, i] + np.uint32(ord("0"))) for i in (0, 1)]
        cut = zip(*parts, *sizes.tolist(), strict=True)
        return [f"{a[:first]}{self.sign}{b[:second]}" for a, b, first, second in cut]

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        kinds = super()._kinds(length, rng)
        largest, zeros = DIGITS[self.base - 1] * length, "0" * length
        sizes = sorted({1, -(-length // 2), length})
        for kind, long, short in (("carry", largest, "1" + zeros), ("ones", largest, largest)):
            texts = [(long, short[:size]) for size in sizes]
            kinds[kind] = [self.sign.join(p) for pair in texts for p in (pair, pair[::-1])]
        return kinds
