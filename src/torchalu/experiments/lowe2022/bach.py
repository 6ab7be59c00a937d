"""Section 4.2: is an excerpt Bach's? And are the features independent that tell?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, get_args

import polars as pl
import torch
from torch import nn

from torchalu.experiments.lowe2022.activations import FIGURE5, check_activations
from torchalu.experiments.lowe2022.data import (
    Batch,
    ClassificationData,
    Part,
    Samples,
    Source,
)
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.independence import (
    independence,
    preactivations,
    summarize_independence,
)
from torchalu.experiments.lowe2022.perceptrons import perceptrons
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import Label, check_positive
from torchalu.tasks import IsItBach, load_chorales

_HIDDEN_LAYERS = 2
_RUNS = ClassificationRuns(seeds=10, epochs=20)


class BachStudy(ClassificationStudy):
    """Accuracies, and the correlations of features before the activations."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Accuracies and comparisons, and how independent the features are.

        Args:
            outcomes: of all chunks.

        Returns:
            The tables `bach` and `bach_independence`.
        """
        table = summarize_independence(outcomes, _HIDDEN_LAYERS)
        return super().summarize(outcomes) | {"bach_independence": table}


@dataclass(frozen=True)
class Excerpts(ClassificationData):
    """Excerpts of chorales, which are corrupted anew each time that they are learned from.

    Args:
        task: the training excerpts, whose batches and corruptions follow from a seed.
    """

    task: Callable[[int], IsItBach] = field(kw_only=True)

    def batch(self, step: int, batch_size: int, seed: int) -> Batch:
        """The batch of a training step, which follows from the seed and the number of the step.

        Args:
            step: the number of the step, from 0.
            batch_size: excerpts in a batch, genuine and corrupted ones in turn.
            seed: of the excerpts and their corruptions.
        """
        features, targets = self.task(seed).batch(step, batch_size)
        return Batch(features, targets[:, 0].long())


def bach(
    runs: ClassificationOptions = _RUNS,
    *,
    activations: tuple[str, ...] = FIGURE5,
    width: int = 128,
    steps: int = 8,
    rate: float = 0.1,
) -> BachStudy:
    """Section 4.2: MLPs tell excerpts of Bach's chorales from corrupted ones.

    In each trained network the correlations of features before the activations are measured over
    the test excerpts: of neighbors, which an activation of two takes together, and of all others.

    Args:
        runs: seeds, epochs, and hyperparameters where the search's are not wanted.
        activations: their names, as `torchalu.nn.activation` takes them.
        width: of both hidden layers with ReLU; the other activations have the width with which
            they come nearest to as many parameters.
        steps: beats in an excerpt.
        rate: the probability that a note of a corrupted excerpt is replaced.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.
        FileNotFoundError: the chorales have not been fetched.

    Source:
        Lowe et al. 2022, section 4.2. Departures: see `docs/lowe2022.md`.

    Example:
        >>> study = bach(activations=("relu", "xnor_ail"))  # doctest: +SKIP
        >>> [setting.parameters for setting in study.settings]  # doctest: +SKIP
        [205185, 206562]
    """
    activations = check_activations(activations)
    check_positive("width", [width])
    rates = runs.learning_rate, runs.weight_decay
    settings = [
        bach_setting(name, chosen("bach", name, *rates), width, excerpts(steps, rate))
        for name in activations
    ]
    return BachStudy("lowe2022.bach", settings, runs)


def bach_setting(
    name: str,
    hyperparameters: Hyperparameters,
    width: int,
    source: Source,
    more: Mapping[str, Label] | None = None,
) -> ClassificationSetting:
    """An MLP that tells excerpts.

    Args:
        name: of the activation.
        hyperparameters: learning rate and weight decay.
        width: with ReLU; with others, what comes nearest to as many parameters.
        source: as `excerpts` gives it.
        more: labels.
    """
    family = perceptrons(source.load().train.inputs.shape[1], 1)
    widths = family.widths(width, name)
    build = partial(family.build, widths, name)
    labels = {"activation": name, **(more or {})}
    return ClassificationSetting(labels, build, hyperparameters, source, observe=_observe)


def excerpts(steps: int, rate: float) -> Source:
    """Excerpts of chorales, genuine and corrupted.

    Args:
        steps: beats in an excerpt.
        rate: the probability that a note of a corrupted excerpt is replaced.
    """
    name = f"excerpts of {steps} beats of Bach's chorales, {rate} of the notes replaced"
    return Source(name, partial(_load, steps, rate))


@cache
def _load(steps: int, rate: float) -> Excerpts:
    """The data of `excerpts`; what is held out is corrupted the same way for all seeds."""
    train, validation, test = (_pairs(_task(part, steps, rate, 0)) for part in get_args(Part))
    return Excerpts(train, validation, test, task=partial(_task, "train", steps, rate))


def _pairs(task: IsItBach) -> Samples:
    """Each excerpt once genuine and once corrupted, as bytes."""
    features, targets = task.pairs()
    return Samples(features.to(torch.uint8), targets[:, 0].long())


@lru_cache(maxsize=16)
def _task(part: Part, steps: int, rate: float, seed: int) -> IsItBach:
    """The excerpts of a part."""
    return IsItBach(load_chorales(), part, steps, rate=rate, seed=seed)


def _observe(
    setting: ClassificationSetting,
    seed: int,  # noqa: ARG001
    network: nn.Module,
) -> dict[str, Any]:
    """How independent the features before the activations are on the test excerpts."""
    assert isinstance(network, nn.Sequential)
    inputs = (batch.inputs for batch in setting.data.load().batches("test"))
    return independence(preactivations(network, inputs))
