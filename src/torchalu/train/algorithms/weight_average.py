"""The average of the parameters over the last steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from torchalu.train.hooks import Hook, Progress


class WeightAverage(Hook):
    r"""Evaluates, and keeps as the best, an exponential average of the parameters.

    .. math:: \bar\theta \leftarrow d_t \bar\theta + (1 - d_t) \theta, \qquad
              d_t = \min\Bigl(d, \frac{1 + t}{10 + t}\Bigr)

    What is trained stays as it is.

    Args:
        decay: d, between 0 and 1: it averages over about 1 / (1 - d) steps.

    Attributes:
        average: by the parameters' names.

    Raises:
        ValueError: a decay not between 0 and 1.

    Source:
        Polyak & Juditsky 1992, as an exponential average; not in the papers of the Neural GPU.

    Example:
        >>> WeightAverage(0.99).average
        {}
    """

    kept = ("average",)
    fixed = ("decay",)

    def __init__(self, decay: float = 0.99) -> None:
        if not 0 < decay < 1:
            raise ValueError(f"decay is {decay}; give a number between 0 and 1")
        self.decay = decay
        self.average: dict[str, Tensor] = {}

    def begin(self, progress: Progress) -> None:
        """Start from the parameters as they are."""
        named = progress.module.named_parameters()
        self.average = {
            name: self.average.get(name, parameter).detach().clone().to(parameter.device)
            for name, parameter in named
        }

    @torch.no_grad()
    def after_step(self, progress: Progress) -> None:
        """Move the average toward the parameters."""
        step = progress.step
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        for name, parameter in progress.module.named_parameters():
            self.average[name].lerp_(parameter, share)

    @contextmanager
    def evaluating(self, progress: Progress) -> Iterator[None]:
        """Put the average in the place of the parameters."""
        named = dict(progress.module.named_parameters())
        trained = {name: parameter.detach().clone() for name, parameter in named.items()}
        _copy(self.average, named)
        try:
            yield
        finally:
            _copy(trained, named)


@torch.no_grad()
def _copy(values: dict[str, Tensor], parameters: dict[str, torch.nn.Parameter]) -> None:
    """Set parameters by name."""
    for name, parameter in parameters.items():
        parameter.copy_(values[name])
