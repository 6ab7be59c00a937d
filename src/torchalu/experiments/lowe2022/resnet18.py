"""ResNet-18, the encoder of the paper, for whoever has its weights."""

from __future__ import annotations

import io
import os
import pickle

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from torchalu.experiments.lowe2022.pictures import enlarge
from torchalu.tasks import RESNET18, DataError

_CHANNELS = 64, 128, 256, 512
_CLASSES = 1000
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class ResNet18(nn.Module):
    """Eight residual blocks, whose names are those of torchvision's checkpoint.

    Shape:
        `(pictures, 3, 224, 224)`, normalized, to `(pictures, 1000)` logits of ImageNet's classes.

    Source:
        He et al. 2016a, table 1; Lowe et al. 2022, section 4.5, where it is frozen.

    Example:
        >>> sum(parameter.numel() for parameter in ResNet18().parameters())
        11689512
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for number, out_channels in enumerate(_CHANNELS, 1):
            blocks = Residual(channels, out_channels), Residual(out_channels, out_channels)
            self.add_module(f"layer{number}", nn.Sequential(*blocks))
            channels = out_channels
        self.fc = nn.Linear(channels, _CLASSES)

    def forward(self, inputs: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 1000"]:
        """Logits of the classes of ImageNet."""
        return self.fc(self.features(inputs).mean((2, 3)))

    def features(self, inputs: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 512 y x"]:
        """What the last block makes of each of 7 by 7 fields."""
        outputs = torch.relu(self.bn1(self.conv1(inputs)))
        outputs = nn.functional.max_pool2d(outputs, 3, stride=2, padding=1)
        for number in range(1, len(_CHANNELS) + 1):
            outputs = self.get_submodule(f"layer{number}")(outputs)
        return outputs

    def embed(self, images: UInt8[Tensor, "n ..."]) -> Float[Tensor, "n 512"]:
        """Features of gray or color pictures of any size: their mean over the fields.

        Args:
            images: as in `enlarge`.
        """
        mean, std = (torch.tensor(one, device=images.device).view(3, 1, 1) for one in (_MEAN, _STD))
        return self.features((enlarge(images) / 255 - mean) / std).mean((2, 3))


class Residual(nn.Module):
    """Two convolutions, to which the input is added.

    Args:
        in_channels: of the input.
        out_channels: of the output; where they are more, the block halves height and width.

    Example:
        >>> Residual(64, 128)(torch.zeros(1, 64, 8, 8)).shape
        torch.Size([1, 128, 4, 4])
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        stride = 1 if in_channels == out_channels else 2
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = nn.Sequential()
        if stride == 2:
            self.downsample.append(nn.Conv2d(in_channels, out_channels, 1, stride, bias=False))
            self.downsample.append(nn.BatchNorm2d(out_channels))

    def forward(self, inputs: Float[Tensor, "n c h w"]) -> Float[Tensor, "n d y x"]:
        """The block's output."""
        outputs = torch.relu(self.bn1(self.conv1(inputs)))
        return torch.relu(self.bn2(self.conv2(outputs)) + self.downsample(inputs))


def load_resnet18(root: str | os.PathLike[str] | None = None) -> ResNet18:
    """The network with torchvision's weights, frozen and ready to encode.

    Nothing but tensors is unpickled.

    Args:
        root: a folder with `resnet18-f37072fd.pth`; by default it is looked for in
            `$TORCHALU_DATA`, or else in the cache. No package carries it.

    Raises:
        FileNotFoundError: the weights are missing.
        DataError: the weights are not the published ones.

    Example:
        >>> load_resnet18().training  # doctest: +SKIP
        False
    """
    (name,) = RESNET18.sums
    content = RESNET18.read(name, root)
    network = ResNet18()
    try:
        weights = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        network.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError, EOFError, pickle.UnpicklingError) as error:
        message = str(error).partition("\n")[0]
        raise DataError(
            f"{name!r} does not hold this network: {message}; get torchvision's file again"
        ) from None
    return network.eval().requires_grad_(False)
