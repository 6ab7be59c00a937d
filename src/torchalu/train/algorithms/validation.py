"""What is measured on strings that no step of training is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl
from torch import nn

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import Noisy, StringAccuracy, string_accuracy
from torchalu.nn import NeuralGPUBase
from torchalu.tasks.algorithms import AlgorithmicTask
from torchalu.train.algorithms.batches import random_numbers
from torchalu.train.hooks import Hook, Progress

_WORTH_GOING_ON = 0.5
_LONG = 1000
_MEASURES = ("right", "digits", "loss")


class StringValidation:
    r"""Whole-string accuracy by length, and one number by which the best step is chosen.

    .. math:: 1 - \bar a + \frac{1}{2 k N} \frac{\bar L}{1 + \bar L}

    with the mean over the k lengths of the fraction of strings that are right, and of the
    cross-entropy, and N strings of a length at most: fewer wrong strings always count more than a
    lower cross-entropy, which decides between equals. A length is measured only if at least half of
    the strings of the one before it are right; otherwise all of its strings count as wrong, and its
    cross-entropy as that of a guess. With `noise` the strings of the first two of the `longer`
    lengths, under noise of this amplitude, count as those of more lengths; those of all lengths
    where none is longer.

    Args:
        task: draws and solves the strings.
        symbols: the lengths to measure at, in symbols, in growing order; each is the greatest that
            the task has up to there.
        count: strings of each length; fewer where a task from a file has fewer rows.
        seed: of the run; the strings are others than those of training.
        long_count: strings of each length of more than 1000 symbols, if that is fewer.
        noise: amplitude of the noise; see `torchalu.evaluate.Noisy`. 0 measures nothing more.
        trained: the greatest length of training strings, in symbols; the least of `symbols` if
            left out.

    Raises:
        ValueError: the task has no strings of a length.

    Attributes:
        texts: the strings by their length in symbols.
        shorter: the lengths that are trained on, or are between those.
        longer: all others.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> validation = StringValidation(algorithm("badd"), [41, 102], count=2, seed=0)
        >>> validation.symbols, len(validation.texts[101][0])
        ([41, 101], 101)
    """

    def __init__(
        self,
        task: AlgorithmicTask,
        symbols: Sequence[int],
        count: int,
        seed: int,
        long_count: int = 8,
        noise: float = 0.0,
        trained: int | None = None,
    ) -> None:
        if not symbols:
            raise ValueError("symbols names no length to validate at; give at least one")
        self.task, self.noise = task, noise
        self.texts: dict[int, list[str]] = {}
        for most in symbols:
            lengths = task.sample_lengths(task.lengths(most))
            if not lengths:
                raise ValueError(f"{task.name} has no strings of at most {most} symbols")
            longest = lengths[-1]
            size = task.symbols(longest)
            rng = random_numbers(seed, "validation", longest)
            strings = count if size <= _LONG else min(count, long_count)
            self.texts[size] = task.sample_tests(longest, strings, rng)
        most = self.symbols[0] if trained is None else trained
        self.shorter = [n for n in self.symbols if n <= most]
        self.longer = [n for n in self.symbols if n > most]

    @property
    def symbols(self) -> list[int]:
        """The lengths that are measured at."""
        return sorted(self.texts)

    def __call__(self, module: nn.Module) -> dict[str, float]:
        """Measure; NaN stands for lengths that are left out.

        Args:
            module: answers strings.
        """
        row: dict[str, float] = {}
        rates, losses = [], []
        guess = math.log(len(self.task.alphabet) + 1)
        last: StringAccuracy | None = None
        for n in self.symbols:
            if last is None or last.rate >= _WORTH_GOING_ON:
                last = string_accuracy(module, self.task, self.texts[n])
                rates.append(last.rate)
                losses.append(last.loss)
                found = (last.rate, last.digits, last.loss)
            else:
                rates.append(0.0)
                losses.append(guess)
                found = (math.nan,) * 3
            row |= {f"{name}@{n}": value for name, value in zip(_MEASURES, found, strict=True)}
        if self.noise:
            borne = [self._under_noise(module, n, row) for n in self.noisy]
            rates += [0.0 if each is None else each.rate for each in borne]
            losses += [guess if each is None else each.loss for each in borne]
            row["right_under_noise"] = sum(rates[-len(borne) :]) / len(borne)
        loss = sum(losses) / len(losses)
        share = loss / (1 + loss) if math.isfinite(loss) else 1.0
        tie = share / (2 * max(map(len, self.texts.values())) * len(rates))
        return {"validation_loss": 1 - sum(rates) / len(rates) + tie} | row

    @property
    def noisy(self) -> list[int]:
        """The lengths that are measured at under noise, too."""
        return self.longer[:2] or self.symbols

    def _under_noise(
        self, module: nn.Module, n: int, row: Mapping[str, float]
    ) -> StringAccuracy | None:
        """The strings of a length under noise, unless they are left out."""
        if math.isnan(row[f"right@{n}"]):
            return None
        assert isinstance(module, NeuralGPUBase)
        return string_accuracy(Noisy(module, self.noise), self.task, self.texts[n])

    def by_length(self, records: pl.DataFrame) -> pl.DataFrame:
        """A row an evaluation and length, from a row an evaluation.

        Args:
            records: as `fit` gives them.

        Returns:
            Columns `step`, `seconds`, `training_loss`, `validation_loss`, with noise
            `right_under_noise`, those of the hooks, then
            `symbols`, `count` (of strings), `right` (the fraction of them), `digits` (that of
            symbols) and `loss`. Lengths that were left out have no row.
        """
        shared = [name for name in records.columns if "@" not in name]
        frames = [
            records.select(
                *shared,
                pl.lit(n).alias("symbols"),
                pl.lit(len(self.texts[n])).alias("count"),
                *(pl.col(f"{name}@{n}").alias(name) for name in _MEASURES),
            )
            for n in self.symbols
            if f"right@{n}" in records.columns
        ]
        if not frames:
            return records.select(shared)
        return pl.concat(frames).filter(pl.col("right").is_not_nan()).sort("step", "symbols")


def right_by_symbols(row: Mapping[str, float]) -> dict[int, float]:
    """The fraction of strings that is right, by length in symbols, in growing order.

    Args:
        row: of `StringValidation`; other entries are left out.

    Example:
        >>> right_by_symbols({"step": 5.0, "right@101": 0.25, "right@41": 1.0})
        {41: 1.0, 101: 0.25}
    """
    rates = {int(name[6:]): rate for name, rate in row.items() if name.startswith("right@")}
    return dict(sorted(rates.items()))


class EndWhenRight(Hook):
    """Ends a run once all validation strings are right several times in a row.

    Args:
        times: how often.

    Raises:
        ValueError: not a positive number of times.

    Example:
        >>> EndWhenRight(3).in_a_row
        0
    """

    kept = ("in_a_row",)
    fixed = ("times",)

    def __init__(self, times: int) -> None:
        check_positive_integers(times=times)
        self.times = times
        self.in_a_row = 0

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """Count."""
        right = right_by_symbols(row).values()
        self.in_a_row = self.in_a_row + 1 if right and all(n == 1 for n in right) else 0
        if self.in_a_row == self.times:
            progress.end()
