"""The card of a learned algorithm: what it is, how it was trained, what was measured."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchalu.evaluate import StringAccuracy, wilson

RANDOM = "random"
_MOST_FAILED, _MOST_SYMBOLS = 3, 120
_MOST = 2**63
"""Numbers are below it."""


@dataclass(frozen=True)
class Measurement:
    """How many strings of one length and kind a learned algorithm gets whole.

    Args:
        length: of the operands, or of the string, as the task counts it.
        count: strings that were tried.
        right: those with no wrong symbol.
        kind: `"random"`, or the kind of the task's adversarial strings.
        failed: some of the others.

    Raises:
        TypeError: a number is no integer, or a text no string.
        ValueError: a length below 1, `right` not in 0 to `count`, a number from 2**63 up, or a kind
            that cannot be printed.

    Example:
        >>> Measurement(20, 100, 98).interval
        (0.929..., 0.994...)
    """

    length: int
    count: int
    right: int
    kind: str = RANDOM
    failed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("length", "count", "right"):
            _check(name, getattr(self, name), (int,))
        for value in (self.kind, *self.failed):
            _check("kind or a failed string", value, (str,))
        if not self.kind.isprintable():
            raise ValueError(f"kind is {self.kind!r}; give characters that can be printed")
        if self.length < 1 or not 0 <= self.right <= self.count:
            raise ValueError(
                f"length is {self.length}, count {self.count}, right {self.right}; allowed: a "
                "length of 1 or more, and right from 0 to count"
            )

    @classmethod
    def of(
        cls, length: int, kind: str, texts: Sequence[str], result: StringAccuracy
    ) -> Measurement:
        """A result, with a few of the strings that are wrong.

        Args:
            length: of the strings, as the task counts it.
            kind: of the strings.
            texts: the strings.
            result: of `torchalu.evaluate.string_accuracy` on them.
        """
        failed = [texts[place] for place in result.failures[:_MOST_FAILED]]
        shown = tuple(text for text in failed if len(text) <= _MOST_SYMBOLS)
        return cls(length, result.count, result.right, kind, shown)

    @property
    def rate(self) -> float | None:
        """The share of strings that are right; None without any."""
        return self.right / self.count if self.count else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Wilson's 95% interval of the rate."""
        return wilson(self.right, self.count)


@dataclass(frozen=True)
class Card:
    """What is known of a learned algorithm.

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
        seeds_generalizing: those of them that are right beyond the lengths of the training.
        measured: whole strings that are right, by length and kind.

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

    def __post_init__(self) -> None:
        for name in ("task", "form", "command", "machine", "changes"):
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
        """The adversarial kinds that are not all right."""
        return tuple(
            entry for entry in self.measured if entry.kind != RANDOM and entry.right < entry.count
        )

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
            measured = tuple(
                Measurement(**{**entry, "failed": tuple(entry["failed"])}) for entry in entries
            )
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
