"""How far a training of an algorithm is, on the standard error: a row for each length."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from torchalu.tasks import AlgorithmicTask
from torchalu.train.algorithms import AlgorithmProgress
from torchalu.train.algorithms.validation import right_by_symbols

Report = Callable[[int, AlgorithmProgress], None]


@contextmanager
def show_training(task: AlgorithmicTask, *, quiet: bool) -> Iterator[Report]:
    """Yields what a training calls with its seed and progress.

    On a terminal it keeps a table up to date; elsewhere it prints a line for each evaluation.
    Ctrl-C is heard between two steps, so that the checkpoint is that of the last one; a second
    Ctrl-C at once.

    Args:
        task: that is learned.
        quiet: show nothing.
    """
    console = Console(stderr=True)
    with _deferred_interrupt() as raise_if_interrupted:
        if quiet or not sys.stderr.isatty():
            show = _nothing if quiet else _Lines(task, console)
            yield _both(raise_if_interrupted, show)
            return
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield _both(
                raise_if_interrupted,
                lambda seed, progress: live.update(training_grid(task, seed, progress)),
            )


def training_grid(task: AlgorithmicTask, seed: int, progress: AlgorithmProgress) -> Grid:
    """The table for a terminal.

    Args:
        task: that is learned.
        seed: of the start.
        progress: of its training.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> row = {"right@41": 0.5, "digits@41": 0.98}
        >>> progress = AlgorithmProgress(200, 1000, 65.0, 0.25, row)
        >>> grid = training_grid(algorithm("badd"), 0, progress)
        >>> str(grid.title), grid.row_count
        ('badd, seed 0: step 200 of 1000, 0:01:05, loss 0.25', 1)
    """
    heading = Text(_heading(task, seed, progress))
    grid = Grid(box=box.SIMPLE_HEAD, title=heading, title_justify="left")
    for name in ("length", "symbols", "strings right", "symbols right"):
        grid.add_column(name, justify="right")
    for symbols in evaluated(progress):
        right, digits = (progress.evaluation[f"{name}@{symbols}"] for name in ("right", "digits"))
        missing = right != right
        cells = ("-", "-") if missing else (f"{right:.1%}", f"{digits:.2%}")
        grid.add_row(str(task.lengths(symbols)), str(symbols), *cells)
    return grid


def evaluated(progress: AlgorithmProgress) -> list[int]:
    """The symbols of the validation strings, in growing order.

    Example:
        >>> evaluated(AlgorithmProgress(2, 9, 0.5, 1.0, {"right@41": 0.5, "right@9": 0.5}))
        [9, 41]
    """
    return list(right_by_symbols(progress.evaluation))


class _Lines:
    """Prints a line for each evaluation."""

    def __init__(self, task: AlgorithmicTask, console: Console) -> None:
        self.task, self.console = task, console
        self.last: tuple[int, int, float] | None = None

    def __call__(self, seed: int, progress: AlgorithmProgress) -> None:
        if not progress.evaluation:
            return
        seen = seed, progress.attempt, progress.evaluation["step"]
        if seen == self.last:
            return
        self.last = seen
        rates = "  ".join(
            f"{self.task.lengths(symbols)}: {_percent(progress.evaluation[f'right@{symbols}'])}"
            for symbols in evaluated(progress)
        )
        line = f"{_heading(self.task, seed, progress)}; strings right by length  {rates}"
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _heading(task: AlgorithmicTask, seed: int, progress: AlgorithmProgress) -> str:
    """Where a training is, in a line."""
    minutes, seconds = divmod(int(progress.seconds), 60)
    clock = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    attempt = f", attempt {progress.attempt + 1}" if progress.attempt else ""
    return (
        f"{task.name}, seed {seed}{attempt}: step {progress.step} of {progress.steps}, {clock}, "
        f"loss {progress.loss:.3g}"
    )


def _percent(share: float) -> str:
    """A share, or a dash where it was not measured."""
    return "-" if share != share else f"{share:.1%}"


def _nothing(_seed: int, _progress: AlgorithmProgress) -> None:
    """Shows nothing."""


def _both(first: Callable[[], None], second: Report) -> Report:
    """A report that does two things."""

    def report(seed: int, progress: AlgorithmProgress) -> None:
        first()
        second(seed, progress)

    return report


@contextmanager
def _deferred_interrupt() -> Iterator[Callable[[], None]]:
    """Within it Ctrl-C waits for the next call of what is yielded; the second one does not."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    interrupted = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def note(_number: int, _frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    def raise_if_interrupted() -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_interrupted
    finally:
        signal.signal(signal.SIGINT, before)
