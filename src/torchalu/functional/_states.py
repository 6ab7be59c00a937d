"""Checks of the states, kernels and lengths of recurrent cells."""

import torch
from torch import Tensor
from torch._C._functorch import is_batchedtensor
from torch._subclasses.fake_tensor import is_fake

from torchalu.kernels.recurrence_forms import Layer, position_mask


def check_kernels(state: Tensor, layer: Layer) -> None:
    """Refuse parameters that do not fit a state (batch, length, width, maps).

    Args:
        state: channels last.
        layer: parameters of a layer.

    Raises:
        ValueError: the state has no 4 dimensions, a parameter has another shape than the number
            of maps asks for, or a kernel's size is even.
    """
    if state.ndim != 4:
        raise ValueError(f"state has shape {tuple(state.shape)}; give (batch, length, width, maps)")
    maps = state.shape[-1]
    for name, value in layer._asdict().items():
        rows = 2 * maps if name.startswith("gate") else maps
        if name.endswith("bias"):
            fits, expected = value.shape == (rows,), f"({rows},)"
        else:
            fits = value.ndim == 4 and value.shape[:2] == (rows, maps)
            expected = f"({rows}, {maps}, *kernel sizes)"
        if not fits:
            raise ValueError(
                f"{name} has shape {tuple(value.shape)}; for a state of {maps} maps give {expected}"
            )
        if any(size % 2 == 0 for size in value.shape[2:]):
            raise ValueError(
                f"{name} has shape {tuple(value.shape)}; give kernels of odd sizes, such as 3"
            )


def check_range(name: str, numbers: Tensor, least: int, most: int | None = None) -> None:
    """Refuse numbers out of range.

    Args:
        name: what the caller calls them.
        numbers: of any shape.
        least: smallest number allowed.
        most: greatest number allowed, if there is one.

    Raises:
        TypeError: `torch.func.vmap` maps over the numbers, of which there are none then.
        ValueError: a number is out of range; a RuntimeError in a compiled graph, which has no
            numbers while it is traced. On the device `meta` there are none to refuse.
    """
    if is_batchedtensor(numbers):
        raise TypeError(
            f"{name} is mapped over by torch.func.vmap, and what is computed depends on its "
            "numbers; allowed: a batch of sequences, without vmap; for gradients of each sequence "
            "call the model once for each"
        )
    allowed = f"{least} or more" if most is None else f"from {least} to {most}"
    if torch.compiler.is_compiling():
        fit = numbers >= least if most is None else (numbers >= least) & (numbers <= most)
        message = f"{name} contains a wrong number; give numbers {allowed}"
        torch.ops.aten._assert_async.msg(fit.all(), message)
        return
    if numbers.is_meta or is_fake(numbers) or not numbers.numel():
        return
    low, high = torch.stack(numbers.aminmax()).tolist()
    if low < least or (most is not None and high > most):
        raise ValueError(f"{name} contains {low if low < least else high}; give numbers {allowed}")


def length_mask(lengths: Tensor, state: Tensor) -> Tensor:
    """0 behind the end of each sequence, 1 before, for images.

    Args:
        lengths: of the sequences in a batch.
        state: the batch, (batch, length, ...).

    Raises:
        TypeError: `lengths` has another dtype than int64.
        ValueError: `lengths` is not one number from 0 to the length of the state a sequence.
    """
    if lengths.dtype != torch.int64:
        raise TypeError(f"lengths is {lengths.dtype}; convert it with .long()")
    if lengths.shape != state.shape[:1]:
        raise ValueError(
            f"lengths has shape {tuple(lengths.shape)}; give one number for each of the "
            f"{len(state)} sequences: ({len(state)},)"
        )
    check_range("lengths", lengths, 0, state.shape[1])
    return position_mask(lengths, state.shape[1], state.dtype)


def check_thirds(state: Tensor) -> None:
    """Refuse a state whose maps do not fall into thirds.

    Args:
        state: (batch, length, maps).

    Raises:
        ValueError: the state has no 3 dimensions, or the number of maps is no multiple of 3.
    """
    if state.ndim != 3:
        raise ValueError(f"state has shape {tuple(state.shape)}; give (batch, length, maps)")
    if state.shape[-1] % 3:
        raise ValueError(
            f"state has {state.shape[-1]} maps; a third of them moves left and a third right, so "
            "give a multiple of 3, such as 96"
        )
