"""Scores in MusicXML, as far as four voices need it."""

from __future__ import annotations

import io
import zipfile
import zlib
from fractions import Fraction
from math import ceil
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from jaxtyping import Int16

from torchalu.tasks import DataError
from torchalu.tasks.chorales import VOICES

_LARGEST = 1 << 24  # bytes; the largest score of the corpus has 2,000,000
_SIXTEENTHS = 4  # in a quarter, in which MusicXML counts
_SEMITONES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


class Note(NamedTuple):
    """A note, or the part of one that a tie adds.

    Attributes:
        start: in quarters from the beginning.
        end: in quarters from the beginning.
        pitch: of MIDI.
        held: whether it goes on with the note before it.
    """

    start: Fraction
    end: Fraction
    pitch: int
    held: bool


def read_score(content: bytes, name: str) -> Int16[np.ndarray, "sixteenths 4"] | None:
    """Four voices of a packed score, in the form of `Chorale.voices`.

    What sounds at the beginning of a sixteenth counts for all of it. Grace notes, and the lower
    notes of a voice that is divided, are left out.

    Args:
        content: of a file `.mxl`, which is a zip file.
        name: of the file, for messages.

    Returns:
        The voices; None if the score has not just one soprano, alto, tenor and bass.

    Raises:
        DataError: it is no such score.
    """
    try:
        root = _root(content)
        names = {
            part.get("id"): (part.findtext("part-name") or "").split()[:1]
            for part in root.iterfind("part-list/score-part")
        }
        parts = [
            [part for part in root.iterfind("part") if names.get(part.get("id")) == [voice]]
            for voice in VOICES
        ]
        if any(len(found) != 1 for found in parts):
            return None
        return _voices([_notes(found[0]) for found in parts])
    except (LookupError, ValueError, ArithmeticError, zlib.error) as error:
        raise DataError(f"{name} is no score that can be read: {error!r}") from None
    except (zipfile.BadZipFile, EOFError, ElementTree.ParseError) as error:
        raise DataError(f"{name} is no complete score: {error!r}") from None


def _root(content: bytes) -> Element:
    """The score that a packed file names as its own."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:

        def parse(name: str) -> Element:
            if packed.getinfo(name).file_size > _LARGEST:
                raise ValueError(f"{name} has more than {_LARGEST} bytes")
            return ElementTree.fromstring(packed.read(name))

        container = parse("META-INF/container.xml")
        paths = [one.attrib["full-path"] for one in container.iter() if "full-path" in one.attrib]
        return parse(paths[0])


def _notes(part: Element) -> tuple[list[Note], Fraction]:
    """The notes of a part, and where it ends."""
    notes: list[Note] = []
    now = end = Fraction()
    divisions = 1
    for element in (element for measure in part.iterfind("measure") for element in measure):
        if element.tag == "attributes":
            divisions = int(element.findtext("divisions") or divisions)
            continue
        skipped = element.find("grace") is not None or element.find("chord") is not None
        if element.tag not in ("note", "backup", "forward") or skipped:
            continue
        length = Fraction(int(element.findtext("duration") or ""), divisions)
        pitch = element.find("pitch")
        if pitch is not None:
            held = any(tie.get("type") == "stop" for tie in element.iterfind("tie"))
            notes.append(Note(now, now + length, _midi(pitch), held))
        now += -length if element.tag == "backup" else length
        end = max(end, now)
    return notes, end


def _midi(pitch: Element) -> int:
    """The number of a pitch: 60 for middle C."""
    step, octave = pitch.findtext("step") or "", int(pitch.findtext("octave") or "")
    return 12 * (octave + 1) + _SEMITONES[step] + int(pitch.findtext("alter") or 0)


def _voices(parts: list[tuple[list[Note], Fraction]]) -> Int16[np.ndarray, "sixteenths 4"]:
    """Notes on a grid of sixteenths."""
    voices = np.zeros((max(_sixteenth(end) for _, end in parts), len(parts)), np.int16)
    for voice, (notes, _) in zip(voices.T, parts, strict=True):
        for note in notes:
            start, end = _sixteenth(note.start), _sixteenth(note.end)
            voice[start:end] = -note.pitch
            if not note.held and start < end:
                voice[start] = note.pitch
    return voices


def _sixteenth(time: Fraction) -> int:
    """The first sixteenth that begins at a time or after it."""
    return ceil(time * _SIXTEENTHS)
