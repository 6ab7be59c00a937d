"""Tasks from files of inputs and their outputs."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from torchalu.tasks.algorithms.encoding import BLANK
from torchalu.tasks.algorithms.task import AlgorithmicTask
from torchalu.tasks.idx import DataError

MAX_ALPHABET = 256

_COLUMNS = "input", "output"
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_LARGEST = 1 << 26  # bytes of a file


@dataclass(frozen=True, kw_only=True)
class StringFileTask(AlgorithmicTask):
    """A task given by examples; its truth is what they say, and nothing beyond.

    Samples are rows drawn with replacement, and each row of a length is as likely as the others;
    those to validate or test on are drawn without, as a row tells no more the second time.
    Without rows it still says how texts are encoded, which is what a trained model needs.

    Args:
        rows: the outputs by their inputs.

    Raises:
        ValueError: a row is empty, has a symbol outside the alphabet, or no room on the line of
            `size`; or as `AlgorithmicTask`.
    """

    rows: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        alphabet = {*self.alphabet}
        for text, answer in self.rows.items():
            if not text or not alphabet.issuperset(text) or not alphabet.issuperset(answer):
                raise ValueError(
                    f"rows has the answer {answer!r} to {text!r}; allowed: inputs of at least one "
                    f"symbol, and none that is not in the alphabet {self.alphabet!r}"
                )
            room = self.symbols(len(text))
            if max(len(text), len(answer)) > room:
                raise ValueError(
                    f"rows has the answer {answer!r} to {text!r}, and size {self.size} gives them "
                    f"room for {room} symbols; give a larger one"
                )

    def sample_lengths(self, longest: int) -> tuple[int, ...]:
        """The lengths of the rows, in growing order.

        Args:
            longest: the greatest length to be listed.
        """
        return tuple(length for length in sorted(self._by_length) if length <= longest)

    def split(self, validation: float = 0.1) -> tuple[StringFileTask, StringFileTask]:
        """What to train on and what to validate on.

        Where a row goes is settled by a hash of its input alone, whatever its place in the file
        and the rows beside it.

        Args:
            validation: about how much of the rows to validate on.

        Raises:
            ValueError: a share outside of (0, 1), or too few rows for it.
        """
        if not 0 < validation < 1:
            raise ValueError(f"validation is {validation}; give a share between 0 and 1")
        parts: tuple[dict[str, str], dict[str, str]] = {}, {}
        for text, answer in self.rows.items():
            digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
            parts[int.from_bytes(digest) < validation * 2**64][text] = answer
        if not all(parts):
            rows = "1 row" if len(self.rows) == 1 else f"{len(self.rows)} rows"
            raise ValueError(
                f"{self.name!r} has {rows}, and about {validation:.0%} of all are put aside to "
                f"validate on: {len(parts[1])} of these, which leaves {len(parts[0])} to train on; "
                "each needs one at least: add rows"
            )
        return replace(self, rows=parts[0]), replace(self, rows=parts[1])

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        """The inputs by their length, in one order, whatever that of the rows."""
        found: dict[int, list[str]] = {}
        for text in sorted(self.rows):
            found.setdefault(len(text), []).append(text)
        return found

    def _measure(self, text: str) -> int:
        return len(text)

    def _answer(self, text: str, length: int) -> str:  # noqa: ARG002
        if text not in self.rows:
            self._refuse(text, "it is in none of the rows, and nothing else tells its answer")
        return self.rows[text]

    def _draw(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        texts = self._inputs(length)
        return [texts[number] for number in rng.integers(len(texts), size=count).tolist()]

    def _draw_tests(self, length: int, count: int, rng: np.random.Generator) -> list[str]:
        texts = self._inputs(length)
        return [texts[number] for number in rng.permutation(len(texts))[:count].tolist()]

    def _inputs(self, length: int) -> list[str]:
        """All inputs of a length."""
        texts = self._by_length.get(length)
        if texts is None:
            shown = ", ".join(map(str, sorted(self._by_length))) or "none, as there are no rows"
            raise ValueError(
                f"length is {length}, and no row of {self.name!r} has an input so long; there are "
                f"inputs of these lengths: {shown}"
            )
        return texts

    def _kinds(self, length: int, rng: np.random.Generator) -> dict[str, list[str]]:  # noqa: ARG002
        return {}


def read_task_file(path: str | os.PathLike[str]) -> StringFileTask:
    """A task from a file of inputs and outputs.

    The file has a line of names, of which one is `input` and one `output`, then a line for each
    example, in UTF-8; columns are separated by commas in a `.csv` file and by tabs in a `.tsv`
    file. Cells are taken as they are, spaces included. The alphabet is the characters found, in
    the order of their code points; the padded length is the lowest straight line with whole
    coefficients under which all rows fit.

    Args:
        path: the file.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: the file, or a line of it, cannot be used.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "rotate.csv"
        >>> _ = path.write_text("input,output\\nabc,bca\\nabcd,bcda\\n")
        >>> task = read_task_file(path)
        >>> task.name, task.alphabet, task.size, task.solve("abc")
        ('rotate', 'abcd', (1, 0), 'bca')
    """
    path = Path(path)
    rows, alphabet = _collect(path, _rows(path, _text(path)))
    return StringFileTask(
        name=path.stem,
        title=f"an input of {path.name}",
        alphabet="".join(sorted(alphabet)),
        example=next(iter(rows)),
        size=_line_over(rows),
        rows=rows,
    )


def _text(path: Path) -> str:
    """What is in the file."""
    if path.suffix.lower() not in _SEPARATORS:
        raise DataError(
            f"{str(path)!r} ends in {path.suffix!r}; allowed: .csv, with commas between columns, "
            "or .tsv, with tabs; save the file as one of them"
        )
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; give the file in it")
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}; check the spelling and the folder")
    size = path.stat().st_size
    if size > _LARGEST:
        raise DataError(
            f"{str(path)!r} has {size} bytes; allowed: {_LARGEST}; take a part of the rows"
        )
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{str(path)!r}, line {line}: byte {data[error.start]:#04x} is not UTF-8; save the "
            "file with the encoding UTF-8"
        ) from None


def _rows(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """The line, input and output of each row."""
    separator = _SEPARATORS[path.suffix.lower()]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    places: list[int] = []
    width, line = 0, 1
    try:
        for cells in reader:
            if cells and not places:
                places, width = _places(path, line, cells), len(cells)
            elif cells:
                if len(cells) != width:
                    raise DataError(
                        f"{str(path)!r}, line {line}: {len(cells)} cells where the header names "
                        f"{width} columns; give one for each, in quotes where it has a separator"
                    )
                yield line, cells[places[0]], cells[places[1]]
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{str(path)!r}, line {line}: {error}; see to the quotes and the size of the cells"
        ) from None


def _places(path: Path, line: int, header: list[str]) -> list[int]:
    """Where the columns are."""
    for name in _COLUMNS:
        if header.count(name) != 1:
            raise DataError(
                f"{str(path)!r}, line {line}: {header.count(name)} columns are called {name!r}; "
                f"the columns are {header!r}; call one column 'input' and one 'output', and "
                "separate columns by commas in .csv files, by tabs in .tsv files"
            )
    return [header.index(name) for name in _COLUMNS]


def _collect(path: Path, rows: Iterator[tuple[int, str, str]]) -> tuple[dict[str, str], set[str]]:
    """The outputs by input, and the characters in both."""
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    alphabet: set[str] = set()
    for line, text, answer in rows:
        where = f"{str(path)!r}, line {line}"
        if not text:
            raise DataError(f"{where}: the input is empty; give at least one character")
        if found.setdefault(text, answer) != answer:
            raise DataError(
                f"{where}: the input of line {lines[text]} again, with another output; allowed: "
                "one output for each input; remove one of the lines"
            )
        lines.setdefault(text, line)
        alphabet.update(text, answer)
        if BLANK in alphabet:
            raise DataError(f"{where}: {BLANK!r} stands for padding; use another character")
        if len(alphabet) > MAX_ALPHABET:
            raise DataError(
                f"{where}: the file has more than {MAX_ALPHABET} different characters up to here; "
                f"allowed: {MAX_ALPHABET}; write the strings with fewer"
            )
    if not found:
        raise DataError(
            f"{str(path)!r} has no rows; give a line with the names input and output, and then a "
            "line for each example"
        )
    return found, alphabet


def _line_over(rows: Mapping[str, str]) -> tuple[int, int]:
    """Slope and offset of the lowest line that is nowhere below what a row needs.

    It is no steeper than one through the origin would have to be, rounded up.
    """
    needed: dict[int, int] = {}
    for text, answer in rows.items():
        needed[len(text)] = max(needed.get(len(text), 0), len(text), len(answer))
    lines = []
    for slope in range(1, max(-(-n // length) for length, n in needed.items()) + 1):
        offset = max(1 - slope, *(n - slope * length for length, n in needed.items()))
        room = slope * sum(needed) + offset * len(needed)
        lines.append((room, abs(offset), slope, offset))
    return min(lines)[2:]
