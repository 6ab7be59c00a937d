"""What learns algorithms, each a network with its training; and the Neural GPUs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from torchalu.experiments.kaiser2016.trained import Trained, trained_from
from torchalu.experiments.kaiser2016.unshifted import UnshiftedNeuralGPU
from torchalu.experiments.settings_study import check_device
from torchalu.tasks import AlgorithmicTask
from torchalu.train import Report
from torchalu.train.algorithms import AlgorithmTraining, new_module, train_algorithm


class Learner(ABC):
    """A network and its training.

    Raises:
        ValueError: a device that is not there.
    """

    device: str

    def __post_init__(self) -> None:
        check_device(self.device)

    @property
    def most_symbols(self) -> int | None:
        """The longest strings that it can take; None if there is no end."""
        return None

    @abstractmethod
    def build(self, task: AlgorithmicTask, seed: int) -> nn.Module:
        """The network with the start of one seed.

        Args:
            task: what it is to learn.
            seed: settles the start.
        """

    @abstractmethod
    def train(
        self, task: AlgorithmicTask, seed: int, folder: Path | None, report: Report
    ) -> Trained:
        """Build and train a network.

        Args:
            task: what it learns.
            seed: of all random numbers.
            folder: for checkpoints.
            report: takes the fraction that is done.
        """

    def describe(self) -> dict[str, Any]:
        """What settles its results, as JSON can say it."""
        numbers = asdict(self)  # pyright: ignore[reportArgumentType]
        numbers["device"] = torch.device(self.device).type
        return {"network": type(self).__name__, **_plain(numbers)}


@dataclass(frozen=True)
class NeuralGPULearner(Learner):
    """A Neural GPU of either form.

    Args:
        training: with form, sizes and methods; its seed does nothing here.
        device: where to train.
        first_seed: is added to each seed.
        shift: whether the improved form's memory moves, as it should.
    """

    training: AlgorithmTraining
    device: str = "cpu"
    first_seed: int = 0
    shift: bool = True

    def build(self, task: AlgorithmicTask, seed: int) -> nn.Module:
        """The network with the start of one seed; see `Learner`."""
        return self._module(task, replace(self.training, seed=seed + self.first_seed))

    def train(
        self, task: AlgorithmicTask, seed: int, folder: Path | None, report: Report
    ) -> Trained:
        """Build and train a network; see `Learner`."""
        result = train_algorithm(
            task,
            replace(self.training, seed=seed + self.first_seed),
            module=self._module,
            device=self.device,
            folder=folder,
            report=lambda progress: report(progress.step / progress.steps),
        )
        return trained_from(
            result.module, result.records, result.status, result.steps, result.best_step
        )

    def _module(self, task: AlgorithmicTask, training: AlgorithmTraining) -> nn.Module:
        """What an attempt begins with."""
        module = new_module(task, training)
        if self.shift:
            return module
        unshifted = UnshiftedNeuralGPU(**module.configuration())  # pyright: ignore[reportArgumentType]
        unshifted.load_state_dict(module.state_dict())
        return unshifted

    def describe(self) -> dict[str, Any]:
        """What settles its results, as JSON can say it."""
        described = super().describe()
        described["training"] = self.training.to_json()
        del described["training"]["seed"]
        return described


def _plain(value: Any) -> Any:
    """The same with text for infinite numbers, which JSON has none for."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return str(value) if isinstance(value, float) and math.isinf(value) else value
