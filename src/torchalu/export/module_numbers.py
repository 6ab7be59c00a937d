"""The numbers that a module holds, as those who read it need them."""

import copy
from itertools import chain

import torch
from torch import nn


def check_holds_numbers(name: str, module: nn.Module) -> None:
    """Refuse a module with tensors on the device `meta`, which have a shape alone.

    Args:
        name: of the argument.
        module: its value.

    Raises:
        ValueError: a parameter or a buffer is on `meta`.

    Example:
        >>> check_holds_numbers("model", nn.Sequential(nn.Linear(2, 1, device="meta")))
        Traceback (most recent call last):
        ValueError: model has 0.weight on the device meta, which holds no numbers; ...
    """
    for key, tensor in chain(module.named_parameters(), module.named_buffers()):
        if tensor.is_meta:
            raise ValueError(
                f"{name} has {key} on the device meta, which holds no numbers; allowed: a model "
                'with its weights; call to_empty(device="cpu") and load them first'
            )


def double_copy(name: str, module: nn.Module) -> nn.Module:
    """A copy in evaluation mode and float64, on the CPU.

    Args:
        name: of the argument.
        module: its value.

    Raises:
        ValueError: as `check_holds_numbers`.

    Example:
        >>> double_copy("model", nn.Linear(2, 1).train()).weight.dtype
        torch.float64
    """
    check_holds_numbers(name, module)
    return copy.deepcopy(module).to(device="cpu", dtype=torch.float64).eval()
