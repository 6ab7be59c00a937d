"""What a training starts with: a look at the memory, and a module that knows nothing yet."""

from __future__ import annotations

import torch
from torch import nn

from torchalu.evaluate import check_memory, unroll_bytes
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU
from torchalu.tasks.algorithms import AlgorithmicTask
from torchalu.train.algorithms.configuration import AlgorithmTraining

_COPIES = 7
"""Of the parameters: they, their gradient, two moments, average, best, and a checkpoint."""
_SHOWN = 10
"""Bins of which all are shown."""


def check_training_memory(
    task: AlgorithmicTask,
    training: AlgorithmTraining,
    *,
    module: nn.Module | None = None,
    device: torch.device | str = "cpu",
    what: str | None = None,
) -> None:
    """Refuse lengths, batches and maps for which memory does not suffice, before any is taken.

    Args:
        task: what is to be learned.
        training: by which methods, with which numbers.
        module: what is to learn it; a new Neural GPU if left out.
        device: where.
        what: the numbers that ask for it, as the caller knows them; those of `training` if left
            out.

    Raises:
        ValueError: a step takes more memory than is free, with an estimate.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> check_training_memory(algorithm("badd"), AlgorithmTraining(maps=3_000_000))
        Traceback (most recent call last):
        ValueError: bins is (2, ..., 41), batch 32 and maps 3000000, which takes about ... GiB, ...
    """
    bins, batch = training.bins, training.batch
    asked = f"bins is {bins if len(bins) < _SHOWN else f'({bins[0]}, ..., {bins[-1]})'}"
    if module is None:
        asked += f", batch {batch} and maps {training.maps}"
        module = _module(task, training, None, "meta")
    else:
        asked += f" and batch {batch}"
    sizes = bins[-(training.bins_per_step or len(bins)) :]
    if training.lengths == "curriculum":
        lengths = task.sample_lengths(task.lengths(bins[-1]))
        sizes = (task.symbols(lengths[-1]),) if lengths else ()
    if training.noise and training.counterexamples and sizes:
        sizes = (*sizes, sizes[-1] + training.extra_steps)
    needed = sum(unroll_bytes(module, batch, size, training=True) for size in sizes)
    needed += _COPIES * sum(p.numel() * p.element_size() for p in module.parameters())
    check_memory(needed, torch.device(device), what or asked)


def new_module(task: AlgorithmicTask, training: AlgorithmTraining) -> NeuralGPU | DiagonalNeuralGPU:
    """The module that `train_algorithm` begins with.

    Args:
        task: whose alphabet it has.
        training: with the module's form, size and seed.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> new_module(algorithm("badd"), AlgorithmTraining(maps=12)).configuration()["maps"]
        12
    """
    return _module(task, training, torch.Generator().manual_seed(training.seed))


def _module(
    task: AlgorithmicTask,
    training: AlgorithmTraining,
    generator: torch.Generator | None,
    device: str | None = None,
) -> NeuralGPU | DiagonalNeuralGPU:
    """A module of the form and size that a training asks for."""
    symbols = len(task.alphabet) + 1
    levels = training.levels if training.noise else 0
    if training.form == "diagonal":
        return DiagonalNeuralGPU(
            symbols,
            maps=training.maps,
            kernel_size=training.kernel_size,
            parameter_sets=training.parameter_sets,
            dropout=training.dropout,
            noise=training.noise,
            levels=levels,
            extra_steps=training.extra_steps,
            generator=generator,
            device=device,
        )
    return NeuralGPU(
        symbols,
        maps=training.maps,
        width=training.width,
        layers=training.layers,
        kernel_size=training.kernel_size,
        parameter_sets=training.parameter_sets,
        cutoff=training.cutoff,
        dropout=training.dropout,
        levels=levels,
        extra_steps=training.extra_steps,
        initial_scale=training.initial_scale,
        generator=generator,
        device=device,
    )
