"""How many strings a trained network gets whole, by length, on random and on adversarial ones."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import string_accuracy
from torchalu.tasks import AlgorithmicTask
from torchalu.train import write_atomic
from torchalu.train.files import set_aside

RANDOM = "random"
_STREAM = 0x2016  # of test strings; no training or validation draws from it
_LONG = 1000  # symbols, from which on there are fewer strings
_FAILURES, _READABLE = 3, 60  # wrong strings that are kept, and how long they may be
_PLACE = "#"  # which is in no alphabet of the package's
_FILE = "measured.json"


@dataclass(frozen=True)
class Strings:
    """Which strings a network is tested on, the same for all networks and seeds.

    Args:
        lengths: as the task counts them, such as digits of an operand.
        count: random strings of each length.
        long_count: the same of lengths that make more than 1000 symbols.
        adversarial: whether each kind of adversarial strings is tried too.

    Raises:
        ValueError: no lengths, one twice, or a number that is not positive.

    Source:
        Kaiser & Sutskever 2016, table 1, for the lengths of badd and bmul, and section 3.2, for
        those of others.

    Example:
        >>> Strings((20, 2000)).number(41), Strings((20, 2000)).number(4001)
        (1000, 100)
    """

    lengths: tuple[int, ...]
    count: int = 1000
    long_count: int = 100
    adversarial: bool = True

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 1 or len({*self.lengths}) < len(self.lengths):
            raise ValueError(f"lengths is {self.lengths}; give positive integers, each once")
        check_positive_integers(count=self.count, long_count=self.long_count)

    def number(self, symbols: int) -> int:
        """How many random strings there are of so many symbols.

        Args:
            symbols: of a string.
        """
        return self.count if symbols <= _LONG else self.long_count

    @staticmethod
    def drawn_by(length: int) -> tuple[int, ...]:
        """The numbers that seed the generator of random strings.

        Args:
            length: of the strings.
        """
        return _STREAM, length

    def sets(self, task: AlgorithmicTask) -> Iterator[tuple[str, int, list[str]]]:
        """The kind, length and texts of each set, the shortest first.

        Args:
            task: what the strings are of.
        """
        for length in sorted(self.lengths):
            rng = np.random.default_rng(self.drawn_by(length))
            yield RANDOM, length, task.sample(length, self.number(task.symbols(length)), rng)
            if self.adversarial:
                for kind, texts in task.adversarial(length).items():
                    yield kind, length, texts


def measure_strings(
    module: nn.Module,
    task: AlgorithmicTask,
    strings: Strings,
    *,
    most_symbols: int | None = None,
    folder: Path | None = None,
    report: Callable[[float], None] | None = None,
) -> list[dict[str, Any]]:
    """Whole strings right, for each set of strings.

    Where no random string of a length is right, longer ones are not tried, and count as wrong.

    Args:
        module: answers with logits.
        task: what it has learned.
        strings: which it is tested on.
        most_symbols: longer strings are left out, as the module cannot take them.
        folder: for what has been measured; a call that is broken off goes on from it.
        report: takes the fraction that is done.

    Returns:
        A row a kind and length: strings, length, right, count, digits, which is missing where none
        was tried, and in failed some of the wrong strings, with spaces between them. Of a long one
        it has the place in its set of `Strings.sets`, such as `#17`.
    """
    sets = [
        (kind, length, texts)
        for kind, length, texts in strings.sets(task)
        if most_symbols is None or task.symbols(length) <= most_symbols
    ]
    # Time grows with the square of the length: a step changes all symbols.
    work = [len(texts) * task.symbols(length) ** 2 for _, length, texts in sets]
    path = None if folder is None else folder / _FILE
    rows = [] if path is None else _measured(path)
    for index, (kind, length, texts) in enumerate(sets):
        if index < len(rows):
            continue

        def progress(done: int, count: int, index: int = index) -> None:
            if report is not None:
                report((sum(work[:index]) + work[index] * done / count) / sum(work))

        row: dict[str, Any] = {"strings": kind, "length": length, "right": 0, "failed": ""}
        row |= {"count": len(texts), "digits": None}
        if _hopeless(rows, length):
            progress(len(texts), len(texts))
        else:
            accuracy = string_accuracy(module, task, texts, progress=progress)
            failed = {place: texts[place] for place in accuracy.failures[:_FAILURES]}
            row["failed"] = " ".join(
                text if len(text) <= _READABLE else f"{_PLACE}{place}"
                for place, text in failed.items()
            )
            row |= {"right": accuracy.right, "digits": accuracy.digits}
        rows.append(row)
        if path is not None:
            write_atomic(path, json.dumps(rows))
    return rows


def _measured(path: Path) -> list[dict[str, Any]]:
    """The rows that a call that was broken off has left; a file that holds none is set aside."""
    try:
        rows = json.loads(path.read_bytes())
        if not (isinstance(rows, list) and all("right" in row for row in rows)):
            raise TypeError("no list of rows")
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, RecursionError) as error:
        aside = set_aside(path, ".broken")
        warnings.warn(
            f"{str(path)!r} cannot be read ({error}); it is now {aside.name!r}, and the tests "
            "begin anew",
            stacklevel=3,
        )
        return []
    return rows


def read_failed(failed: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The wrong strings of a row of `measure_strings`, and the places of long ones.

    Args:
        failed: the cell.

    Example:
        >>> read_failed("1+1 #17 0+1")
        (('1+1', '0+1'), (17,))
    """
    words = failed.split()
    places = [word for word in words if word.startswith(_PLACE)]
    texts = tuple(word for word in words if word not in places)
    return texts, tuple(int(word.removeprefix(_PLACE)) for word in places)


def _hopeless(rows: Sequence[Mapping[str, Any]], length: int) -> bool:
    """Whether no random string of a smaller length was right."""
    return any(
        row["strings"] == RANDOM and row["length"] < length and not row["right"] for row in rows
    )
