"""A progress bar for work that runs in another thread."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def watch(show: bool, total: int, label: str = "training") -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of steps done so far.

    It draws a bar on the standard error if `show` is set and that is a terminal.
    """
    if not (show and sys.stderr.isatty()):
        yield lambda _done: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=max(total, 1))
        yield lambda done: bar.update(task, completed=done)
