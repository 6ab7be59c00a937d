"""Adam on one cycle: the learning rate rises and falls once, its momentum the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from torchalu.train.schedules import Schedule

_RISE, _START, _END = 0.3, 25.0, 1e4
_MOST_MOMENTUM, _LEAST_MOMENTUM, _SECOND = 0.95, 0.85, 0.999


def one_cycle(steps: int) -> Schedule:
    r"""Rises from 1/25 to 1 in the first 30% of the steps, then falls to 4e-6, as cosines do.

    .. math:: f(t) = \frac{a + b}{2} + \frac{a - b}{2} \cos \pi \frac{t - t_0}{t_1 - t_0}

    from a at :math:`t_0` to b at :math:`t_1`; the top is at step 0.3 T - 1, the end at T - 1.

    Args:
        steps: T.

    Raises:
        ValueError: fewer than 4 steps.

    Source:
        Smith & Topin 2017; the numbers are the defaults of PyTorch's `OneCycleLR`, since the
        main text of Lowe et al. 2022 names none.

    Example:
        >>> factor = one_cycle(100)
        >>> [round(factor(step), 3) for step in (0, 29, 64, 99)]
        [0.04, 1.0, 0.5, 0.0]
    """
    return _cycle(steps, 1 / _START, 1.0, 1 / (_START * _END))


def one_cycle_adam(steps: int, weight_decay: float = 0.0) -> Callable[..., torch.optim.Optimizer]:
    """Adam whose first momentum falls from 0.95 to 0.85 and rises again while the rate cycles.

    Args:
        steps: of the cycle.
        weight_decay: factor of the weights that is added to their gradients.

    Returns:
        What `torchalu.train.fit` makes an optimizer with.

    Raises:
        ValueError: fewer than 4 steps.

    Source:
        Smith 2018; PyTorch's `OneCycleLR`, which does the same to any Adam.

    Example:
        >>> weight = torch.nn.Parameter(torch.ones(1))
        >>> optimizer = one_cycle_adam(100)([weight], lr=0.01)
        >>> weight.grad = torch.ones(1)
        >>> optimizer.step()
        >>> optimizer.param_groups[0]["betas"]
        (0.95, 0.999)
    """
    momentum = _cycle(steps, _MOST_MOMENTUM, _LEAST_MOMENTUM, _MOST_MOMENTUM)

    def cycle(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        taken = next((int(state["step"]) for state in optimizer.state.values()), 0)
        for group in optimizer.param_groups:
            group["betas"] = (momentum(taken), _SECOND)

    def make(parameters: Any, lr: float) -> torch.optim.Optimizer:
        optimizer = torch.optim.Adam(
            parameters, lr, (_MOST_MOMENTUM, _SECOND), weight_decay=weight_decay, fused=True
        )
        optimizer.register_step_pre_hook(cycle)
        return optimizer

    return make


def _cycle(steps: int, start: float, top: float, end: float) -> Schedule:
    """From `start` to `top` to `end`."""
    if steps < 4:
        raise ValueError(f"steps is {steps}; one cycle takes 4 at least")
    turn, last = _RISE * steps - 1, steps - 1

    def value(step: int) -> float:
        if step <= turn:
            return _between(start, top, step / turn)
        return _between(top, end, (step - turn) / (last - turn))

    return value


def _between(a: float, b: float, fraction: float) -> float:
    """From a to b as a cosine does."""
    return (a + b) / 2 + (a - b) / 2 * math.cos(math.pi * fraction)
