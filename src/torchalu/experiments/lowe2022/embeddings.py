"""Embeddings of many pictures, computed once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Protocol

import torch
from jaxtyping import Float, UInt8
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from torchalu.tasks import DataError, cache_folder
from torchalu.train import write_atomic

_BATCH = 50
_PREPARED_BY = (
    b"bicubic, 224 by 224"  # changed with what is done to pictures before they are embedded
)
_NAME = "embeddings"


class Encoder(Protocol):
    """What turns pictures into embeddings, such as `EfficientNetLite0`."""

    def embed(self, images: UInt8[Tensor, "n ..."]) -> Float[Tensor, "n features"]:
        """Features of pictures."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """The weights."""
        ...


def embeddings(
    images: UInt8[Tensor, "pictures ..."],
    encoder: Encoder,
    folder: Path | None = None,
    chunk: int = 1000,
    progress: Callable[[int, int], object] | None = None,
) -> Float[Tensor, "pictures features"]:
    """What an encoder makes of pictures, from the cache as far as it is there.

    The cache has a folder for each encoder and set of pictures, named by their content, and in it
    a file for each chunk. A file is written whole or not at all, so that a run that was broken off
    goes on with the chunk it was at. Each call begins at a random chunk, so that processes that
    compute the same share the work.

    Args:
        images: as the encoder takes them, on its device.
        encoder: frozen, in evaluation mode.
        folder: the cache; the platform's by default.
        chunk: pictures in a file.
        progress: is told the pictures that are done, and all, after each chunk.

    Raises:
        ValueError: `chunk` is not positive, or there are no pictures.
        OSError: the cache cannot be written to.
        DataError: a file in the cache is damaged.

    Example:
        >>> import tempfile
        >>> class Mean:
        ...     def embed(self, images):
        ...         return images.float().mean((1, 2)).unsqueeze(1)
        ...     def state_dict(self):
        ...         return {}
        >>> images = torch.arange(3, dtype=torch.uint8).view(3, 1, 1).expand(3, 28, 28)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     embeddings(images, Mean(), Path(name), chunk=2).flatten()
        tensor([0., 1., 2.])
    """
    if chunk < 1 or not len(images):
        raise ValueError(
            f"chunk is {chunk} and there are {len(images)} pictures; give at least one of each"
        )
    folder = embedding_folder(images, encoder, folder)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = images.split(chunk)
    ends = [*accumulate(map(len, pieces))]
    paths = [
        folder / f"{end - len(piece):06d}-{end:06d}.safetensors"
        for end, piece in zip(ends, pieces, strict=True)
    ]
    first, done = Random().randrange(len(pieces)), 0
    for number in [*range(first, len(pieces)), *range(first)]:
        if not paths[number].exists():
            write_atomic(paths[number], save({_NAME: _embed(pieces[number], encoder)}))
        done += len(pieces[number])
        if progress is not None:
            progress(done, len(images))
    return torch.cat([_read(path, len(piece)) for path, piece in zip(paths, pieces, strict=True)])


def embedding_folder(
    images: UInt8[Tensor, "pictures ..."], encoder: Encoder, folder: Path | None = None
) -> Path:
    """The folder of the cache for an encoder and pictures, which need not exist.

    Args:
        images: as the encoder takes them.
        encoder: its class, its weights, the pictures and how they are enlarged make the name.
        folder: the cache; the platform's by default.
    """
    digest = hashlib.sha256(_PREPARED_BY)
    for name, tensor in {**encoder.state_dict(), "images": images}.items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    base = cache_folder(_NAME) if folder is None else folder
    return base / f"{type(encoder).__name__}-{digest.hexdigest()[:16]}"


@torch.inference_mode()
def _embed(
    images: UInt8[Tensor, "pictures ..."], encoder: Encoder
) -> Float[Tensor, "pictures features"]:
    """What the encoder makes of pictures, in batches that fit into memory."""
    return torch.cat([encoder.embed(batch) for batch in images.split(_BATCH)]).cpu().contiguous()


def _read(path: Path, rows: int) -> Float[Tensor, "pictures features"]:
    """One file of the cache."""
    try:
        tensor = load(path.read_bytes())[_NAME]
    except (SafetensorError, KeyError) as error:
        raise DataError(
            f"{str(path)!r} is damaged: {error}; remove it, and it is computed again"
        ) from None
    if tensor.ndim != 2 or len(tensor) != rows or not tensor.isfinite().all():
        raise DataError(
            f"{str(path)!r} has shape {tuple(tensor.shape)} where {rows} rows of finite numbers "
            "are due; remove it, and it is computed again"
        )
    return tensor
