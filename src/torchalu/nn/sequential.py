"""Stacks of layers, as other parts of the package read them."""

from __future__ import annotations

from torch import nn


def runs_in_order(module: nn.Sequential) -> bool:
    """Whether it is its layers one after the other, and no subclass that does something else.

    Args:
        module: whose `forward` is looked at.

    Example:
        >>> class Skip(nn.Sequential):
        ...     def forward(self, input):
        ...         return input + super().forward(input)
        >>> runs_in_order(nn.Sequential(nn.ReLU())), runs_in_order(Skip(nn.ReLU()))
        (True, False)
    """
    return type(module).forward is nn.Sequential.forward
