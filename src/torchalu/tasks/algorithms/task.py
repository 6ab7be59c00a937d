"""What every task on strings has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from jaxtyping import UInt32

from torchalu.arguments import check_integers_from_zero, check_positive_integers, check_shares


@dataclass(frozen=True, kw_only=True)
class AlgorithmicTask(ABC):
    r"""A function from strings to strings, with samplers of its inputs.

    The truth is `solve`, a plain function; no sampler knows of it. An input of length L takes
    part in a sequence of n symbols, padded where it or its answer is shorter,

    .. math:: n = s L + o, \qquad (s, o) = \text{size}.

    What the length of a text counts is the task's matter: the digits of an operand in arithmetic,
    the symbols of the sequence elsewhere.

    Args:
        name: what the task is called on the command line.
        title: what it is, in a few words.
        alphabet: all characters that may stand in inputs or answers, in the order of their
            symbol numbers, which begin with 1; 0 is padding.
        example: an input.
        size: the whole numbers s and o of the line above.
        filled: whether answers are filled with the first character of the alphabet, a zero, to
            n symbols in training targets; otherwise the rest is padding.

    Raises:
        ValueError: an alphabet that is empty or names a character twice; a line on which some
            length has no room.
    """

    name: str
    title: str
    alphabet: str
    example: str
    size: tuple[int, int]
    filled: bool = False

    def __post_init__(self) -> None:
        if not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError(
                f"alphabet is {self.alphabet!r}; allowed: at least one character, each once"
            )
        slope, offset = self.size
        if slope < 1 or slope + offset < 1:
            raise ValueError(
                f"size is {self.size}; allowed: a slope of at least 1 and an offset of at least "
                "1 - slope, so that each length has room"
            )

    def solve(self, text: str) -> str:
        """The right answer.

        Args:
            text: an input.

        Raises:
            ValueError: the text is no input of this task.
        """
        return self._answer(text, self.length_of(text))

    def length_of(self, text: str) -> int:
        """The length of an input, after a look at whether it is one.

        Args:
            text: an input.

        Raises:
            TypeError: it is no string.
            ValueError: it is empty, has a symbol outside the alphabet or another form.
        """
        if not isinstance(text, str):
            raise TypeError(f"text is {text!r}; give a string, such as {self.example!r}")
        if not text:
            self._refuse(text, "it is empty")
        foreign = set(text).difference(self.alphabet)
        if foreign:
            at = min(text.index(symbol) for symbol in foreign)
            self._refuse(
                text,
                f"symbol {text[at]!r} at position {at} is not in the alphabet {self.alphabet!r}",
            )
        return self._measure(text)

    def symbols(self, length: int) -> int:
        """The length n of the padded sequence that input and answer need.

        Args:
            length: of the input.

        Raises:
            ValueError: the length is not positive.
        """
        slope, offset = self.size
        return slope * _check_length(length) + offset

    def lengths(self, symbols: int) -> int:
        """The greatest length of which input and answer need so many symbols at most.

        Args:
            symbols: length n of a padded sequence; the result is 0 where nothing fits.
        """
        slope, offset = self.size
        return max(0, (symbols - offset) // slope)

    def answer_symbols(self, length: int) -> int:
        """How many symbols an answer has at most, before it is padded or filled.

        Args:
            length: of the input.
        """
        return self.symbols(length)

    def sample(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        """Random inputs.

        Args:
            length: of each.
            count: how many.
            rng: where the random numbers come from.

        Raises:
            TypeError: `rng` is no generator.
            ValueError: a length that is not positive, a negative count.
        """
        _check_draw(length, count, rng)
        return self._draw(length, count, rng)

    def sample_tests(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        """Random inputs to validate or test on.

        Args:
            length: of each.
            count: how many.
            rng: where the random numbers come from.

        Returns:
            As many, and the same as `sample` gives; but those of a file of rows are its rows, each
            once at most, and so they may be fewer.

        Raises:
            TypeError: `rng` is no generator.
            ValueError: a length that is not positive, a negative count.
        """
        _check_draw(length, count, rng)
        return self._draw_tests(length, count, rng)

    def adversarial(self, length: int) -> dict[str, list[str]]:
        """Inputs on which learned algorithms fail first, a few of each kind, always the same.

        Args:
            length: of each.

        Returns:
            The inputs by kind; kinds that this length cannot have are left out.

        Raises:
            ValueError: the length is not positive.
        """
        rng = np.random.default_rng([_check_length(length), len(self.alphabet)])
        kinds = self._kinds(length, rng)
        return {kind: list(dict.fromkeys(texts)) for kind, texts in kinds.items() if texts}

    def orders(self, text: str) -> list[str]:
        """Inputs with the same answer, this one first: the operands in each order, each once.

        Args:
            text: an input.

        Returns:
            The input alone where the order matters: of all but sums and products.

        Raises:
            ValueError: the text is no input of this task.

        Example:
            >>> from torchalu.tasks import algorithm
            >>> algorithm("bmul").orders("110*011")
            ['110*011', '011*110']
        """
        self.length_of(text)
        return self._orders(text)

    def sample_lengths(self, longest: int) -> Sequence[int]:
        """The lengths of which there are inputs to sample, in growing order.

        Args:
            longest: the greatest length to be listed.
        """
        return range(1, longest + 1)

    def split(self) -> tuple[AlgorithmicTask, AlgorithmicTask]:
        """What to train on and what to validate on: twice this task, as inputs are drawn anew."""
        return self, self

    @abstractmethod
    def _measure(self, text: str) -> int:
        """The length of a text of symbols of the alphabet; raises if it has no proper form."""

    @abstractmethod
    def _answer(self, text: str, length: int) -> str:
        """The answer to an input of known length."""

    @abstractmethod
    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        """Random inputs."""

    def _draw_tests(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        """Random inputs to validate or test on."""
        return self._draw(length, count, rng)

    @abstractmethod
    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:
        """Adversarial inputs by kind."""

    def _orders(self, text: str) -> list[str]:
        """A proper input with its operands in each order in which it has the same answer."""
        return [text]

    def _refuse(self, text: str, why: str) -> NoReturn:
        """Raise the error for a text that is no input."""
        shown = text if len(text) <= 60 else f"{text[:40]}...{text[-10:]}"
        raise ValueError(
            f"text {shown!r} is no input of {self.name!r}: {why}; allowed: {self.title}, as in "
            f"{self.example!r}"
        )


@dataclass(frozen=True, kw_only=True)
class CarryTask(AlgorithmicTask):
    """A task with a second law of its inputs, under which they have long carries.

    Some have a third, under which what could hand on a carry is as long, but none comes.

    Args:
        long_carries: the share of the sampled inputs that are drawn by the second law; the others
            are uniform. Long carries are rare among uniform inputs, and what was not trained on
            them fails there.
        absent_carries: the share of those that are drawn by the third. What has seen long runs of
            such digits with a carry alone may take the run itself for one.

    Raises:
        ValueError: a share outside of [0, 1], two that are more than 1 together.
    """

    long_carries: float = 0.0
    absent_carries: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_carries(self.long_carries, self.absent_carries)


def check_carries(long_carries: float, absent_carries: float) -> None:
    """Refuse what are no two shares of the same samples.

    Args:
        long_carries: of `CarryTask`.
        absent_carries: of `CarryTask`.

    Raises:
        ValueError: a share outside of [0, 1], two that are more than 1 together.
    """
    check_shares(long_carries=long_carries, absent_carries=absent_carries)
    if long_carries + absent_carries > 1:
        raise ValueError(
            f"absent_carries is {absent_carries} and long_carries {long_carries}; give shares that "
            "are 1 together at most"
        )


def rows_to_texts(codes: np.ndarray) -> list[str]:
    """The text in each row of an array of code points."""
    codes = np.ascontiguousarray(codes, np.uint32)
    return codes.view(f"U{codes.shape[1]}").ravel().tolist() if len(codes) else []


def texts_to_rows(texts: Sequence[str], width: int = 0) -> UInt32[np.ndarray, "texts width"]:
    """The code points of each text in a row, with zeros behind, to the longest or to `width`."""
    width = max(width, *map(len, texts))
    return np.array(texts, f"U{width}").view(np.uint32).reshape(len(texts), width)


def symbols_to_texts(symbols: np.ndarray, alphabet: Sequence[str]) -> list[str]:
    """The text in each row of an array of places in an alphabet."""
    return rows_to_texts(np.array([ord(symbol) for symbol in alphabet], np.uint32)[symbols])


def _check_draw(length: int, count: int, rng: np.random.Generator) -> None:
    """Raises unless so many inputs of such a length can be drawn from it."""
    _check_length(length)
    check_integers_from_zero(count=count)
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}; give a generator, such as numpy.random.default_rng(0)")


def _check_length(length: int) -> int:
    """The length, if there are inputs so long."""
    check_positive_integers(length=length)
    return length
