"""Where networks are trained: the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import torch

from torchalu.tasks import ProgramBatch
from torchalu.tasks.number_words import WordBatch

BatchT = TypeVar("BatchT", WordBatch, ProgramBatch)


def without_cpu(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a training, with the kind of its device only where that is not the CPU.

    So the results of a CPU have one description, whether there is a choice or not.

    Args:
        numbers: of the training, "device" among them.

    Example:
        >>> without_cpu({"steps": 20, "device": "cpu"}), without_cpu({"device": "cuda:1"})
        ({'steps': 20}, {'device': 'cuda'})
    """
    kind = torch.device(numbers["device"]).type
    others = {name: value for name, value in numbers.items() if name != "device"}
    return others if kind == "cpu" else others | {"device": kind}


def moved(batch: BatchT, device: str) -> BatchT:
    """A batch on a device.

    Args:
        batch: of tensors.
        device: such as "cuda".
    """
    return type(batch)(*(part.to(device) for part in batch))
