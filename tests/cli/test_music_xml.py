"""Scores that the tests write, and what their notes come to on a grid of sixteenths."""

import io
import zipfile

import numpy as np
import pytest

from torchalu.cli.music_xml import read_score
from torchalu.tasks import DataError

CONTAINER = "<container><rootfiles><rootfile full-path='in/s.xml'/></rootfiles></container>"
VOICES = "Soprano", "Alto", "Tenor", "Bass"


def packed(text, container=CONTAINER):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("in/s.xml", text)
    return buffer.getvalue()


def score(measures, names=VOICES):
    listed = "".join(
        f"<score-part id='{number}'><part-name>{name}</part-name></score-part>"
        for number, name in enumerate(names)
    )
    parts = "".join(f"<part id='{number}'>{measures}</part>" for number in range(len(names)))
    return f"<score-partwise><part-list>{listed}</part-list>{parts}</score-partwise>"


def note(pitch, duration, more=""):
    step, octave, *alter = pitch
    altered = f"<alter>{alter[0]}</alter>" if alter else ""
    inside = f"<pitch><step>{step}</step>{altered}<octave>{octave}</octave></pitch>"
    return f"<note>{more}{inside}<duration>{duration}</duration></note>"


def attributes(divisions):
    return f"<attributes><divisions>{divisions}</divisions></attributes>"


REST = "<note><rest/><duration>2</duration></note>"
TIE = "<tie type='stop'/>"


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        (attributes(4) + note("C4", 2) + note(("A", 4, -1), 1), [60, -60, 68]),
        (attributes(2) + note("B3", 1) + REST + note("E5", 1), [59, -59, 0, 0, 0, 0, 76, -76]),
        (attributes(4) + note(("F", 3, 1), 1) + note(("F", 3, 1), 1), [54, 54]),
        (attributes(4) + note("C4", 1) + note("C4", 2, TIE), [60, -60, -60]),
        (attributes(4) + note("C4", 1) + note("E4", 1, "<chord/>") + note("D4", 1), [60, 62]),
        (attributes(8) + note("C4", 1) + note("D4", 1) + note("E4", 2), [60, 64]),
        (attributes(8) + note("C4", 1) + note("D4", 2) + note("E4", 1), [60, 62]),
        (attributes(4) + note("C4", 1) + attributes(8) + note("D4", 4), [60, 62, -62]),
        (
            attributes(4)
            + note("C4", 1)
            + "<forward><duration>1</duration></forward>"
            + note("D4", 1),
            [60, 0, 62],
        ),
        (
            attributes(4)
            + note("C4", 3)
            + "<backup><duration>1</duration></backup>"
            + note("D4", 1),
            [60, -60, 62],
        ),
        (attributes(4) + "<note><grace/></note><sound/>" + note("C4", 1), [60]),
    ],
    ids=[
        *("held", "rest", "again", "tie", "chord", "short", "late", "divisions"),
        *("forward", "backup", "grace"),
    ],
)
def test_notes_on_the_grid(measures, expected):
    found = read_score(packed(score(f"<measure>{measures}</measure>")), "one.mxl")
    np.testing.assert_array_equal(found, np.array([expected] * 4).T)


def test_time_goes_on_from_measure_to_measure():
    first = f"<measure>{attributes(4)}{note('C4', 1)}</measure>"
    found = read_score(packed(score(first + f"<measure>{note('D4', 1)}</measure>")), "one.mxl")
    assert found is not None
    assert found[:, 0].tolist() == [60, 62]


def test_a_voice_that_ends_early_rests():
    text = score(f"<measure>{attributes(4)}{note('C4', 2)}</measure>")
    longer = text.replace("<duration>2<", "<duration>3<", 1)
    found = read_score(packed(longer), "one.mxl")
    np.testing.assert_array_equal(found, [[60] * 4, [-60] * 4, [-60, 0, 0, 0]])


@pytest.mark.parametrize(
    "names",
    [("Soprano", "Alto", "Tenor"), (*VOICES, "Soprano 2"), ("Piano",), ("", "Alto", "Tenor", "")],
)
def test_a_score_of_other_voices_is_none(names):
    assert read_score(packed(score("<measure/>", names)), "one.mxl") is None


def test_voices_are_found_among_instruments_by_their_names():
    measure = f"<measure>{attributes(4)}{note('C4', 1)}</measure>"
    text = score(measure, ("Horn 1", "Bass Continuo", "Tenor", "Alto\rViola", "Soprano"))
    found = read_score(packed(text), "one.mxl")
    np.testing.assert_array_equal(found, [[60] * 4])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no complete score"),
        (b"PK\x03\x04", "is no complete score"),
        (packed(score("<measure/>"))[:-30], "is no complete score"),
        (packed("<score-partwise>"), "is no complete score"),
        (packed("<score/>", "<container/>"), "is no score that can be read"),
        (packed("<score/>", CONTAINER.replace("s.xml", "t.xml")), "is no score that can be read"),
        (packed(score("<measure><note><rest/></note></measure>")), "is no score that can be"),
        (packed(score(f"<measure>{note('H4', 1)}</measure>")), "is no score that can be read"),
        (packed(score(f"<measure>{attributes(0)}{note('C4', 1)}</measure>")), "is no score that"),
        (packed(score(f"<measure>{note('C4', 10**30)}</measure>")), "is no score that"),
    ],
)
def test_what_is_no_score_says_why(content, message):
    with pytest.raises(DataError, match=f"one.mxl {message}"):
        read_score(content, "one.mxl")


def test_a_bomb_of_entities_is_refused():
    bomb = "<!ENTITY a0 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY a{number + 1} '{f'&a{number};' * 10}'>" for number in range(9)
    )
    text = f"<!DOCTYPE s [{bomb}]><score-partwise>&a9;</score-partwise>"
    with pytest.raises(DataError, match="is no complete score"):
        read_score(packed(text), "one.mxl")


def test_a_large_score_is_not_unpacked():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("in/s.xml", bytes((1 << 24) + 1))
    with pytest.raises(DataError, match="has more than 16777216 bytes"):
        read_score(buffer.getvalue(), "one.mxl")
