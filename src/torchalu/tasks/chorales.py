"""Bach's chorales: four voices, sixteenth by sixteenth."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import numpy as np
from jaxtyping import Int16

from torchalu.tasks.data_files import DataFiles
from torchalu.tasks.idx import DataError

CHORALES = DataFiles(
    "chorales",
    "The collection of Bach's chorales",
    {"chorales.json": "6e578aa88f93ab66c5ad227073d4f114c24e81d11e6cd7c80b274597a71d7e43"},
)
"""The scores of the corpus of music21, read into numbers."""

VOICES = "Soprano", "Alto", "Tenor", "Bass"
_HIGHEST = 127  # of MIDI


class Chorale(NamedTuple):
    """One chorale.

    Attributes:
        bwv: its number in the catalog of Bach's works, with what tells versions apart.
        group: the same number for chorales that share two measures, in whatever key.
        voices: for each sixteenth the soprano's, alto's, tenor's and bass's pitch (MIDI, 60 for
            middle C) where a note begins, minus that pitch where it is held, 0 for a rest.
    """

    bwv: str
    group: int
    voices: Int16[np.ndarray, "sixteenths 4"]


def load_chorales(root: str | os.PathLike[str] | None = None) -> list[Chorale]:
    """Read the 405 chorales.

    The file is looked for in the folder `root`, or else in `$TORCHALU_DATA`; if neither is named,
    in the cache. The command `torchalu data chorales` makes it.

    Args:
        root: where to look.

    Raises:
        FileNotFoundError: the file is missing.
        DataError: the file is not the one that is due.

    Source:
        The corpus of music21 10.5.1, each score with one soprano, alto, tenor and bass.
        Departure: Lowe et al. 2022, section 4.2, take the 382 chorales of Boulanger-Lewandowski
        et al. 2012, which cannot be had from a package; most are the same pieces.

    Example:
        >>> chorale = load_chorales()[0]  # doctest: +SKIP
        >>> chorale.bwv, chorale.voices[0]  # doctest: +SKIP
        ('1.6', array([65, 60, 57, 53], dtype=int16))
    """
    (name,) = CHORALES.sums
    return parse_chorales(CHORALES.read(name, root), name)


def parse_chorales(content: bytes, name: str) -> list[Chorale]:
    """Chorales from the content of their file.

    Args:
        content: JSON, a list of objects with the fields of `Chorale`, each voice a list.
        name: of the file, for messages.

    Raises:
        DataError: it is no such list.

    Example:
        >>> text = b'[{"bwv": "269", "group": 0, "voices": [[67], [62], [59], [43]]}]'
        >>> parse_chorales(text, "chorales.json")[0].voices
        array([[67, 62, 59, 43]], dtype=int16)
    """
    try:
        entries = json.loads(content)
        chorales = [
            Chorale(
                str(entry["bwv"]), int(entry["group"]), np.array(entry["voices"], np.int16).T.copy()
            )
            for entry in entries
        ]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise DataError(
            f"{name!r} is no list of chorales: {error!r}; run `torchalu data chorales` again"
        ) from None
    for chorale in chorales:
        voices = chorale.voices
        if voices.ndim != 2 or voices.shape[1] != len(VOICES) or (abs(voices) > _HIGHEST).any():
            raise DataError(
                f"{name!r} has four voices of pitches up to {_HIGHEST} in each chorale, but BWV "
                f"{chorale.bwv} has shape {voices.shape[::-1]}; run `torchalu data chorales` again"
            )
    return chorales


def chorales_json(chorales: list[Chorale]) -> bytes:
    """Chorales as the content of a file, the same bytes wherever they are made.

    Args:
        chorales: in the order of the file.

    Example:
        >>> voices = np.array([[67, 62, 59, 43]], np.int16)
        >>> chorales_json([Chorale("269", 0, voices)])
        b'[{"bwv":"269","group":0,"voices":[[67],[62],[59],[43]]}]\\n'
    """
    entries = [{**one._asdict(), "voices": one.voices.T.tolist()} for one in chorales]
    return (json.dumps(entries, separators=(",", ":")) + "\n").encode()
