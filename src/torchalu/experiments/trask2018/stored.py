"""Networks of runs that are done, from their run folders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from safetensors.torch import load_file
from torch import Tensor

from torchalu.experiments.setting import Label
from torchalu.experiments.trask2018.digit_networks import SeriesNetwork
from torchalu.experiments.trask2018.digit_study import tensors_of
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.grid_agent import GridAgent
from torchalu.experiments.trask2018.grid_training import GridTraining
from torchalu.tasks import SequenceOperation
from torchalu.train.part_files import MARKER, WEIGHTS, read_part

_SERIES = ("trask2018.perception", "trask2018.table2")
_GRID = ("trask2018.grid_world",)


@dataclass(frozen=True)
class StoredAgent:
    """The agent of a run that validates best, and what it was trained on.

    Attributes:
        agent: in evaluation mode.
        training: its numbers.
        seed: of its training.
    """

    agent: GridAgent
    training: GridTraining
    seed: int


@dataclass(frozen=True)
class StoredSeries:
    """The network of a run on series of digits that validates best, and what it was trained on.

    Attributes:
        network: in evaluation mode.
        operation: what it has learned.
        training: its numbers.
        seed: of its training.
    """

    network: SeriesNetwork
    operation: SequenceOperation
    training: SeriesTraining
    seed: int


def stored_agent(run: str | Path, model: str) -> StoredAgent:
    """The agent that validates best of those that lie in a run folder.

    Args:
        run: folder of a run of `trask2018.grid_world`, done or in part.
        model: the agent's name.

    Raises:
        ValueError: it is no such folder, or holds no such agent.
    """
    best = _best(run, _GRID, {"model": model}, "validation_reward", descending=True)
    training = GridTraining(**best.setting["training"] | {"device": "cpu"})
    agent = training.agent(model, best.seed)
    agent.load_state_dict(best.weights)
    return StoredAgent(agent.eval(), training, best.seed)


def stored_series(run: str | Path, task: str, model: str, *, settled: bool = True) -> StoredSeries:
    """The network that validates best of those on series of digits that lie in a run folder.

    Args:
        run: folder of a run of `trask2018.perception` or `trask2018.table2`, done or in part.
        task: "count", "sum" or "product".
        model: its name.
        settled: with its unit snapped and its images' part settled, if that has been done; else
            as it was trained.

    Raises:
        ValueError: it is no such folder, or holds no such network.
    """
    best = _best(run, _SERIES, {"task": task, "model": model}, "validation_loss")
    numbers = best.setting["training"]
    ramp = tuple(numbers["penalty_ramp"])
    training = SeriesTraining(**numbers | {"device": "cpu", "penalty_ramp": ramp})
    operation: SequenceOperation = best.setting["operation"]
    network = training.network(operation, model, best.seed)
    trained = tensors_of(best.weights, settled=False)
    network.load_state_dict((settled and tensors_of(best.weights, settled=True)) or trained)
    return StoredSeries(network.eval(), operation, training, best.seed)


@dataclass(frozen=True)
class _Stored:
    """The seed of a setting that validates best."""

    setting: dict[str, Any]
    seed: int
    weights: dict[str, Tensor]


def _best(
    run: str | Path,
    studies: Sequence[str],
    labels: Mapping[str, Label],
    score: str,
    *,
    descending: bool = False,
) -> _Stored:
    """The part with the least score among those of a setting, or with the greatest."""
    parts = Path(run) / "parts"
    try:
        stored = json.loads((Path(run) / "configuration.json").read_bytes())
        settings = {_name(one["labels"]): one for one in stored["configuration"]["settings"]}
        if stored["study"] not in studies:
            raise KeyError(stored["study"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{str(run)!r} is no run folder of `torchalu run {studies[0]}`; name one that is"
        ) from error
    wanted = _name(labels)
    names = sorted(p.name.removesuffix(MARKER) for p in parts.glob(f"{wanted}-seed*{MARKER}"))
    if wanted not in settings or not names:
        raise ValueError(
            f"{str(run)!r} holds no {wanted!r} that is done; it is of {', '.join(settings)}"
        )
    rows = [{"name": name, "score": read_part(parts, name)[0][score][0]} for name in names]
    order = pl.DataFrame(rows).with_columns(pl.col("score").cast(pl.Float64).fill_nan(None))
    best = order.sort("score", descending=descending, nulls_last=True)["name"][0]
    seed = int(best.rpartition("-seed")[2])
    return _Stored(settings[wanted], seed, load_file(parts / f"{best}{WEIGHTS}"))


def _name(labels: Mapping[str, Label]) -> str:
    """Labels as `SettingsStudy` names its chunks by them."""
    return "-".join(str(value) for value in labels.values())
