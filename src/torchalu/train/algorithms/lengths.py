"""Which lengths of strings a step of training is made of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torchalu.arguments import check_positive_integers, check_shares
from torchalu.tasks.algorithms import AlgorithmicTask
from torchalu.train.hooks import Hook, Progress


class LengthGroup(NamedTuple):
    """Strings that run together.

    Attributes:
        symbols: to which they are padded.
        lengths: of each, as the task counts them.
    """

    symbols: int
    lengths: list[int]


class LengthPlan(Hook):
    """Draws the lengths of the strings of each step."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> list[LengthGroup]:
        """The strings of a step.

        Args:
            rng: of the step; nothing else is random.
        """

    @property
    @abstractmethod
    def longest(self) -> int:
        """The greatest number of symbols that is drawn."""


class LengthCurriculum(LengthPlan):
    r"""Longer strings once the shorter ones are learned.

    All strings of a step have the same length. It is uniform between the shortest and the current
    one; with probability `longer` the greater of two such draws; then with probability `mixed` the
    greater of that and one that is uniform up to `most`. Every `every` steps, where the fraction
    of wrong strings among those not beyond the current length is below `threshold`, the curriculum
    advances: the current length grows to the next that the task has.

    Args:
        task: whose lengths are drawn.
        threshold: fraction of wrong strings below which the curriculum advances.
        start: the current length at first, in symbols.
        most: the greatest one.
        batch: strings a step.
        every: steps from one look at the error to the next.
        longer: probability of a second draw up to the current length.
        mixed: probability of a draw up to `most`.

    Attributes:
        length: the current one, in symbols.
        advances: how often it advanced, those at the greatest length included.
        error: fraction of wrong strings at the last look; 1 before it.

    Raises:
        ValueError: a number is out of its range, or the task has no string of `most` symbols.

    Source:
        Kaiser & Sutskever 2016, section 3.3. Departures, which follow the authors' program: the
        threshold is 85% right and not 90%, what is drawn up to the current length, and 25% of
        draws up to the greatest length instead of 20%.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> curriculum = LengthCurriculum(algorithm("copy"), start=6, most=41, batch=2)
        >>> curriculum.draw(np.random.default_rng(1))
        [LengthGroup(symbols=21, lengths=[21, 21])]
    """

    kept = ("length", "advances", "error", "wrong", "looked", "passed")
    fixed = ("threshold", "most", "batch", "every", "longer", "mixed")

    def __init__(
        self,
        task: AlgorithmicTask,
        *,
        threshold: float = 0.15,
        start: int = 6,
        most: int = 41,
        batch: int = 32,
        every: int = 200,
        longer: float = 0.6,
        mixed: float = 0.25,
    ) -> None:
        check_positive_integers(batch=batch, every=every)
        check_shares(threshold=threshold, longer=longer, mixed=mixed)
        self.sizes = _sizes(task, most)
        self.threshold, self.most, self.batch, self.every = threshold, most, batch, every
        self.longer, self.mixed = longer, mixed
        self.length = min(max(start, min(self.sizes)), self.longest)
        self.advances, self.error = 0, 1.0
        self.wrong, self.looked, self.passed = 0.0, 0, 0
        self.drawn = 0

    @property
    def longest(self) -> int:
        """The greatest number of symbols that is drawn."""
        return max(self.sizes)

    def draw(self, rng: np.random.Generator) -> list[LengthGroup]:
        """The strings of a step, all of one length."""
        least = min(self.sizes)
        length = rng.integers(least, self.length, endpoint=True)
        if rng.random() < self.longer:
            length = max(length, rng.integers(least, self.length, endpoint=True))
        if rng.random() < self.mixed:
            length = max(length, rng.integers(least, self.longest, endpoint=True))
        self.drawn = max(size for size in self.sizes if size <= length)
        return [LengthGroup(self.drawn, [self.sizes[self.drawn]] * self.batch)]

    def after_step(self, progress: Progress) -> None:
        """Count the errors, and advance where it is time to."""
        if self.drawn <= self.length:
            self.wrong += progress.measures["string_error"].item()
            self.looked += 1
        self.passed += 1
        if self.passed < self.every:
            return
        if self.looked:
            self.error = self.wrong / self.looked
            if self.error < self.threshold:
                self.advances += 1
                self.length = min([s for s in self.sizes if s > self.length] or [self.length])
        self.wrong, self.looked, self.passed = 0.0, 0, 0

    def columns(self) -> dict[str, float]:
        """The current length."""
        return {"curriculum_length": self.length}


