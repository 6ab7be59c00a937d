"""The cost of pre-activations outside the linear part of hard nonlinearities."""

from __future__ import annotations

from torch import Tensor

from torchalu.train.hooks import Hook, Progress


class SaturationCost(Hook):
    r"""Adds the saturation of a batch to the loss, with a weight that follows the loss.

    .. math:: L + w S, \qquad
              w \leftarrow \min\Bigl(w_0, \max\Bigl(w_1, \lambda \frac{\bar L}{\bar S}\Bigr)\Bigr)
              \quad \text{every } k \text{ steps}

    with the learning rate, and loss and saturation averaged over those steps. It keeps states
    discrete; started with a weight of 0 nothing generalizes.

    Args:
        most: w_0, the weight at first, and the greatest.
        least: w_1, the least; `most` holds the weight where it is.
        every: steps from one weight to the next.

    Attributes:
        weight: the current one.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Freivalds & Liepins 2017, section 3, and the authors' program for the weight. Departure:
        `least`, which is 0 there.

    Example:
        >>> SaturationCost().weight
        0.001
    """

    kept = ("weight", "loss", "saturation", "steps")
    fixed = ("most", "least", "every")

    def __init__(self, most: float = 1e-3, least: float = 0.0, every: int = 200) -> None:
        if not most > 0 or every < 1:
            raise ValueError(f"most is {most} and every {every}; give positive numbers")
        if not 0 <= least <= most:
            raise ValueError(f"least is {least} and most {most}; give a number from 0 to most")
        self.most, self.least, self.every = most, least, every
        self.weight = most
        self.loss, self.saturation, self.steps = 0.0, 0.0, 0

    def add_to_loss(self, progress: Progress, loss: Tensor) -> Tensor:
        """The loss and the saturation times its weight."""
        return loss + self.weight * progress.measures["saturation"]

    def after_step(self, progress: Progress) -> None:
        """Set the weight anew where it is time to."""
        self.loss += progress.loss
        self.saturation += progress.measures["saturation"].item()
        self.steps += 1
        if self.steps == self.every:
            if self.saturation:
                follows = progress.learning_rate * self.loss / self.saturation
                self.weight = min(self.most, max(self.least, follows))
            self.loss, self.saturation, self.steps = 0.0, 0.0, 0

    def columns(self) -> dict[str, float]:
        """The weight."""
        return {"saturation_weight": self.weight}
