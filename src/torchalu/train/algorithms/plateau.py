"""A learning rate that falls where the loss does not."""

from __future__ import annotations

import torch

from torchalu.arguments import check_positive_integers
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.hooks import Hook, Progress


class PlateauDecay(Hook):
    r"""Lowers the learning rate where the loss has stopped falling.

    .. math:: \lambda \leftarrow \max(\gamma \lambda, \phi \lambda_0) \quad\text{if}\quad
              \min(\bar L_i, \bar L_{i-1}) > \bar L_{i-2}

    with the mean training loss of each period of `every` steps.

    Args:
        factor: gamma, by which the learning rate is multiplied.
        floor: phi, the least fraction of the first learning rate.
        every: steps of a period.
        rests: once this has begun; noise that grows raises the loss, however well a module learns.

    Attributes:
        rate: the current factor of the learning rate.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Freivalds & Liepins 2017, authors' program; `rests` is ours.

    Example:
        >>> PlateauDecay().rate
        1.0
    """

    kept = ("rate", "means", "sum", "steps")
    fixed = ("factor", "floor", "every", "rests")

    def __init__(
        self,
        factor: float = 0.7,
        floor: float = 1 / 60,
        every: int = 200,
        rests: Hardening | None = None,
    ) -> None:
        for name, value in (("factor", factor), ("floor", floor)):
            if not 0 < value <= 1:
                raise ValueError(f"{name} is {value}; give a number above 0, 1 at most")
        check_positive_integers(every=every)
        self.factor, self.floor, self.every, self.rests = factor, floor, every, rests
        self.rate = 1.0
        self.means = torch.full((2,), torch.inf, dtype=torch.float64)
        self.sum, self.steps = 0.0, 0

    def learning_rate_factor(self, step: int) -> float:  # noqa: ARG002
        """The current factor."""
        return self.rate

    def after_step(self, progress: Progress) -> None:
        """Compare the periods where one ends."""
        if self.rests is not None and self.rests.began >= 0:
            return
        self.sum += progress.loss
        self.steps += 1
        if self.steps < self.every:
            return
        before, last = self.means.tolist()
        mean = self.sum / self.steps
        if min(mean, last) > before:
            self.rate = max(self.floor, self.rate * self.factor)
        self.means = torch.tensor([last, mean], dtype=torch.float64)
        self.sum, self.steps = 0.0, 0

    def columns(self) -> dict[str, float]:
        """The factor."""
        return {"learning_rate_factor": self.rate}