class LengthBins(LengthPlan):
    """All lengths at once, each bin of lengths padded to its longest.

    Args:
        task: whose lengths are drawn.
        bins: the symbols to which strings are padded, in growing order. A string belongs to the
            first bin that it fits in, and lengths within a bin are uniform.
        batch: strings of each bin.
        smaller: fraction of the strings of a bin that come from the bins below it.
        bins_per_step: how many bins a step is made of, drawn anew each time; all if left out.

    Raises:
        ValueError: a number is out of its range, or the task has no string that fits a bin.

    Source:
        Freivalds & Liepins 2017, section 4, and the authors' program. Departures: all strings of a
        step are drawn anew, instead of from 10,000 fixed ones a length, unless
        `AlgorithmTraining.examples` says otherwise; each string is from a smaller bin with the
        probability `smaller`, instead of that fraction of the fixed ones; `bins_per_step`.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> bins = LengthBins(algorithm("copy"), bins=(8, 12), batch=3)
        >>> bins.draw(np.random.default_rng(0))
        [LengthGroup(symbols=8, lengths=[7, 6, 5]), LengthGroup(symbols=12, lengths=[5, 10, 9])]
    """

    fixed = ("bins", "batch", "smaller", "bins_per_step")

    def __init__(
        self,
        task: AlgorithmicTask,
        *,
        bins: Sequence[int] = (8, 12, 16, 20, 25, 28, 31, 36, 41),
        batch: int = 32,
        smaller: float = 0.05,
        bins_per_step: int | None = None,
    ) -> None:
        check_positive_integers(
            batch=batch,
            bins_per_step=1 if bins_per_step is None else bins_per_step,
        )
        check_shares(smaller=smaller)
        if not bins or list(bins) != sorted({*bins}):
            raise ValueError(f"bins is {tuple(bins)}; give symbols in growing order")
        sizes = _sizes(task, bins[-1])
        self.choices: dict[int, list[int]] = {}
        for below, size in zip((0, *bins), bins, strict=False):
            lengths = [length for n, length in sizes.items() if below < n <= size]
            if lengths:
                self.choices[size] = lengths
        self.bins = tuple(bins)
        self.batch, self.smaller, self.bins_per_step = batch, smaller, bins_per_step
        self._longest = max(sizes)

    @property
    def longest(self) -> int:
        """The greatest number of symbols that is drawn."""
        return self._longest

    def draw(self, rng: np.random.Generator) -> list[LengthGroup]:
        """The strings of a step, a group for each bin."""
        bins = list(self.choices)
        if self.bins_per_step is not None and self.bins_per_step < len(bins):
            bins = sorted(rng.choice(bins, self.bins_per_step, replace=False).tolist())
        return [LengthGroup(size, self._lengths(size, rng)) for size in bins]

    def _lengths(self, size: int, rng: np.random.Generator) -> list[int]:
        """The lengths of the strings of a bin."""
        lengths = rng.choice(self.choices[size], self.batch)
        below = [length for n, found in self.choices.items() if n < size for length in found]
        if below:
            chosen = rng.random(self.batch) < self.smaller
            lengths[chosen] = rng.choice(below, self.batch)[chosen]
        return lengths.tolist()


def _sizes(task: AlgorithmicTask, most: int) -> dict[int, int]:
    """The lengths of a task by the symbols that they need, up to so many symbols."""
    lengths = task.sample_lengths(task.lengths(most))
    sizes = {task.symbols(length): length for length in lengths}
    if not sizes:
        raise ValueError(f"{task.name} has no strings of at most {most} symbols; give longer ones")
    return sizes
