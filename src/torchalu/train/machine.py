"""What a run was carried out with: versions, processor, time."""

from __future__ import annotations

import datetime
import platform
from importlib import metadata
from pathlib import Path

import torch

from torchalu.engine import instruction_set
from torchalu.engine.cores import cores
from torchalu.train.study import JSON

_PACKAGES = ("torchalu", "torch", "numpy", "polars")
_CPU_INFO = Path("/proc/cpuinfo")


def environment(device: str = "cpu") -> dict[str, JSON]:
    """What results may owe to the machine and to the packages, as JSON can say it.

    Args:
        device: "cpu", "cuda" or "cuda:0" and so on.

    Returns:
        `time` (UTC), `versions` by package, `python`, `platform`, `host`, `processor`, `cores`
        (those that this process may use) and `instruction_set` (of the native trainer); on a GPU
        `device`, its name.

    Example:
        >>> sorted(environment())[:3]
        ['cores', 'host', 'instruction_set']
    """
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "processor": processor(),
        "cores": cores(),
        "instruction_set": instruction_set(),
        **({} if device == "cpu" else {"device": _name(device)}),
    }


def processor() -> str:
    """The processor's name, as the system gives it.

    Example:
        >>> processor() != ""
        True
    """
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _name(device: str) -> str:
    """A GPU's name, or that of the device where torch knows none."""
    return torch.cuda.get_device_name(device) if torch.cuda.is_available() else device


def _version(package: str) -> str | None:
    """The installed version, if the package is installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
