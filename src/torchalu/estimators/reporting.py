"""What the estimator is doing, on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def stage_reporter(show: bool) -> Iterator[Callable[[str], None]]:
    """Yields a function that shows the name of the step under way on the standard error."""
    if not show:
        yield lambda _name: None
        return
    with Console(stderr=True).status("looking for formulas") as status:
        yield lambda name: status.update(f"looking for formulas: {name}")
