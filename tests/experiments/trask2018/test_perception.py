"""From perception to formula: laws, certificates and readings, of networks with known weights."""

import numpy as np
import pytest
import torch

from digit_bars import splits
from torchalu.experiments.trask2018.digit_data import SeriesData
from torchalu.experiments.trask2018.digit_models import MULTIPLYING_UNITS, snap_network_
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.experiments.trask2018.perception import perceive, read_law
from torchalu.tasks import Digits


class Bars(torch.nn.Module):
    """Reads the made-up digits exactly: gray values of a bar, counted; as f0 and one-hot."""

    def __init__(self, one_hot=False, error=0.0):
        super().__init__()
        self.one_hot, self.error = one_hot, error

    def forward(self, images):
        bright = (images > 0).flatten(-3).sum(-1, keepdim=True)
        digits = bright / (12 * 2)
        if self.one_hot:
            return digits.round().eq(torch.arange(10.0)).float()
        return torch.cat((digits + self.error, torch.ones(*digits.shape[:-1], 9)), -1)


def network(operation, name, weights, **options):
    made = SeriesTraining().network(operation, name, seed=0)
    made.accumulator.unit.load_state_dict(
        {key: torch.as_tensor(value).float() for key, value in weights.items()}
    )
    made.features = Bars(**options)
    return made.eval()


def row(first, state, rest=0.0):
    return [[first, *[rest] * 9, state]]


def hats(weight):
    """Parameters of a NAC near a weight."""
    weight = np.asarray(weight, np.float32)
    return {"w_hat": 2 * weight, "m_hat": np.where(weight, 2.0, -2.0)}


def data(operation):
    return SeriesData(operation, 2, 0, splits=splits())


def test_a_sum_is_read_off_and_certified_and_its_images_are_read_without_labels():
    made = network("sum", "NAU", {"weight": row(0.9, 0.8, 0.1)})
    before = made.accumulator.unit.weight.clone()
    seen = perceive(made, data("sum"), (1, 3, 20))
    assert made.accumulator.unit.weight.equal(before)
    assert (seen.law.text, seen.law.reading) == ("sum of digit(image_t)", ("f0",))
    assert (seen.right, seen.images, seen.accuracy) == (30, 30, 1.0)
    assert seen.certificate.exact
    assert seen.certificate.input_ranges["f0(image_1)"] == (0.0, 9.0)
    assert seen.measured[20].mae < 1e-4
    assert seen.rounded[20].mae == 0
    text = str(seen)
    assert "law: sum of digit(image_t)\ndigit(image): f0\n" in text
    assert "digits read right without labels: 30 of 30, 100.00% (88.65% to 100.00%)" in text
    assert "series of 20: mean absolute error" in text
    assert "exact on" in text


def test_a_law_whose_readings_are_no_digits_is_not_printed():
    made = SeriesTraining().network("sum", "NAC", seed=0)
    assert read_law(made, "sum").text == "sum of digit(image_t)"
    seen = perceive(made, data("sum"), (2,))
    assert seen.certificate.exact
    assert not seen.verified
    assert "law: " not in str(seen)
    assert "no law of digits: what is accumulated are readings that are none" in str(seen)


def test_validation_digits_admit_a_law_and_test_digits_do_not():
    train, validation, test = splits()
    blank = Digits(torch.zeros_like(validation.images), validation.labels)
    made = network("sum", "NAU", {"weight": row(1.0, 1.0)})
    for seen_first, asked, verified, accuracies in (
        (blank, test, False, (0.1, 1.0)),
        (validation, Digits(torch.zeros_like(test.images), test.labels), True, (1.0, 0.1)),
    ):
        seen = perceive(made, SeriesData("sum", 2, 0, splits=(train, seen_first, asked)), (2,))
        assert seen.law.text is not None
        assert seen.verified == verified
        assert (seen.validation_accuracy, seen.accuracy) == pytest.approx(accuracies)
        assert f"of validation digits {accuracies[0]:.2%}" in str(seen)


def test_readings_that_are_off_are_rounded_by_the_law():
    made = network("sum", "NAC", hats(row(1.0, 1.0)), error=0.3)
    seen = perceive(made, data("sum"), (10,))
    assert seen.reading_error == pytest.approx(0.3, rel=1e-5)
    assert seen.worst_reading == pytest.approx(0.3, rel=1e-5)
    assert seen.measured[10].mae == pytest.approx(3.0, rel=1e-5)
    assert seen.rounded[10].mae == 0
    assert seen.certificate.exact


