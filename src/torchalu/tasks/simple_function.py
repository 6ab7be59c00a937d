"""The simple function task: an operation on two sums of inputs, on rows drawn afresh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from torchalu.arguments import check_from_zero, check_positive_integers, check_shares

if TYPE_CHECKING:
    from torch import Tensor

Operation = Literal["add", "sub", "mul", "div", "square", "root"]
Interval = tuple[float, float]
SamplingRange = Interval | tuple[Interval, Interval]


@dataclass(frozen=True)
class SimpleFunction:
    r"""Target that applies an operation to the sums of two subsets of uniform inputs.

    .. math:: t = \Bigl(\sum_{i \in A} x_i\Bigr) \circ \Bigl(\sum_{i \in B} x_i\Bigr), \qquad
              x_i \sim U

    `square` and `root` use the first sum alone. A is a run of inputs and B one of equal length
    that overlaps it; where they lie is drawn for each replica and then fixed, unless `subsets`
    names them.

    Args:
        operation: "add", "sub", "mul", "div", "square" or "root".
        in_features: number of inputs.
        subset_ratio: length of a subset, as a part of the inputs.
        overlap_ratio: length of the overlap, as a part of a subset.
        interpolation_range: where training and validation inputs are drawn from: (low, high), or
            two such intervals, of which each element takes one with probability 1/2.
        extrapolation_range: the same for the test inputs.
        evaluation_rows: rows of the fixed validation and test sets.
        subsets: the indices of A and of B, the same for every replica.
        noise: standard deviation of a normal error of the training and validation targets, as a
            part of each target; the test targets stay exact.
        correlation: of any two inputs of a row, in [0, 1). Each input is then a mean of a number of
            its own and of one that the row shares, so that it stays within its range.

    Raises:
        TypeError: a size that is no integer, or a ratio, noise or correlation that is no number.
        ValueError: an unknown operation, an empty or reversed range, a size that is not positive,
            subsets that do not fit into the inputs, a noise that is negative, a correlation
            outside [0, 1) or on a two-sided range.

    Source:
        Madsen & Johansen 2020, section 4.1 and appendix C.1, equations 15 and 73. Departure: the
        offset is a whole number, as in the authors' program; algorithm 1 writes a continuous one.

    Example:
        >>> import torch
        >>> task = SimpleFunction("mul", in_features=4, subsets=((0, 1), (0, 1, 2, 3)))
        >>> task.target(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), *task.subsets).tolist()
        [[30.0]]
    """

    operation: Operation = "mul"
    in_features: int = 100
    subset_ratio: float = 0.25
    overlap_ratio: float = 0.5
    interpolation_range: SamplingRange = (1.0, 2.0)
    extrapolation_range: SamplingRange = (2.0, 6.0)
    evaluation_rows: int = 10_000
    subsets: tuple[Sequence[int], Sequence[int]] | None = None
    noise: float = 0.0
    correlation: float = 0.0

    def __post_init__(self) -> None:
        if self.operation not in get_args(Operation):
            allowed = ", ".join(get_args(Operation))
            raise ValueError(f"operation is {self.operation!r}; choose from {allowed}")
        check_positive_integers(in_features=self.in_features, evaluation_rows=self.evaluation_rows)
        for name in ("interpolation_range", "extrapolation_range"):
            object.__setattr__(self, name, _checked_range(name, getattr(self, name)))
        self._check_noise()
        if self.subsets is not None:
            self._check_subsets(self.subsets)
            return
        check_shares(subset_ratio=self.subset_ratio, overlap_ratio=self.overlap_ratio)
        if self.subset_size < 1 or self.offsets < 1:
            raise ValueError(
                f"two subsets of {self.subset_size} inputs that overlap by {self.overlap_ratio} "
                f"do not fit into in_features = {self.in_features}; choose subset_ratio in (0, 1] "
                "and overlap_ratio in [0, 1], smaller or with more overlap"
            )

    def _check_noise(self) -> None:
        check_from_zero(noise=self.noise)
        check_shares(correlation=self.correlation)
        if self.correlation == 1:
            raise ValueError(f"correlation is {self.correlation}; give a number in [0, 1)")
        ranges = (self.interpolation_range, self.extrapolation_range)
        if self.correlation > 0 and any(len(intervals(given)) > 1 for given in ranges):
            raise ValueError(
                f"correlation is {self.correlation} on a two-sided range, where inputs of one row "
                "lie on either side; give 0, or a one-sided range"
            )

    def _check_subsets(self, subsets: tuple[Sequence[int], Sequence[int]]) -> None:
        if len(subsets) != 2 or not all(len(subset) for subset in subsets):
            raise ValueError(f"subsets is {subsets!r}; give two sequences of indices")
        for index in chain.from_iterable(subsets):
            if not isinstance(index, Integral) or not 0 <= index < self.in_features:
                raise ValueError(
                    f"subsets holds the index {index}; allowed are the integers from 0 to "
                    f"{self.in_features - 1}"
                )

    @property
    def subset_size(self) -> int:
        """Number of inputs in each drawn subset."""
        return _whole(self.in_features * self.subset_ratio)

    @property
    def shift(self) -> int:
        """By how many inputs the second drawn subset starts after the first."""
        return self.subset_size - _whole(self.subset_size * self.overlap_ratio)

    @property
    def offsets(self) -> int:
        """Number of places where the first drawn subset may start."""
        return self.in_features - self.subset_size - self.shift + 1

    @property
    def common_part(self) -> float:
        """The part w of an input that its row shares: correlation = w^2 / (w^2 + (1 - w)^2)."""
        common, own = self.correlation**0.5, (1 - self.correlation) ** 0.5
        return common / (common + own)

    def subsets_of(self, seed: int, replica: int) -> tuple[np.ndarray, np.ndarray]:
        """The indices of A and of B for one replica, a function of its arguments alone."""
        if self.subsets is not None:
            first, second = self.subsets
            return np.asarray(first, dtype=np.int32), np.asarray(second, dtype=np.int32)
        offset = int(np.random.default_rng([seed, replica]).integers(self.offsets))
        first = np.arange(offset, offset + self.subset_size, dtype=np.int32)
        return first, first + np.int32(self.shift)

    def target(
        self,
        x: Float[Tensor, "rows in"],
        first: Sequence[int] | np.ndarray,
        second: Sequence[int] | np.ndarray,
    ) -> Float[Tensor, "rows 1"]:
        """The definition: the operation on the sums over the two subsets."""
        a = x[:, np.asarray(first)].sum(1, keepdim=True)
        b = x[:, np.asarray(second)].sum(1, keepdim=True)
        return apply_operation(self.operation, a, b)


def apply_operation(operation: Operation, a: Tensor, b: Tensor) -> Tensor:
    """What an operation makes of two numbers, element by element.

    Args:
        operation: "add", "sub", "mul" or "div"; "square" and "root" use `a` alone.
        a: the first numbers.
        b: the second numbers.
    """
    match operation:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a / b
        case "square":
            return a * a
        case "root":
            return a.sqrt()


def intervals(sampling_range: SamplingRange) -> tuple[Interval, ...]:
    """A range as one or two (low, high)."""
    first, second = sampling_range
    if isinstance(first, tuple) and isinstance(second, tuple):
        return first, second
    if isinstance(first, tuple) or isinstance(second, tuple):
        raise ValueError(f"range is {sampling_range!r}; give (low, high) or two such intervals")
    return ((first, second),)


def _checked_range(name: str, given: Any) -> SamplingRange:
    """A range as tuples, which JSON has as lists."""
    ends = np.array(given, dtype=object)
    if ends.shape not in ((2,), (2, 2)) or not all(isinstance(e, Real) for e in ends.flat):
        raise ValueError(f"{name} is {given!r}; give (low, high) or two such intervals")
    for low, high in ends.reshape(-1, 2):
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError(f"{name} holds ({low}, {high}); give finite numbers, low < high")
    first, second = ends.tolist()
    return (tuple(first), tuple(second)) if ends.ndim == 2 else (first, second)


def _whole(size: float) -> int:
    """A size without its fraction; 100 * 0.29, which is 28.999999999999996 in binary, is 29."""
    return math.floor(size + 1e-9)
