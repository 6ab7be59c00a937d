"""Section 3.3: the grid search over six settings of the original form."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining

_ONE = Seeds(1)
_FIELDS = {"scale": "initial_scale"}
"""Fields of `AlgorithmTraining`, where an axis has another name."""
_SEEDS_APART = 1000  # between the seeds of two cells, so that no two runs have the same start


class GridStudy(AlgorithmStudy):
    """How many cells of the grid get how far."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The cells that are right at each length.

        Args:
            outcomes: of all chunks.

        Returns:
            `grid`, a row a task and length: `runs`, those `right` on all random strings, and the
            `best_rate`; `grid_cells`, a row a cell and length; `grid_learning`, a row a cell.
        """
        tables = super().summarize(outcomes)
        counts = (
            outcomes.filter(pl.col("strings") == RANDOM)
            .group_by("task", "length", maintain_order=True)
            .agg(
                runs=pl.len(),
                right=(pl.col("right") == pl.col("count")).sum(),
                best_rate=(pl.col("right") / pl.col("count")).max(),
            )
            .sort("task", "length")
        )
        return {"grid": counts, "grid_cells": tables.pop("grid"), **tables}


def grid(
    seeds: SeedOptions = _ONE,
    *,
    tasks: tuple[str, ...] = ("badd", "bmul"),
    learning_rates: tuple[float, ...] = (5e-4, 1e-3, 2e-3),
    scales: tuple[float, ...] = (1.5, 1.8, 2.1),
    pull_factors: tuple[float, ...] = (1.1, 1.2, 1.4),
    thresholds: tuple[float, ...] = (0.1, 0.15, 0.2),
    noises: tuple[float, ...] = (3e-4, 1e-3, 3e-3),
    dropouts: tuple[float, ...] = (0.06, 0.09, 0.135),
    long_carries: float = 0.0,
    absent_carries: float = 0.0,
    validation_strings: int = 32,
    cells: int | None = None,
    lengths: tuple[int, ...] = (20, 25, 100, 200, 2000),
    count: int = 1000,
    long_count: int = 100,
    steps: int | None = None,
    device: str = "cpu",
) -> GridStudy:
    """Section 3.3: the original form on a grid of 3^6 settings, or on a part of it.

    Args:
        seeds: of each cell.
        tasks: names of tasks.
        learning_rates: of Adam.
        scales: of the initial parameters.
        pull_factors: by which the relaxation pull grows.
        thresholds: fractions of wrong strings below which the curriculum advances.
        noises: scales of the gradient noise.
        dropouts: rates.
        long_carries: the share of the training and validation strings that have long carries,
            where a task has carries; the paper's have those of chance alone.
        absent_carries: the share with runs as long along which no carry comes, where it has a law
            for them.
        validation_strings: random strings of each of the lengths at which the best step is chosen.
        cells: how many cells to run, drawn from the grid; all of them if left out. More cells
            are the same and others.
        lengths: bits of an operand in the tests.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        steps: at most.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Kaiser & Sutskever 2016, section 3.3: the six settings, three values of each. Only the
        dropout's are printed, in section 3.3.1; the others are ours, around what the authors'
        program has.

    Example:
        >>> len(grid(tasks=("badd",)).settings), len(grid(tasks=("badd",), cells=5).settings)
        (729, 5)
    """
    axes = {
        "learning_rate": learning_rates,
        "scale": scales,
        "pull_factor": pull_factors,
        "threshold": thresholds,
        "gradient_noise": noises,
        "dropout": dropouts,
    }
    for name, values in axes.items():
        option = f"{name.removeprefix('gradient_')}s"
        if not values or len({*values}) < len(values):
            raise ValueError(f"{option} is {values}; give some values, each once")
        for value in values:
            try:
                replace(AlgorithmTraining(), **{_FIELDS.get(name, name): value})
            except ValueError as error:
                raise ValueError(f"{option} holds {value}: {error}") from None
    every = list(product(*axes.values()))
    if cells is not None and not 1 <= cells <= len(every):
        raise ValueError(f"cells is {cells}; give 1 to {len(every)}, or None for all")
    order = np.random.default_rng(0).permutation(len(every)).tolist()
    chosen = sorted(order[:cells]) if cells is not None else range(len(every))
    strings = Strings(lengths, count, long_count, adversarial=False)
    changes = {
        "long_carries": long_carries,
        "absent_carries": absent_carries,
        "validation_strings": validation_strings,
    }
    if steps is not None:
        changes["steps"] = steps
    settings = [
        AlgorithmSetting(
            {"task": name, **dict(zip(axes, every[index], strict=True))},
            algorithm(name, filled=False),
            _learner(name, changes | dict(zip(axes, every[index], strict=True)), index, device),
            strings,
        )
        for name in tasks
        for index in chosen
    ]
    return GridStudy("kaiser2016.grid", settings, seeds)


def _learner(task: str, numbers: dict[str, float], index: int, device: str) -> NeuralGPULearner:
    """The original form with the numbers of one cell, and those that are everywhere the same."""
    training = replace(
        AlgorithmTraining.original(algorithm(task)),
        **{_FIELDS.get(name, name): value for name, value in numbers.items()},  # pyright: ignore[reportArgumentType]
    )
    return NeuralGPULearner(training, device, first_seed=_SEEDS_APART * index)
