"""What a function has to know of who is looking at it."""

import torch
from torch._C._functorch import TransformType
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
from torch.autograd import forward_ad


def wants_torch_operations(*, forward: int) -> bool:
    """Whether an operator of ours would not survive what is done to the function.

    A runtime for exported models does not know the operator, the compiler cannot differentiate
    one that `torch.func` transforms, and forward derivatives of forward derivatives of a
    `torch.autograd.Function` are 0.

    Args:
        forward: how often the operator can be differentiated in forward mode, 0 or 1.
    """
    if torch.compiler.is_exporting() or torch._C._get_tracing_state() is not None:
        return True
    if not torch._C._are_functorch_transforms_active():
        return forward == 0 and not torch.compiler.is_compiling() and forward_ad._current_level >= 0
    if torch.compiler.is_compiling():
        return True
    return _levels().count(TransformType.Jvp) > forward


def is_transformed() -> bool:
    """Whether the function is differentiated in forward mode, or by `torch.func`.

    An operator whose only derivative is its backward pass then has none, or none that is right.
    """
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def is_vmapped() -> bool:
    """Whether the function is mapped over a dimension by `torch.func.vmap`."""
    return TransformType.Vmap in _levels()


def _levels() -> list[TransformType]:
    """The transforms of `torch.func` around the function."""
    return [level.key() for level in retrieve_all_functorch_interpreters()]
