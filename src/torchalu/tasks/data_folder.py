"""Where data sets that are not part of the package lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "TORCHALU_DATA"
"""The environment variable that names a folder of data sets."""


def cache_folder(name: str) -> Path:
    """The folder into which `torchalu data` puts a data set.

    It lies in the platform's folder for caches, which `$XDG_CACHE_HOME` overrides.

    Args:
        name: the data set, such as "mnist".

    Example:
        >>> cache_folder("mnist").parts[-2:]
        ('torchalu', 'mnist')
    """
    return _caches() / "torchalu" / name


def named_folder(root: str | os.PathLike[str] | None) -> Path | None:
    """The folder that the user names, which need not be there yet.

    Args:
        root: the folder, if it is given as an argument; `$TORCHALU_DATA` stands in for it.
    """
    named = root if root is not None else os.environ.get(VARIABLE) or None
    return None if named is None else Path(named).expanduser()


def data_folder(root: str | os.PathLike[str] | None) -> Path | None:
    """The folder that the user names: `root`, or else `$TORCHALU_DATA`; None if there is neither.

    Args:
        root: the folder, if it is given as an argument.

    Raises:
        FileNotFoundError: there is no such folder.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data_folder(folder) == Path(folder)
        True
    """
    folder = named_folder(root)
    if folder is not None and not folder.is_dir():
        source = "root" if root is not None else f"${VARIABLE}"
        raise FileNotFoundError(
            f"{source} is {str(folder)!r}, which is no folder; name the folder that holds the data"
        )
    return folder


def _caches() -> Path:
    """The platform's folder for caches."""
    override = os.environ.get("XDG_CACHE_HOME")
    if override:
        return Path(override)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return Path(local)
    return Path.home() / ".cache"
