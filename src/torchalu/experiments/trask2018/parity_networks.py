"""The network that tells how many even digits are in a picture, and its last layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.experiments.setting import choose
from torchalu.nn import INALU, NAC, NALU, NAU, GatedNAUNMU

HIDDEN = 32
"""Units of the layer before the last."""

_COLUMNS = 3
"""Columns of a convolution at once: three times ten filters fill what a processor computes with."""

_SQUASH: dict[str, Callable[[Tensor], Tensor]] = {"sigmoid": torch.sigmoid, "tanh": torch.tanh}


class SquashedLinear(nn.Module):
    r"""A linear layer whose weights are squashed.

    .. math:: y = \sigma(W) x + b \quad \text{or} \quad \tanh(W) x + b

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        squash: "sigmoid" or "tanh".
        bias: whether there is b.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Raises:
        ValueError: `squash` is another word.

    Source:
        Trask et al. 2018, section 4.6 and table 4. The start is our choice, that of a linear
        layer: U(-r, r) with r = 1 / sqrt(in_features) for W before it is squashed, and for b.

    Example:
        >>> layer = SquashedLinear(3, 2, "sigmoid", bias=False)
        >>> _ = nn.init.zeros_(layer.weight)
        >>> layer(torch.tensor([2.0, 4.0, 6.0])).tolist()
        [6.0, 6.0]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        squash: Literal["sigmoid", "tanh"],
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        choose("squash", [squash], _SQUASH)
        self.squash = squash
        bound = 1 / math.sqrt(in_features)
        start = torch.empty(out_features, in_features + 1).uniform_(-bound, bound)
        self.weight = nn.Parameter(start[:, :-1].clone())
        self.bias = (
            nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None
        )

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Apply the layer."""
        return nn.functional.linear(input, _SQUASH[self.squash](self.weight), self.bias)


class PooledConvolution(nn.Conv2d):
    r"""A convolution of pictures of one channel, and the maximum over 2 x 2 of what it gives.

    .. math:: p_{o, i, j} = \max_{r, s \in \{0, 1\}} y_{o, 2i + r, 2j + s}, \qquad
              y_{o, i, 3j + r} = b_o + \sum_{k, l, s} w_{o, k, 3l + s - r} x_{i + k, 3(j + l) + s}

    Three columns of the convolution are computed at once: with r and s of 0 to 2 it is one of three
    times as many filters on three channels, every third column, whose rows are the same memory.
    PyTorch's convolution is faster on it.

    Args:
        filters: how many.
        side: of a filter.

    Shape:
        `(batch, 1, height, width)` to
        `(batch, filters, (height - side + 1) // 2, (width - side + 1) // 2)`.

    Example:
        >>> PooledConvolution(10, 15)(torch.zeros(2, 1, 100, 100)).shape
        torch.Size([2, 10, 43, 43])
    """

    def __init__(self, filters: int, side: int) -> None:
        super().__init__(1, filters, side)

    def forward(self, input: Float[Tensor, "batch 1 h w"]) -> Float[Tensor, "batch out h2 w2"]:
        """Apply the convolution, and take the maximum."""
        filters, _, side, _ = self.weight.shape
        width = input.shape[-1] - side + 1
        groups, spread = -(-width // _COLUMNS), -(-(side + _COLUMNS - 1) // _COLUMNS)
        shifted = [
            nn.functional.pad(self.weight, (r, spread * _COLUMNS - side - r))
            for r in range(_COLUMNS)
        ]
        weight = torch.cat(shifted).view(-1, side, spread, _COLUMNS).permute(0, 3, 1, 2)
        missing = (groups + spread - 1) * _COLUMNS - input.shape[-1]
        padded = nn.functional.pad(input, (0, missing)).contiguous()
        columns = padded.view(len(input), input.shape[-2], -1, _COLUMNS).permute(0, 3, 1, 2)
        assert self.bias is not None
        together = nn.functional.conv2d(columns, weight, self.bias.repeat(_COLUMNS))
        rows = together.permute(0, 2, 3, 1).reshape(len(input), together.shape[2], -1, filters)
        return nn.functional.max_pool2d(rows.permute(0, 3, 1, 2), 2)[..., : width // 2]


LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": nn.Linear,
    "sigmoid_bias": lambda n, m: SquashedLinear(n, m, "sigmoid"),
    "tanh_bias": lambda n, m: SquashedLinear(n, m, "tanh"),
    "linear_no_bias": lambda n, m: nn.Linear(n, m, bias=False),
    "sigmoid": lambda n, m: SquashedLinear(n, m, "sigmoid", bias=False),
    "tanh": lambda n, m: SquashedLinear(n, m, "tanh", bias=False),
    "NAC": NAC,
    "NALU": NALU,
    "NAU": NAU,
    "GatedNAUNMU": GatedNAUNMU,
    "iNALU": INALU,
}
"""What table 4 compares, in its order, and later units.

Units that multiply alone are left out: of 32 features behind a ReLU some are 0 in each picture, so
that their product has no gradient.
"""


def parity_network(layer: str, num_classes: int = 6, size: int = 100) -> nn.Sequential:
    """The network of the parity task, with one of its last layers.

    Args:
        layer: one of `LAYERS`.
        num_classes: answers; from 0 to the most digits in a picture.
        size: pixels of a side.

    Shape:
        `(batch, 1, size, size)` to `(batch, num_classes)`, which are logits.

    Raises:
        ValueError: an unknown layer.

    Source:
        Seguí, Pujol & Vitrià 2015, of which we had summaries alone: two convolutions of ten
        filters, 15 x 15 and 3 x 3, each with a ReLU and a maximum over 2 x 2, a layer of 32, and
        the classes. Assumptions: no padding, and a ReLU behind the layer of 32.

    Example:
        >>> parity_network("NAC")(torch.zeros(2, 1, 100, 100)).shape
        torch.Size([2, 6])
    """
    choose("layer", [layer], LAYERS)
    side = ((size - 14) // 2 - 2) // 2
    return nn.Sequential(
        PooledConvolution(10, 15),
        nn.ReLU(),
        nn.Conv2d(10, 10, 3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(10 * side * side, HIDDEN),
        nn.ReLU(),
        LAYERS[layer](HIDDEN, num_classes),
    ).to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
