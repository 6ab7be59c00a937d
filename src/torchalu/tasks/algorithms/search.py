"""Search: whether and where a pattern occurs in a sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torchalu.tasks.algorithms.kinds import alternating, single
from torchalu.tasks.algorithms.task import AlgorithmicTask, symbols_to_texts

_BITS = "01"


@dataclass(frozen=True, kw_only=True)
class Search(AlgorithmicTask):
    """A sequence of bits, `?` and a pattern; the answer has 1 where the pattern begins, else 0.

    Occurrences may overlap. The pattern does not occur if the answer is zeros alone. The length
    is that of the sequence; the pattern has one bit or more, and no more than the sequence.

    Samples have uniform sequences and patterns of log-uniform size; every other pattern, on the
    average, is a piece of the sequence, the others are uniform.
    """

    filled: bool = True

    def answer_symbols(self, length: int) -> int:
        """How many symbols an answer has: as many as the sequence.

        Args:
            length: of the sequence.
        """
        return length

    def _measure(self, text: str) -> int:
        sequence, mark, pattern = text.partition("?")
        if not mark or not sequence or not pattern or "?" in pattern:
            self._refuse(text, "it is not one sequence, '?' and one pattern")
        if len(pattern) > len(sequence):
            self._refuse(
                text, f"the pattern has {len(pattern)} symbols, the sequence {len(sequence)}"
            )
        return len(sequence)

    def _answer(self, text: str, length: int) -> str:
        sequence, _, pattern = text.partition("?")
        return "".join("01"[sequence.startswith(pattern, place)] for place in range(length))

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        sequences = symbols_to_texts(rng.integers(2, size=(count, length)), _BITS)
        others = symbols_to_texts(rng.integers(2, size=(count, length)), _BITS)
        sizes = np.minimum((length + 1) ** rng.random(count), length).astype(np.int64)
        places = rng.integers(length - sizes + 1)
        pieces = rng.random(count) < 0.5
        rows = zip(sequences, others, sizes.tolist(), places.tolist(), pieces, strict=True)
        return [
            f"{sequence}?{(sequence[place:] if piece else other)[:size]}"
            for sequence, other, size, place, piece in rows
        ]

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        zeros, ones = "0" * length, "1" * length
        half = length // 2
        (some,) = symbols_to_texts(rng.integers(2, size=(1, length)), _BITS)
        kinds = {
            "all_equal": [f"{zeros}?0", f"{ones}?{ones[: half + 1]}"],
            "absent": [f"{zeros}?1", f"{zeros}?{single(half, length)}"],
            "alternating": [f"{text}?{text[: half + 1]}" for text in alternating(length, 2)],
            "whole": [f"{some}?{some}"],
            "first": [f"{single(0, length)}?1", f"{some}?{some[: half + 1]}"],
            "last": [f"{single(length - 1, length)}?1", f"{some}?{some[half:]}"],
        }
        if length > 1:
            flipped = some[:-1] + _BITS[some[-1] == "0"]
            almost = [f"{ones}?{ones[1:]}0", f"{some}?{flipped}"]
            kinds["one_different"] = almost
        return kinds
