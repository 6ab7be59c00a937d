"""MNIST: where it is found, how it is checked, how it is split."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from jaxtyping import Float, Int64, UInt8

from torchalu.tasks.data_folder import VARIABLE, cache_folder, data_folder
from torchalu.tasks.idx import DataError, read_idx

if TYPE_CHECKING:
    from torch import Tensor

Split = Literal["train", "validation", "test"]

MNIST_FILES = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
"""The published files, unpacked, and their md5."""

PIXEL_MEAN, PIXEL_STD = 0.1307, 0.3081
_VALIDATION = 5000
_LAYOUTS = ("MNIST/raw", "raw", ".")


class Digits(NamedTuple):
    """Images of digits and what they show.

    Attributes:
        images: gray values, 0 to 255.
        labels: the digits, 0 to 9.
    """

    images: UInt8[Tensor, "digits 28 28"]
    labels: Int64[Tensor, " digits"]


def load_mnist(split: Split, root: str | os.PathLike[str] | None = None) -> Digits:
    """Read MNIST: 55,000 digits to train on, 5,000 to validate, 10,000 to test.

    The files are looked for in the folder `root`, or else in `$TORCHALU_DATA`, in torchvision's
    layout (`MNIST/raw`) or directly, packed with gzip or not; if neither is named, in the cache
    that the command `torchalu data mnist` fills. Nothing is fetched here, and nothing else is
    ever put in their place.

    Args:
        split: "train", "validation" (the last 5,000 of the training file) or "test".
        root: a folder with the four files.

    Raises:
        ValueError: an unknown split.
        FileNotFoundError: a file is missing.
        DataError: a file is not the published one.

    Source:
        Madsen & Johansen 2020, section 4.2, for the split.

    Example:
        >>> load_mnist("train").images.shape  # doctest: +SKIP
        torch.Size([55000, 28, 28])
    """
    if split not in get_args(Split):
        raise ValueError(f"split is {split!r}; choose from {', '.join(get_args(Split))}")
    import torch  # a command that needs no data starts without it

    kind = "t10k" if split == "test" else "train"
    names = f"{kind}-images-idx3-ubyte", f"{kind}-labels-idx1-ubyte"
    folder = mnist_folder(root)
    arrays = (read_idx(_file(folder, name), MNIST_FILES[name]) for name in names)
    images, labels = (torch.from_numpy(array) for array in arrays)
    if len(images) != len(labels):
        raise DataError(f"{len(images)} images and {len(labels)} labels in {str(folder)!r}")
    rows = {"train": slice(None, -_VALIDATION), "validation": slice(-_VALIDATION, None)}
    chosen = rows.get(split, slice(None))
    return Digits(images[chosen], labels[chosen].long())


def mnist_folder(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds the four files of MNIST.

    Args:
        root: where to look; as in `load_mnist`.

    Raises:
        FileNotFoundError: there is none, with the names of the files that are missing and the
            command that gets them.

    Example:
        >>> mnist_folder("/nowhere")
        Traceback (most recent call last):
        FileNotFoundError: root is '/nowhere', which is no folder; ...
    """
    named = data_folder(root)
    base = named if named is not None else cache_folder("mnist")
    missing = {layout: _missing(base / layout) for layout in _LAYOUTS}
    for layout, names in missing.items():
        if not names:
            return base / layout
    fewest = min(missing.values(), key=len)
    raise FileNotFoundError(
        f"MNIST is not in {str(base)!r}: no {', '.join(fewest)} (nor with .gz); "
        f"run `torchalu data mnist`, which gets it once, or name a folder that has it, in "
        f"torchvision's layout MNIST/raw or directly, as root or in ${VARIABLE}"
    )


def normalize(images: UInt8[Tensor, "*digits 28 28"]) -> Float[Tensor, "*digits 28 28"]:
    """Gray values as numbers of mean 0 and variance 1 over the training file.

    Args:
        images: 0 to 255.

    Source:
        The authors' program: gray values over 255, less .1307, over .3081.

    Example:
        >>> import torch
        >>> normalize(torch.full((1, 1), 255, dtype=torch.uint8))
        tensor([[2.8215]])
    """
    return images.float().mul_(1 / (255 * PIXEL_STD)).sub_(PIXEL_MEAN / PIXEL_STD)


def _missing(folder: Path) -> list[str]:
    """The files that are not in a folder."""
    return [name for name in MNIST_FILES if _present(folder, name) is None]


def _file(folder: Path, name: str) -> Path:
    """One of the files, raw or packed."""
    path = _present(folder, name)
    assert path is not None, "mnist_folder has looked"
    return path


def _present(folder: Path, name: str) -> Path | None:
    """The raw file if it is there, or else the packed one."""
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None
