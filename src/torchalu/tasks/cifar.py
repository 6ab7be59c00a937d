"""CIFAR-10 and CIFAR-100: where they are found, how they are checked, how they are split."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int64, UInt8

from torchalu.tasks.data_files import DataFiles
from torchalu.tasks.idx import DataError

if TYPE_CHECKING:
    from torch import Tensor

CIFARSplit = Literal["train", "validation", "train+validation", "test"]
CIFARLabels = Literal["fine", "coarse"]

CIFAR10 = DataFiles(
    "cifar10",
    "CIFAR-10",
    {
        "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
        "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    },
    layouts=("cifar-10-batches-bin", "."),
)
"""The published files of the binary version."""

CIFAR100 = DataFiles(
    "cifar100",
    "CIFAR-100",
    {
        "train.bin": "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
        "test.bin": "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
    },
    layouts=("cifar-100-binary", "."),
    fetched=False,
)
"""The published files of the binary version."""

_PIXELS = 3 * 32 * 32
_VALIDATION = 10_000


class Pictures(NamedTuple):
    """Color images and what they show.

    Attributes:
        images: red, green and blue, 0 to 255.
        labels: the classes, from 0.
    """

    images: UInt8[Tensor, "pictures 3 32 32"]
    labels: Int64[Tensor, " pictures"]


def load_cifar10(split: CIFARSplit, root: str | os.PathLike[str] | None = None) -> Pictures:
    """Read CIFAR-10: 40,000 pictures to train on, 10,000 to validate, 10,000 to test.

    The files are those of the binary version, which holds no Python objects; they are looked for
    in the folder `root`, or else in `$TORCHALU_DATA`, as `cifar-10-batches-bin` or directly; if
    neither is named, in the cache that the command `torchalu data cifar10` fills.

    Args:
        split: "train", "validation" (the last 10,000 of the training files, `data_batch_5.bin`),
            "train+validation" or "test".
        root: where to look.

    Raises:
        ValueError: an unknown split.
        FileNotFoundError: a file is missing.
        DataError: a file is not the published one.

    Source:
        Krizhevsky 2009, for the data. The last 10,000 validate as in Lowe et al. 2022, section
        4.3, which says so of MNIST; section 4.4 names no validation set.

    Example:
        >>> load_cifar10("train").images.shape  # doctest: +SKIP
        torch.Size([40000, 3, 32, 32])
    """
    _check(split, "split", get_args(CIFARSplit))
    names = [name for name in CIFAR10.sums if name.startswith("test") == (split == "test")]
    content = [CIFAR10.read(name, root) for name in names]
    rows = [read_pictures(data, name, 10) for name, data in zip(names, content, strict=True)]
    return _pictures(np.concatenate(rows), split, label=0)


def load_cifar100(
    split: CIFARSplit,
    root: str | os.PathLike[str] | None = None,
    labels: CIFARLabels = "fine",
) -> Pictures:
    """Read CIFAR-100: 40,000 pictures to train on, 10,000 to validate, 10,000 to test.

    No package carries the data: the binary version has to be put into the folder `root` or
    `$TORCHALU_DATA`, as `cifar-100-binary` or directly, or into the same place of the cache.

    Args:
        split: as in `load_cifar10`.
        root: where to look.
        labels: "fine", the 100 classes, or "coarse", the 20 groups that they form.

    Raises:
        ValueError: an unknown split or kind of labels.
        FileNotFoundError: a file is missing.
        DataError: a file is not the published one.

    Source:
        Krizhevsky 2009, for the data; the validation set as in `load_cifar10`.

    Example:
        >>> load_cifar100("test", labels="coarse").labels.max()  # doctest: +SKIP
        tensor(19)
    """
    _check(split, "split", get_args(CIFARSplit))
    _check(labels, "labels", get_args(CIFARLabels))
    name = "test.bin" if split == "test" else "train.bin"
    rows = read_pictures(CIFAR100.read(name, root), name, 20, 100)
    return _pictures(rows, split, label=get_args(CIFARLabels)[::-1].index(labels))


def read_pictures(content: bytes, name: str, *classes: int) -> UInt8[np.ndarray, "rows columns"]:
    """Rows of the binary format: labels, then 1024 red bytes, 1024 green ones, 1024 blue ones.

    Args:
        content: of the file.
        name: of the file, for messages.
        classes: how many there are, for each label that a row begins with.

    Raises:
        DataError: the file ends within a row, is empty, or has a label out of bounds.

    Example:
        >>> read_pictures(bytes([7]) + bytes(3072), "one.bin", 10).shape
        (1, 3073)
    """
    width = len(classes) + _PIXELS
    if not content or len(content) % width:
        raise DataError(
            f"{name!r} has {len(content)} bytes, which is no multiple of {width}, one picture; it "
            "is not complete or of another format: get the file again, in its binary version"
        )
    rows = np.frombuffer(bytearray(content), np.uint8).reshape(-1, width)
    for label, count in enumerate(classes):
        if (highest := int(rows[:, label].max())) >= count:
            raise DataError(
                f"{name!r} has a label {highest}, and there are {count} classes, 0 to {count - 1}; "
                "it is another data set: get the file again"
            )
    return rows


def normalize_pictures(
    images: UInt8[Tensor, "*pictures 3 32 32"],
    mean: tuple[float, float, float] = (0.4914, 0.4822, 0.4465),
    std: tuple[float, float, float] = (0.2470, 0.2435, 0.2616),
) -> Float[Tensor, "*pictures 3 32 32"]:
    """Each color over 255, less its mean, over its standard deviation.

    Args:
        images: 0 to 255.
        mean: of each color; by default of the training files of CIFAR-10.
        std: of each color; by default of the training files of CIFAR-10.

    Example:
        >>> import torch
        >>> white = torch.full((3, 1, 1), 255, dtype=torch.uint8)
        >>> normalize_pictures(white).flatten()
        tensor([2.0591, 2.1265, 2.1158])
    """
    import torch

    scale = 1 / torch.tensor(std, device=images.device).view(3, 1, 1)
    shift = torch.tensor(mean, device=images.device).view(3, 1, 1) * scale
    return images.float().mul_(scale / 255).sub_(shift)


def _pictures(rows: UInt8[np.ndarray, "rows columns"], split: CIFARSplit, label: int) -> Pictures:
    """The rows of a split as tensors."""
    import torch  # a command that needs no data starts without it

    ranges = {"train": slice(None, -_VALIDATION), "validation": slice(-_VALIDATION, None)}
    table = torch.from_numpy(rows[ranges.get(split, slice(None))])
    images = table[:, -_PIXELS:].reshape(-1, 3, 32, 32)
    return Pictures(images, table[:, label].long())


def _check(value: str, name: str, allowed: tuple[str, ...]) -> None:
    """Raise for a value that is not allowed."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; choose from {', '.join(allowed)}")
