"""How much memory it takes to run a module over strings, and how much is free."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

_INFERENCE_BUFFERS = 10
"""Copies of the mental image that a step needs at once."""
_SAVED_FOR_BACKWARD = 18
"""Copies of it that a step and layer leave behind for the backward pass."""
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def unroll_bytes(module: nn.Module, batch: int, length: int, *, training: bool = False) -> int:
    r"""Memory that a Neural GPU takes for a batch of strings, in bytes, beside its parameters.

    .. math:: e \, b \, n \, (w m k + 3 I), \qquad k = 10, \quad
              \text{in training } k = 10 + 18 \, n \, l

    with e bytes a number, b strings of n symbols, width w, m maps, l layers and I symbols. It is an
    upper estimate: of the form that runs in operations of torch, which keeps each step of the
    forward pass for the backward pass.

    Args:
        module: with a `configuration()` such as a Neural GPU's; one without counts as one of 64
            maps, width 1 and a layer.
        batch: strings.
        length: their symbols, padding included.
        training: whether gradients are taken.

    Example:
        >>> from torchalu.nn import DiagonalNeuralGPU
        >>> module = DiagonalNeuralGPU(4, maps=96)
        >>> [unroll_bytes(module, 1, 4001) >> 20, unroll_bytes(module, 32, 41, training=True) >> 20]
        [14, 359]
    """
    settings: dict[str, Any] = getattr(module, "configuration", dict)()
    copies = _INFERENCE_BUFFERS
    if training:
        copies += _SAVED_FOR_BACKWARD * length * settings.get("layers", 1)
    numbers = settings.get("width", 1) * settings.get("maps", 64) * copies
    numbers += 3 * settings.get("num_symbols", 16)
    size = next((p.element_size() for p in module.parameters()), 4)
    return size * batch * length * numbers


def free_bytes(device: torch.device) -> int:
    """Memory that is free on a device; for a CPU within the limits of the process's group.

    Args:
        device: a CPU or a GPU.

    Example:
        >>> free_bytes(torch.device("cpu")) > 0
        True
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    free = [sys.maxsize]
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) * 1024)
    try:
        most = (_CGROUP / "memory.max").read_text("utf-8").strip()
        if most != "max":
            used = int((_CGROUP / "memory.current").read_text("utf-8"))
            free.append(max(int(most) - used, 0))
    except (OSError, ValueError):
        pass
    return min(free)


def check_memory(needed: int, device: torch.device, what: str) -> None:
    """Refuse what needs more memory than is free, before any of it is taken.

    Args:
        needed: bytes.
        device: where.
        what: the argument and its value, for the error.

    Raises:
        ValueError: more is needed than is free; with both numbers.

    Example:
        >>> check_memory(1 << 60, torch.device("cpu"), "length is 1000000")
        Traceback (most recent call last):
        ValueError: length is 1000000, which takes about 1.1e+09 GiB, and ... GiB are free; ...
    """
    free = free_bytes(device)
    if needed > free:
        raise ValueError(
            f"{what}, which takes about {needed / 2**30:.2g} GiB, and {free / 2**30:.2g} GiB are "
            "free; give shorter strings, or fewer at once"
        )
