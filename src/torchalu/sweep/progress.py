"""A bar over the work of a sweep."""

from __future__ import annotations

import contextlib
import sys
import threading
from types import TracebackType

from rich import progress as rich_progress
from rich.console import Console

from torchalu.train import RunFolder

_SPEED_OVER_SECONDS = 1800


class Progress(contextlib.AbstractContextManager["Progress"]):
    """Shows how much of a study's work is done; chunks in several threads may tell it.

    Args:
        folder: of the run.
        show: draw a bar on the standard error, if that is a terminal.
    """

    def __init__(self, folder: RunFolder, show: bool) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        chunks = folder.study.chunks()
        self._work = {chunk.name: chunk.work for chunk in chunks}
        self._fractions = dict.fromkeys(folder.done, 1.0)
        self._bar = None
        if show and sys.stderr.isatty():
            self._bar = rich_progress.Progress(
                rich_progress.TextColumn("{task.description}"),
                rich_progress.BarColumn(),
                rich_progress.TextColumn("{task.percentage:>5.1f}%"),
                rich_progress.TextColumn("{task.fields[counts]}"),
                rich_progress.TimeElapsedColumn(),
                rich_progress.TextColumn("left:"),
                rich_progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=_SPEED_OVER_SECONDS,
            )
            self._task = self._bar.add_task(
                folder.study.name,
                total=sum(self._work.values()) or 1,
                counts=self._counts(),
            )
            self._bar.update(self._task, completed=self._done())

    def update(self, chunk: str, fraction: float) -> None:
        """Takes note of how much of a chunk is done, from 0 to 1."""
        with self._lock:
            self._fractions[chunk] = fraction
            if self._bar is not None:
                self._bar.update(self._task, completed=self._done(), counts=self._counts())

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _done(self) -> float:
        """The work that is done."""
        return sum(self._work[name] * part for name, part in self._fractions.items())

    def _counts(self) -> str:
        """What is done, in numbers that a reader can check against the study."""
        return f"{len(self._folder.done)}/{len(self._work)} chunks, {self._folder.runs} runs"
