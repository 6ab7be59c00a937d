"""The card of a learned algorithm: what it is, how it was trained, what was measured."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchalu.evaluate import StringAccuracy, wilson
from torchalu.tasks.table_names import printable

RANDOM = "random"
_MOST_FAILED, _MOST_SYMBOLS = 3, 120
_MOST = 2**63
"""Numbers are below it."""
_LISTS = ("failed", "failed_at", "drawn_by")


@dataclass(frozen=True)
class Measurement:
    """How many strings of one length and kind a learned algorithm gets whole.

    Args:
        length: of the operands, or of the string, as the task counts it.
        count: strings that were tried.
        right: those with no wrong symbol.
        kind: `"random"`, or the kind of the task's adversarial strings.
        failed: some of the others, if they are short.
        failed_at: the places of those that are long, among all of this length and kind.
        drawn_by: numbers that seed the generator of random strings; none if it is not known.

    Raises:
        TypeError: a number is no integer, or a text no string.
        ValueError: a length below 1, `right` not in 0 to `count`, a place not below it, a number
            from 2**63 up, a negative one in `drawn_by`, or a kind that cannot be printed.

    Example:
        >>> Measurement(20, 100, 98).interval
        (0.929..., 0.994...)
    """

    length: int
    count: int
    right: int
    kind: str = RANDOM
    failed: tuple[str, ...] = ()
    failed_at: tuple[int, ...] = ()
    drawn_by: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("length", "count", "right"):
            _check(name, getattr(self, name), (int,))
        for value in (*self.failed_at, *self.drawn_by):
            _check("a number of failed_at or drawn_by", value, (int,))
        for value in (self.kind, *self.failed):
            _check("kind or a failed string", value, (str,))
        if not self.kind.isprintable():
            raise ValueError(f"kind is {self.kind!r}; give characters that can be printed")
        if self.length < 1 or not 0 <= self.right <= self.count:
            raise ValueError(
                f"length is {self.length}, count {self.count}, right {self.right}; allowed: a "
                "length of 1 or more, and right from 0 to count"
            )
        if any(number < 0 for number in self.drawn_by):
            raise ValueError(f"drawn_by is {self.drawn_by}; allowed: numbers of 0 or more")
        if not all(0 <= place < self.count for place in self.failed_at):
            raise ValueError(
                f"failed_at is {self.failed_at} and count {self.count}; allowed: places from 0, "
                "below the count"
            )

    @classmethod
    def of(
        cls,
        length: int,
        kind: str,
        texts: Sequence[str],
        result: StringAccuracy,
        drawn_by: tuple[int, ...] = (),
    ) -> Measurement:
        """A result, with a few of the strings that are wrong.

        Args:
            length: of the strings, as the task counts it.
            kind: of the strings.
            texts: the strings.
            result: of `torchalu.evaluate.string_accuracy` on them.
            drawn_by: numbers that seed the generator of random strings.
        """
        wrong = result.failures[:_MOST_FAILED]
        short = [place for place in wrong if len(texts[place]) <= _MOST_SYMBOLS]
        return cls(
            length,
            result.count,
            result.right,
            kind,
            failed=tuple(texts[place] for place in short),
            failed_at=tuple(place for place in wrong if place not in short),
            drawn_by=drawn_by,
        )

    @property
    def names_failures(self) -> bool:
        """Whether it says which strings went wrong, those that it keeps of them."""
        known = len(self.failed) + len(self.failed_at)
        return known >= min(self.count - self.right, _MOST_FAILED)

    @property
    def rate(self) -> float | None:
        """The share of strings that are right; None without any."""
        return self.right / self.count if self.count else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Wilson's 95% interval of the rate."""
        return wilson(self.right, self.count)

    def __str__(self) -> str:
        """A line of it.

        Example:
            >>> print(Measurement(20, 4, 3, "carry", ("11+10",)))
            length 20, carry: 3 of 4 right; wrong: '11+10'
        """
        line = f"length {self.length}, {self.kind}: {self.right} of {self.count} right"
        wrong = [*map(repr, self.failed), *(f"number {place}" for place in self.failed_at)]
        return f"{line}; wrong: {', '.join(wrong)}" if wrong else line


