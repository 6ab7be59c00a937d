"""English number words and the numbers that they stand for, 0 to 1000."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int64

if TYPE_CHECKING:
    from torch import Tensor

WordsPart = Literal["train", "validation", "test"]

# fmt: off
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
# fmt: on
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_PADDING = "<padding>"
_LARGEST = 1000
_SIZES = {"train": 169, "validation": 200, "test": 631}

WORD_VOCABULARY: tuple[str, ...] = (_PADDING, *_UNITS, *_TENS, "hundred", "and", "thousand")
"""The words by their index; index 0 fills up short phrases."""

_INDEX = {word: index for index, word in enumerate(WORD_VOCABULARY)}


class WordBatch(NamedTuple):
    """Phrases of number words, and the numbers that they stand for.

    Attributes:
        tokens: indices into `WORD_VOCABULARY`, 0 after the end of a phrase.
        lengths: words in each phrase.
        targets: the numbers.
    """

    tokens: Int64[Tensor, "phrases longest"]
    lengths: Int64[Tensor, " phrases"]
    targets: Float[Tensor, "phrases 1"]


def number_words(number: int) -> tuple[str, ...]:
    """A number in English words, with the British "and" after the hundreds.

    Args:
        number: 0 to 1000.

    Raises:
        ValueError: the number is no integer from 0 to 1000.

    Source:
        Trask et al. 2018, section 4.3, whose example is "five hundred and fifteen".

    Example:
        >>> number_words(515)
        ('five', 'hundred', 'and', 'fifteen')
        >>> number_words(82)
        ('eighty', 'two')
    """
    if not 0 <= number <= _LARGEST or number != int(number):
        raise ValueError(f"number is {number}; give an integer from 0 to {_LARGEST}")
    if number == _LARGEST:
        return "one", "thousand"
    hundreds, rest = divmod(int(number), 100)
    if not hundreds:
        return _below_hundred(rest)
    return _UNITS[hundreds], "hundred", *(("and", *_below_hundred(rest)) if rest else ())


def encode_words(
    phrases: Sequence[Sequence[str]],
) -> tuple[Int64[Tensor, "phrases longest"], Int64[Tensor, " phrases"]]:
    """Phrases as indices into `WORD_VOCABULARY`, and how many words each has.

    Any words in any order will do, so that a model can be asked for phrases that are no numbers,
    such as "twenty seven and eighty".

    Args:
        phrases: each a sequence of words.

    Raises:
        ValueError: there is no phrase, one has no words, or a word is not in `WORD_VOCABULARY`.

    Example:
        >>> tokens, lengths = encode_words([number_words(15), number_words(100)])
        >>> tokens.tolist(), lengths.tolist()
        ([[16, 0], [2, 29]], [1, 2])
    """
    import torch

    if not phrases or not all(phrases):
        raise ValueError(f"phrases is {phrases!r}; give one or more, of one word or more each")
    unknown = [word for phrase in phrases for word in phrase if not _INDEX.get(word)]
    if unknown:
        raise ValueError(
            f"phrases holds {unknown[0]!r}, which is no number word; "
            f"choose from {', '.join(WORD_VOCABULARY[1:])}"
        )
    lengths = [len(phrase) for phrase in phrases]
    tokens = torch.zeros(len(phrases), max(lengths), dtype=torch.int64)
    for row, phrase in zip(tokens, phrases, strict=True):
        row[: len(phrase)] = torch.tensor([_INDEX[word] for word in phrase])
    return tokens, torch.tensor(lengths)


class NumberWords:
    """The numbers from 0 to 1000 in words: 169 to train on, 200 to validate, 631 to test.

    Trained on are 0 to 19, and 149 others drawn at random. While a word is missing from them, a
    number that has it, likewise random, takes the place of one of those drawn. No other part has
    a number of the training part.

    Args:
        seed: settles the split.

    Raises:
        ValueError: the seed is negative.

    Source:
        Trask et al. 2018, section 4.3. The paper's three sizes come to 1000, while the numbers
        from 0 to 1000 are 1001. Departure: one number, drawn at random, is in no part.

    Example:
        >>> task = NumberWords(seed=0)
        >>> [len(task.numbers[part]) for part in ("train", "validation", "test")]
        [169, 200, 631]
        >>> task.part("train").tokens.shape
        torch.Size([169, 5])
    """

    def __init__(self, seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"seed is {seed}; give 0 or more")
        self.seed = seed
        given = len(_UNITS)
        order = given + np.random.default_rng(seed).permutation(_LARGEST + 1 - given)
        order = _with_all_words(order, _SIZES["train"] - given)
        ends = np.cumsum(list(_SIZES.values())) - given
        drawn = np.split(order, ends)
        drawn[0] = np.concatenate((np.arange(given), drawn[0]))
        self.numbers: dict[WordsPart, Int64[np.ndarray, " numbers"]] = {
            part: np.sort(numbers)
            for part, numbers in zip(get_args(WordsPart), drawn[:-1], strict=True)
        }

    def part(self, part: WordsPart) -> WordBatch:
        """All numbers of a part, in rising order.

        Args:
            part: "train", "validation" or "test".

        Raises:
            ValueError: there is no such part.
        """
        import torch

        if part not in self.numbers:
            raise ValueError(f"part is {part!r}; choose from {', '.join(self.numbers)}")
        numbers = self.numbers[part]
        tokens, lengths = encode_words([number_words(number) for number in numbers])
        return WordBatch(tokens, lengths, torch.from_numpy(numbers).float().unsqueeze(1))


def _below_hundred(number: int) -> tuple[str, ...]:
    """The words of a number from 0 to 99."""
    if number < len(_UNITS):
        return (_UNITS[number],)
    tens, units = divmod(number, 10)
    return _TENS[tens - 2], *((_UNITS[units],) if units else ())


def _with_all_words(
    order: Int64[np.ndarray, " numbers"], size: int
) -> Int64[np.ndarray, " numbers"]:
    """The same numbers, exchanged until the first `size` have every word that 0 to 19 lack."""
    order = order.copy()
    needed = set(WORD_VOCABULARY) - set(_UNITS) - {_PADDING}
    for place in range(size):
        words = [number_words(number) for number in order]
        missing = needed.difference(*words[:size])
        if not missing:
            break
        other = next(k for k in range(size, len(order)) if missing.intersection(words[k]))
        order[[place, other]] = order[[other, place]]
    return order
