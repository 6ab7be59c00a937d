"""What a chunk has taken before it was broken off, noted beside its checkpoints."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import NamedTuple

from torchalu.train.files import write_atomic

_LOGGER = logging.getLogger(__name__)


class Spent(NamedTuple):
    """What the starts of a chunk have taken so far of which it has checkpoints to go on from.

    Attributes:
        wall_seconds: the time that passed.
        core_seconds: of processor time, in all its threads.

    Example:
        >>> Spent()
        Spent(wall_seconds=0.0, core_seconds=0.0)
    """

    wall_seconds: float = 0.0
    core_seconds: float = 0.0


def write_spent(path: Path, spent: Spent) -> None:
    """Notes what has been spent.

    Args:
        path: the file; its folder is created.
        spent: in all.

    Raises:
        OSError: if it cannot be written.
    """
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, json.dumps(spent._asdict()) + "\n")


def read_spent(path: Path) -> Spent:
    """What was noted; nothing if there is no file. One that cannot be read is named, and ignored.

    Args:
        path: the file.
    """
    try:
        noted = json.loads(path.read_bytes())
        return Spent(float(noted["wall_seconds"]), float(noted["core_seconds"]))
    except FileNotFoundError:
        return Spent()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        _LOGGER.warning("%s cannot be read; the time of earlier starts is left out", path)
        return Spent()
