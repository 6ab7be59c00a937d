"""Shift: a binary number moved by as many places as there are marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torchalu.tasks.algorithms.digits import read_digits, write_digits
from torchalu.tasks.algorithms.kinds import alternating, random_digits, single, sparse
from torchalu.tasks.algorithms.task import AlgorithmicTask, symbols_to_texts


@dataclass(frozen=True, kw_only=True)
class Shift(AlgorithmicTask):
    """A binary number, least significant digit first, times 2 for each `<` that follows it.

    The length is the number of digits; there are at most as many marks. Samples have uniform
    digits and a uniform number of marks.
    """

    filled: bool = True

    def answer_symbols(self, length: int) -> int:
        """How many digits an answer has: twice as many as the number.

        Args:
            length: of the number.
        """
        return 2 * length

    def _measure(self, text: str) -> int:
        digits = text.rstrip("<")
        marks = len(text) - len(digits)
        if not digits or "<" in digits:
            self._refuse(text, "it is not one number and then marks")
        if marks > len(digits):
            self._refuse(text, f"it has {marks} marks and {len(digits)} digits")
        return len(digits)

    def _answer(self, text: str, length: int) -> str:
        return write_digits(
            read_digits(text[:length], 2) << len(text) - length, 2, self.answer_symbols(length)
        )

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        numbers = symbols_to_texts(rng.integers(2, size=(count, length)), "01")
        marks = rng.integers(length + 1, size=count).tolist()
        return [digits + "<" * mark for digits, mark in zip(numbers, marks, strict=True)]

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        some = random_digits(length, 2, 2, rng)
        ones, full, half = "1" * length, "<" * length, "<" * (length // 2)
        begun = some[0][: -(-length // 2)]
        mirrored = begun + begun[::-1][length % 2 :]
        return {
            "no_shift": [*some, ones],
            "one_place": [digits + "<" for digits in (*some, ones)],
            "full_shift": [digits + full for digits in (*some, ones)],
            "ones": [ones + "<" * marks for marks in (length // 2, length - 1)],
            "zero": ["0" * length + marks for marks in ("", full)],
            "powers_of_two": [
                single(place, length) + "<" * marks
                for place in (0, length - 1)
                for marks in (0, length // 2, length)
            ],
            "alternating": [digits + full for digits in alternating(length, 2)],
            "sparse": [digits + half for digits in sparse(length, 2, 3, rng)],
            "symmetric": [mirrored + marks for marks in ("", half, full)],
        }
