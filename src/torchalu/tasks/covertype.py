"""Covertype: the trees on 581,012 patches of forest, from maps alone."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int16, Int64

from torchalu.tasks.data_files import DataFiles
from torchalu.tasks.idx import DataError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

COVERTYPE = DataFiles(
    "covertype",
    "Covertype",
    {"covertype.npy": "0ab9091d074983b7c0ab048d2fb6c304713e0c678f2a11383260ace0ab0f0e13"},
)
"""The table, a row a patch: ten measures, the numbers of wilderness area, soil and cover type."""

MEASURES, AREAS, SOILS, COVERS = 10, 4, 40, 7
_TRAIN, _VALIDATION = 11_340, 3_780


class Patches(NamedTuple):
    """Patches of forest, 30 by 30 m, and what grows on them.

    Attributes:
        features: ten measures, then which of 4 wilderness areas and which of 40 soils, 0 or 1.
        labels: the cover type, 0 to 6; the published table counts from 1.
    """

    features: Float[Tensor, "patches 54"]
    labels: Int64[Tensor, " patches"]


class CovertypeSplit(NamedTuple):
    """Patches to train on, to validate and to test.

    Attributes:
        train: whose measures have mean 0 and variance 1.
        validation: measures on the scale of `train`.
        test: measures on the scale of `train`.
    """

    train: Patches
    validation: Patches
    test: Patches


def load_covertype(root: str | os.PathLike[str] | None = None) -> Patches:
    """Read Covertype, all rows in the published order.

    The file is looked for in the folder `root`, or else in `$TORCHALU_DATA`; if neither is named,
    in the cache. The command `torchalu data covertype` makes it.

    Args:
        root: where to look.

    Units:
        Elevation and distances in meters, aspect and slope in degrees, hillshades from 0 to 255.

    Raises:
        FileNotFoundError: the file is missing.
        DataError: the file is not the one that is due.

    Source:
        Blackard & Dean 1999; UCI Machine Learning Repository, Covertype.

    Example:
        >>> load_covertype().features.shape  # doctest: +SKIP
        torch.Size([581012, 54])
    """
    import torch  # a command that needs no data starts without it

    (name,) = COVERTYPE.sums
    table = read_table_of_patches(COVERTYPE.read(name, root), name)
    features = torch.zeros(len(table), MEASURES + AREAS + SOILS)
    features[:, :MEASURES] = torch.from_numpy(table[:, :MEASURES])
    area, soil, cover = torch.from_numpy(table[:, MEASURES:]).long().unbind(1)
    features.scatter_(1, (MEASURES + area).unsqueeze(1), 1.0)
    features.scatter_(1, (MEASURES + AREAS + soil).unsqueeze(1), 1.0)
    return Patches(features, cover)


def split_covertype(
    patches: Patches,
    generator: torch.Generator | None = None,
    parts: tuple[float, float] = (0.7, 0.15),
) -> CovertypeSplit:
    """Patches to train on, to validate and to test, with standardized measures.

    Without a generator the split is the published one: the first 11,340 rows train, the next
    3,780 validate, the other 565,892 test. The first two have equally many rows of each cover
    type, the test rows have not; what is chosen on the validation rows is chosen for another mix.
    With a generator the rows are dealt at random, so that all three have the same mix.

    Args:
        patches: what `load_covertype` gives.
        generator: deals the rows at random.
        parts: of the rows that train and that validate, for a random split; the rest tests.

    Raises:
        ValueError: parts that are not positive or leave nothing to test; fewer rows than the
            published split takes.

    Source:
        UCI Machine Learning Repository, Covertype, for the published split. The main text of Lowe
        et al. 2022 does not say how their appendix A.12 splits the rows.

    Example:
        >>> import torch
        >>> patches = Patches(torch.rand(100, 54), torch.zeros(100, dtype=torch.long))
        >>> split = split_covertype(patches, torch.Generator().manual_seed(0))
        >>> [len(part.labels) for part in split]
        [70, 15, 15]
        >>> bool(split.train.features[:, :10].mean(0).abs().max() < 1e-5)
        True
    """
    rows = len(patches.labels)
    if min(parts) <= 0 or sum(parts) >= 1:
        raise ValueError(f"parts is {parts}; give two positive numbers whose sum is less than 1")
    if generator is None and rows <= _TRAIN + _VALIDATION:
        raise ValueError(
            f"patches has {rows} rows; the published split needs more than {_TRAIN + _VALIDATION}: "
            "give a generator for a random one"
        )
    return _standardize(patches, _deal(rows, generator, parts))


def read_table_of_patches(content: bytes, name: str) -> Int16[np.ndarray, "patches 13"]:
    """The table from the content of its file.

    Args:
        content: of a file of NumPy's format; one with Python objects is refused.
        name: of the file, for messages.

    Raises:
        DataError: it is no such table.

    Example:
        >>> buffer = io.BytesIO()
        >>> np.save(buffer, np.zeros((2, 13), np.int16))
        >>> read_table_of_patches(buffer.getvalue(), "covertype.npy").shape
        (2, 13)
    """
    try:
        table = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{name!r} is no table in NumPy's format: {error}; run `torchalu data covertype` again"
        ) from None
    bounds = (AREAS, SOILS, COVERS)
    fits = getattr(table, "dtype", None) == np.int16 and table.shape[1:] == (MEASURES + 3,)
    if not fits or (table[:, MEASURES:] < 0).any() or (table[:, MEASURES:] >= bounds).any():
        raise DataError(
            f"{name!r} is not the table of Covertype, 13 columns of which the last three count "
            f"from 0 to below {bounds}; run `torchalu data covertype` again"
        )
    return table


def _deal(
    rows: int, generator: torch.Generator | None, parts: tuple[float, float]
) -> list[Int64[Tensor, " rows"]]:
    """The rows of each part."""
    import torch

    if generator is None:
        return list(torch.arange(rows).split([_TRAIN, _VALIDATION, rows - _TRAIN - _VALIDATION]))
    sizes = [int(part * rows) for part in parts]
    order = torch.randperm(rows, generator=generator)
    return list(order.split([*sizes, rows - sum(sizes)]))


def _standardize(patches: Patches, parts: list[Int64[Tensor, " rows"]]) -> CovertypeSplit:
    """Each part, its measures on the scale of the first."""
    train = patches.features[parts[0], :MEASURES].double()
    std, mean = train.std(0, correction=0), train.mean(0)
    std[std == 0] = 1.0
    scaled = []
    for part in parts:
        features = patches.features[part]
        features[:, :MEASURES] = ((features[:, :MEASURES].double() - mean) / std).float()
        scaled.append(Patches(features, patches.labels[part]))
    return CovertypeSplit(*scaled)
