"""The trained networks that lie in a run folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from safetensors.torch import load_file

from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.nn import NeuralGPUBase
from torchalu.tasks import AlgorithmicTask, algorithm
from torchalu.train.algorithms import AlgorithmTraining
from torchalu.train.part_files import MARKER, WEIGHTS, Cost, read_part


@dataclass(frozen=True)
class StoredNetwork:
    """A Neural GPU that a study has trained.

    Attributes:
        name: of its chunk.
        labels: of its setting, such as task and model.
        seed: of its training.
        outcomes: what was measured, a row a kind and length of strings.
        cost: what it took.
        setting: what the study's configuration says of it.
        path: of the weights, which have been checked against the part's marker.
    """

    name: str
    labels: Mapping[str, Any]
    seed: int
    outcomes: pl.DataFrame
    cost: Cost
    setting: Mapping[str, Any]
    path: Path

    @property
    def validation_loss(self) -> float:
        """By which the best of several seeds is chosen; no test string has a part in it."""
        return self.outcomes["validation_loss"][0]

    @property
    def digest(self) -> str:
        """What the weights are recognized by."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    @property
    def task(self) -> AlgorithmicTask:
        """What it has learned, with the form of its answers."""
        task = algorithm(str(self.labels["task"]))
        return task if task.filled == self.setting["filled"] else replace(task, filled=False)

    def load(self) -> NeuralGPUBase:
        """The network with its best weights, in evaluation mode."""
        learner = self.setting["learner"]
        fields = {**learner["training"], "clip_norm": float(learner["training"]["clip_norm"])}
        for name in ("bins", "validate_at"):
            fields[name] = tuple(fields[name])
        weights = load_file(self.path)
        sets = weights["gate_weight"].shape[0]
        training = AlgorithmTraining(**{**fields, "parameter_sets": sets})
        module = NeuralGPULearner(training, shift=learner["shift"]).build(self.task, self.seed)
        assert isinstance(module, NeuralGPUBase)
        module.load_state_dict(weights)
        if "levels" in self.outcomes:  # those it was measured with: 0 if it ended before rounding
            module.levels = self.outcomes["levels"][0]
        return module.eval()


def stored_networks(folder: str | Path, **labels: Any) -> list[StoredNetwork]:
    """The Neural GPUs in a run folder, those that validate best first.

    Args:
        folder: of a run that is done, or in part.
        labels: that they must have, such as `task="badd"`.

    Raises:
        ValueError: it is no run folder of this paper, none has these labels, or a file is not
            what was written.
    """
    folder = Path(folder)
    try:
        stored = json.loads((folder / "configuration.json").read_bytes())
        settings = {
            "-".join(str(value) for value in setting["labels"].values()): setting
            for setting in stored["configuration"]["settings"]
        }
        if not str(stored["study"]).startswith("kaiser2016."):
            raise KeyError("kaiser2016")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{str(folder)!r} is no run folder of `torchalu run kaiser2016.table1` or the like; "
            "name one that is"
        ) from error
    networks = [
        network
        for network in _networks(folder / "parts", settings)
        if all(network.labels.get(name) == value for name, value in labels.items())
    ]
    if not networks:
        raise ValueError(
            f"{str(folder)!r} holds no Neural GPU with {labels}; there are settings "
            f"{', '.join(settings)}"
        )
    return sorted(networks, key=lambda network: (network.validation_loss, network.seed))


def stored_seeds(folders: Sequence[str | Path], **labels: Any) -> list[StoredNetwork]:
    """The same of one or several run folders whose networks differ in their seeds alone.

    Args:
        folders: of the runs.
        labels: that the networks must have.

    Returns:
        Those that validate best first.

    Raises:
        ValueError: there is no folder, `stored_networks` refuses one, two networks have the same
            seed, or differ in more than that.
    """
    networks = [network for folder in folders for network in stored_networks(folder, **labels)]
    if not networks:
        raise ValueError("run is empty; give a folder at least")
    for network in networks[1:]:
        if network.setting != networks[0].setting:
            raise ValueError(
                f"{network.path} was trained or tested with other settings than "
                f"{networks[0].path}; give runs that differ in their seeds alone"
            )
    seeds = [network.seed for network in networks]
    for seed in seeds:
        if seeds.count(seed) > 1:
            raise ValueError(f"run holds seed {seed} twice; give each once")
    return sorted(networks, key=lambda network: (network.validation_loss, network.seed))


def stored_mixture(folders: Sequence[str | Path], **labels: Any) -> list[StoredNetwork]:
    """The same of several run folders whose trainings may differ in more than their seeds.

    Args:
        folders: of the runs, each with a name of its own.
        labels: that the networks must have.

    Returns:
        Those of the first folder first, with the folder's name before their own, since validation
        losses of trainings that differ do not compare.

    Raises:
        ValueError: there is no folder, two have the same name, `stored_networks` refuses one, two
            networks have the same weights, or answers of another form.
    """
    names = [Path(folder).name for folder in folders]
    if not names or len({*names}) < len(names):
        raise ValueError(f"run is {names}; give one or more folders with names of their own")
    networks = [
        replace(network, name=f"{name}/{network.name}")
        for name, folder in zip(names, folders, strict=True)
        for network in stored_networks(folder, **labels)
    ]
    digests: dict[str, str] = {}
    for network in networks:
        other = digests.setdefault(network.digest, network.name)
        if other != network.name:
            raise ValueError(f"{network.name} and {other} have the same weights; give each once")
        if network.setting["filled"] != networks[0].setting["filled"]:
            raise ValueError(
                f"{network.name} and {networks[0].name} fill their answers in different ways; give "
                "runs with the same --filled"
            )
    return networks


def _networks(parts: Path, settings: Mapping[str, Any]) -> Iterator[StoredNetwork]:
    """All Neural GPUs whose parts are there."""
    for marker in sorted(parts.glob(f"*{MARKER}")):
        name = marker.name.removesuffix(MARKER)
        setting, _, seed = name.rpartition("-seed")
        if settings.get(setting, {}).get("learner", {}).get("network") != "NeuralGPULearner":
            continue
        outcomes, cost = read_part(parts, name)
        yield StoredNetwork(
            name=name,
            labels=settings[setting]["labels"],
            seed=int(seed),
            outcomes=outcomes,
            cost=cost,
            setting=settings[setting],
            path=parts / f"{name}{WEIGHTS}",
        )


def weights_digest(module: NeuralGPUBase) -> str:
    """What the weights of a network are recognized by, wherever they are stored.

    Args:
        module: the network.
    """
    values = (tensor.contiguous().numpy().tobytes() for tensor in module.state_dict().values())
    return hashlib.sha256(b"".join(values)).hexdigest()[:16]
