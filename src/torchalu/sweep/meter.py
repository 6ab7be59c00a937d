"""How much processor time each of several chunks takes in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torchalu.train import Spent


@dataclass
class Reading:
    """What one chunk has taken; complete once its `measure` has ended."""

    wall_seconds: float = 0.0
    core_seconds: float = 0.0
    begin: float = field(default_factory=time.perf_counter)

    def take(self, spent: Spent) -> None:
        """Set it to what another process says."""
        self.wall_seconds, self.core_seconds = spent


class Meter:
    """Divides this process's time on processors equally among the chunks under way.

    A chunk may compute in threads of its own, whose time no thread's clock shows; the process's
    clock shows it all, so that the sum over the chunks is what the sweep really took.

    Example:
        >>> meter = Meter()
        >>> with meter.measure() as reading:
        ...     _ = sum(range(100_000))
        >>> reading.core_seconds > 0
        True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: list[Reading] = []
        self._last = time.process_time()

    @contextmanager
    def measure(self) -> Iterator[Reading]:
        """Yields a reading, which is filled by the end."""
        reading = Reading()
        with self._lock:
            self._divide()
            self._under_way.append(reading)
        try:
            yield reading
        finally:
            with self._lock:
                self._divide()
                self._under_way = [other for other in self._under_way if other is not reading]

    def update(self) -> None:
        """Brings the readings of all chunks under way up to now."""
        with self._lock:
            self._divide()

    def _divide(self) -> None:
        """Gives each chunk under way its share of the time since the last call."""
        now = time.process_time()
        for reading in self._under_way:
            reading.core_seconds += (now - self._last) / len(self._under_way)
            reading.wall_seconds = time.perf_counter() - reading.begin
        self._last = now
