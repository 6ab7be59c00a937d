"""Stacks of layers, as other parts of the package read them."""

from __future__ import annotations

from torch import nn


def runs_in_order(module: nn.Sequential) -> bool:
    """Whether it is its layers one after the other, and nothing else: no `forward` or hook.

    Args:
        module: whose `forward` and forward hooks are looked at.

    Example:
        >>> class Skip(nn.Sequential):
        ...     def forward(self, input):
        ...         return input + super().forward(input)
        >>> runs_in_order(nn.Sequential(nn.ReLU())), runs_in_order(Skip(nn.ReLU()))
        (True, False)
    """
    plain = type(module).forward is nn.Sequential.forward and "forward" not in vars(module)
    return plain and not (module._forward_hooks or module._forward_pre_hooks)
