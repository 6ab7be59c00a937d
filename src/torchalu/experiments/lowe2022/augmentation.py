"""Pictures that are shifted and mirrored at random while they are learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from torchalu.experiments.lowe2022.data import Batch, ClassificationData

_PADDING = 4
_SHIFTS = 1  # stream of random numbers


@dataclass(frozen=True)
class AugmentedPictures(ClassificationData):
    """Pictures; those to learn from are shifted and mirrored, anew each time they are shown."""

    def batch(self, step: int, batch_size: int, seed: int) -> Batch:
        """The batch of a training step, which follows from the seed and the number of the step.

        Args:
            step: the number of the step, from 0.
            batch_size: pictures in a batch.
            seed: of their order, shifts and mirrorings.
        """
        inputs, labels = super().batch(step, batch_size, seed)
        random = np.random.default_rng([seed, _SHIFTS, step])
        return Batch(shift_and_mirror(inputs, random), labels)


def shift_and_mirror(
    pictures: Float[Tensor, "batch channels height width"], random: np.random.Generator
) -> Float[Tensor, "batch channels height width"]:
    """Shift each picture by up to four pixels in both directions, and mirror every second one.

    What comes in from beyond the edge is 0. Shifts are whole and equally probable; which pictures
    are mirrored, left to right, is drawn with probability 1/2.

    Args:
        pictures: normalized, so that 0 is the mean color.
        random: where the random numbers come from.

    Returns:
        New pictures, which lie in memory channel by channel at each pixel (`channels_last`).

    Source:
        He et al. 2016a, section 4.2.

    Example:
        >>> pictures = torch.ones(2, 3, 32, 32)
        >>> shifted = shift_and_mirror(pictures, np.random.default_rng(0))
        >>> shifted.shape, bool(shifted[:, :, 4:-4, 4:-4].all())
        (torch.Size([2, 3, 32, 32]), True)
    """
    count, _, height, width = pictures.shape
    down, right = torch.from_numpy(random.integers(2 * _PADDING + 1, size=(2, count, 1)))
    mirrored = torch.from_numpy(random.random((count, 1)) < 0.5)
    rows, columns = torch.arange(height) + down, torch.arange(width) + right
    columns = torch.where(mirrored, columns.flip(1), columns)
    larger = pad(pictures, (_PADDING,) * 4).permute(0, 2, 3, 1)
    which = torch.arange(count)[:, None, None]
    return larger[which, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
