"""What a learned algorithm says of itself."""

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
    assert card.failures == measured[1:]
    assert Measurement(3, 0, 0).rate is None


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
    ],
)
def test_bad_measurements(arguments, error):
    with pytest.raises(error):
        Measurement(*arguments)
