"""The networks of the experiments, with any activation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt

import torch
from torch import nn

from torchalu.nn import activation, out_features_for

IMAGE_SIDE = 28
"""Pixels of a side of the images that `cnn` takes."""

CNN_CHANNELS = (1, 1, 2, 2, 4, 4)
CNN_HIDDEN = (8, 8)
"""Proportions of the widths of `cnn`: of its convolutions, and of its layers after them."""

_POOLINGS = 3


def mlp(in_features: int, widths: Sequence[int], out_features: int, name: str) -> nn.Sequential:
    """Linear layers with an activation between each two.

    Args:
        in_features: of the first layer.
        widths: features before each activation, of which more or fewer come out of it.
        out_features: of the last layer.
        name: of the activation, as :func:`torchalu.nn.activation` takes it.

    Raises:
        ValueError: an unknown activation, or one that does not take these widths.

    Source:
        Lowe et al. 2022, sections 4.1 to 4.5. Whether their MLPs have batch normalization the
        main text does not say; this one has none.

    Example:
        >>> mlp(4, (4, 2), 1, "xnor_ail")
        Sequential(
          (0): Linear(in_features=4, out_features=4, bias=True)
          (1): XNORAIL(k=2, dim=1, layout='pairs', normalized=False)
          (2): Linear(in_features=2, out_features=2, bias=True)
          (3): XNORAIL(k=2, dim=1, layout='pairs', normalized=False)
          (4): Linear(in_features=1, out_features=1, bias=True)
        )
    """
    layers: list[nn.Module] = []
    for width in widths:
        between = activation(name)
        layers += [nn.Linear(in_features, width), between]
        in_features = out_features_for(between, width)
    return nn.Sequential(*layers, nn.Linear(in_features, out_features))


def mlp_parameters(in_features: int, widths: Sequence[int], out_features: int, name: str) -> int:
    """Weights and biases of `mlp`, without any parameters of its activations.

    Args:
        in_features: as of `mlp`, like the others.
        widths: features before each activation.
        out_features: of the last layer.
        name: of the activation.

    Example:
        >>> mlp_parameters(4, (4, 2), 1, "relu"), mlp_parameters(4, (4, 2), 1, "xnor_ail")
        (33, 28)
    """
    between = _known(name)
    total = 0
    for width in widths:
        total += (in_features + 1) * width
        in_features = out_features_for(between, width)
    return total + (in_features + 1) * out_features


def cnn(channels: Sequence[int], hidden: Sequence[int], name: str) -> nn.Sequential:
    """Six convolutions, and an MLP of three layers, on gray images of 28 by 28 pixels.

    Each convolution is 3 by 3, padded, and followed by batch normalization and the activation;
    after every other one the image is halved by taking maxima.

    Args:
        channels: features before the activation of each convolution.
        hidden: features before each activation of the MLP.
        name: of the activation.

    Shape:
        `(batch, 1, 28, 28)` to `(batch, 10)`.

    Raises:
        ValueError: not six convolutions and two hidden layers; an unknown activation, or one
            that does not take these widths.

    Source:
        Lowe et al. 2022, section 4.3. Batch normalization, padding and the proportions of the
        widths are ours; the main text does not give them.

    Example:
        >>> network = cnn((2, 2, 4, 4, 8, 8), (16, 16), "or_ail")
        >>> network(torch.zeros(3, 1, 28, 28)).shape
        torch.Size([3, 10])
    """
    _check_cnn(channels, hidden)
    layers: list[nn.Module] = []
    inputs = 1
    for place, width in enumerate(channels):
        between = activation(name)
        convolution = nn.Conv2d(inputs, width, 3, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(width), between]
        if place % 2:
            layers.append(nn.MaxPool2d(2))
        inputs = out_features_for(between, width)
    inputs *= (IMAGE_SIDE >> _POOLINGS) ** 2
    network = nn.Sequential(*layers, nn.Flatten(), *mlp(inputs, hidden, 10, name))
    return network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]


def cnn_parameters(channels: Sequence[int], hidden: Sequence[int], name: str) -> int:
    """Weights, biases, scales and shifts of `cnn`, without any parameters of its activations.

    Args:
        channels: as of `cnn`, like the others.
        hidden: features before each activation of the MLP.
        name: of the activation.

    Raises:
        ValueError: as `cnn`.

    Example:
        >>> cnn_parameters((2, 2, 4, 4, 8, 8), (16, 16), "relu")
        2800
    """
    _check_cnn(channels, hidden)
    between = _known(name)
    total, inputs = 0, 1
    for width in channels:
        total += (9 * inputs + 2) * width
        inputs = out_features_for(between, width)
    inputs *= (IMAGE_SIDE >> _POOLINGS) ** 2
    return total + mlp_parameters(inputs, hidden, 10, name)


def start(network: nn.Module, generator: torch.Generator) -> None:
    r"""Draw the weights of linear layers and convolutions anew, by torch's own law.

    .. math:: w, b \sim U(-r, r), \qquad r = \frac{1}{\sqrt{n_{in}}}

    torch draws them from one generator for the whole process, which chunks that are trained side
    by side would take turns at.

    Args:
        network: changed in place.
        generator: where the random numbers come from.

    Example:
        >>> layer = nn.Linear(100, 3)
        >>> start(layer, torch.Generator().manual_seed(0))
        >>> bool(layer.weight.abs().max() <= 0.1)
        True
    """
    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            bound = 1 / sqrt(layer.weight[0].numel())
            for parameter in (layer.weight, layer.bias):
                if parameter is not None:
                    nn.init.uniform_(parameter, -bound, bound, generator=generator)


def count_parameters(network: nn.Module) -> int:
    """How many numbers training changes.

    Example:
        >>> count_parameters(nn.Linear(3, 2))
        8
    """
    return sum(parameter.numel() for parameter in network.parameters())


@cache
def _known(name: str) -> nn.Module:
    """An activation that nobody trains, to count features by."""
    return activation(name)


def _check_cnn(channels: Sequence[int], hidden: Sequence[int]) -> None:
    """Raise where there are too few or too many layers."""
    if len(channels) != len(CNN_CHANNELS) or len(hidden) != len(CNN_HIDDEN):
        raise ValueError(
            f"channels has {len(channels)} widths and hidden {len(hidden)}; give "
            f"{len(CNN_CHANNELS)} and {len(CNN_HIDDEN)}"
        )
