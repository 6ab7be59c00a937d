"""The strings of a step of training, from a seed and the number of the step alone."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import NamedTuple, Protocol

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from torchalu.tasks.algorithms import AlgorithmicTask, encode
from torchalu.train.algorithms.lengths import LengthGroup, LengthPlan


class TrainingGroup(NamedTuple):
    """Strings that run together, as symbol numbers.

    Attributes:
        inputs: padded with 0.
        targets: likewise.
        lengths: how many symbols of each string count.
        seed: of the dropout.
    """

    inputs: Int64[Tensor, "batch length"]
    targets: Int64[Tensor, "batch length"]
    lengths: Int64[Tensor, " batch"]
    seed: int


class RepeatedStrings(Protocol):
    """Strings of one length that are to be trained on again.

    Attributes:
        padded: to how many symbols.
    """

    padded: int

    def draw(self, count: int, rng: np.random.Generator) -> list[str]:
        """Some of them, or none.

        Args:
            count: how many.
            rng: where the random numbers come from.
        """
        ...


class TrainingStrings:
    """The strings of each step.

    Args:
        task: draws and solves them.
        plan: draws their lengths.
        seed: with the number of the step it settles them.
        examples: how many fixed strings there are of each length, from which the strings of a step
            are drawn; drawn anew at each step if left out.
        device: where they lie.

    Attributes:
        repeated: gives a group of strings more to each step, as many as are in the others' largest;
            none if left out.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> from torchalu.train.algorithms import LengthBins
        >>> task = algorithm("reverse")
        >>> strings = TrainingStrings(task, LengthBins(task, bins=(4,), batch=2), seed=0)
        >>> group = strings(0)[0]
        >>> group.inputs.shape, torch.equal(group.inputs, strings(0)[0].inputs)
        (torch.Size([2, 4]), True)
    """

    def __init__(
        self,
        task: AlgorithmicTask,
        plan: LengthPlan,
        seed: int,
        *,
        examples: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.task, self.plan, self.seed = task, plan, seed
        self.examples, self.device = examples, torch.device(device)
        self.repeated: RepeatedStrings | None = None
        self._fixed: dict[int, list[str]] = {}

    def __call__(self, step: int) -> list[TrainingGroup]:
        """The strings of a step, in groups that run together.

        Args:
            step: the number of optimizer steps before it.
        """
        rng = random_numbers(self.seed, "strings", step)
        groups = [self._group(group, rng) for group in self.plan.draw(rng)]
        if self.repeated is not None:
            count = max(len(group.lengths) for group in groups)
            texts = self.repeated.draw(count, rng)
            if texts:
                groups.append(self._encoded(texts, self.repeated.padded, rng))
        return groups

    def _group(self, group: LengthGroup, rng: np.random.Generator) -> TrainingGroup:
        """The strings of given lengths."""
        texts: list[str] = []
        for length, count in sorted(Counter(group.lengths).items()):
            texts += self._texts(length, count, rng)
        return self._encoded(texts, group.symbols, rng)

    def _encoded(self, texts: list[str], symbols: int, rng: np.random.Generator) -> TrainingGroup:
        """Strings, padded to so many symbols."""
        batch = encode(self.task, texts, length=symbols)
        tensors = (tensor.to(self.device) for tensor in batch if tensor is not None)
        return TrainingGroup(*tensors, seed=int(rng.integers(1 << 63)))

    def _texts(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        """Strings of one length."""
        if self.examples is None:
            return self.task.sample(length, count, rng)
        if length not in self._fixed:
            fixed = random_numbers(self.seed, "examples", length)
            self._fixed[length] = self.task.sample(length, self.examples, fixed)
        texts = self._fixed[length]
        return [texts[place] for place in rng.integers(len(texts), size=count)]


def random_numbers(seed: int, stream: str, number: int) -> np.random.Generator:
    """A generator of its own for each number of each stream.

    Args:
        seed: of the run.
        stream: what the numbers are for.
        number: such as that of the step.
    """
    return np.random.default_rng([seed, zlib.crc32(stream.encode()), number])
