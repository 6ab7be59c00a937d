"""Expressions: a few binary numbers with + and * between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from torchalu.tasks.algorithms.digits import read_digits, write_digits
from torchalu.tasks.algorithms.kinds import alternating, random_digits, single, sparse
from torchalu.tasks.algorithms.task import AlgorithmicTask, symbols_to_texts

_MOST = 4
_SIGNS = ("++", "+*", "*+", "**", "+++", "*+*", "+*+", "***")


@dataclass(frozen=True, kw_only=True)
class Expression(AlgorithmicTask):
    """Two to four binary numbers of the same length with + and * between them.

    Products come before sums, as usual. The length is the number of digits of an operand.
    Samples have each number of operands, each sign and each digit with the same probability.
    """

    filled: bool = True

    def answer_symbols(self, length: int) -> int:
        """How many digits an answer has: what the longest product needs.

        Args:
            length: digits of an operand.
        """
        return _MOST * length

    def _measure(self, text: str) -> int:
        operands = text.replace("*", "+").split("+")
        if not 2 <= len(operands) <= _MOST:
            self._refuse(text, f"it has {len(operands)} operands and not 2 to {_MOST}")
        lengths = {len(operand) for operand in operands}
        if len(lengths) > 1 or 0 in lengths:
            self._refuse(text, "its operands have not all the same number of digits, 1 at least")
        return lengths.pop()

    def _answer(self, text: str, length: int) -> str:
        return write_digits(evaluate_expression(text), 2, self.answer_symbols(length))

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        numbers = rng.integers(2, size=(count * _MOST, length))
        operands = iter(symbols_to_texts(numbers, "01"))
        signs = symbols_to_texts(rng.integers(2, size=(count, _MOST - 1)), "+*")
        sizes = rng.integers(2, _MOST + 1, size=count).tolist()
        rows = zip(zip(*[operands] * _MOST, strict=True), signs, sizes, strict=True)
        return [_join(numbers[:size], between) for numbers, between, size in rows]

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        ones, zero, one = "1" * length, "0" * length, single(0, length)
        some = random_digits(length, 2, _MOST, rng)
        even, odd = alternating(length, 2)
        few = sparse(length, 2, _MOST, rng)
        carry = [ones, one, one, ones]
        return {
            "carry": [_join(carry, between) for between in ("+", "+*", "+*+", "*+")],
            "ones": [_join([ones] * _MOST, between) for between in _SIGNS],
            "zero": [_join([zero, *some[1:]], between) for between in _SIGNS],
            "powers_of_two": [_join([single(length - 1, length)] * 4, s) for s in _SIGNS],
            "symmetric": [_join([some[0]] * _MOST, between) for between in _SIGNS],
            "alternating": [_join([even, odd] * 2, between) for between in _SIGNS],
            "sparse": [_join(few, between) for between in _SIGNS],
            "precedence": [_join(some, between) for between in ("+*", "*+", "*+*", "+*+")],
        }


def evaluate_expression(text: str) -> int:
    """The value of binary numbers, least significant digit first, with + and * between them.

    Args:
        text: the expression.

    Example:
        >>> evaluate_expression("10+01*11")
        7
    """
    return sum(
        math.prod(read_digits(factor, 2) for factor in term.split("*")) for term in text.split("+")
    )


def _join(operands: list[str] | tuple[str, ...], signs: str) -> str:
    """Operands with the signs between them, as many as there are signs for."""
    following = (sign + operand for sign, operand in zip(signs, operands[1:], strict=False))
    return operands[0] + "".join(following)
