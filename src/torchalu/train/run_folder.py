"""A folder that holds what is done of a study, so that nothing that is done is done again."""

from __future__ import annotations

import io
import logging
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import polars as pl

from torchalu.train.files import remove_unfinished
from torchalu.train.lock import FolderLock
from torchalu.train.part_files import (
    MARKER,
    OUTCOMES,
    SUFFIXES,
    CorruptPart,
    Cost,
    read_part,
    write_part,
)
from torchalu.train.run_notes import LOCK, check_configuration, create_folder, note_end, note_start
from torchalu.train.spent import Spent, read_spent, write_spent
from torchalu.train.study import JSON, Chunk, Study

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,+=-]{0,149}")
_LOGGER = logging.getLogger(__name__)


class RunFolder:
    """The results of one study, on the disk, held by one process at a time.

    A part is there when its marker is: the marker is written last, and names the sizes and the
    checksums of the part's files. A part that is not what was written is named, set aside, and
    done again.

    Args:
        path: the folder; it is created, with the folders above it.
        study: what it holds results of.

    Raises:
        ValueError: if the folder holds something else, or results of another configuration; or if
            the study's chunks have names that cannot be those of files.
        BlockingIOError: if another process is at work on it.
        OSError: if it cannot be read or written.

    Attributes:
        path: the folder.
        study: what it holds results of.
        environments: one entry a start, the last one this process's own.

    Example:
        A study whose one chunk squares its number, carried out in a folder of its own:

        >>> import tempfile
        >>> from torchalu.train import Part, encode
        >>> class Square:
        ...     name, configuration, keys = "square", {"number": 3}, ("seed",)
        ...     def chunks(self):
        ...         return [Chunk("only")]
        ...     def run(self, chunk, scratch, report):
        ...         return Part(pl.DataFrame(), pl.DataFrame({"seed": [0], "square": [9]}))
        ...     def summarize(self, outcomes):
        ...         return {"square": outcomes}
        >>> study, cost = Square(), Cost.here(0.0, 0.0)
        >>> with tempfile.TemporaryDirectory() as path:
        ...     with RunFolder(path, study) as folder:
        ...         folder.write("only", encode(study.run(Chunk("only"), path, print)), cost)
        ...     with RunFolder(path, study) as folder:
        ...         folder.done, folder.outcomes()["square"].to_list()
        (['only'], [9])
    """

    def __init__(self, path: str | Path, study: Study) -> None:
        self.path = Path(path)
        self.study = study
        self._chunks = _checked(study)
        self._parts: dict[str, tuple[pl.DataFrame, Cost]] = {}
        create_folder(self.path)
        self._lock = FolderLock(self.path / LOCK)
        try:
            remove_unfinished(self.path)
            check_configuration(self.path, study)
            self._folder.mkdir(exist_ok=True)
            for folder in (self._folder, self.path / "summary", self.path / "spent"):
                remove_unfinished(folder)
            self.environments: list[dict[str, JSON]] = note_start(
                self.path, str(study.configuration.get("device", "cpu"))
            )
            self._read_parts()
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> list[str]:
        """The names of the chunks whose parts are there, in the study's order."""
        return [name for name in self._chunks if name in self._parts]

    @property
    def todo(self) -> list[Chunk]:
        """The chunks whose parts are not there, in the study's order."""
        return [chunk for name, chunk in self._chunks.items() if name not in self._parts]

    @property
    def runs(self) -> int:
        """How many rows the outcomes have: one a setting and seed."""
        return sum(outcomes.height for outcomes, _ in list(self._parts.values()))

    @property
    def core_hours(self) -> float:
        """What the parts that are there took, in hours of one core."""
        return sum(cost.core_seconds for _, cost in self._parts.values()) / 3600

    @property
    def processors(self) -> list[str]:
        """The names of the processors that the parts come from."""
        return sorted({cost.processor for _, cost in self._parts.values()})

    @property
    def instruction_sets(self) -> list[str]:
        """The instruction sets that the parts were trained with."""
        return sorted({cost.instruction_set for _, cost in self._parts.values()})

    def note_end(self, seconds: float) -> None:
        """Note in `environments` how long this process has worked.

        Args:
            seconds: that have passed.

        Raises:
            OSError: if it cannot be written.
        """
        note_end(self.path, self.environments, seconds)

    def outcomes(self) -> pl.DataFrame:
        """The outcomes of all parts that are there, in the order of the study's chunks."""
        frames = [self._parts[name][0] for name in self.done]
        return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()

    def scratch(self, chunk: str) -> Path:
        """The folder of a chunk's own checkpoints, which is there until its part is."""
        path = self.path / "scratch" / chunk
        path.mkdir(parents=True, exist_ok=True)
        remove_unfinished(path, below=True)
        return path

    def spent(self, chunk: str) -> Spent:
        """What earlier starts of a chunk took; nothing if they left no checkpoint behind.

        Args:
            chunk: the name of the chunk.
        """
        if not any(self.scratch(chunk).iterdir()):
            return Spent()
        return read_spent(self._spent(chunk))

    def note_spent(self, chunk: str, spent: Spent) -> None:
        """Notes what a chunk has taken up to now, its earlier starts with it.

        Args:
            chunk: the name of the chunk.
            spent: in all.

        Raises:
            OSError: if it cannot be written.
        """
        write_spent(self._spent(chunk), spent)

    def write(self, chunk: str, files: Mapping[str, bytes], cost: Cost) -> None:
        """Adds a part; several threads may do so at once, each for another chunk.

        Args:
            chunk: the name of the chunk.
            files: the part as `encode` gives it.
            cost: what it took.

        Raises:
            ValueError: if the outcomes lack a column of the study's keys.
            OSError: if a file cannot be written; then the part does not count as done.
        """
        outcomes = pl.read_parquet(io.BytesIO(files[OUTCOMES]))
        missing = [key for key in self.study.keys if key not in outcomes.columns]
        if missing:
            raise ValueError(f"the outcomes of chunk {chunk!r} lack the columns {missing}")
        write_part(self._folder, chunk, files, cost)
        self._parts[chunk] = outcomes, cost
        self._tidy(chunk)

    def close(self) -> None:
        """Lets go of the folder."""
        self._lock.release()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _folder(self) -> Path:
        """Where the parts are."""
        return self.path / "parts"

    def _spent(self, chunk: str) -> Path:
        """Where it is noted what a chunk has taken."""
        return self.path / "spent" / f"{chunk}.json"

    def _tidy(self, chunk: str) -> None:
        """Removes what a chunk that is done needs no longer."""
        shutil.rmtree(self.path / "scratch" / chunk, ignore_errors=True)
        self._spent(chunk).unlink(missing_ok=True)

    def _read_parts(self) -> None:
        """Takes in the parts that have a marker, and sets aside those that are corrupt."""
        for chunk in self._chunks:
            if not (self._folder / f"{chunk}{MARKER}").exists():
                continue
            try:
                self._parts[chunk] = read_part(self._folder, chunk)
                self._tidy(chunk)
            except CorruptPart as error:
                aside = self._set_aside(chunk)
                _LOGGER.warning(
                    "part %r of %s is corrupt: %s; it is set aside in %s and done again",
                    chunk,
                    self.path,
                    error,
                    aside,
                )

    def _set_aside(self, chunk: str) -> Path:
        """Moves the files of a part into a folder of its own, the marker first."""
        number = 1
        while (aside := self._folder / "corrupt" / f"{chunk}-{number}").exists():
            number += 1
        aside.mkdir(parents=True)
        for suffix in (MARKER, *SUFFIXES):
            path = self._folder / f"{chunk}{suffix}"
            if path.exists():
                path.rename(aside / path.name)
        return aside


def _checked(study: Study) -> dict[str, Chunk]:
    """The chunks of a study by name."""
    chunks: dict[str, Chunk] = {}
    for chunk in study.chunks():
        if not _NAME.fullmatch(chunk.name) or chunk.name.endswith(".outcomes"):
            raise ValueError(
                f"a chunk of {study.name} is called {chunk.name!r}; allowed: at most 150 letters, "
                "digits, and . _ , + = -, a letter or digit first, no .outcomes last"
            )
        if chunk.name in chunks:
            raise ValueError(f"two chunks of {study.name} are called {chunk.name!r}")
        chunks[chunk.name] = chunk
    return chunks
