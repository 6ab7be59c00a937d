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
        nn.Conv2d(1, 10, 15),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(10, 10, 3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(10 * side * side, HIDDEN),
        nn.ReLU(),
        LAYERS[layer](HIDDEN, num_classes),
    ).to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
