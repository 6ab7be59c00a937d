"""What a learned algorithm says of itself."""

import dataclasses
import json

import pytest

from torchalu.zoo import Card, Measurement


def test_a_card_says_what_it_was_given():
    measured = (Measurement(20, 1000, 990), Measurement(20, 4, 3, "carry", ("1111+1000",)))
    card = Card(
        "badd",
        "DiagonalNeuralGPU",
        {"maps": 48},
        command="torchalu algorithm train badd",
        seed=2,
        steps=1500,
        seconds=12.5,
        machine="a processor",
        seeds_tried=5,
        seeds_generalizing=4,
        measured=measured,
    )
    text = card.to_json()
    assert Card.from_json(text) == card
    shown = json.loads(text)["measured"][0]
    assert shown["rate"] == 0.99
    assert shown["interval"] == pytest.approx([0.98169, 0.99456], abs=1e-5)
    assert card.accuracy == measured[:1]
    assert card.failures == measured
    assert Measurement(3, 0, 0).rate is None


def test_a_terminal_is_not_told_what_to_do_by_a_card_from_others():
    text = str(Card("badd", "DiagonalNeuralGPU", {}, "a\x1b[2Jb", seconds=1.0, seed=0,
                    machine="\x1b]0;x\x07", changes="\x7f"))  # fmt: skip
    assert all(line.isprintable() for line in text.splitlines())
    assert "command: a\\x1b[2Jb" in text
    with pytest.raises(ValueError, match=r"drawn_by is \(-1,\); allowed: numbers of 0 or more"):
        Measurement(3, 5, 5, drawn_by=(-1,))


def test_what_is_printed_says_what_was_counted_and_when():
    card = Card(
        "bmul",
        "DiagonalNeuralGPU",
        {},
        seed=0,
        steps=2000,
        seconds=59.6,
        machine="a processor",
        changes="update gates times 1.25",
        seeds_tried=1,
        measured=(Measurement(20, 10, 10), Measurement(200, 10, 9, failed_at=(7,))),
        generalizing="all validation strings",
    )
    assert str(card).splitlines() == [
        "bmul, DiagonalNeuralGPU",
        "training: seed 0, step 2000, 60 seconds on a processor",
        "seeds: 0 of 1 right on all validation strings, before the changes",
        "changes: update gates times 1.25",
        "measured after them:",
        "  length 20, random: 10 of 10 right",
        "  length 200, random: 9 of 10 right; wrong: number 7",
    ]
    assert card.failures == card.measured[1:]
    unchanged = dataclasses.replace(card, changes="", measured=())
    assert str(unchanged).endswith("seeds: 0 of 1 right on all validation strings")
    assert str(Card("bmul", "DiagonalNeuralGPU", {})) == "bmul, DiagonalNeuralGPU"


def test_cards_that_are_older_than_places_are_read():
    measured = (Measurement(20, 4, 3, "carry", ("1111+1000",)), Measurement(200, 10, 9))
    card = Card("badd", "DiagonalNeuralGPU", {}, seeds_tried=2, measured=measured)
    older = json.loads(card.to_json())
    del older["generalizing"]
    for entry in older["measured"]:
        del entry["failed_at"], entry["drawn_by"]
    assert Card.from_json(json.dumps(older)) == card


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0, 1, 1), ValueError),
        ((3, 1, 2), ValueError),
        ((3, 1, -1), ValueError),
        ((3.0, 1, 1), TypeError),
        ((True, 1, 1), TypeError),
        ((3, 2**63, 1), ValueError),
        ((3, 1, 1, "\x07"), ValueError),
        ((3, 1, 1, 5), TypeError),
        ((3, 2, 1, "random", (), (2,)), ValueError),
        ((3, 2, 1, "random", (), (-1,)), ValueError),
        ((3, 2, 1, "random", (), ("1",)), TypeError),
        ((3, 2, 1, "random", (), (), (0.5,)), TypeError),
    ],
)
def test_bad_measurements(arguments, error):
    with pytest.raises(error):
        Measurement(*arguments)