def test_counts_have_a_reading_for_each_digit():
    weight = np.hstack((np.eye(10), np.eye(10)))
    seen = perceive(network("count", "NAC", hats(weight), one_hot=True), data("count"), (10,))
    assert seen.law.reading == tuple(f"f{k}" for k in range(10))
    assert "[digit(image) = 7]: f7" in str(seen)
    assert seen.accuracy == 1.0
    assert seen.rounded[10].mae == 0
    assert seen.certificate.exact


def test_a_state_that_goes_elsewhere_is_no_law():
    forgets = network("sum", "NAU", {"weight": row(1.0, 0.2)})
    assert read_law(forgets, "sum").text is None
    assert str(read_law(forgets, "sum")) == "no law: the next state is f0"
    flips = network("sum", "NAU", {"weight": row(1.0, -1.0)})
    seen = perceive(flips, data("sum"), (3,))
    assert (seen.law.text, seen.certificate, seen.rounded) == (None, None, None)
    assert "rounded" not in str(seen)
    blind = network("sum", "NAU", {"weight": row(0.1, 1.0)})
    assert read_law(blind, "sum").text is None


@pytest.mark.parametrize(
    ("name", "weights", "reading"),
    [
        ("NMU", {"weight": row(0.9, 0.8, 0.2)}, "f0"),
        ("NMU", {"weight": [[0.9, 0.6, *[0.2] * 8, 1.0]]}, "f0*f1"),
        ("NMRU", {"weight": row(0.9, 0.8), "reciprocal_weight": row(0.0, 0.1)}, "f0"),
        ("RealNPU", {"weight": row(0.9, 0.8), "gate": [1.0, *[0.1] * 9, 0.9]}, "f0"),
        ("NACMul", hats(row(1.0, 1.0)), "Abs(f0)"),
    ],
)
def test_products_are_read_off(name, weights, reading):
    made = network("product", name, weights)
    law = read_law(made, "product")
    assert (law.text, law.reading) == ("product of digit(image_t)", (reading,))
    seen = perceive(made, data("product"), (2, 3), tolerance=1e-5)
    assert seen.images == 27
    assert seen.accuracy == 1.0
    assert seen.rounded[3].mae == 0
    assert seen.certificate.exact
    assert seen.certificate.max_rel_error < (1e-12 if name == "NMU" else 1e-5)


def test_a_product_of_readings_that_are_all_negative_is_the_same():
    made = network("product", "NMU", {"weight": row(1.0, 1.0)})
    positive = perceive(made, data("product"), (2,))
    made.features = torch.nn.Sequential(Bars(), Minus())
    negative = perceive(made, data("product"), (2,))
    assert negative.accuracy == positive.accuracy == 1.0
    assert negative.measured[2].mae < 1e-5


class Minus(torch.nn.Module):
    def forward(self, features):
        return torch.cat((-features[..., :1], features[..., 1:]), -1)


@pytest.mark.parametrize("name", MULTIPLYING_UNITS)
def test_every_unit_is_snapped_and_read_whatever_it_has_learned(name):
    made = SeriesTraining().network("product", name, seed=3)
    seen = perceive(made, data("product"), (2,))
    assert (seen.certificate is None) == (seen.law.text is None)
    assert str(seen)


@pytest.mark.parametrize(
    ("operation", "name"), [("sum", "NAU"), ("sum", "NAC"), ("product", "NMU"), ("count", "NAU")]
)
def test_features_take_on_the_scale_of_the_weights_without_an_effect(operation, name):
    made = SeriesTraining().network(operation, name, seed=1)
    unit = made.accumulator.unit
    count = unit.out_features
    weight = torch.diag(torch.linspace(0.1, 0.4, 10)) if count == 10 else torch.rand(1, 10) / 2
    state = torch.eye(count)
    if name == "NAC":  # the state's weight is exactly 1, so that nothing but the scale moves
        unit.w_hat.data[:] = torch.cat((torch.randn(1, 10), 1000 * state), 1)
        unit.m_hat.data[:, 10:] = 1000
    else:
        unit.weight.data[:] = torch.cat((weight, state), 1)
    images = torch.rand(3, 4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    before = made(images)
    snap_network_(made)
    torch.testing.assert_close(made(images), before, rtol=1e-4, atol=1e-5)
    snapped = unit.effective_weight()
    assert torch.equal(snapped, snapped.round())
    assert snapped[:, :10].abs().sum() == 10
    assert read_law(made, operation).text is not None
    again = [p.clone() for p in made.parameters()]
    snap_network_(made)
    assert all(torch.equal(a, b) for a, b in zip(again, made.parameters(), strict=True))


def test_a_network_without_a_unit_is_refused():
    made = SeriesTraining().network("sum", "LSTM", seed=0)
    with pytest.raises(TypeError, match="accumulates by a CellAccumulator; give one whose model"):
        read_law(made, "sum")
