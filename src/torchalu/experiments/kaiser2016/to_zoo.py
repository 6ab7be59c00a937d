"""From a run folder to the zoo: the best trained network of a task, and its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.experiments.kaiser2016.measuring import RANDOM, Strings, read_failed
from torchalu.experiments.kaiser2016.stored import StoredNetwork, stored_seeds
from torchalu.nn import NeuralGPUBase
from torchalu.zoo import Card, LearnedAlgorithm, Measurement, put


def to_zoo(
    run: str | Path | Sequence[str | Path],
    task: str,
    folder: str | Path,
    *,
    model: str = "improved",
    command: str = "",
) -> Path:
    """Write the network that validates best, of a run or of several, as the zoo keeps it.

    What the card says is what the run has measured; the choice is by validation strings, which
    are neither those of the training nor those of the measurements.

    Args:
        run: folder of a run of `kaiser2016.table1` or `kaiser2016.algorithms`, or several that
            differ in their seeds alone.
        task: name of the task.
        folder: where NAME.safetensors and NAME.json are written; NAME is the task's.
        model: "improved" or "original".
        command: what made the runs, for the card.

    Returns:
        The path of the checkpoint.

    Raises:
        ValueError: a run has no such network, or is no run of these; or two networks have the same
            seed, or differ in more than that.
        OSError: the folder cannot be written to.

    Example:
        >>> to_zoo("runs/none", "badd", "zoo")
        Traceback (most recent call last):
        ...
        ValueError: 'runs/none' is no run folder of ...
    """
    networks = stored_seeds([run] if isinstance(run, str | Path) else run, task=task, model=model)
    best, module = networks[0], networks[0].load()
    return put(LearnedAlgorithm(module, best.task, card(networks, module, command)), folder)


def card(networks: list[StoredNetwork], module: NeuralGPUBase, command: str = "") -> Card:
    """The card of the first of several networks that differ in their seeds.

    Args:
        networks: of one task and model, the best one first.
        module: its network.
        command: what made the run.
    """
    best = networks[0]
    first = best.outcomes.row(0, named=True)
    return Card(
        task=str(best.labels["task"]),
        form=type(module).__name__,
        configuration=module.configuration(),
        command=command,
        seed=best.seed,
        steps=first["best_step"],
        seconds=first["seconds"],
        machine=best.cost.processor,
        seeds_tried=len(networks),
        seeds_generalizing=sum(_everywhere(network.outcomes) for network in networks),
        measured=tuple(_measured(row) for row in best.outcomes.iter_rows(named=True)),
        generalizing="all random test strings of every length",
    )


def _measured(row: Mapping[str, Any]) -> Measurement:
    """A row of outcomes as a card has it."""
    kind, length = row["strings"], row["length"]
    failed, failed_at = read_failed(row["failed"])
    drawn_by = Strings.drawn_by(length) if kind == RANDOM else ()
    counts = length, row["count"], row["right"]
    return Measurement(*counts, kind, failed, failed_at, drawn_by)


def _everywhere(outcomes: pl.DataFrame) -> bool:
    """Whether a network got all random strings of all lengths right."""
    random = outcomes.filter(pl.col("strings") == RANDOM)
    return bool((random["right"] == random["count"]).all())
