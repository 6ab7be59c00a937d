"""EfficientNet-Lite0, a small network trained on ImageNet, as a frozen encoder of pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import torch
from jaxtyping import Float, UInt8
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor, nn
from torch.nn.functional import conv2d, pad
from torch.nn.utils import fuse_conv_bn_eval

from torchalu.experiments.lowe2022.pictures import enlarge
from torchalu.tasks import EFFICIENTNET_LITE0, DataError

FEATURES = 1280

# of each stage: blocks, kernel, stride of the first block, expansion, channels
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM, _CLASSES = 32, 1000
_EPSILON, _MOMENTUM = 1e-3, 0.01

# published names, and where the same stands in a stem, a block and a head
_NAMES = {
    r"^_conv_stem\b": "stem.0",
    r"^_bn0\b": "stem.1",
    r"^_conv_head\b": "head.0",
    r"^_bn1\b": "head.1",
    r"^_fc\b": "classifier",
    r"^_blocks\b": "blocks",
    r"\b_expand_conv\b": "expand.0",
    r"\b_bn0\b": "expand.1",
    r"\b_depthwise_conv\b": "depthwise.0",
    r"\b_bn1\b": "depthwise.1",
    r"\b_project_conv\b": "project.0",
    r"\b_bn2\b": "project.1",
}


class EfficientNetLite0(nn.Module):
    """A stem, sixteen inverted bottlenecks without squeeze and excitation, a head.

    Shape:
        `(pictures, 3, 224, 224)`, (byte - 127) / 128, to `(pictures, 1000)` logits of ImageNet's
        classes.

    Source:
        Tan & Le 2019, EfficientNet, in its form for small devices (Liu 2020): ReLU6 in the place
        of SiLU, no squeeze and excitation, stem and head of fixed width. Dropout and stochastic
        depth, which only training uses, are left out: the encoder is frozen.

    Example:
        >>> sum(parameter.numel() for parameter in EfficientNetLite0().parameters())
        4652008
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = _convolution(3, _STEM, 3, stride=2)
        blocks, channels = [], _STEM
        for count, kernel, stride, expansion, out_channels in _STAGES:
            for number in range(count):
                first = stride if number == 0 else 1
                blocks.append(Bottleneck(channels, out_channels, kernel, first, expansion))
                channels = out_channels
        self.blocks = nn.Sequential(*blocks)
        self.head = _convolution(channels, FEATURES, 1)
        self.classifier = nn.Linear(FEATURES, _CLASSES)

    def forward(self, inputs: Float[Tensor, "n 3 224 224"]) -> Float[Tensor, "n 1000"]:
        """Logits of the classes of ImageNet."""
        return self.classifier(self.features(inputs).mean((2, 3)))

    def features(self, inputs: Float[Tensor, "n 3 224 224"]) -> Float[Tensor, "n 1280 7 7"]:
        """What the head makes of each of 7 by 7 fields."""
        return self.head(self.blocks(self.stem(inputs)))

    def embed(self, images: UInt8[Tensor, "n ..."]) -> Float[Tensor, "n 1280"]:
        """Features of gray or color pictures of any size: their mean over the 7 by 7 fields.

        Args:
            images: as in `enlarge`.
        """
        return self.features((enlarge(images) - 127) / 128).mean((2, 3))


class Bottleneck(nn.Module):
    """Few channels to many and back, with a convolution of each channel alone in between.

    Args:
        in_channels: of the input.
        out_channels: of the output; if they are as many, at stride 1, the input is added.
        kernel: width of the convolution.
        stride: of the convolution.
        expansion: how many times more channels there are in between.

    Example:
        >>> Bottleneck(16, 24, 3, 2, 6)(torch.zeros(1, 16, 8, 8)).shape
        torch.Size([1, 24, 4, 4])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel: int, stride: int, expansion: int
    ) -> None:
        super().__init__()
        wide = expansion * in_channels
        self.expand = _convolution(in_channels, wide, 1) if expansion > 1 else nn.Identity()
        self.depthwise = _convolution(wide, wide, kernel, stride, groups=wide)
        self.project = _convolution(wide, out_channels, 1)[:2]
        self.residual = stride == 1 and in_channels == out_channels

    def forward(self, inputs: Float[Tensor, "n c h w"]) -> Float[Tensor, "n d y x"]:
        """The block's output."""
        outputs = self.project(self.depthwise(self.expand(inputs)))
        return outputs + inputs if self.residual else outputs


