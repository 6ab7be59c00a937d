"""Relaxed sharing of parameters between steps, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from torchalu.train.algorithms.lengths import LengthCurriculum
from torchalu.train.hooks import Hook, Progress

_OF_STEPS = ("gate_weight", "gate_bias", "candidate_weight", "candidate_bias")
"""The parameters of a Neural GPU of which it has several sets; the first dimension counts them."""


class SharingRelaxation(Hook):
    r"""Pulls the parameter sets of a relaxed module together, then makes one of them.

    .. math:: L + p \sum_\theta \sum_i \bigl(\theta_i - \bar\theta\bigr)^2, \qquad
              p \leftarrow 1.2 \, p \quad \text{when the curriculum advances}

    Once the pull has reached `most`, the next advance puts the average in place of all sets. From
    then on all sets get the mean of their gradients, which has the scale of those before, and so
    remain one; each further advance with an error below a third of the curriculum's threshold
    lowers the learning rate.

    Args:
        curriculum: whose advances count.
        pull: p at first.
        factor: by which it grows.
        most: from which on the sets are averaged.
        rate_decay: the factor of the learning rate at an advance after that.

    Attributes:
        pull: p.
        averaged: whether there is one set of parameters only.
        rate: the current factor of the learning rate.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Kaiser & Sutskever 2016, section 3.3.2; numbers and the learning rate from the authors'
        program. The paper averages once the curriculum has reached the greatest length; here, as in
        the program, the pull decides. As the paper has it, training goes on with a single shared
        set; the program lets the sets drift apart between one averaging and the next.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> SharingRelaxation(LengthCurriculum(algorithm("badd"))).pull
        0.0005
    """

    kept = ("pull", "averaged", "rate", "advances")
    fixed = ("factor", "most", "rate_decay")

    def __init__(
        self,
        curriculum: LengthCurriculum,
        *,
        pull: float = 5e-4,
        factor: float = 1.2,
        most: float = 0.1,
        rate_decay: float = 0.98,
    ) -> None:
        if not pull >= 0 or not factor > 1 or not 0 < rate_decay <= 1:
            raise ValueError(
                f"pull is {pull}, factor {factor} and rate_decay {rate_decay}; give a pull of 0 or "
                "more, a factor above 1, and a decay above 0, 1 at most"
            )
        self.curriculum = curriculum
        self.pull, self.factor, self.most, self.rate_decay = pull, factor, most, rate_decay
        self.averaged, self.rate, self.advances = False, 1.0, 0

    def learning_rate_factor(self, step: int) -> float:  # noqa: ARG002
        """The current factor."""
        return self.rate

    def add_to_loss(self, progress: Progress, loss: Tensor) -> Tensor:
        """The loss and the pull."""
        if self.averaged:
            return loss
        return loss + self.pull * progress.module.relaxation_penalty()  # pyright: ignore[reportCallIssue]

    def change_gradients(self, progress: Progress) -> None:
        """Give all sets the same gradient, once they are one."""
        if not self.averaged:
            return
        for parameter in _sets(progress.module):
            if parameter.grad is not None:
                parameter.grad.copy_(parameter.grad.mean(0, keepdim=True).expand_as(parameter))

    def after_step(self, progress: Progress) -> None:
        """Pull harder, or average, where the curriculum has advanced."""
        if self.advances == self.curriculum.advances:
            return
        self.advances = self.curriculum.advances
        if self.pull < self.most:
            self.pull *= self.factor
            return
        if not self.averaged:
            self.averaged = True
            _average(progress)
        if self.curriculum.error < self.curriculum.threshold / 3:
            self.rate *= self.rate_decay

    def columns(self) -> dict[str, float]:
        """Pull, and whether it is over."""
        return {"pull": self.pull, "averaged": float(self.averaged)}


def merge_equal_sets(module: nn.Module) -> None:
    """Leave one set of parameters in a module where all of them are the same.

    Args:
        module: changed in place, if it has several equal sets.
    """
    parts = list(_sets(module))
    if len(parts) == len(_OF_STEPS) and all(torch.equal(p, p[:1].expand_as(p)) for p in parts):
        module.average_parameter_sets()  # pyright: ignore[reportCallIssue]


def _sets(module: nn.Module) -> Iterator[nn.Parameter]:
    """The parameters that are there several times."""
    for name, parameter in module.named_parameters():
        if name in _OF_STEPS:
            yield parameter


@torch.no_grad()
def _average(progress: Progress) -> None:
    """Put the average in place of each set, of the optimizer's state too."""
    for parameter in _sets(progress.module):
        kept = progress.optimizer.state.get(parameter, {}).values()
        for value in (parameter, *kept):
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                value.copy_(value.mean(0, keepdim=True).expand_as(value))
