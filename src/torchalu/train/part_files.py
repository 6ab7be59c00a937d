"""A part of a study as the bytes of its files, and back: the same part gives the same bytes."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl
import safetensors.torch

from torchalu.engine import instruction_set
from torchalu.train.files import write_atomic
from torchalu.train.machine import processor
from torchalu.train.study import Part

RECORDS, OUTCOMES, WEIGHTS, MARKER = ".parquet", ".outcomes.parquet", ".safetensors", ".json"
SUFFIXES = (RECORDS, OUTCOMES, WEIGHTS)

_NOT_NOTED = "unknown"
"""The instruction set of a part whose marker is from before it was noted."""

_PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.EACCES, errno.EPERM)
"""What keeps a sound file from being read."""


@dataclass(frozen=True)
class Cost:
    """What a chunk took.

    Attributes:
        wall_seconds: from its beginning to its end, with what `Spent` says of earlier starts.
        core_seconds: of processor time, in all its threads.
        host: the machine that did it.
        processor: and what that machine computes with.
        instruction_set: of the native trainer; on another, the last bits of results may differ.

    Example:
        >>> Cost.here(1.5, 1.25).core_seconds
        1.25
    """

    wall_seconds: float
    core_seconds: float
    host: str
    processor: str
    instruction_set: str

    @classmethod
    def here(cls, wall_seconds: float, core_seconds: float) -> Self:
        """What a chunk took on this machine.

        Args:
            wall_seconds: from its beginning to its end.
            core_seconds: of processor time.
        """
        seconds = (round(wall_seconds, 3), round(core_seconds, 3))
        return cls(*seconds, platform.node(), processor(), instruction_set())


class CorruptPart(ValueError):
    """The files of a part are not what was written."""


def encode(part: Part) -> dict[str, bytes]:
    """The content of a part's files, by suffix.

    Args:
        part: what a chunk gave.

    Returns:
        Parquet for records and outcomes, safetensors for the weights.

    Example:
        >>> part = Part(pl.DataFrame({"step": [0]}), pl.DataFrame({"seed": [0]}))
        >>> sorted(encode(part)), encode(part) == encode(part)
        (['.outcomes.parquet', '.parquet', '.safetensors'], True)
    """
    weights = {
        name: tensor.detach().cpu().clone().contiguous() for name, tensor in part.weights.items()
    }
    return {
        RECORDS: _parquet(part.records),
        OUTCOMES: _parquet(part.outcomes),
        WEIGHTS: safetensors.torch.save(weights),
    }


def write_part(folder: Path, chunk: str, files: Mapping[str, bytes], cost: Cost) -> None:
    """Writes the files of a part, and last of all the marker that says it is whole.

    Args:
        folder: where to.
        chunk: the name of the chunk, with which the files' names begin.
        files: what `encode` gave.
        cost: what it took.

    Raises:
        OSError: if a file cannot be written; then there is no marker.
    """
    for suffix in SUFFIXES:
        write_atomic(folder / f"{chunk}{suffix}", files[suffix])
    sums = {suffix: _sum(files[suffix]) for suffix in SUFFIXES}
    marker = {"chunk": chunk, "files": sums, **asdict(cost)}
    write_atomic(folder / f"{chunk}{MARKER}", json.dumps(marker, indent=1) + "\n")


def read_part(folder: Path, chunk: str) -> tuple[pl.DataFrame, Cost]:
    """The outcomes and the cost of a part, after a check of all its files.

    Args:
        folder: where the files are.
        chunk: the name of the chunk.

    Raises:
        CorruptPart: if a file is missing, cannot be read, or is not what was written.
        OSError: if that is no fault of the file: too many are open, memory is short, or it may not
            be read.
    """
    try:
        marker = json.loads((folder / f"{chunk}{MARKER}").read_bytes())
        cost = _cost(marker)
        if marker["chunk"] != chunk:
            raise CorruptPart(f"{chunk}{MARKER} is that of {marker['chunk']}")
        for suffix in SUFFIXES:
            name = f"{chunk}{suffix}"
            found = _sum((folder / name).read_bytes())
            if found != marker["files"][suffix]:
                raise CorruptPart(f"{name} is not what was written")
        return pl.read_parquet(folder / f"{chunk}{OUTCOMES}"), cost
    except FileNotFoundError as error:
        raise CorruptPart(f"{Path(error.filename).name} is missing") from error
    except OSError as error:
        if error.errno in _PASSING:
            raise
        raise CorruptPart(f"{error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, CorruptPart):
            raise
        raise CorruptPart(f"{chunk}{MARKER} cannot be read") from error


def _parquet(frame: pl.DataFrame) -> bytes:
    """A table as Parquet; how its memory is divided leaves no trace."""
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(buffer, compression="zstd", compression_level=3)
    return buffer.getvalue()


def _sum(data: bytes) -> dict[str, Any]:
    """What a file is recognized by."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _cost(marker: Any) -> Cost:
    """The cost that a marker names."""
    return Cost(
        float(marker["wall_seconds"]),
        float(marker["core_seconds"]),
        str(marker["host"]),
        str(marker["processor"]),
        str(marker.get("instruction_set", _NOT_NOTED)),
    )
