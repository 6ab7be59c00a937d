"""Where the native trainer runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType

import torch

from torchalu import _core
from torchalu.arguments import check_positive_integers
from torchalu.engine.cores import cores
from torchalu.engine.run import Run
from torchalu.tasks import Table

DEVICES = ("cpu", "cuda")
"""What `device` may be."""

BATCH_SIZES = range(113, 129)
"""Rows a step on a GPU, where each of a warp's 32 lanes has four."""


def native_train(device: str, threads: int | None) -> Callable[..., bool]:
    """The native trainer's entry on a device.

    Args:
        device: one of `DEVICES`.
        threads: of the CPU's trainer; every core by default.

    Raises:
        TypeError: `threads` is no integer.
        ValueError: an unknown device, or no threads.
        RuntimeError: there is no GPU, or torchalu was built without a CUDA compiler.

    Example:
        >>> callable(native_train("cpu", 1))
        True
    """
    if device not in DEVICES:
        raise ValueError(f"device is {device!r}; choose from {', '.join(DEVICES)}")
    if threads is not None:
        check_positive_integers(threads=threads)
    if device == "cpu":
        return partial(_core.train, threads=threads or cores())
    return _gpu_module().train


def check_runs(device: str, runs: Sequence[Run], dtype: torch.dtype, batch_size: int) -> None:
    """Check that a device can train what it is asked to.

    Args:
        device: one of `DEVICES`.
        runs: the settings.
        dtype: of all parameters.
        batch_size: rows a step.

    Raises:
        ValueError: a GPU does not take one of them; the message says which, and what it takes.

    Example:
        >>> check_runs("cuda", [], torch.float64, 128)
        Traceback (most recent call last):
        ...
        ValueError: dtype is torch.float64; on device = 'cuda' the native trainer computes in ...
    """
    if device == "cpu":
        return
    remedy = "or train with device='cpu'"
    if dtype != torch.float32:
        raise ValueError(
            f"dtype is {dtype}; on device = {device!r} the native trainer computes in "
            f"torch.float32: give that, {remedy}"
        )
    if batch_size not in BATCH_SIZES:
        raise ValueError(
            f"batch_size is {batch_size}; on device = {device!r} allowed are {BATCH_SIZES[0]} to "
            f"{BATCH_SIZES[-1]}: give one of these, {remedy}"
        )
    for k, run in enumerate(runs):
        if isinstance(run.task, Table):
            raise ValueError(
                f"the task of runs[{k}] is a Table; on device = {device!r} the native trainer "
                f"learns SimpleFunctions, whose batches it draws: give one, {remedy}"
            )


def gpu() -> str:
    """The name of the GPU that `device="cuda"` trains on.

    Raises:
        RuntimeError: there is no GPU, or torchalu was built without a CUDA compiler.
    """
    return _gpu_module().gpu_name()


def _gpu_module() -> ModuleType:
    try:
        module = importlib.import_module("torchalu._cuda")
    except ImportError:
        raise RuntimeError(
            "device is 'cuda', but torchalu was built without a CUDA compiler; put nvcc on the "
            "PATH and install torchalu again, or give device='cpu'"
        ) from None
    try:
        count = module.gpu_count()
    except RuntimeError as error:
        raise RuntimeError(f"device is 'cuda', but {error}; give device='cpu'") from None
    if count == 0:
        raise RuntimeError("device is 'cuda', but there is no GPU; give device='cpu'")
    return module