@dataclass(frozen=True)
class Card:
    """What is known of a learned algorithm; printed, it says what was counted before a change.

    Args:
        task: what it has learned.
        form: the class of its module.
        configuration: that the module is built with.
        command: that trained it.
        seed: of the training.
        steps: of the training up to these weights.
        seconds: that the training took.
        machine: that it took them on.
        changes: to the network after its training.
        seeds_tried: starts that were trained, this one among them.
        seeds_generalizing: those of them that are right beyond the lengths of the training, each
            as it was trained, before any of the `changes`.
        measured: whole strings that are right, by length and kind, after the `changes`.
        generalizing: what those seeds are right on, such as `"all validation strings"`.

    Raises:
        TypeError: a value is of another type.
        ValueError: more seeds generalize than were tried, or a number is from 2**63 up.

    Example:
        >>> card = Card("badd", "DiagonalNeuralGPU", {"maps": 48}, seed=3, steps=2000)
        >>> Card.from_json(card.to_json()) == card
        True
    """

    task: str
    form: str
    configuration: Mapping[str, Any]
    command: str = ""
    seed: int | None = None
    steps: int | None = None
    seconds: float | None = None
    machine: str = ""
    changes: str = ""
    seeds_tried: int = 0
    seeds_generalizing: int = 0
    measured: tuple[Measurement, ...] = field(default=())
    generalizing: str = ""

    def __post_init__(self) -> None:
        for name in ("task", "form", "command", "machine", "changes", "generalizing"):
            _check(name, getattr(self, name), (str,))
        _check("configuration", self.configuration, (Mapping,))
        for name in ("seeds_tried", "seeds_generalizing"):
            _check(name, getattr(self, name), (int,))
        for name in ("seed", "steps"):
            _check(name, getattr(self, name), (int, type(None)))
        _check("seconds", self.seconds, (int, float, type(None)))
        for entry in self.measured:
            _check("an entry of measured", entry, (Measurement,))
        if not 0 <= self.seeds_generalizing <= self.seeds_tried:
            raise ValueError(
                f"seeds_generalizing is {self.seeds_generalizing} of seeds_tried = "
                f"{self.seeds_tried}; give 0 to {self.seeds_tried}"
            )

    @property
    def accuracy(self) -> tuple[Measurement, ...]:
        """What was measured on random strings."""
        return tuple(entry for entry in self.measured if entry.kind == RANDOM)

    @property
    def failures(self) -> tuple[Measurement, ...]:
        """The lengths and kinds of strings, random ones included, that are not all right."""
        return tuple(entry for entry in self.measured if entry.right < entry.count)

    def __str__(self) -> str:
        r"""The card for people, a line each for training, seeds, changes and measurements.

        A character that cannot be printed, as a terminal's commands in a file from others, is shown
        as Python escapes it.

        Example:
            >>> measured = (Measurement(20, 1000, 1000),)
            >>> print(Card("bmul", "DiagonalNeuralGPU", {}, "", 0, 2000, changes="sharpened",
            ...            seeds_tried=1, measured=measured))
            bmul, DiagonalNeuralGPU
            training: seed 0, step 2000
            seeds: 0 of 1 right on all strings that they were tried on then, before the changes
            changes: sharpened
            measured after them:
              length 20, random: 1000 of 1000 right
        """
        before, after = (", before the changes", " after them") if self.changes else ("", "")
        lines = [f"{self.task}, {self.form}"]
        if self.seed is not None:
            lines.append(f"training: seed {self.seed}, step {self.steps}")
        if self.seconds is not None:
            lines[-1] += f", {self.seconds:.0f} seconds{f' on {self.machine}' * bool(self.machine)}"
        if self.command:
            lines.append(f"command: {self.command}")
        if self.seeds_tried:
            on = self.generalizing or "all strings that they were tried on then"
            count = f"{self.seeds_generalizing} of {self.seeds_tried}"
            lines.append(f"seeds: {count} right on {on}{before}")
        if self.changes:
            lines.append(f"changes: {self.changes}")
        if self.measured:
            lines.append(f"measured{after}:")
        return "\n".join(map(printable, [*lines, *(f"  {entry}" for entry in self.measured)]))

    def to_json(self) -> str:
        """The card as JSON; rates and intervals stand in it for the reader."""
        card = dataclasses.asdict(self)
        for entry, measured in zip(card["measured"], self.measured, strict=True):
            entry |= {"rate": measured.rate, "interval": measured.interval}
        return json.dumps(card, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Card:
        """The card that `to_json` wrote.

        Args:
            text: JSON.

        Raises:
            ValueError: it is no card; the message says what is wrong.
        """
        try:
            card = json.loads(text)
            entries = [
                {name: value for name, value in entry.items() if name not in ("rate", "interval")}
                for entry in card.pop("measured")
            ]
            for entry in entries:
                entry |= {name: tuple(entry[name]) for name in _LISTS if name in entry}
            measured = tuple(Measurement(**entry) for entry in entries)
            return cls(**card, measured=measured)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"no card of a learned algorithm ({error})") from error


def _check(name: str, value: Any, types: tuple[type, ...]) -> None:
    """Raises where a value is of none of the types, or too large; a truth value is no number."""
    if not isinstance(value, types) or isinstance(value, bool):
        allowed = " or ".join(kind.__name__ for kind in types)
        raise TypeError(f"{name} is {value!r}; give {allowed.replace('NoneType', 'None')}")
    if isinstance(value, int | float) and not abs(value) < _MOST:
        raise ValueError(f"{name} is not between -2**63 and 2**63; give a smaller number")
