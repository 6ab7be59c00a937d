"""IDX files, the format in which MNIST was published."""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

_UNSIGNED_BYTE = 8
_LARGEST = 1 << 28  # bytes; the largest file of MNIST has 47,040,016


class DataError(ValueError):
    """A data set that is there and cannot be used."""


def read_idx(path: Path, md5: str | None = None) -> UInt8[np.ndarray, "..."]:
    """Read an IDX file of unsigned bytes, packed with gzip or not.

    Args:
        path: the file; one that ends in `.gz` is unpacked.
        md5: what the unpacked bytes must have as md5; not checked if left out.

    Raises:
        OSError: the file cannot be read.
        DataError: the file is no IDX file of unsigned bytes, is not complete, or its md5 is
            another one.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "labels"
        ...     _ = path.write_bytes(idx_bytes(np.array([7, 2], np.uint8)))
        ...     read_idx(path)
        array([7, 2], dtype=uint8)
    """
    data = _content(path)
    found = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if md5 is not None and found != md5:
        raise DataError(
            f"{str(path)!r} has md5 {found} where the published file has {md5} "
            f"({len(data)} bytes{_shape_of(data)}); it is damaged or another data set: remove it "
            "and get the file again"
        )
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] != _UNSIGNED_BYTE:
        raise DataError(
            f"{str(path)!r} begins with {data[:4].hex(' ')!r}; an IDX file of bytes begins with "
            "'00 00 08' and the number of dimensions"
        )
    shape, start = _shape(data), 4 + 4 * data[3]
    if len(data) < start or len(data) - start != math.prod(shape):
        raise DataError(
            f"{str(path)!r} says that it holds {shape}, which takes {math.prod(shape) + start} "
            f"bytes, and has {len(data)}; it is not complete: get the file again"
        )
    return np.frombuffer(bytearray(data[start:]), np.uint8).reshape(shape)


def idx_bytes(values: UInt8[np.ndarray, "..."]) -> bytes:
    """An array of bytes as the content of an IDX file.

    Args:
        values: at most 255 dimensions.

    Example:
        >>> idx_bytes(np.array([7, 2], np.uint8)).hex(" ", 4)
        '0000 08010000 00020702'
    """
    head = bytes([0, 0, _UNSIGNED_BYTE, values.ndim])
    sizes = b"".join(size.to_bytes(4, "big") for size in values.shape)
    return head + sizes + values.astype(np.uint8, casting="no").tobytes()


def _content(path: Path) -> bytes:
    """What the file holds, unpacked."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            data = file.read(_LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{str(path)!r} is no complete gzip file: {error}; remove it and get it again"
        ) from None
    if len(data) > _LARGEST:
        raise DataError(f"{str(path)!r} unpacks to more than {_LARGEST} bytes; it is no such data")
    return data


def _shape(data: bytes) -> tuple[int, ...]:
    """The sizes in the head of an IDX file."""
    return tuple(int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3]))


def _shape_of(data: bytes) -> str:
    """What the head says, for a message."""
    is_idx = len(data) >= 4 and data[:2] == b"\0\0" and data[3] <= 4
    return f", head of shape {_shape(data)}" if is_idx else ", no IDX head"
