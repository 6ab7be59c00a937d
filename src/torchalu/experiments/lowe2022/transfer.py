"""Table 1: what MLPs make of the embeddings of a frozen encoder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import polars as pl

from torchalu.experiments.lowe2022.activations import TABLE1, check_activations
from torchalu.experiments.lowe2022.embedded import DATASETS, ENCODERS, embedded
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.networks import mlp
from torchalu.experiments.lowe2022.perceptrons import perceptrons
from torchalu.experiments.lowe2022.published import TABLE1 as PUBLISHED
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import Label, check_positive, choose
from torchalu.nn.features import ELEMENTWISE

LINEAR = "identity"
"""Stands for a network that is one linear layer."""

_LEFT_OUT = {
    "celu",  # equals elu
    "rrelu",  # draws from the generator of the whole process, so that no run could be repeated
    "threshold",  # has no default
}

TORCH = tuple(
    name for name in (*ELEMENTWISE, "glu") if name not in _LEFT_OUT and name not in TABLE1
)
"""PyTorch's own activations beyond those of the table, with their default numbers."""

_RUNS = ClassificationRuns(seeds=5, epochs=20, batch_size=256)


class TransferStudy(ClassificationStudy):
    """Accuracies beside the published ones."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Accuracies and comparisons, beside what the paper has for the same data set.

        Args:
            outcomes: of all chunks.

        Returns:
            The table `table1`. The published numbers are of embeddings by ResNet-18.
        """
        table = super().summarize(outcomes)["table1"]
        keys = ["dataset", "activation"]
        return {"table1": table.join(PUBLISHED, on=keys, how="left", maintain_order="left")}


def table1(
    runs: ClassificationOptions = _RUNS,
    *,
    datasets: tuple[str, ...] = ("cifar10", "mnist"),
    encoder: str = "efficientnet",
    activations: tuple[str, ...] = (*TABLE1, *TORCH),
    width: int = 512,
) -> TransferStudy:
    """Table 1: MLPs on the embeddings of a frozen encoder, every activation of PyTorch included.

    The embeddings are computed by the first runs of each data set, which share the work, and kept
    in the cache; a run that is broken off goes on where it was.

    Args:
        runs: seeds, epochs, and hyperparameters where the search's are not wanted.
        datasets: "cifar10", "cifar100", "mnist".
        encoder: "efficientnet" (EfficientNet-Lite0, 1280 features) or "resnet18" (512 features,
            for whoever has torchvision's weights).
        activations: their names, as `torchalu.nn.activation` takes them; "identity" stands for a
            linear layer only.
        width: of both hidden layers with ReLU; the other activations have the width with which
            they come nearest to as many parameters.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Lowe et al. 2022, section 4.5 and table 1. Departures: see `docs/lowe2022.md`.

    Example:
        >>> study = table1(datasets=("cifar10",), activations=("identity", "relu", "xnor_nail"))
        >>> [setting.parameters for setting in study.settings]
        [12810, 923658, 922146]
    """
    choose("datasets", datasets, DATASETS)
    choose("encoder", (encoder,), ENCODERS)
    activations = check_activations(activations)
    check_positive("width", [width])
    rates = runs.learning_rate, runs.weight_decay
    settings = [
        transfer_setting(dataset, encoder, name, chosen("transfer", name, *rates), width)
        for name in activations
        for dataset in datasets
    ]
    return TransferStudy("lowe2022.table1", settings, runs)


def transfer_setting(
    dataset: str,
    encoder: str,
    name: str,
    hyperparameters: Hyperparameters,
    width: int,
    more: Mapping[str, Label] | None = None,
) -> ClassificationSetting:
    """An MLP on embeddings.

    Args:
        dataset: one of `DATASETS`.
        encoder: one of `ENCODERS`.
        name: of the activation, or "identity" for a linear layer.
        hyperparameters: learning rate and weight decay.
        width: with ReLU; with others, what comes nearest to as many parameters.
        more: labels.
    """
    features, classes = ENCODERS[encoder][1], DATASETS[dataset][1]
    if name == LINEAR:
        build = partial(mlp, features, (), classes, name)
    else:
        family = perceptrons(features, classes)
        build = partial(family.build, family.widths(width, name), name)
    labels = {"dataset": dataset, "encoder": encoder, "activation": name, **(more or {})}
    return ClassificationSetting(labels, build, hyperparameters, embedded(dataset, encoder))
