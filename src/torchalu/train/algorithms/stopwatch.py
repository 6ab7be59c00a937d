"""The time that a training takes."""

from __future__ import annotations

import time

from torchalu.train.hooks import Hook


class Stopwatch(Hook):
    """Records the seconds that a training has taken, breaks between its parts left out.

    Attributes:
        seconds: so far.

    Example:
        >>> watch = Stopwatch()
        >>> watch.load_state({"seconds": 60.0})
        >>> watch.columns()["seconds"] >= 60.0
        True
    """

    kept = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 0.0

    @property
    def seconds(self) -> float:
        """Those before the last break, and those since."""
        return self._before + time.monotonic() - self._started

    @seconds.setter
    def seconds(self, seconds: float) -> None:
        self._before, self._started = seconds, time.monotonic()

    def columns(self) -> dict[str, float]:
        """The seconds."""
        return {"seconds": self.seconds}
