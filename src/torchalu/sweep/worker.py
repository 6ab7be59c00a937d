"""A process of its own for the chunks of one thread of a local sweep."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle
import torch

from torchalu.train import Chunk, Report, Spent, Stopped, Study, encode

_LOOK_EVERY_SECONDS = 0.1
_PROGRAM = "import sys; from torchalu.sweep.worker import serve; serve(int(sys.argv[1]))"
_MEMORY = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864"
    ":glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296"
}
"""Has the C library keep memory that is freed, in large pages: else each step of a training gets
its activations anew from the system, page by page, which takes up to a fifth of its time."""


class RemoteTraceback(Exception):
    """Where an error came from in a worker, as text; the cause of the error that is raised here."""


class Worker:
    """A process that carries out chunks, one after the other, on one core.

    What is done in Python holds its interpreter's lock, so that threads of one process take turns;
    processes do not. It ends with the process that made it, however that ends.

    Args:
        study: of the chunks; a copy is sent.

    Raises:
        TypeError: the study cannot be sent.
    """

    def __init__(self, study: Study) -> None:
        packed = cloudpickle.dumps(study)  # before there is a process that would be left behind
        self._ours, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno())],
                stdin=subprocess.PIPE,  # nothing is written; it is closed when this process ends
                pass_fds=[theirs.fileno()],
                env=_MEMORY | os.environ,
                start_new_session=True,  # Ctrl-C is for this process, which stops the other
            )
        _send(self._ours, sys.path)
        self._ours.send_bytes(packed)

    def carry_out(
        self, chunk: Chunk, scratch: Path, report: Report, spent: Callable[[Spent], None]
    ) -> dict[str, bytes]:
        """The files of a chunk.

        Args:
            chunk: of the study.
            scratch: its folder for checkpoints.
            report: takes the fraction that is done, ten times a second. If it raises, the chunk is
                stopped before the error goes on.
            spent: takes what this start of the chunk has taken so far.

        Raises:
            ChildProcessError: the process ended.
            Exception: what the chunk raised, or `report`.
        """
        fraction, stopped = 0.0, None
        try:
            _send(self._ours, (chunk, scratch))
            while True:
                if self._ours.poll(_LOOK_EVERY_SECONDS):
                    kind, value, seconds = _receive(self._ours)
                    spent(Spent(*seconds))
                    if kind == "ended":
                        return value
                    if kind == "failed":
                        raise stopped or value[0] from RemoteTraceback(value[1])
                    fraction = value
                if stopped is None:
                    try:
                        report(fraction)
                    except BaseException as error:
                        stopped = error
                        self._ours.send(None)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise ChildProcessError(
                f"the process of a chunk ended with status {self._process.wait()}; if memory was "
                "short, give fewer workers; the same command goes on"
            ) from stopped

    def close(self) -> None:
        """End the process."""
        self._ours.close()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class _Reporter:
    """What a chunk reports to, in its process."""

    def __init__(self, connection: Connection, chunk: Chunk) -> None:
        self._connection, self._chunk = connection, chunk
        self._begin = time.perf_counter(), time.process_time()
        self._last = -1.0

    def __call__(self, fraction: float) -> None:
        if self._connection.poll():
            self._connection.recv()
            raise Stopped(self._chunk.name)
        if time.monotonic() - self._last > _LOOK_EVERY_SECONDS:
            self._last = time.monotonic()
            self.send("at", fraction)

    def send(self, kind: str, value: Any) -> None:
        """A message, with what the chunk has taken."""
        wall, core = self._begin
        seconds = time.perf_counter() - wall, time.process_time() - core
        _send(self._connection, (kind, value, seconds))


def serve(descriptor: int) -> None:
    """Carry out what comes through a connection, until it is closed: all that a worker does.

    Args:
        descriptor: of the connection.
    """
    connection = Connection(descriptor)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    sys.path[:] = _receive(connection)
    packed, study = connection.recv_bytes(), None
    while True:
        try:
            chunk, scratch = _receive(connection)
        except EOFError:
            return
        report = _Reporter(connection, chunk)
        try:
            if study is None:
                study = cloudpickle.loads(packed)
            report.send("ended", encode(study.run(chunk, scratch, report)))
        except BaseException as error:
            report.send("failed", (_portable(error), traceback.format_exc()))


def _send(connection: Connection, value: Any) -> None:
    connection.send_bytes(cloudpickle.dumps(value))


def _receive(connection: Connection) -> Any:
    return cloudpickle.loads(connection.recv_bytes())


def _portable(error: BaseException) -> BaseException:
    """The error, or one of the same words where it cannot be sent."""
    try:
        return cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """Wait until the standard input is closed.

    A thread that reads `sys.stdin` holds its lock, and the interpreter aborts where it ends first.
    """
    while os.read(0, 1024):
        pass
    os._exit(1)
