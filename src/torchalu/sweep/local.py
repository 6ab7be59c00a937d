"""A sweep on the cores of this machine: a thread a core, or a process."""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from contextlib import closing, nullcontext, suppress

import torch

from torchalu.sweep.meter import Meter, Reading
from torchalu.sweep.progress import Progress
from torchalu.sweep.worker import Worker
from torchalu.train import Chunk, Cost, RunFolder, Spent, Stopped, encode

_LOOK_EVERY_SECONDS = 0.1
_NOTE_EVERY_SECONDS = 10.0
_INTERRUPTED = 130


def run_local(folder: RunFolder, workers: int, bar: Progress) -> None:
    """Carries out the chunks that a folder lacks, `workers` at a time.

    Args:
        folder: of the run.
        workers: how many threads; each has a process of its own, if there are several and the
            study spends its time in Python.
        bar: told how far each chunk is.

    Raises:
        KeyboardInterrupt: on Ctrl-C, once all chunks have stopped; at once on a second one.
        Exception: the first error of a chunk, with a note that names the chunk.
    """
    crew = _Crew(folder, bar)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        crew.begin(min(workers, len(folder.todo)))
        crew.wait()
    except BaseException:
        crew.stop.set()
        atexit.register(crew.leave)
        crew.wait()
        raise
    finally:
        torch.set_num_threads(before)
    if crew.error is not None:
        raise crew.error


class _Crew:
    """Threads that take chunks from one queue until it is empty, one fails, or all are to stop."""

    def __init__(self, folder: RunFolder, bar: Progress) -> None:
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self._folder, self._bar = folder, bar
        self._meter = Meter()
        self._queue: queue.SimpleQueue[Chunk] = queue.SimpleQueue()
        self._ended: list[threading.Event] = []
        self._apart = False
        for chunk in folder.todo:
            self._queue.put(chunk)

    def begin(self, count: int) -> None:
        """Starts so many threads, which do not keep the process from ending."""
        self._apart = count > 1 and getattr(self._folder.study, "interpreted", False)
        for _ in range(count):
            ended = threading.Event()
            threading.Thread(target=self._work, args=(ended,), daemon=True).start()
            self._ended.append(ended)

    def wait(self) -> None:
        """Waits for the threads; Ctrl-C breaks it off, and does not break a second call."""
        for ended in self._ended:
            while not ended.wait(_LOOK_EVERY_SECONDS):
                pass

    def leave(self) -> None:
        """Ends the process at once if a thread is still in native code, which Python cannot end."""
        if not all(ended.is_set() for ended in self._ended):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(_INTERRUPTED)

    def _work(self, ended: threading.Event) -> None:
        """What a thread does."""
        try:
            self._empty_queue()
        finally:
            ended.set()

    def _empty_queue(self) -> None:
        """Carries out one chunk after the other."""
        try:
            worker = Worker(self._folder.study) if self._apart else None
        except Exception as error:
            error.add_note("(the study could not be sent to a process; one worker needs none)")
            self.error = self.error or error
            return
        with nullcontext() if worker is None else closing(worker):
            self._take_chunks(worker)

    def _take_chunks(self, worker: Worker | None) -> None:
        """Carries them out, here or in a process."""
        while not self.stop.is_set() and self.error is None:
            try:
                chunk = self._queue.get_nowait()
            except queue.Empty:
                return
            try:
                self._carry_out(chunk, worker)
            except BaseException as error:
                if self.stop.is_set() and isinstance(error, Stopped | KeyboardInterrupt):
                    return
                if self.error is None:
                    error.add_note(f"(in chunk {chunk.name!r} of {self._folder.study.name})")
                    self.error = error
                return

    def _carry_out(self, chunk: Chunk, worker: Worker | None) -> None:
        """Does a chunk, and records it."""
        earlier, scratch = self._folder.spent(chunk.name), self._folder.scratch(chunk.name)
        noted = time.monotonic()

        def report(fraction: float) -> None:
            nonlocal noted
            if self.stop.is_set():
                raise Stopped(chunk.name)
            self._bar.update(chunk.name, fraction)
            if time.monotonic() - noted > _NOTE_EVERY_SECONDS:
                noted = time.monotonic()
                self._meter.update()
                with suppress(OSError):  # a full disk: the result may yet find room
                    self._folder.note_spent(chunk.name, _total(earlier, reading))

        with self._meter.measure() if worker is None else nullcontext(Reading()) as reading:
            try:
                if worker is None:
                    files = encode(self._folder.study.run(chunk, scratch, report))
                else:
                    files = worker.carry_out(chunk, scratch, report, reading.take)
            except BaseException:
                self._meter.update()
                with suppress(OSError):
                    self._folder.note_spent(chunk.name, _total(earlier, reading))
                raise
        spent = _total(earlier, reading)
        cost = Cost.here(spent.wall_seconds, spent.core_seconds)
        self._folder.write(chunk.name, files, cost)
        self._bar.update(chunk.name, 1.0)


def _total(earlier: Spent, reading: Reading) -> Spent:
    """What a chunk has taken, with its earlier starts."""
    return Spent(
        earlier.wall_seconds + reading.wall_seconds, earlier.core_seconds + reading.core_seconds
    )