class SameConv2d(nn.Conv2d):
    """A convolution whose output has the size of the input over the stride, rounded up.

    Where the padding is odd, there is one more zero at the right and below, as in TensorFlow, in
    which the network was trained.

    Example:
        >>> convolution = SameConv2d(1, 1, 3, stride=2, bias=False)
        >>> _ = nn.init.ones_(convolution.weight)
        >>> convolution(torch.ones(1, 1, 4, 4)).flatten().tolist()
        [9.0, 6.0, 6.0, 4.0]
    """

    def forward(self, input: Float[Tensor, "n c h w"]) -> Float[Tensor, "n d y x"]:
        """The convolution."""
        zeros = [
            max((-(-size // stride) - 1) * stride + kernel - size, 0)
            for size, kernel, stride in zip(
                input.shape[2:], self.kernel_size, self.stride, strict=True
            )
        ]
        if any(odd := [number % 2 for number in zeros]):
            input = pad(input, (0, odd[1], 0, odd[0]))
        around = [number // 2 for number in zeros]
        return conv2d(input, self.weight, self.bias, self.stride, around, groups=self.groups)


def load_efficientnet_lite0(root: str | os.PathLike[str] | None = None) -> EfficientNetLite0:
    """The network with its published weights, frozen and ready to encode.

    Each normalization is made part of the convolution before it, which takes a third less time
    and changes features by rounding alone.

    Args:
        root: a folder with the weights; by default they are looked for in `$TORCHALU_DATA`, or
            else in the cache, which `torchalu data efficientnet` fills.

    Raises:
        FileNotFoundError: the weights are missing.
        DataError: the weights are not the published ones.

    Example:
        >>> load_efficientnet_lite0().training  # doctest: +SKIP
        False
    """
    (name,) = EFFICIENTNET_LITE0.sums
    network = EfficientNetLite0()
    try:
        network.load_state_dict(translated(load(EFFICIENTNET_LITE0.read(name, root))))
    except (RuntimeError, SafetensorError) as error:
        raise DataError(f"{name!r} does not hold this network: {error}") from None
    return _fused(network.eval()).requires_grad_(False)


def translated(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights under the names that they have in `EfficientNetLite0`.

    Args:
        weights: under their published names.

    Example:
        >>> list(translated({"_blocks.3._bn2.bias": torch.zeros(1)}))
        ['blocks.3.project.1.bias']
    """
    return {_name(name): tensor for name, tensor in weights.items()}


def _name(name: str) -> str:
    """A published name in our words."""
    for pattern, ours in _NAMES.items():
        name = re.sub(pattern, ours, name)
    return name


def _fused(network: EfficientNetLite0) -> EfficientNetLite0:
    """The network, whose convolutions have taken up the normalizations behind them."""
    for layers in network.modules():
        if not isinstance(layers, nn.Sequential):
            continue
        match list(layers):
            case [SameConv2d() as convolution, nn.BatchNorm2d() as norm, *_]:
                layers[0] = fuse_conv_bn_eval(convolution, norm)
                layers[1] = nn.Identity()
    return network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]


def _convolution(
    in_channels: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution, normalized over the batch, and ReLU6."""
    return nn.Sequential(
        SameConv2d(in_channels, out_channels, kernel, stride, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels, _EPSILON, _MOMENTUM),
        nn.ReLU6(inplace=True),
    )
