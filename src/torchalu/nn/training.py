"""What a training loop needs of the units in a model."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.utils.hooks import RemovableHandle

from torchalu.nn.unit import Unit

_MADE_OF_OTHERS = ("_orig", "_g", "_v")  # what torch.nn.utils calls the parts of a weight


def penalty(model: nn.Module) -> Float[Tensor, ""]:
    r"""Sum of the penalties of all units in a model.

    .. math:: \sum_\ell R_\ell

    Multiply it by a factor that rises with :func:`penalty_ramp`, and add it to the loss. Where
    weights are sharded over processes (FSDP2), it is the penalty of the whole weights, on each.

    Args:
        model: any module; parts that are no units add nothing.

    Shape:
        Answers with `()`.

    Source:
        Madsen & Johansen 2020, sections 2.2, 2.5 and 2.7, equations 6, 11 and 14.

    Example:
        >>> from torchalu.nn import NAU, NMU
        >>> model = nn.Sequential(NAU(2, 2), nn.ReLU(), NMU(2, 1))
        >>> bool(penalty(model) == model[0].penalty() + model[2].penalty())
        True
    """
    return sum((whole(unit.penalty()) for unit in _units(model)), torch.zeros(()))


def penalty_ramp(step: float, start: float, end: float) -> float:
    r"""Factor that rises from 0 at `start` to 1 at `end`.

    .. math:: \max(\min(\frac{t - t_0}{t_1 - t_0}, 1), 0)

    Args:
        step: t, the number of optimizer steps taken; not of epochs.
        start: t_0, up to which the factor is 0.
        end: t_1, from which on it is 1.

    Raises:
        ValueError: `end` is not greater than `start`.

    Source:
        Madsen & Johansen 2020, section 2.7, equation 14.

    Example:
        >>> [penalty_ramp(step, start=100, end=200) for step in (0, 150, 900)]
        [0.0, 0.5, 1.0]
    """
    if not start < end:
        raise ValueError(f"start is {start} and end {end}; the ramp has to end after it starts")
    return min(max((step - start) / (end - start), 0.0), 1.0)


def constrain_after(optimizer: torch.optim.Optimizer, model: nn.Module) -> RemovableHandle:
    """Constrain all units of a model after each step of an optimizer.

    Args:
        optimizer: any optimizer of torch.
        model: the module whose units have their `constrain_` called.

    Returns:
        A handle whose `remove()` ends it.

    Raises:
        TypeError: `optimizer` is no `torch.optim.Optimizer`, or `model` no module.
        ValueError: a unit's weight is made of others by a parametrization or by pruning.

    Source:
        Madsen & Johansen 2020, equations 5 and 10: clamped in each iteration.

    Example:
        >>> from torchalu.nn import NAU
        >>> unit = NAU(2, 1)
        >>> optimizer = torch.optim.SGD(unit.parameters(), lr=100.0)
        >>> handle = constrain_after(optimizer, unit)
        >>> unit(torch.ones(2)).sum().backward()
        >>> optimizer.step()
        >>> unit.weight.tolist()
        [[-1.0, -1.0]]
        >>> handle.remove()
    """
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer is a {type(optimizer).__name__}; give a torch.optim.Optimizer")
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; give the torch.nn.Module it trains")
    check_own_weights(model)

    def constrain(*_: Any) -> None:
        for unit in _units(model):
            unit.constrain_()

    return optimizer.register_step_post_hook(constrain)


def check_own_weights(model: nn.Module) -> None:
    """Check that the units of a model own their weights, so that they can be set in place.

    Args:
        model: any module.

    Raises:
        ValueError: a unit's weight is made of others by `torch.nn.utils`: a parametrization,
            weight normalization or pruning.

    Example:
        >>> from torch.nn.utils.parametrizations import weight_norm
        >>> from torchalu.nn import NMU
        >>> check_own_weights(nn.Sequential(weight_norm(NMU(2, 1))))
        Traceback (most recent call last):
        ValueError: 0 is an NMU with a weight that is made of others, and setting it changes ...
    """
    for name, unit in model.named_modules():
        if not isinstance(unit, Unit):
            continue
        made = any(key.endswith(_MADE_OF_OTHERS) for key, _ in unit.named_parameters(recurse=False))
        if made or parametrize.is_parametrized(unit):
            kind = type(unit).mro()[1 if parametrize.is_parametrized(unit) else 0].__name__
            raise ValueError(
                f"{name or 'the module'} is an {kind} with a weight that is made of others, and "
                "setting it changes nothing; allowed: units as they are; call "
                "torch.nn.utils.parametrize.remove_parametrizations or prune.remove first"
            )


def whole(tensor: Tensor) -> Tensor:
    """The tensor itself, or all of it on each process where it is sharded over some."""
    gather: Callable[[], Tensor] | None = getattr(tensor, "full_tensor", None)
    return tensor if gather is None else gather()


def _units(model: nn.Module) -> list[Unit]:
    """The units in a model, each once."""
    return [module for module in model.modules() if isinstance(module, Unit)]
