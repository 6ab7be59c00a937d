"""Bach's chorales in a package of PyPI, as scores in MusicXML."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from torchalu.cli.fetch import Source, members, pip
from torchalu.cli.music_xml import read_score
from torchalu.tasks import CHORALES, Chorale, DataError, chorales_json

_SCORE = re.compile(r"music21/corpus/bach/bwv(.+)\.mxl")
_QUARTER, _WINDOW = 4, 8  # sixteenths in a quarter; quarters in two measures


def source() -> Source:
    """The package."""
    return pip(
        "music21==10.5.1",
        "dc3309498c4c95cebdf8d4f20c868deb6b63bce1d929cad4f51a7ccc982987b1",
        read_scores,
        CHORALES.check,
    )


def read_scores(archive: Path) -> dict[str, bytes]:
    """The chorales of all scores with one soprano, one alto, one tenor and one bass.

    Args:
        archive: a zip file.

    Raises:
        DataError: it is none, or a score cannot be read.
    """
    try:
        with zipfile.ZipFile(archive) as wheel:
            names = sorted(name for name in wheel.namelist() if _SCORE.fullmatch(name))
    except zipfile.BadZipFile as error:
        raise DataError(f"{archive.name} is no complete archive: {error}") from None
    found = [
        Chorale(_SCORE.sub(r"\1", name), 0, voices)
        for name, content in sorted(members(archive, names))
        if (voices := read_score(content, name)) is not None
    ]
    (name,) = CHORALES.sums
    return {name: chorales_json(grouped(found))}


def grouped(chorales: list[Chorale]) -> list[Chorale]:
    """The chorales, of which those that share two measures have the same group.

    Two measures are eight quarters in a row in which no voice rests. They are compared by pitch at
    each quarter, in whatever key; groups are numbered in the order of their first chorales.

    Args:
        chorales: whose groups are not looked at.

    Example:
        >>> import numpy as np
        >>> voices = np.tile(np.array([60, 55, 52, 48], np.int16), (32, 1))
        >>> other = voices + (np.arange(32) // 4 % 2)[:, None].astype(np.int16)
        >>> same = Chorale("1", 0, voices), Chorale("2", 0, other), Chorale("3", 0, voices + 2)
        >>> [chorale.group for chorale in grouped(list(same))]
        [0, 1, 0]
    """
    above = list(range(len(chorales)))

    def first(number: int) -> int:
        while above[number] != number:
            number = above[number]
        return number

    owners: dict[bytes, int] = {}
    for number, chorale in enumerate(chorales):
        beats = abs(chorale.voices[::_QUARTER])
        for start in range(len(beats) - _WINDOW + 1):
            window = beats[start : start + _WINDOW]
            if (window > 0).all():
                owner = owners.setdefault((window - window.max()).tobytes(), number)
                low, high = sorted((first(owner), first(number)))
                above[high] = low
    roots = [first(number) for number in range(len(chorales))]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return [
        chorale._replace(group=numbers[root]) for chorale, root in zip(chorales, roots, strict=True)
    ]
