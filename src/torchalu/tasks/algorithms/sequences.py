"""Tasks on sequences of symbols: the truth is a function of the string."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torchalu.tasks.algorithms.task import AlgorithmicTask, symbols_to_texts


@dataclass(frozen=True, kw_only=True)
class SequenceTask(AlgorithmicTask):
    """A function of a sequence of symbols of the alphabet; samples are uniform.

    Args:
        function: the truth, from a text to the answer.
    """

    function: Callable[[str], str]

    def _measure(self, text: str) -> int:
        return len(text)

    def _answer(self, text: str, length: int) -> str:  # noqa: ARG002
        return self.function(text)

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        numbers = rng.integers(len(self.alphabet), size=(count, length))
        return symbols_to_texts(numbers, self.alphabet)

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        return sequence_kinds(length, self.alphabet, rng)


def sequence_kinds(length: int, alphabet: str, rng: np.random.Generator) -> dict[str, list[str]]:
    """Sequences on which learned algorithms fail first.

    Args:
        length: of each.
        alphabet: of the symbols.
        rng: where the symbols of some come from.
    """
    low, high = alphabet[0], alphabet[-1]
    draws = [sorted(row) for row in rng.integers(len(alphabet), size=(2, length)).tolist()]
    rising = ["".join(alphabet[number] for number in row) for row in draws]
    half = symbols_to_texts(rng.integers(len(alphabet), size=(2, -(-length // 2))), alphabet)
    places = sorted({0, length // 2, length - 1})
    return {
        "all_equal": [low * length, high * length],
        "alternating": [(pair * length)[:length] for pair in (low + high, high + low)],
        "one_different": [
            rest * place + one + rest * (length - place - 1)
            for rest, one in ((low, high), (high, low))
            for place in places
        ],
        "sorted": rising,
        "reverse_sorted": [text[::-1] for text in rising],
        "symmetric": [text + text[::-1][length % 2 :] for text in half],
    }


def copy(text: str) -> str:
    """The text itself."""
    return text


def reverse(text: str) -> str:
    """The text from its end to its beginning."""
    return text[::-1]


def duplicate(text: str) -> str:
    """The text twice."""
    return text + text


def sort(text: str) -> str:
    """The symbols of the text in order."""
    return "".join(sorted(text))
