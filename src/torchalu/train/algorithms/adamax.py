"""AdaMax as the improved Neural GPU is trained with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

_EPSILON = 1e-8


class ClippedAdamax(torch.optim.Optimizer):
    r"""AdaMax whose gradients are clipped, element by element, by their own running maximum.

    .. math:: g \leftarrow \operatorname{clip}(g, \pm (1.2 u + 10^{-4})), \quad
              m \leftarrow 0.9 m + 0.1 g, \quad u \leftarrow \max(\beta_t u, |g|), \quad
              \theta \leftarrow \theta - \lambda \frac{m}{u + 10^{-8}}

    .. math:: \beta_t = 1 - \max(5 \cdot 10^{-4}, \, 0.01 \cdot 2^{-t / 2000})

    Args:
        params: as those of any optimizer of torch.
        lr: the learning rate.
        momentum: 0.9 above.
        clip: 1.2 above.
        clip_floor: 1e-4 above, so that u can grow from 0.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Kingma & Ba 2015, algorithm 2; Freivalds & Liepins 2017, authors' program, for the clipping
        and for beta. As there, the momentum is not corrected for its start at 0.

    Example:
        >>> weight = torch.nn.Parameter(torch.zeros(1))
        >>> optimizer = ClippedAdamax([weight], lr=0.1)
        >>> (3 * weight).sum().backward()
        >>> optimizer.step()
        >>> round(weight.item(), 4)
        -0.01
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 0.005,
        *,
        momentum: float = 0.9,
        clip: float = 1.2,
        clip_floor: float = 1e-4,
    ) -> None:
        if not lr > 0 or not clip > 0 or not clip_floor > 0 or not 0 <= momentum < 1:
            raise ValueError(
                f"lr is {lr}, clip {clip}, clip_floor {clip_floor} and momentum {momentum}; give "
                "positive numbers, and a momentum of at least 0 and less than 1"
            )
        numbers = {"lr": lr, "momentum": momentum, "clip": clip, "clip_floor": clip_floor}
        super().__init__(params, numbers)

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Change the parameters by their gradients.

        Args:
            closure: computes the loss and its gradients first.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad, group)
        return loss

    def _change(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        """Change one parameter."""
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["momentum"] = torch.zeros_like(parameter)
            state["largest"] = torch.zeros_like(parameter)
        momentum, largest = state["momentum"], state["largest"]
        limit = group["clip"] * largest + group["clip_floor"]
        gradient = gradient.clamp(-limit, limit)
        momentum.lerp_(gradient, 1 - group["momentum"])
        torch.maximum(largest * second_decay(state["step"]), gradient.abs(), out=largest)
        parameter.addcdiv_(momentum, largest + _EPSILON, value=-group["lr"])
        state["step"] += 1


def second_decay(step: int) -> float:
    """The decay of the running maximum, beta in `ClippedAdamax`.

    Args:
        step: the number of steps taken before.

    Example:
        >>> second_decay(0), second_decay(2000), second_decay(10**6)
        (0.99, 0.995, 0.9995)
    """
    return 1 - max(5e-4, 0.01 * 0.5 ** (step / 2000))
