"""The residual network whose activations stand before its convolutions, for small images."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from torchalu.experiments.lowe2022.sizing import scaled
from torchalu.nn import activation, features_multiple, out_features_for

_BLOCKS = {
    26: (2, 2, 2, 2),
    38: (3, 3, 3, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
_STEM, _WIDTHS, _EXPANSION = 64, (64, 128, 256, 512), 4


class Bottleneck(nn.Module):
    """Three convolutions beside a shortcut, each after batch normalization and an activation.

    Args:
        in_features: of the embedding that comes in.
        width: features of the first two convolutions.
        out_features: of the embedding that goes out.
        stride: of the second convolution.
        name: of the activation.

    Shape:
        `(batch, in_features, h, w)` to `(batch, out_features, h / stride, w / stride)`.

    Source:
        He et al. 2016b, Identity mappings in deep residual networks. An activation that changes
        the number of features changes what the next convolution takes; the embedding that is
        passed through keeps its size, as in Lowe et al. 2022, section 4.4.

    Example:
        >>> import torch
        >>> Bottleneck(16, 4, 32, 2, "or_ail")(torch.zeros(1, 16, 8, 8)).shape
        torch.Size([1, 32, 4, 4])
    """

    def __init__(
        self, in_features: int, width: int, out_features: int, stride: int, name: str
    ) -> None:
        super().__init__()
        self.first, taken = _before(in_features, name)
        self.stride = stride
        self.shortcut = None
        if stride != 1 or in_features != out_features:
            self.shortcut = nn.Conv2d(taken, out_features, 1, bias=False)
        second, among = _before(width, name)
        third, _ = _before(width, name)
        self.rest = nn.Sequential(
            nn.Conv2d(taken, width, 1, bias=False),
            *second,
            nn.Conv2d(among, width, 3, stride, padding=1, bias=False),
            *third,
            nn.Conv2d(among, out_features, 1, bias=False),
        )

    def forward(self, input: Float[Tensor, "batch c h w"]) -> Float[Tensor, "batch d h2 w2"]:
        """Add what the convolutions make of the input to it."""
        active = self.first(input)
        if self.shortcut is None:
            return self.rest(active) + input
        # A stride of the convolution itself would come to the same, but of few features and in
        # channels_last oneDNN then writes beyond its memory (uxlfoundation/oneDNN#6035).
        kept = active[..., :: self.stride, :: self.stride]
        return self.rest(active) + self.shortcut(kept)


def preactivation_resnet(
    classes: int, name: str, width_factor: float = 1.0, depth: int = 50
) -> nn.Sequential:
    """A residual network of bottlenecks for images of 32 by 32 pixels.

    Args:
        classes: how many to tell apart.
        name: of the activation.
        width_factor: of the embedding and of all layers within the blocks. Each width is the
            nearest multiple of what the activation takes.
        depth: layers with weights: 26, 38, 50, 101 or 152.

    Shape:
        `(batch, 3, 32, 32)` to `(batch, classes)`.

    Raises:
        ValueError: an unknown activation or depth, a factor that is not positive.

    Source:
        Lowe et al. 2022, section 4.4; He et al. 2016b. As usual for small images the stem is one
        convolution of 3 by 3 without pooling; the main text does not say so.

    Example:
        >>> from torchalu.experiments.lowe2022.networks import count_parameters
        >>> count_parameters(preactivation_resnet(10, "relu", width_factor=0.25))
        1482266
    """
    if depth not in _BLOCKS:
        raise ValueError(f"depth is {depth}; choose from {', '.join(map(str, _BLOCKS))}")
    multiple = features_multiple(activation(name))

    def wide(width: int) -> int:
        return scaled((width,), width_factor, multiple)[0]

    embedding = wide(_STEM)
    layers: list[nn.Module] = [nn.Conv2d(3, embedding, 3, padding=1, bias=False)]
    for stage, (width, blocks) in enumerate(zip(_WIDTHS, _BLOCKS[depth], strict=True)):
        out_features = wide(_EXPANSION * width)
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            layers.append(Bottleneck(embedding, wide(width), out_features, stride, name))
            embedding = out_features
    last, features = _before(embedding, name)
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, classes))
    return nn.Sequential(*layers, *last, *head)


def _before(features: int, name: str) -> tuple[nn.Sequential, int]:
    """Batch normalization and activation, and how many features come out of them."""
    between = activation(name)
    return nn.Sequential(nn.BatchNorm2d(features), between), out_features_for(between, features)
