"""From a task to a learned algorithm: several starts, and the best of them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import torch

from torchalu.arguments import check_positive_integers
from torchalu.nn import NeuralGPUBase
from torchalu.tasks import AlgorithmicTask
from torchalu.train import cores, processor
from torchalu.train.algorithms import (
    AlgorithmProgress,
    AlgorithmResult,
    AlgorithmTraining,
    train_algorithm,
)
from torchalu.train.files import check_folder, remove_unfinished, set_aside
from torchalu.train.lock import FolderLock
from torchalu.zoo.algorithm_file import SUFFIX, AlgorithmFileError, read_algorithm
from torchalu.zoo.card import Card
from torchalu.zoo.learned_algorithm import LearnedAlgorithm
from torchalu.zoo.shelf import put
from torchalu.zoo.task_description import describe

_LOCK = "lock"


def learn(
    task: AlgorithmicTask,
    training: AlgorithmTraining,
    folder: str | Path,
    *,
    seeds: int = 1,
    device: torch.device | str = "cpu",
    command: str = "",
    report: Callable[[int, AlgorithmProgress], None] | None = None,
) -> tuple[LearnedAlgorithm, pl.DataFrame]:
    """Trains from several starts, keeps the one that is best on validation strings, and writes it.

    Each start has a folder of its own in the folder, with a checkpoint of the training; the same
    call goes on where it was broken off. The result is written as NAME.safetensors, its card
    as NAME.json; NAME is the task's. A damaged file of that name is set aside under one that ends
    in `.broken`, with a warning.

    Args:
        task: what is learned.
        training: by which methods, with which numbers; its seed is that of the first start.
        folder: made if it does not exist.
        seeds: how many starts; each has the next seed.
        device: where they learn, such as "cuda"; the result is there, too.
        command: that is noted on the card.
        report: called about ten times a second, with the seed. It may raise to end the training; a
            checkpoint is written first.

    Returns:
        The best, with what its card says of it, and the records of its validation; see
        `torchalu.train.algorithms.StringValidation.by_length`. Nothing is measured yet.

    Raises:
        ValueError: no seeds; a task that no file can hold, such as one named `a/b`; a folder that
            is none, or holds the best of other starts; or as
            `torchalu.train.algorithms.train_algorithm`.
        BlockingIOError: another process is at work in the folder.
        OSError: the folder cannot be written to.

    Example:
        >>> import tempfile
        >>> from torchalu.tasks import algorithm
        >>> training = AlgorithmTraining(maps=6, bins=(4,), batch=2, steps=2, validate_at=(1.0,))
        >>> with tempfile.TemporaryDirectory() as name:
        ...     learned, records = learn(algorithm("copy"), training, name, seeds=2)
        ...     sorted(path.name for path in Path(name).iterdir() if path.name != "lock")
        ['copy.json', 'copy.safetensors', 'seed-0', 'seed-1']
        >>> learned.card.seeds_tried, learned.card.steps, records["symbols"].to_list()
        (2, 2, [4])
    """
    check_positive_integers(seeds=seeds)
    describe(task)  # what no file can hold is named before the training
    folder = Path(folder)
    check_folder(folder, "folder")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder / _LOCK)
    try:
        starts = range(training.seed, training.seed + seeds)
        remove_unfinished(folder)
        for seed in starts:  # and nowhere else: other trainings may be at work in other folders
            remove_unfinished(_of_start(folder, seed), below=True)
        results: dict[int, AlgorithmResult] = {}
        _check_replaced(folder, task, starts)
        for seed in starts:
            results[seed] = train_algorithm(
                task,
                dataclasses.replace(training, seed=seed),
                device=device,
                folder=_of_start(folder, seed),
                report=_with_seed(report, seed),
            )
        learned, records = _best(task, results, command)
        put(learned, folder)
    finally:
        lock.release()
    return learned, records


def _of_start(folder: Path, seed: int) -> Path:
    """The folder of the start with a seed."""
    return folder / f"seed-{seed}"


def _check_replaced(folder: Path, task: AlgorithmicTask, starts: range) -> None:
    """Raises where the best of other starts would be replaced; a damaged file is set aside."""
    path = folder / f"{task.name}{SUFFIX}"
    if not path.exists():
        return
    try:
        read_algorithm(path)
    except AlgorithmFileError as error:
        aside = set_aside(path, ".broken")
        warnings.warn(f"{error}. It is now {aside.name!r}, and training goes on", stacklevel=3)
        return
    there = LearnedAlgorithm.load(path, task).card.seed
    if there not in starts:
        raise ValueError(
            f"{str(path)!r} is the best of other starts, that of seed {there}, and this training "
            f"has seeds {starts[0]} to {starts[-1]}; name another folder, or add seed {there}"
        )


def _machine(device: torch.device) -> str:
    """What a training took place on."""
    machine = f"{processor()}, {cores()} cores"
    return f"{machine}, {torch.cuda.get_device_name(device)}" if device.type == "cuda" else machine


def _with_seed(
    report: Callable[[int, AlgorithmProgress], None] | None, seed: int
) -> Callable[[AlgorithmProgress], None] | None:
    """The report of one start."""
    return None if report is None else lambda progress: report(seed, progress)


def _best(
    task: AlgorithmicTask, results: dict[int, AlgorithmResult], command: str
) -> tuple[LearnedAlgorithm, pl.DataFrame]:
    """The start with the lowest validation loss, and its card."""
    seed = min(results, key=lambda one: results[one].validation_loss)
    result = results[seed]
    module = result.module
    if not isinstance(module, NeuralGPUBase):
        raise TypeError(
            f"a {type(module).__name__} was trained; a learned algorithm is a Neural GPU"
        )
    card = Card(
        task.name,
        type(module).__name__,
        module.configuration(),
        command=command,
        seed=seed,
        steps=result.best_step,
        seconds=round(result.seconds, 1),
        machine=_machine(module.gate_weight.device),
        seeds_tried=len(results),
        seeds_generalizing=sum(result.generalizes for result in results.values()),
        generalizing="all validation strings",
    )
    return LearnedAlgorithm(module, task, card), result.records
