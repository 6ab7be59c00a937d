"""Files of a data set: where they are looked for, and what they must be."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torchalu.tasks.data_folder import VARIABLE, cache_folder, data_folder
from torchalu.tasks.idx import DataError

_LARGEST = 1 << 28  # bytes of an unpacked file


@dataclass(frozen=True)
class DataFiles:
    """The files of one data set, which are looked for in a folder and checked as they are read.

    The folder is `root`, or else `$TORCHALU_DATA`; if neither is named, the cache. Nothing is
    fetched here, and nothing else is ever put in their place.

    Args:
        name: what the data set is called on the command line, which is also its folder in the
            cache.
        title: what people call it.
        sums: the sha256 of each file, by its name; or the first digits of it, where no more has
            been published.
        layouts: folders below the one that is named, in which the files may lie; a command that
            fetches them puts them into the first.
        fetched: whether `torchalu data` can get it.
        packed: whether a file may lie there packed with gzip, its name with `.gz` at the end.

    Example:
        >>> DataFiles("stars", "Stars", {"stars.csv": "0" * 64}).folder("/nowhere")
        Traceback (most recent call last):
        FileNotFoundError: root is '/nowhere', which is no folder; ...
    """

    name: str
    title: str
    sums: Mapping[str, str]
    layouts: tuple[str, ...] = (".",)
    fetched: bool = True
    packed: bool = False

    def folder(self, root: str | os.PathLike[str] | None = None) -> Path:
        """The folder that holds all the files, which are not read.

        Args:
            root: where to look.

        Raises:
            FileNotFoundError: there is none, with the names of the files that are missing and
                what to do.
        """
        named = data_folder(root)
        base = cache_folder(self.name) if named is None else named
        missing = {
            layout: [name for name in self.sums if self._path(base / layout, name) is None]
            for layout in self.layouts
        }
        for layout, names in missing.items():
            if not names:
                return base / layout
        fewest = min(missing.values(), key=len)
        raise FileNotFoundError(
            f"{self.title} is not in {str(base)!r}: no {', '.join(fewest)}"
            f"{' (nor with .gz)' if self.packed else ''}; {self._remedy(base)}"
        )

    def read(self, name: str, root: str | os.PathLike[str] | None = None) -> bytes:
        """The content of a file, unpacked.

        Args:
            name: of the file.
            root: where to look.

        Raises:
            FileNotFoundError: a file of the data set is missing.
            DataError: the file is not the published one.
        """
        path = self._path(self.folder(root), name)
        assert path is not None, "folder has looked"
        content = _unpacked(path) if path.name != name else path.read_bytes()
        self.check(name, content, str(path))
        return content

    def check(self, name: str, content: bytes, where: str | None = None) -> None:
        """Raise unless the content of a file is the published one.

        Args:
            name: of the file.
            content: all of it.
            where: it lies, for the message.

        Raises:
            DataError: it is another one.
        """
        found = hashlib.sha256(content).hexdigest()
        due = self.sums[name]
        if not found.startswith(due):
            raise DataError(
                f"{where or name!r} has sha256 {found} ({len(content)} bytes) where {due} is due; "
                "it is damaged or another data set: remove it and get the file again"
            )

    def check_all(self, root: str | os.PathLike[str] | None = None) -> None:
        """Raise unless all files are there, as published.

        Args:
            root: where to look.

        Raises:
            FileNotFoundError: a file is missing.
            DataError: a file is not the published one.
        """
        for name in self.sums:
            self.read(name, root)

    def _path(self, folder: Path, name: str) -> Path | None:
        """Where a file lies, if it is there."""
        candidates = [folder / name, folder / f"{name}.gz"][: 1 + self.packed]
        return next((path for path in candidates if path.is_file()), None)

    def _remedy(self, base: Path) -> str:
        """How the files get there."""
        named = f"as root or in ${VARIABLE}"
        places = " or ".join("directly" if place == "." else place for place in self.layouts)
        if self.fetched:
            return (
                f"run `torchalu data {self.name}`, which gets it once, or name a folder that has "
                f"it ({places}) {named}"
            )
        return (
            "no package carries it, so that it cannot be fetched: put its files into "
            f"{str(base / self.layouts[0])!r}, or name a folder that has them ({places}) {named}"
        )


def _unpacked(path: Path) -> bytes:
    """What a file packed with gzip holds."""
    try:
        with gzip.open(path) as file:
            content = file.read(_LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{str(path)!r} is no complete gzip file: {error}; remove it and get it again"
        ) from None
    if len(content) > _LARGEST:
        raise DataError(f"{str(path)!r} unpacks to more than {_LARGEST} bytes; it is no such data")
    return content
