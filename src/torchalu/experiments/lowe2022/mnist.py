"""Figure 5: accuracy against parameters on MNIST, for an MLP and a convolutional network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from torch import nn

from torchalu.experiments.lowe2022.activations import FIGURE5, check_activations
from torchalu.experiments.lowe2022.data import MNIST
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.networks import (
    CNN_CHANNELS,
    CNN_HIDDEN,
    IMAGE_SIDE,
    cnn,
    cnn_parameters,
    mlp,
    mlp_parameters,
)
from torchalu.experiments.lowe2022.sizing import Family
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import Label, check_positive, choose

MLP_WIDTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
CNN_WIDTHS = (4, 8, 16, 32)

_PIXELS, _CLASSES = IMAGE_SIDE**2, 10
_RUNS = ClassificationRuns(seeds=10)


def figure5(
    runs: ClassificationOptions = _RUNS,
    *,
    networks: tuple[str, ...] = ("mlp", "cnn"),
    activations: tuple[str, ...] = FIGURE5,
    mlp_widths: tuple[int, ...] = MLP_WIDTHS,
    cnn_widths: tuple[int, ...] = CNN_WIDTHS,
) -> ClassificationStudy:
    """Figure 5: an MLP and a CNN on MNIST, accuracy against the number of parameters.

    Args:
        runs: seeds, epochs, and hyperparameters where the search's are not wanted.
        networks: "mlp", "cnn".
        activations: their names, as `torchalu.nn.activation` takes them.
        mlp_widths: of both hidden layers with ReLU; the other activations have the widths with
            which they come nearest to as many parameters.
        cnn_widths: channels of the first convolution with ReLU, likewise.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Lowe et al. 2022, section 4.3 and figure 5, which has 40 seeds. Departures: see
        `docs/lowe2022.md`.

    Example:
        >>> study = figure5(networks=("mlp",), activations=("relu", "or_ail"), mlp_widths=(16,))
        >>> [setting.parameters for setting in study.settings]
        [13002, 12794]
    """
    choose("networks", networks, NETWORKS)
    activations = check_activations(activations)
    for name in networks:
        check_positive(f"{name}_widths", {"mlp": mlp_widths, "cnn": cnn_widths}[name])
    rates = runs.learning_rate, runs.weight_decay
    settings = [
        network_setting(network, name, width, chosen(network, name, *rates))
        for network in networks
        for width in {"mlp": mlp_widths, "cnn": cnn_widths}[network]
        for name in activations
    ]
    return ClassificationStudy("lowe2022.figure5", settings, runs, varied="width")


def network_setting(
    network: str,
    name: str,
    width: int,
    hyperparameters: Hyperparameters,
    more: Mapping[str, Label] | None = None,
) -> ClassificationSetting:
    """A network on MNIST.

    Args:
        network: "mlp" or "cnn".
        name: of the activation.
        width: with ReLU; with others, what comes nearest to as many parameters.
        hyperparameters: learning rate and weight decay.
        more: labels.

    Example:
        >>> network_setting("cnn", "xnor_ail", 4, Hyperparameters()).labels
        {'network': 'cnn', 'activation': 'xnor_ail', 'width': 4}
    """
    family = NETWORKS[network]
    widths = family.widths(width, name)
    return ClassificationSetting(
        {"network": network, "activation": name, "width": width, **(more or {})},
        partial(family.build, widths, name),
        hyperparameters,
        MNIST,
        cost=family.work * family.parameters(widths, name),
    )


def _mlp(widths: Sequence[int], name: str) -> nn.Module:
    """An MLP on the pixels of an image."""
    return nn.Sequential(nn.Flatten(), *mlp(_PIXELS, widths, _CLASSES, name))


def _mlp_parameters(widths: Sequence[int], name: str) -> int:
    """How many parameters it has."""
    return mlp_parameters(_PIXELS, widths, _CLASSES, name)


def _cnn(widths: Sequence[int], name: str) -> nn.Module:
    """A CNN, from the widths of its convolutions and of its hidden layers in a row."""
    return cnn(widths[: len(CNN_CHANNELS)], widths[len(CNN_CHANNELS) :], name)


def _cnn_parameters(widths: Sequence[int], name: str) -> int:
    """How many parameters it has."""
    return cnn_parameters(widths[: len(CNN_CHANNELS)], widths[len(CNN_CHANNELS) :], name)


NETWORKS = {
    "mlp": Family((1, 1), _mlp, _mlp_parameters),
    "cnn": Family((*CNN_CHANNELS, *CNN_HIDDEN), _cnn, _cnn_parameters, work=50.0),
}
"""The networks of figure 5, by name."""
