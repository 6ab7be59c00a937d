"""MNIST: where it is found, how it is checked, how it is split."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from jaxtyping import Float, Int64, UInt8

from torchalu.tasks.data_files import DataFiles
from torchalu.tasks.idx import DataError, idx_values

if TYPE_CHECKING:
    from torch import Tensor

Split = Literal["train", "validation", "test"]

MNIST = DataFiles(
    "mnist",
    "MNIST",
    {
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    },
    layouts=(".", "MNIST/raw", "raw"),
    packed=True,
)
"""The published files, unpacked."""

PIXEL_MEAN, PIXEL_STD = 0.1307, 0.3081
_VALIDATION = 5000


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
    arrays = (idx_values(MNIST.read(name, root), name) for name in names)
    images, labels = (torch.from_numpy(array) for array in arrays)
    if len(images) != len(labels):
        raise DataError(
            f"{len(images)} images and {len(labels)} labels in {str(MNIST.folder(root))!r}"
        )
    rows = {"train": slice(None, -_VALIDATION), "validation": slice(-_VALIDATION, None)}
    chosen = rows.get(split, slice(None))
    return Digits(images[chosen], labels[chosen].long())


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
