"""A sweep over a Ray cluster; Ray (the extra `ray`) is imported here and nowhere else."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from torchalu.sweep.meter import Meter
from torchalu.sweep.progress import Progress
from torchalu.train import Chunk, Cost, RunFolder, Study, encode

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
try:
    import ray
    from ray import exceptions
except ImportError as error:
    raise ImportError(
        f"{error.name} is not installed, and engine='ray' needs it; "
        "install the extra: pip install 'torchalu[ray]'"
    ) from error

_ATTEMPTS = 10
_CONNECT_SECONDS = 10
_LOOK_EVERY_SECONDS = 0.5


def run_ray(folder: RunFolder, workers: int | None, address: str | None, bar: Progress) -> None:
    """Carries out the chunks that a folder lacks on a Ray cluster, one core each.

    Only this process writes to the folder. A chunk whose node is lost is begun again on another.

    Args:
        folder: of the run.
        workers: the most chunks at a time; by default twice the cluster's cores are handed to Ray.
        address: of the cluster; by default one is started here, and ended afterwards.
        bar: told which chunks are done.

    Raises:
        ConnectionError: if there is no cluster at the address.
        ChildProcessError: if a chunk's process died ten times.
        Exception: the first error of a chunk, with a note that names the chunk.
    """
    with _cluster(address, workers):
        dispatcher = _Dispatcher(folder, workers, bar)
        try:
            dispatcher.dispatch()
        except BaseException:
            dispatcher.cancel()
            raise


@contextmanager
def _cluster(address: str | None, workers: int | None) -> Iterator[None]:
    """A connection to a cluster; one that was there before stays."""
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    if address is None:
        ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    else:
        _reach(address)
        ray.init(address=address, **quiet)
    try:
        yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raises if nobody listens at an address; Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not (colon and port.isdigit()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(
            f"address is {address!r}, and no Ray cluster answers there ({error}); start one with "
            "`ray start --head`, give the address that it prints, or leave the address out"
        ) from error


class _Dispatcher:
    """Hands chunks to a cluster and records what comes back."""

    def __init__(self, folder: RunFolder, workers: int | None, bar: Progress) -> None:
        self._folder, self._workers, self._bar = folder, workers, bar
        self._study = ray.put(folder.study)
        self._waiting = list(reversed(folder.todo))
        self._under_way: dict[Any, Chunk] = {}
        self._attempts: dict[str, int] = {}
        self._error: BaseException | None = None

    def dispatch(self) -> None:
        """Goes on until every chunk is recorded, or one has failed and no other is under way."""
        while self._under_way or (self._waiting and self._error is None):
            while self._waiting and self._error is None and len(self._under_way) < self._most():
                chunk = self._waiting.pop()
                self._under_way[_task.remote(self._study, chunk)] = chunk
            ready, _ = ray.wait(list(self._under_way), timeout=_LOOK_EVERY_SECONDS)
            for reference in ready:
                self._take(reference, self._under_way.pop(reference))
        if self._error is not None:
            raise self._error

    def cancel(self) -> None:
        """Ends what is under way."""
        for reference in self._under_way:
            ray.cancel(reference, force=True)

    def _most(self) -> int:
        """How many chunks may be in Ray's hands."""
        return self._workers or max(1, 2 * int(ray.cluster_resources().get("CPU", 1)))

    def _take(self, reference: Any, chunk: Chunk) -> None:
        """Records what came back, or hands the chunk out again if its node was lost."""
        try:
            files, cost = ray.get(reference)
            self._folder.write(chunk.name, files, cost)
            self._bar.update(chunk.name, 1.0)
        except exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            self._fail(cause, chunk)
        except exceptions.RayError as error:
            self._attempts[chunk.name] = self._attempts.get(chunk.name, 0) + 1
            if self._attempts[chunk.name] == _ATTEMPTS:
                lost = ChildProcessError(f"the process of a chunk died {_ATTEMPTS} times: {error}")
                self._fail(lost, chunk)
            else:
                self._waiting.append(chunk)
        except Exception as error:
            self._fail(error, chunk)

    def _fail(self, error: BaseException, chunk: Chunk) -> None:
        """Keeps the first error."""
        if self._error is None:
            error.add_note(f"(in chunk {chunk.name!r} of {self._folder.study.name})")
            self._error = error


@ray.remote(num_cpus=1, max_retries=0)
def _task(study: Study, chunk: Chunk) -> tuple[dict[str, bytes], Cost]:
    """Carries out a chunk on a node; files of bytes go back, as the driver writes them."""
    torch.set_num_threads(1)

    def report(_fraction: float) -> None:
        """The driver learns of whole chunks only."""

    with Meter().measure() as reading, tempfile.TemporaryDirectory() as scratch:
        files = encode(study.run(chunk, Path(scratch), report))
    return files, Cost.here(reading.wall_seconds, reading.core_seconds)
