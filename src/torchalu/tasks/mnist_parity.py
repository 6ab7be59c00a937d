"""Pictures with several handwritten digits: how many of them are even?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int64

from torchalu.tasks.mnist import Digits

if TYPE_CHECKING:
    from torch import Tensor

_DIGIT = 28
_TRIES = 64  # arrangements drawn at a time; of five digits on 100 x 100 pixels, 1 in 280 is good


class ParityBatch(NamedTuple):
    """Pictures, and how many even digits they show.

    Attributes:
        images: gray values from 0 to 1.
        targets: the numbers of even digits, which are the classes.
    """

    images: Float[Tensor, "batch 1 size size"]
    targets: Int64[Tensor, " batch"]


class MNISTParity:
    """Digits strewn over a picture, of which the even ones are to be counted.

    How many digits a picture has is drawn uniformly; which ones, with equal chance from all that
    are given. Their squares of 28 pixels do not overlap, and among all arrangements of which that
    holds each is as likely as any other. Zero is even.

    Args:
        digits: what `load_mnist` gives.
        size: pixels of a side.
        num_digits: how many digits are in a picture: (least, most).
        seed: settles the pictures.

    Shape:
        - images: (batch, 1, size, size); targets: (batch,), from 0 to the most digits.

    Raises:
        ValueError: no digits, bounds that are not in order, or a picture that is too small for
            its digits to be strewn about.

    Source:
        Seguí, Pujol & Vitrià 2015, section 3, as Trask et al. 2018 use it in section 4.6, where
        the task is named and not described. Of Seguí et al. we had summaries alone: 100 x 100
        pixels, up to 5 digits at least 28 pixels apart, a softmax over the number of even ones.
        Departures, where these leave a choice: (1) a picture has 1 to 5 digits, never none;
        (2) apart means that the squares do not overlap; (3) pictures are drawn afresh for each
        step, where a fixed set of a million is used; (4) gray values lie between 0 and 1.

    Example:
        >>> import torch
        >>> digits = Digits(torch.full((3, 28, 28), 255, dtype=torch.uint8), torch.arange(3))
        >>> images, targets = MNISTParity(digits, seed=0).batch(0, batch_size=4)
        >>> images.shape
        torch.Size([4, 1, 100, 100])
        >>> (images.sum((1, 2, 3)) / 28**2).tolist()  # digits in each picture
        [5.0, 4.0, 3.0, 2.0]
    """

    def __init__(
        self,
        digits: Digits,
        *,
        size: int = 100,
        num_digits: tuple[int, int] = (1, 5),
        seed: int = 0,
    ) -> None:
        least, most = num_digits
        if not len(digits.labels):
            raise ValueError("digits holds no digit; give what load_mnist gives")
        if not 0 <= least <= most or most < 1:
            raise ValueError(
                f"num_digits is {num_digits}; give (least, most), 0 <= least <= most, 1 <= most"
            )
        least_size = _DIGIT + math.ceil(_DIGIT * math.sqrt(math.comb(most, 2) / 2))
        if size < least_size:
            raise ValueError(
                f"size is {size}, too small for {most} digits of {_DIGIT} pixels at random "
                f"places; give {least_size} or more, or fewer digits"
            )
        if seed < 0:
            raise ValueError(f"seed is {seed}; give 0 or more")
        self.digits = digits
        self.size = size
        self.num_digits = least, most
        self.seed = seed

    @property
    def num_classes(self) -> int:
        """How many answers there are."""
        return self.num_digits[1] + 1

    def batch(self, step: int, batch_size: int = 64) -> ParityBatch:
        """The batch of a training step, which follows from the seed and the arguments alone.

        Args:
            step: the number of the step, from 0.
            batch_size: pictures in the batch.

        Raises:
            ValueError: `step` is negative or `batch_size` not positive.
        """
        import torch

        if step < 0 or batch_size < 1:
            raise ValueError(
                f"step is {step} and batch_size {batch_size}; give 0 or more, and 1 or more"
            )
        random = np.random.default_rng([self.seed, step])
        least, most = self.num_digits
        counts = random.integers(least, most, batch_size, endpoint=True)
        chosen = random.integers(len(self.digits.labels), size=(batch_size, most))
        corners = self._arrange(counts, random)
        picture, place = np.nonzero(np.arange(most) < counts[:, None])
        shown = torch.from_numpy(chosen[picture, place])
        pixels = np.arange(_DIGIT)
        rows, columns = (corners[picture, place, axis, None] + pixels for axis in (0, 1))
        images = torch.zeros(batch_size, self.size, self.size)
        where = (picture[:, None, None], rows[:, :, None], columns[:, None, :])
        images[tuple(map(torch.from_numpy, where))] = self.digits.images[shown].float() / 255
        even = self.digits.labels[shown].remainder(2).eq(0).long()
        targets = torch.zeros(batch_size, dtype=torch.int64)
        targets.index_add_(0, torch.from_numpy(picture), even)
        return ParityBatch(images.unsqueeze(1), targets)

    def _arrange(
        self, counts: Int64[np.ndarray, " batch"], random: np.random.Generator
    ) -> Int64[np.ndarray, "batch most 2"]:
        """The upper left corner of each digit; arrangements are drawn until one has no overlap."""
        most = self.num_digits[1]
        corners = np.zeros((len(counts), most, 2), np.int64)
        pending = np.arange(len(counts))
        one, other = np.triu_indices(most, 1)
        while len(pending):
            shape = len(pending), _TRIES, most, 2
            drawn = random.integers(self.size - _DIGIT, size=shape, endpoint=True)
            overlaps = (abs(drawn[:, :, one] - drawn[:, :, other]) < _DIGIT).all(-1)
            overlaps &= other < counts[pending, None, None]
            good = ~np.any(overlaps, axis=2)
            found = np.any(good, axis=1)
            corners[pending[found]] = drawn[found, good.argmax(1)[found]]
            pending = pending[~found]
        return corners
