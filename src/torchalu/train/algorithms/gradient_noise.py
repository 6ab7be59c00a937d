"""Noise on the gradients."""

from __future__ import annotations

from typing import Literal

import torch

from torchalu.train.algorithms.batches import random_numbers
from torchalu.train.hooks import Hook, Progress


class GradientNoise(Hook):
    r"""Adds normal noise to the gradients.

    .. math:: \sigma = \eta \, t^{-1/4} \, \varepsilon \quad \text{(law "error")}, \qquad
              \sigma = \eta \lambda \quad \text{(law "learning_rate")}

    with step t = 1, 2, ..., the fraction of wrong strings of the batch and the learning rate.

    Args:
        scale: the factor eta; 0 adds nothing.
        law: what it is multiplied by.

    Raises:
        ValueError: a negative scale, or another law.

    Source:
        Kaiser & Sutskever 2016, section 3.3, for the first law; the authors' program has the root
        of the step to the power -0.55 times the error above 0.02, and by a mistake never applies
        it. Freivalds & Liepins 2017, authors' program, for the second, with the scale 1e-4.
        Departure: their noise is cut off at twice its deviation.

    Example:
        >>> GradientNoise(-1.0)
        Traceback (most recent call last):
        ValueError: scale is -1.0; give a number from 0 up
    """

    fixed = ("scale", "law")

    def __init__(
        self, scale: float, law: Literal["error", "learning_rate"] = "learning_rate"
    ) -> None:
        if not scale >= 0:
            raise ValueError(f"scale is {scale}; give a number from 0 up")
        if law not in ("error", "learning_rate"):
            raise ValueError(f"law is {law!r}; give 'error' or 'learning_rate'")
        self.scale, self.law = scale, law

    def deviation(self, progress: Progress) -> float:
        """The standard deviation of a step's noise.

        Args:
            progress: of the run, before the step is counted.
        """
        if self.law == "learning_rate":
            return self.scale * progress.learning_rate
        error = progress.measures["string_error"].item()
        return self.scale * (progress.step + 1) ** -0.25 * error

    def change_gradients(self, progress: Progress) -> None:
        """Add the noise."""
        deviation = self.deviation(progress)
        if not deviation:
            return
        seed = random_numbers(progress.seed, "gradient noise", progress.step).integers(1 << 63)
        generator = torch.Generator().manual_seed(int(seed))
        for parameter in progress.parameters:
            if parameter.grad is not None:
                noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
                parameter.grad.add_(noise.to(parameter.device), alpha=deviation)
