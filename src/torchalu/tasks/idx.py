"""IDX files, the format in which MNIST was published."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import UInt8

_UNSIGNED_BYTE = 8


class DataError(ValueError):
    """A data set that is there and cannot be used."""


def idx_values(data: bytes, where: str) -> UInt8[np.ndarray, "..."]:
    """The array in the content of an IDX file of unsigned bytes.

    Args:
        data: the content.
        where: it comes from, for the message.

    Raises:
        DataError: it is no IDX file of unsigned bytes, or it is not complete.

    Example:
        >>> idx_values(idx_bytes(np.array([7, 2], np.uint8)), "labels")
        array([7, 2], dtype=uint8)
    """
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] != _UNSIGNED_BYTE:
        raise DataError(
            f"{where!r} begins with {data[:4].hex(' ')!r}; an IDX file of bytes begins with "
            "'00 00 08' and the number of dimensions"
        )
    shape, start = _shape(data), 4 + 4 * data[3]
    if len(data) < start or len(data) - start != math.prod(shape):
        raise DataError(
            f"{where!r} says that it holds {shape}, which takes {math.prod(shape) + start} "
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


def _shape(data: bytes) -> tuple[int, ...]:
    """The sizes in the head of an IDX file."""
    return tuple(int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3]))
