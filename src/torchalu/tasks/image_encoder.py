"""Weights of networks trained on ImageNet, which turn pictures into features."""

from __future__ import annotations

from torchalu.tasks.data_files import DataFiles

EFFICIENTNET_LITE0 = DataFiles(
    "efficientnet",
    "EfficientNet-Lite0",
    {
        "efficientnet-lite0.safetensors": (
            "f46ec1c3cb680f7b6e592fd971a28f301ca2deef2db22f51ce7d8e69c6b5d28e"
        )
    },
)
"""4,652,008 parameters, under the names of the published checkpoint."""

RESNET18 = DataFiles(
    "resnet18",
    "ResNet-18",
    {"resnet18-f37072fd.pth": "f37072fd"},
    layouts=(".", "hub/checkpoints"),
    fetched=False,
)
"""torchvision's checkpoint; its name has the first digits of its sha256."""
