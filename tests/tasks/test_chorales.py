"""The file of the chorales, and what is known of the scores."""

import dataclasses
import hashlib

import numpy as np
import pytest

from data_sets import needs
from torchalu.tasks import Chorale, DataError, chorales, chorales_json, load_chorales


def test_there_and_back(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    made = [
        Chorale(str(number), number % 2, random.integers(-127, 128, (number + 1, 4), np.int16))
        for number in range(3)
    ]
    content = chorales_json(made)
    (tmp_path / "chorales.json").write_bytes(content)
    sums = {"chorales.json": hashlib.sha256(content).hexdigest()}
    changed = dataclasses.replace(chorales.CHORALES, sums=sums)
    monkeypatch.setattr(chorales, "CHORALES", changed)
    for one, other in zip(load_chorales(tmp_path), made, strict=True):
        assert (one.bwv, one.group) == (other.bwv, other.group)
        np.testing.assert_array_equal(one.voices, other.voices)
        assert one.voices.dtype == np.int16
    (tmp_path / "chorales.json").write_bytes(content[:-2])
    with pytest.raises(DataError, match=r"chorales\.json' has sha256"):
        load_chorales(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no list of chorales"),
        (b'[{"bwv": "1", "group": 0', "is no list of chorales"),
        (b"[1]", "is no list of chorales"),
        (b'[{"bwv": "1", "group": 0}]', "is no list of chorales"),
        (b'[{"bwv": "1", "group": 0, "voices": [[1], [1, 2], [1], [1]]}]', "is no list"),
        (b'[{"bwv": "1", "group": 0, "voices": [[1], [1], [1], [99999]]}]', "is no list"),
        (b'[{"bwv": "1", "group": 0, "voices": [[1], [1], [1]]}]', r"BWV 1 has shape \(3, 1\)"),
        (b'[{"bwv": "1", "group": 0, "voices": [[1], [1], [1], [128]]}]', "pitches up to 127"),
        (b"[" * 100_000, "is no list of chorales"),
    ],
)
def test_what_is_no_such_list_says_why(content, message):
    with pytest.raises(DataError, match=message):
        chorales.parse_chorales(content, "file")


@needs("chorales")
def test_the_chorales_are_405_from_the_lowest_c_to_a_of_the_second_octave_above_middle_c():
    made = load_chorales()
    assert len({chorale.bwv for chorale in made}) == len(made) == 405
    pitches = np.concatenate([abs(chorale.voices).ravel() for chorale in made])
    assert (pitches[pitches > 0].min(), pitches.max()) == (36, 81)
    assert max(chorale.group for chorale in made) == 355


@needs("chorales")
def test_aus_meines_herzens_grunde_begins_as_in_the_score():
    chorale = next(one for one in load_chorales() if one.bwv == "269")
    soprano = chorale.voices[:, 0]
    onsets = soprano[soprano > 0][:8].tolist()
    names = {"G4": 67, "A4": 69, "B4": 71, "D5": 74}
    assert onsets == [names[n] for n in ("G4", "G4", "D5", "B4", "A4", "G4", "G4", "A4")]
    quarters = (np.flatnonzero(soprano > 0)[:8] / 4).tolist()
    assert quarters == [0, 1, 3, 4, 5.5, 6, 7, 8.5]
    assert (soprano[1:4] == -67).all()


@needs("chorales")
def test_scores_that_share_measures_have_the_same_group():
    groups = {chorale.bwv: chorale.group for chorale in load_chorales()}
    assert groups["190.7"] == groups["190.7-inst"]
    assert groups["171.6"] == groups["41.6"]  # the same in D and in C
    assert groups["269"] != groups["347"]
