"""The one call that carries out a study."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

from torchalu.arguments import check_positive_integers
from torchalu.sweep.local import run_local
from torchalu.sweep.progress import Progress
from torchalu.train import RunFolder, Study, cores

Engine: TypeAlias = Callable[[RunFolder, Progress], None]


def run(
    study: Study,
    folder: str | Path,
    *,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    address: str | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Carries out what a run folder lacks of a study.

    A part of the study that is in the folder is not done again. The folder may be left at any
    moment, by Ctrl-C, by a killed process, by a full disk: the next call goes on, and ends with
    the same records, bit for bit, as a run without a break. Each engine gives the same records.

    Args:
        study: what to carry out.
        folder: the run folder; it is created if it is not there.
        engine: "local" uses this machine's cores, "ray" a Ray cluster (extra `ray`).
        workers: chunks at a time, one core each; by default as many as there are cores.
        address: of the Ray cluster, such as "auto" or "host:6379"; by default one is started on
            this machine, and ended afterwards.
        progress: show a bar, if the standard error is a terminal.

    Returns:
        The outcomes of all parts, in the order of the study's chunks.

    Raises:
        TypeError: workers that are no integer.
        ValueError: an unknown engine, workers that are not positive, an address without Ray, or a
            folder that holds something else.
        BlockingIOError: if another process is at work on the folder.
        OSError: if the folder cannot be read or written.
        ImportError: for the engine "ray", if Ray is not installed.
        KeyboardInterrupt: on Ctrl-C, once the chunks under way have stopped; a second Ctrl-C does
            not wait for them.
        Exception: the first error of a chunk, with a note that names the chunk, once the others
            under way have ended and are recorded.

    Example:
        >>> import tempfile
        >>> from torchalu.train import Chunk, Part
        >>> class Squares:
        ...     name, configuration, keys = "squares", {"numbers": 3}, ("seed",)
        ...     def chunks(self):
        ...         return [Chunk(f"number-{k}") for k in range(3)]
        ...     def run(self, chunk, scratch, report):
        ...         k = int(chunk.name[7:])
        ...         return Part(pl.DataFrame(), pl.DataFrame({"seed": [k], "square": [k * k]}))
        ...     def summarize(self, outcomes):
        ...         return {"squares": outcomes}
        >>> with tempfile.TemporaryDirectory() as path:
        ...     run(Squares(), path)["square"].to_list()
        [0, 1, 4]
    """
    chosen = choose_engine(engine, workers, address)
    with RunFolder(folder, study) as held:
        return complete(held, chosen, progress=progress)


def choose_engine(
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    address: str | None = None,
) -> Engine:
    """What `complete` carries out chunks with.

    Args:
        engine: as for `run`, like the others.
        workers: chunks at a time.
        address: of the Ray cluster.

    Raises:
        TypeError: workers that are no integer.
        ValueError: an unknown engine, workers that are not positive, an address without Ray.
        ImportError: for the engine "ray", if Ray is not installed.

    Example:
        >>> choose_engine("local", workers=0)
        Traceback (most recent call last):
        ValueError: workers is 0; give a positive integer
    """
    if workers is not None:
        check_positive_integers(workers=workers)
    if engine not in ("local", "ray"):
        raise ValueError(f"engine is {engine!r}; allowed: 'local', 'ray'")
    if address is not None and engine != "ray":
        raise ValueError(f"address is {address!r}, but engine is {engine!r}; give engine='ray'")
    if engine == "local":
        return lambda folder, bar: run_local(folder, workers or cores(), bar)
    from torchalu.sweep.ray import run_ray

    return lambda folder, bar: run_ray(folder, workers, address, bar)


def complete(folder: RunFolder, engine: Engine, *, progress: bool = False) -> pl.DataFrame:
    """Does what `run` does, in a run folder that is open already and stays open.

    Args:
        folder: with the study that it holds results of.
        engine: from `choose_engine`.
        progress: show a bar, if the standard error is a terminal.

    Returns:
        The outcomes of all parts, in the order of the study's chunks.

    Raises:
        KeyboardInterrupt: as for `run`, like the others.
        OSError: if the folder cannot be written.
        Exception: the first error of a chunk.
    """
    if folder.todo:
        begin = time.perf_counter()
        try:
            with Progress(folder, progress) as bar:
                engine(folder, bar)
        finally:
            with suppress(OSError):  # a full disk: what is recorded matters more
                folder.note_end(time.perf_counter() - begin)
    return folder.outcomes()
