"""Training a Neural GPU on a task."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch import nn

from torchalu.nn import DiagonalNeuralGPU, NeuralGPU, NeuralGPUBase
from torchalu.tasks.algorithms import AlgorithmicTask, StringFileTask
from torchalu.tasks.algorithms.task import CarryTask
from torchalu.train.algorithms.adamax import ClippedAdamax
from torchalu.train.algorithms.batches import TrainingStrings
from torchalu.train.algorithms.clock import AlgorithmProgress, Clock
from torchalu.train.algorithms.configuration import AlgorithmTraining
from torchalu.train.algorithms.counterexample_training import CounterexampleTraining
from torchalu.train.algorithms.give_up import GIVEN_UP, GiveUp
from torchalu.train.algorithms.gradient_noise import GradientNoise
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.algorithms.lengths import LengthBins, LengthCurriculum, LengthPlan
from torchalu.train.algorithms.loss import string_loss
from torchalu.train.algorithms.plateau import PlateauDecay
from torchalu.train.algorithms.relaxation import SharingRelaxation, merge_equal_sets
from torchalu.train.algorithms.result import AlgorithmResult, joined
from torchalu.train.algorithms.rounding import Rounding
from torchalu.train.algorithms.saturation_cost import SaturationCost
from torchalu.train.algorithms.sharpening import Sharpening
from torchalu.train.algorithms.start import check_training_memory, new_module
from torchalu.train.algorithms.validation import EndWhenRight, StringValidation
from torchalu.train.algorithms.weight_average import WeightAverage
from torchalu.train.configuration import TrainingConfiguration
from torchalu.train.hooks import Hook
from torchalu.train.loop import fit
from torchalu.train.run import OptimizerFactory

ModuleFactory: TypeAlias = Callable[[AlgorithmicTask, AlgorithmTraining], nn.Module]
_FILE_LENGTHS = 8
"""Lengths at which what is learned from a file is validated, at most."""


def train_algorithm(
    task: AlgorithmicTask,
    training: AlgorithmTraining,
    *,
    module: nn.Module | ModuleFactory | None = None,
    device: torch.device | str = "cpu",
    folder: str | os.PathLike[str] | None = None,
    report: Callable[[AlgorithmProgress], None] | None = None,
) -> AlgorithmResult:
    """Train a module to answer the strings of a task, and keep the one that generalizes best.

    The best step is chosen on validation strings of the training lengths and of several times
    those, which neither training nor tests see; see `StringValidation`. An attempt that learns the
    task, but does not hold on longer strings, is given up for one with another start; see `GiveUp`.
    With a folder, a broken training goes on from the checkpoint in it, and ends with the same
    numbers bit for bit.

    Args:
        task: what is learned.
        training: by which methods, with which numbers.
        module: what learns it, in one attempt; or a function that makes what learns it from the
            task and the training of an attempt, whose seed is its own. New Neural GPUs of the form
            that `training` says if left out.
        device: where it learns.
        folder: for the checkpoint.
        report: called about ten times a second. It may raise to end the training; a checkpoint is
            written first.

    Raises:
        TypeError: `task` is none.
        ValueError: the task has no strings of some length, a step takes more memory than is free,
            with an estimate, or the module is no Neural GPU where the training asks for one.
        CheckpointError: the folder's checkpoint is of another training.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> training = AlgorithmTraining(maps=6, bins=(4,), batch=2, steps=2, validate_at=(1.0,))
        >>> result = train_algorithm(algorithm("copy"), training)
        >>> result.steps, result.records["symbols"].to_list()
        (2, [4])
    """
    if not isinstance(task, AlgorithmicTask):
        raise TypeError(f"task is {task!r}; give a task, such as algorithm('badd')")
    given = module if isinstance(module, nn.Module) else None
    make: ModuleFactory = new_module if module is None or given is not None else module
    check_training_memory(task, training, module=given, device=device)
    learned, validated = _with_carries(task, training).split()
    plan = length_plan(learned, training)
    counts = training.validation_strings, training.seed, training.long_validation_strings
    validation = StringValidation(
        validated,
        validation_symbols(validated, plan.longest, training.validate_at),
        *counts,
        noise=training.noise,
        trained=plan.longest,
    )
    attempts = []
    most = training.attempts if given is None else 1
    for attempt in range(most):
        trained = dataclasses.replace(training, seed=attempt_seed(training.seed, attempt))
        result = _attempt(
            task,
            trained,
            (make(task, trained) if given is None else given).to(device),
            TrainingStrings(
                learned,
                length_plan(learned, trained),
                trained.seed,
                examples=training.examples,
                device=device,
            ),
            validation,
            _folder(folder, attempt),
            _counted(report, attempt),
            last=attempt == most - 1,
        )
        attempts.append(result)
        if result.status != GIVEN_UP:
            break
    return joined(attempts)


def _attempt(
    task: AlgorithmicTask,
    training: AlgorithmTraining,
    module: NeuralGPU | DiagonalNeuralGPU | nn.Module,
    strings: TrainingStrings,
    validation: StringValidation,
    folder: Path | None,
    report: Callable[[AlgorithmProgress], None] | None,
    *,
    last: bool,
) -> AlgorithmResult:
    """One attempt, with a start of its own; the last is not given up."""
    _check_module(module, training)
    plan = strings.plan
    clock = Clock(task, training, module)
    hooks = [plan, *_methods(strings, training, validation), clock]
    hardening = next((hook for hook in hooks if isinstance(hook, Hardening)), None)
    strings.repeated = next((h for h in hooks if isinstance(h, CounterexampleTraining)), None)
    if hardening is not None and not last and validation.longer:
        hooks.append(GiveUp(hardening, training.patience, at=validation.longer[0]))
    result = fit(
        module.train(),
        lambda step, _: strings(step),
        string_loss,
        TrainingConfiguration(
            steps=training.steps,
            learning_rate=training.learning_rate,
            clip_norm=training.clip_norm,
            evaluate_every=training.evaluate_every,
            checkpoint_every=training.checkpoint_every,
            seed=training.seed,
        ),
        evaluate=validation,
        optimizer=_optimizer(training),
        hooks=hooks,
        folder=folder,
        report=None if report is None else lambda _: report(clock.progress()),
    )
    module.load_state_dict(result.best_state)
    merge_equal_sets(module)
    if hardening is not None:
        assert isinstance(module, NeuralGPUBase)
        module.noise = training.noise
        rounding = next((hook for hook in hooks if isinstance(hook, Rounding)), None)
        if rounding is not None:
            module.levels = rounding.levels_at(result.best_step)
    attempt = AlgorithmResult(
        module.eval(),
        validation.by_length(result.records),
        result.status,
        result.steps,
        result.best_step,
        result.records["seconds"][-1],  # of the last evaluation, however often it is asked for
    )
    give_up = next((hook for hook in hooks if isinstance(hook, GiveUp)), None)
    if give_up is not None and give_up.gives_up(attempt):
        return dataclasses.replace(attempt, status=GIVEN_UP)
    return attempt


def _check_module(module: nn.Module, training: AlgorithmTraining) -> None:
    """Refuse a module that a method of the training asks more of than it has."""
    if isinstance(module, NeuralGPUBase):
        return
    for name in ("noise", "saturation"):
        if getattr(training, name):
            raise ValueError(
                f"module is a {type(module).__name__} and training.{name} is "
                f"{getattr(training, name)}, which asks for a Neural GPU; give training.{name}=0"
            )


def attempt_seed(seed: int, attempt: int) -> int:
    """The seed of an attempt; that of the first is the run's own.

    Args:
        seed: of the run.
        attempt: its number, from 0.

    Example:
        >>> attempt_seed(7, 0), attempt_seed(7, 1) == attempt_seed(8, 1)
        (7, False)
    """
    if attempt == 0:
        return seed
    return int(np.random.SeedSequence([seed, attempt]).generate_state(1)[0])


def length_plan(task: AlgorithmicTask, training: AlgorithmTraining) -> LengthPlan:
    """The lengths that a training draws.

    Args:
        task: whose lengths they are.
        training: with the bins, or the curriculum.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> length_plan(algorithm("badd"), AlgorithmTraining()).longest
        41
    """
    if training.lengths == "bins":
        return LengthBins(
            task,
            bins=training.bins,
            batch=training.batch,
            smaller=training.smaller,
            bins_per_step=training.bins_per_step,
        )
    return LengthCurriculum(
        task,
        threshold=training.threshold,
        start=training.start,
        most=training.bins[-1],
        batch=training.batch,
        every=training.every,
    )


def validation_symbols(
    task: AlgorithmicTask, longest: int, multiples: Sequence[float]
) -> list[int]:
    """The lengths that a training validates at, in symbols.

    A file has few strings of each length: up to eight of its lengths are taken, the shortest and
    the longest among these.

    Args:
        task: whose lengths they are.
        longest: that training strings have.
        multiples: of it to validate at; of a file the greatest counts alone.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> validation_symbols(algorithm("badd"), 41, (1.0, 2.5, 5.0, 10.0))
        [41, 102, 205, 410]
    """
    symbols = [round(longest * multiple) for multiple in sorted(multiples)]
    if not isinstance(task, StringFileTask):
        return symbols
    lengths = task.sample_lengths(task.lengths(symbols[-1]))
    if not lengths:
        return symbols[-1:]  # which is refused
    places = np.linspace(0, len(lengths) - 1, num=min(len(lengths), _FILE_LENGTHS))
    return [task.symbols(lengths[round(place)]) for place in places]


def _methods(
    strings: TrainingStrings, training: AlgorithmTraining, validation: StringValidation
) -> list[Hook]:
    """The methods that a training has turned on; relaxation comes after noise, to pool it too."""
    task, plan = strings.task, strings.plan
    hooks: list[Hook] = []
    if training.saturation:
        hooks.append(SaturationCost(training.saturation, training.saturation_least, training.every))
    hardening = None
    if training.noise:
        hardening = Hardening(
            training.noise,
            training.ramp,
            training.settle,
            initial=training.initial_noise,
            wait=training.wait,
            at=validation.shorter,
        )
        hooks.append(hardening)
    if training.gradient_noise:
        hooks.append(GradientNoise(training.gradient_noise, training.gradient_noise_law))
    if training.parameter_sets > 1 and isinstance(plan, LengthCurriculum):
        hooks.append(SharingRelaxation(plan, pull=training.pull, factor=training.pull_factor))
    if training.plateau_factor < 1:
        rests = hardening if training.plateau_rests else None
        hooks.append(PlateauDecay(training.plateau_factor, every=training.every, rests=rests))
    if training.average:
        hooks.append(WeightAverage(training.average))
    if hardening is not None and training.levels:
        hooks.append(Rounding(hardening, training.levels))
    if hardening is not None and training.sharpening > 1:
        hooks.append(Sharpening(hardening, training.sharpening))
    if hardening is not None and training.counterexamples:
        longest = task.sample_lengths(task.lengths(plan.longest))[-1]
        hooks.append(
            CounterexampleTraining(
                hardening,
                task,
                longest,
                count=training.counterexamples,
                extra_steps=training.extra_steps,
            )
        )
    if training.end_after:
        hooks.append(EndWhenRight(training.end_after))
    return hooks


def _folder(folder: str | os.PathLike[str] | None, attempt: int) -> Path | None:
    """Where the checkpoint of an attempt is kept: that of the first in the folder itself."""
    if folder is None:
        return None
    return Path(folder) / f"attempt-{attempt}" if attempt else Path(folder)


def _counted(
    report: Callable[[AlgorithmProgress], None] | None, attempt: int
) -> Callable[[AlgorithmProgress], None] | None:
    """The report of an attempt."""
    if report is None:
        return None
    return lambda progress: report(dataclasses.replace(progress, attempt=attempt))


def _optimizer(training: AlgorithmTraining) -> OptimizerFactory:
    """What makes the optimizer."""
    if training.optimizer == "adam":
        return partial(torch.optim.Adam, eps=training.epsilon)
    return ClippedAdamax


def _with_carries(task: AlgorithmicTask, training: AlgorithmTraining) -> AlgorithmicTask:
    """The task with the training's shares of long and absent carries, unless it has its own."""
    if getattr(task, "long_carries", 0) or getattr(task, "absent_carries", 0):
        return task
    shares = {}
    if isinstance(task, CarryTask) and training.long_carries:
        shares["long_carries"] = training.long_carries
    if getattr(task, "absence_law", None) is not None and training.absent_carries:
        shares["absent_carries"] = training.absent_carries
    return dataclasses.replace(task, **shares) if shares else task
