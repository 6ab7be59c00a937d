"""How far the native trainer is with the settings of a chunk, in the chunk's scratch folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from torchalu.engine import Result, Run
from torchalu.engine.result import RECORD_COLUMNS, State
from torchalu.train.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

_LOSSES = RECORD_COLUMNS[1:]
_TENSORS = ("parameters", "first_moment", "second_moment", "best_parameters")


def store_team(scratch: Path, chunk: str, results: Sequence[Result]) -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        scratch: the chunk's folder.
        chunk: its name.
        results: of a training that was broken off, one a setting.

    Raises:
        OSError: the folder cannot be written to.

    Example:
        >>> import tempfile
        >>> from torchalu.engine import train_together
        >>> from torchalu.nn import NAU
        >>> from torchalu.tasks import SimpleFunction
        >>> runs = [Run([NAU(100, 1)], SimpleFunction("add"))]
        >>> half = train_together(runs, steps=1000)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     store_team(Path(name), "only", half)
        ...     half = stored_team(Path(name), "only", runs)
        >>> train_together(runs, steps=2000, resume=half)[0].steps.tolist()
        [2000]
    """
    tensors: dict[str, Tensor] = {}
    for k, result in enumerate(results):
        values = {**vars(result.state), "replica_ids": result.replica_ids.view(np.int64)}
        values["seed"] = result.seed
        records = result.records
        at = records.select(pl.col("replica").reinterpret(signed=True), "step")
        values["at"] = at.to_numpy(writable=True)
        values["losses"] = records.select(_LOSSES).to_numpy(writable=True)
        for name, value in values.items():
            tensors[f"{k}/{name}"] = torch.as_tensor(np.ascontiguousarray(value))
    write_checkpoint(scratch, Checkpoint({"chunk": chunk}, state=tensors))


def stored_team(scratch: Path, chunk: str, runs: Sequence[Run]) -> list[Result] | None:
    """Read what `store_team` wrote; None if there is nothing to go on from.

    Args:
        scratch: the chunk's folder.
        chunk: its name.
        runs: the settings.

    Raises:
        OSError: the file is there and cannot be opened.
        CheckpointError: it is of another chunk.
    """
    checkpoint = read_checkpoint(scratch, {"chunk": chunk})
    return None if checkpoint is None else list(_results(runs, checkpoint))


def _results(runs: Sequence[Run], checkpoint: Checkpoint) -> Iterator[Result]:
    for k, run in enumerate(runs):
        prefix = f"{k}/"
        values = {
            name.removeprefix(prefix): value
            for name, value in checkpoint.state.items()
            if name.startswith(prefix)
        }
        arrays: dict[str, Any] = {
            name: value if name in _TENSORS else value.numpy() for name, value in values.items()
        }
        state = State(**{field.name: arrays[field.name] for field in fields(State)})
        replica, step = np.ascontiguousarray(arrays["at"].T)
        records = pl.DataFrame(
            {
                "replica": replica.view(np.uint64),
                "step": step,
                **dict(zip(_LOSSES, arrays["losses"].T, strict=True)),
            }
        )
        ids = arrays["replica_ids"].view(np.uint64)
        yield Result(run.network(), state, records, ids, int(arrays["seed"].item()))
