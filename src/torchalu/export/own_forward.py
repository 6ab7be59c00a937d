"""Modules that compute something else than their class says."""

from collections.abc import Iterable

from torch import nn

_OURS = ("torchalu.", "torch.nn.")


def check_forward(module: nn.Module, known: Iterable[type]) -> None:
    """Refuse a layer that is read as one of a known class, and computes something else.

    Args:
        module: a layer.
        known: the classes whose formulas are known.

    Raises:
        TypeError: a forward hook may change what it takes or gives, or `forward` is neither that
            of the known class nor one of this package or of `torch.nn`.

    Example:
        >>> layer = nn.Identity()
        >>> _ = layer.register_forward_hook(lambda module, input, output: 1 - output)
        >>> check_forward(layer, [nn.Identity])
        Traceback (most recent call last):
        TypeError: module is Identity with a forward hook, ...
    """
    kinds = {*known}
    kind = next((one for one in type(module).__mro__ if one in kinds), None)
    if kind is None:
        return
    forward = type(module).forward
    if "forward" in vars(module) or not (
        forward is kind.forward or forward.__module__.startswith(_OURS)
    ):
        raise TypeError(
            f"module is {type(module).__name__} with another forward than {kind.__name__}'s, "
            "whose formula is not known; for another class use unit_expressions.register"
        )
    if module._forward_hooks or module._forward_pre_hooks:
        raise TypeError(
            f"module is {type(module).__name__} with a forward hook, which may change what it "
            "computes; remove it first"
        )
