"""A sum by which a file of tensors is known to be what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def content_sum(head: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """The SHA-256 of the tensors of a file and of its head.

    Args:
        head: as JSON can say it.
        tensors: on the CPU, by name.

    Example:
        >>> content_sum({"step": 7}, {"weight": torch.zeros(2)})[:8]
        'fe1a9902'
    """
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for name in sorted(tensors):
        value = tensors[name].contiguous()
        digest.update(f"{name} {value.dtype} {list(value.shape)} ".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
