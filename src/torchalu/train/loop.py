"""The training loop for any module, for those that the native trainer does not take."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from torchalu.train.checkpoint import read_checkpoint, write_checkpoint
from torchalu.train.configuration import TrainingConfiguration
from torchalu.train.files import check_folder
from torchalu.train.hooks import Hook
from torchalu.train.run import Evaluate, Loss, OptimizerFactory, Run, Sample, TrainingResult
from torchalu.train.schedules import Schedule

_REPORT_SECONDS = 0.1
_GENERATOR = threading.RLock()
"""Held while torch's global generator, which all threads share, is seeded and drawn from."""


def fit(
    module: nn.Module,
    sample: Sample,
    loss: Loss,
    configuration: TrainingConfiguration,
    *,
    evaluate: Evaluate | None = None,
    optimizer: OptimizerFactory = torch.optim.Adam,
    schedule: Schedule | None = None,
    hooks: Sequence[Hook] = (),
    folder: str | os.PathLike[str] | None = None,
    report: Callable[[int], None] | None = None,
) -> TrainingResult:
    """Train a module, constrain its units after each step, and keep the best of it.

    To the loss is added the sum of the units' penalties times `configuration.penalty` and its
    ramp. With a folder, the run goes on from the checkpoint in it, and ends with the same numbers
    bit for bit as an unbroken one, on the same machine with the same number of threads. Random
    numbers of the module itself, as of a dropout, are seeded too, and the global generator is left
    as it was. All threads share it: train modules that draw from it one at a time.

    Args:
        module: changed in place; it holds the last parameters at the end.
        sample: gives the batch of a step from the step's number, 0 at first, and a generator. Use
            nothing else that changes from step to step, but what a hook keeps.
        loss: gives a scalar from module and batch, or that and other measures as `Measured`.
        configuration: the numbers.
        evaluate: gives numbers by name from the module, which is in evaluation mode and without
            gradients; "validation_loss" among them.
        optimizer: makes an optimizer from the parameters and `lr`, as those of torch.optim do; one
            that evaluates the loss again within a step, as LBFGS, is not taken.
        schedule: the factor of the learning rate as a function of the step; 1 if left out.
        hooks: methods that change loss, gradients or learning rate, in this order.
        folder: where the checkpoint lies; without it a run that is broken off is lost.
        report: called with the number of steps taken, about ten times a second. It may raise to
            end the run; a checkpoint is written first.

    Raises:
        ValueError: `loss` gives no scalar, `evaluate` not the same names each time, the module
            has nothing to train, the optimizer needs a closure, or the folder cannot be written to.
        CheckpointError: the folder's checkpoint is of another run.

    Example:
        >>> from torchalu.nn import NAU
        >>> unit = NAU(2, 1, generator=torch.Generator().manual_seed(0))
        >>> def sample(step, generator):
        ...     x = torch.rand(32, 2, generator=generator)
        ...     return x, x[:, :1] - x[:, 1:]
        >>> def loss(module, batch):
        ...     return nn.functional.mse_loss(module(batch[0]), batch[1])
        >>> result = fit(unit, sample, loss, TrainingConfiguration(steps=500, learning_rate=0.01))
        >>> result.status, [round(w, 3) for w in unit.weight.flatten().tolist()]
        ('finished', [1.0, -1.0])
    """
    run = Run(module, sample, loss, configuration, evaluate, optimizer, schedule, hooks)
    place = None if folder is None else Path(folder)
    with _forked(run.cuda_devices()):
        with _GENERATOR:
            run.begin(None if place is None else read_checkpoint(place, run.identity()))
        if place is not None and run.status == "running":
            check_folder(place, "folder")
        reported = -math.inf
        while run.status == "running":
            run.step_once()
            if place is not None and run.due():
                write_checkpoint(place, run.checkpoint())
            if report is not None and time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                try:
                    report(run.step)
                except BaseException:
                    if place is not None:
                        write_checkpoint(place, run.checkpoint())
                    raise
    return run.result()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator for a while; afterwards it is as it was.

    No other thread that seeds it in this way, or begins or ends a `fit`, comes in between.

    Args:
        seed: of the generator.

    Example:
        >>> with seeded(0):
        ...     first = nn.Linear(2, 2).weight
        >>> with seeded(0):
        ...     torch.equal(first, nn.Linear(2, 2).weight)
        True
    """
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def _forked(devices: list[int]) -> Iterator[None]:
    """Leaves the global generators as they are now, without disturbing who has them `seeded`."""
    fork = torch.random.fork_rng(devices=devices)
    with _GENERATOR:
        fork.__enter__()
    try:
        yield
    finally:
        with _GENERATOR:
            fork.__exit__(None, None, None)
