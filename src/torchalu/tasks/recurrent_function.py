"""Arithmetic on sums over sections of a vector that arrives bit by bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float

from torchalu.arguments import check_positive_integers
from torchalu.tasks.simple_function import Interval, apply_operation

if TYPE_CHECKING:
    from torch import Tensor

RecurrentOperation = Literal["identity", "add", "sub", "mul", "div", "square", "root"]
Section = tuple[int, int]

_TRAINING, _INTERPOLATION, _EXTRAPOLATION = range(3)  # streams of random numbers
_SHORTEST, _LONGEST = 0.1, 0.5  # sections, as parts of the inputs
_ROWS = 1000


class SeriesBatch(NamedTuple):
    """Series of vectors, and what is to be answered after the last one.

    Attributes:
        inputs: the vectors, in the order of time.
        targets: one number for each series.
    """

    inputs: Float[Tensor, "batch length in"]
    targets: Float[Tensor, "batch 1"]


@dataclass(frozen=True)
class RecurrentFunction:
    r"""Target that applies an operation to two sums over sections of the inputs and over time.

    .. math:: y = a \circ b, \qquad a = \sum_{t} \sum_{i = m}^{n - 1} x_{t,i}, \quad
              b = \sum_{t} \sum_{j = p}^{q - 1} x_{t,j}, \qquad x \sim U

    `identity`, `square` and `root` use a alone. A longer series has larger sums: trained on 10
    steps, the model is tested on 1000.

    Args:
        operation: "identity", "add", "sub", "mul", "div", "square" or "root".
        in_features: inputs in a step.
        length: steps of the series to train on, and of the interpolation set.
        extrapolation_length: steps of the extrapolation set.
        sampling_range: where each input is drawn from.
        sections: ((m, n), (p, q)), the ends left out; drawn by `random_sections` if not given.
        seed: settles the sections and the series.

    Raises:
        ValueError: an unknown operation, a size that is not positive, an empty range, one that
            has negative numbers where a root or a quotient is asked for, or sections that do not
            fit.

    Source:
        Trask et al. 2018, section 4.1 and appendix B. Departure: the paper does not state the
        distribution of the inputs; U[0, 1] is ours.

    Example:
        >>> task = RecurrentFunction("mul", in_features=4, sections=((0, 2), (1, 4)))
        >>> inputs, targets = task.batch(0, batch_size=3)
        >>> inputs.shape, targets.shape
        (torch.Size([3, 10, 4]), torch.Size([3, 1]))
        >>> a, b = inputs[..., 0:2].sum((1, 2)), inputs[..., 1:4].sum((1, 2))
        >>> bool((a * b - targets[:, 0]).abs().max() < 1e-4)
        True
    """

    operation: RecurrentOperation = "add"
    in_features: int = 10
    length: int = 10
    extrapolation_length: int = 1000
    sampling_range: Interval = (0.0, 1.0)
    sections: tuple[Section, Section] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.operation not in get_args(RecurrentOperation):
            allowed = ", ".join(get_args(RecurrentOperation))
            raise ValueError(f"operation is {self.operation!r}; choose from {allowed}")
        check_positive_integers(
            in_features=self.in_features,
            length=self.length,
            extrapolation_length=self.extrapolation_length,
        )
        low, high = self.sampling_range
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError(
                f"sampling_range is {self.sampling_range}; give finite numbers, low < high"
            )
        if low < 0 and self.operation in ("div", "root"):
            raise ValueError(
                f"sampling_range is {self.sampling_range}, and operation {self.operation!r} needs "
                "sums that are positive; give a range without negative numbers"
            )
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give 0 or more")
        if self.sections is not None and len(self.sections) != 2:
            raise ValueError(f"sections is {self.sections!r}; give ((m, n), (p, q))")
        for start, end in self.sections or ():
            if not 0 <= start < end <= self.in_features:
                raise ValueError(
                    f"sections holds ({start}, {end}); give 0 <= start < end <= in_features = "
                    f"{self.in_features}"
                )

    @property
    def summed_sections(self) -> tuple[Section, Section]:
        """(m, n) and (p, q), given or drawn."""
        return self.sections or random_sections(self.in_features, self.seed)

    def target(self, inputs: Float[Tensor, "batch length in"]) -> Float[Tensor, "batch 1"]:
        """The definition: the operation on the two sums, in the precision of the inputs.

        Args:
            inputs: series of any length.
        """
        sums = inputs.sum(1)
        a, b = (sums[:, start:end].sum(1, keepdim=True) for start, end in self.summed_sections)
        return a if self.operation == "identity" else apply_operation(self.operation, a, b)

    def batch(self, step: int, batch_size: int = 128) -> SeriesBatch:
        """The batch of a training step, which follows from the seed and the arguments alone.

        Args:
            step: the number of the step, from 0.
            batch_size: series in the batch.

        Raises:
            ValueError: `step` is negative or `batch_size` not positive.
        """
        if step < 0:
            raise ValueError(f"step is {step}; give 0 or more")
        check_positive_integers(batch_size=batch_size)
        return self._draw((_TRAINING, step), batch_size, self.length)

    def interpolation(self, rows: int = _ROWS) -> SeriesBatch:
        """Series that are as long as those to train on.

        Args:
            rows: how many.

        Raises:
            ValueError: `rows` is not positive.
        """
        return self._draw((_INTERPOLATION,), rows, self.length)

    def extrapolation(self, rows: int = _ROWS) -> SeriesBatch:
        """Series of `extrapolation_length` steps.

        Args:
            rows: how many.

        Raises:
            ValueError: `rows` is not positive.
        """
        return self._draw((_EXTRAPOLATION,), rows, self.extrapolation_length)

    def _draw(self, stream: tuple[int, ...], rows: int, length: int) -> SeriesBatch:
        """Series of a stream of random numbers; the targets are computed in float64."""
        import torch

        check_positive_integers(rows=rows)
        random = np.random.default_rng([self.seed, *stream])
        uniform = random.random((rows, length, self.in_features), np.float32)
        low, high = self.sampling_range
        inputs = torch.from_numpy(uniform).mul_(high - low).add_(low)
        targets = self.target(inputs.double()).float()
        if not (inputs.isfinite().all() and targets.isfinite().all()):
            raise ValueError(
                f"sampling_range is {self.sampling_range}, and series of {length} steps have "
                f"inputs or targets of {self.operation!r} that float32 does not hold; give a "
                "smaller range"
            )
        return SeriesBatch(inputs, targets)


def random_sections(in_features: int, seed: int = 0) -> tuple[Section, Section]:
    """Two runs of inputs of random place and length, each a tenth to a half of the inputs.

    They may overlap, but are not the same where there is a choice. As `subsets` of
    `SimpleFunction` they give the static task of the paper:
    `SimpleFunction("mul", subsets=tuple(range(*s) for s in random_sections(100, seed)))`. With an
    extrapolation range that lies above the interpolation range, a and b of each test row are
    greater than any in training.

    Args:
        in_features: number of inputs.
        seed: settles the sections.

    Returns:
        (start, end) of the first one and of the second, the ends left out.

    Raises:
        ValueError: `in_features` is not positive or `seed` negative.

    Source:
        Trask et al. 2018, appendix B: "two random (but consistent) subsections". Departure: how
        long they are is not stated; the bounds are ours, and keep quotients of sums tame.

    Example:
        >>> (m, n), (p, q) = random_sections(100, seed=0)
        >>> 10 <= n - m <= 50, 10 <= q - p <= 50
        (True, True)
    """
    check_positive_integers(in_features=in_features)
    if seed < 0:
        raise ValueError(f"seed is {seed}; give 0 or more")
    random = np.random.default_rng(seed)
    shortest = max(1, round(_SHORTEST * in_features))
    longest = max(1, round(_LONGEST * in_features))
    while True:
        lengths = random.integers(shortest, longest, size=2, endpoint=True)
        starts = random.integers(in_features - lengths, endpoint=True)
        first, second = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        if first != second or in_features == 1:
            return first, second
