"""From perception to formula: the law behind images, and how well their digits are read."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy
import torch
from jaxtyping import Bool, Float, Int64
from sympy import Expr
from torch import Tensor, nn

from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.digit_data import Errors, SeriesData, errors, read_features
from torchalu.experiments.trask2018.digit_models import snap_network_
from torchalu.experiments.trask2018.digit_networks import (
    NUM_FEATURES,
    SeriesNetwork,
    UnitAccumulator,
)
from torchalu.export import Certificate, certify, to_sympy
from torchalu.tasks import Digits, SequenceOperation

FEATURES = tuple(f"f{index}" for index in range(NUM_FEATURES))
"""What the formulas call the numbers that the convolutional network answers with."""

LAWS: dict[SequenceOperation, str] = {
    "sum": "sum of digit(image_t)",
    "product": "product of digit(image_t)",
    "count": "count of digit(image_t) = k, for each k",
}
"""What the units have learned if they accumulate what is read from each image."""

_ROWS = 1000
_LEAST_RIGHT = 0.9


@dataclass(frozen=True)
class Law:
    """What the snapped arithmetic part of a network says.

    Args:
        text: the law; None if the part does not accumulate a reading of each image.
        reading: what is read from an image, as formulas of its features, one for each answer; of
            a network without a law, the next state by features and state instead.
    """

    text: str | None
    reading: tuple[str, ...]

    def __str__(self) -> str:
        names = ["digit(image)"] if len(self.reading) == 1 else [
            f"[digit(image) = {index}]" for index in range(len(self.reading))
        ]  # fmt: skip
        if self.text is None:
            return "no law: the next state is " + "; ".join(self.reading)
        lines = [f"{name}: {reading}" for name, reading in zip(names, self.reading, strict=True)]
        return "\n".join([f"law: {self.text}", *lines])


@dataclass(frozen=True)
class Perception:
    """A law behind images, and how far it holds; printed, it is a short report.

    Args:
        law: what the arithmetic part says once it is snapped.
        certificate: that the snapped part computes the law of what was read, in float64, on series
            of test images; None without a law.
        right: test images that are read right.
        images: test images.
        validation_accuracy: the share of validation images that are read right.
        reading_error: the mean absolute distance of readings from digits; of ten readings, from
            0 and 1.
        worst_reading: the largest.
        measured: errors on test series by length, with the arithmetic part snapped.
        rounded: errors by length of the law of rounded readings; None without a law.
    """

    law: Law
    certificate: Certificate | None
    right: int
    images: int
    validation_accuracy: float
    reading_error: float
    worst_reading: float
    measured: dict[int, Errors]
    rounded: dict[int, Errors] | None

    @property
    def accuracy(self) -> float:
        """The share of images that are read right, which no label ever taught."""
        return self.right / self.images

    @property
    def verified(self) -> bool:
        """Whether there is a law and what it accumulates are digits.

        At least 90% of the validation images are read right; no test image has a say in it. The
        law alone says little: a unit that starts by keeping its state says one untrained.
        """
        return self.law.text is not None and self.validation_accuracy >= _LEAST_RIGHT

    def __str__(self) -> str:
        low, high = wilson(self.right, self.images)
        no_digits = "no law of digits: what is accumulated are readings that are none"
        lines = [
            str(self.law) if self.verified or self.law.text is None else no_digits,
            f"digits read right without labels: {self.right} of {self.images}, "
            f"{self.accuracy:.2%} ({low:.2%} to {high:.2%}); of validation digits "
            f"{self.validation_accuracy:.2%}",
            f"readings are off by {self.reading_error:.3g} on average, by {self.worst_reading:.3g} "
            "at most; those of T images together by T times that at most where they are added",
        ]
        for length, found in self.measured.items():
            line = f"series of {length}: mean absolute error {found.mae:.4g}"
            if self.rounded is not None:
                line += f"; with rounded readings {self.rounded[length].mae:.4g}"
            lines.append(line)
        if self.certificate is not None:
            lines.append(f"the law of the readings: {self.certificate}")
        return "\n".join(lines)


def read_law(network: SeriesNetwork, operation: SequenceOperation) -> Law:
    """What the arithmetic part of a network says once it is snapped; the network stays as it is.

    Args:
        network: its accumulator is a unit.
        operation: what it has learned; of a product the state is known to be positive.

    Raises:
        TypeError: the accumulator is no unit.
        ValueError: a weight is not finite.

    Example:
        >>> from torchalu.experiments.trask2018.digit_training import SeriesTraining
        >>> network = SeriesTraining().network("sum", "NAU", seed=0)
        >>> weight = torch.tensor([[0.9, 0.0, 0.0, -0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.8]])
        >>> _ = network.accumulator.unit.load_state_dict({"weight": weight})
        >>> print(read_law(network, "sum"))
        law: sum of digit(image_t)
        digit(image): f0 - f3
    """
    _arithmetic(network)
    network = copy.deepcopy(network).cpu()
    snap_network_(network)
    unit = _arithmetic(network).unit
    states = [f"h{index}" for index in range(unit.out_features)]
    positive = states if operation == "product" else []
    found = to_sympy(unit, [*FEATURES, *states], keep_eps=False, positive=positive)
    formulas = found if isinstance(found, list) else [found]
    readings = [
        _reading(formula, state, operation) for formula, state in zip(formulas, states, strict=True)
    ]
    known = [reading for reading in readings if reading is not None]
    if len(known) < len(readings):
        return Law(None, tuple(str(formula) for formula in formulas))
    return Law(LAWS[operation], tuple(str(reading) for reading in known))


def perceive(
    network: SeriesNetwork, data: SeriesData, lengths: Sequence[int], *, tolerance: float = 1e-9
) -> Perception:
    """Snap the arithmetic part of a network, read its law, and check it on test images.

    The network stays as it is. What an image says is the state after it alone. A product of two
    readings does not tell d from -d, so that the sign of readings is chosen that makes their mean
    positive; no label is used for that.

    Args:
        network: its accumulator is a unit.
        data: the test images, and the operation that the network has learned.
        lengths: digits in the series that errors are measured on.
        tolerance: the relative error up to which the snapped part computes the law exactly.

    Returns:
        The report.

    Raises:
        TypeError: the accumulator is no unit.
        ValueError: a weight is not finite.

    Source:
        Trask et al. 2018, section 4.2, takes the accuracy of single digits from the counts and
        sums in the same way; snapping, law and certificate are ours.
    """
    network = copy.deepcopy(network).cpu().eval()
    law = read_law(network, data.operation)
    snap_network_(network)
    snapped = _arithmetic(network)
    sign = data.reading_sign(network)
    features, readings = _read(network, data.test_digits, sign)
    right, distance = _compared(readings, data.test_digits.labels.cpu(), data.operation)
    validation = data.validation.digits
    _, answers = _read(network, validation, sign)
    valid, _ = _compared(answers, validation.labels.cpu(), data.operation)
    rows, _ = data.test_series(data.length)
    return Perception(
        law=law,
        certificate=None
        if law.text is None
        else _certificate(snapped, features[rows[:_ROWS].cpu()], law, data.operation, tolerance),
        right=int(right.sum()),
        images=len(right),
        validation_accuracy=valid.double().mean().item(),
        reading_error=distance.mean().item(),
        worst_reading=distance.max().item(),
        measured=_measured(network, features, data, lengths, sign),
        rounded=None if law.text is None else _rounded(readings, data, lengths),
    )


@torch.no_grad()
def _read(
    network: SeriesNetwork, digits: Digits, sign: int
) -> tuple[Float[Tensor, "digits 10"], Float[Tensor, "digits out"]]:
    """The features of each image, and what is read from it: the state after it alone."""
    features = read_features(network, digits)
    return features, sign * network.accumulator(features.unsqueeze(1)).double()


def _compared(
    readings: Float[Tensor, "digits out"], labels: Int64[Tensor, " digits"], operation: str
) -> tuple[Bool[Tensor, " read"], Float[Tensor, "..."]]:
    """Which images are read right, and how far off readings are; products are of 1 to 9."""
    if operation == "count":
        distance = (readings - nn.functional.one_hot(labels, NUM_FEATURES)).abs()
        return readings.argmax(-1).eq(labels), distance
    if operation == "product":
        readings, labels = readings[labels.ne(0)], labels[labels.ne(0)]
    return readings[:, 0].round().eq(labels), (readings[:, 0] - labels).abs()


def _arithmetic(network: SeriesNetwork) -> UnitAccumulator:
    """The arithmetic part."""
    if not isinstance(network.accumulator, UnitAccumulator):
        raise TypeError(
            f"network accumulates by a {type(network.accumulator).__name__}; give one whose "
            "model is a unit, such as NAC"
        )
    return network.accumulator


def _reading(formula: Expr, state: str, operation: SequenceOperation) -> Expr | None:
    """What is added to a state, or what it is multiplied by; None if it is anything else."""
    symbol = sympy.Symbol(state)
    reading = formula / symbol if operation == "product" else formula - symbol
    names = {str(symbol) for symbol in reading.free_symbols}
    return reading if names and names <= set(FEATURES) else None


def _certificate(
    snapped: UnitAccumulator,
    features: Float[Tensor, "rows length 10"],
    law: Law,
    operation: SequenceOperation,
    tolerance: float,
) -> Certificate:
    """The snapped part beside the law, worked out from its formulas, in float64."""
    values = features.double()
    columns = dict(zip(FEATURES, values.unbind(-1), strict=True))
    formulas = [
        sympy.lambdify(sympy.symbols(FEATURES), sympy.sympify(text), "numpy")
        for text in law.reading
    ]
    arrays = [columns[name].numpy() for name in FEATURES]
    read = torch.stack([torch.as_tensor(formula(*arrays)) for formula in formulas], -1)
    target = read.prod(1) if operation == "product" else read.sum(1)
    names = [f"{name}(image_{t + 1})" for t in range(values.shape[1]) for name in FEATURES]
    inputs = values.flatten(1).numpy()
    exact = copy.deepcopy(snapped).double()

    @torch.no_grad()
    def predict(table: np.ndarray) -> np.ndarray:
        return exact(torch.from_numpy(table).unflatten(-1, (-1, NUM_FEATURES))).numpy()

    return certify(predict, inputs, target.numpy(), names=names, tolerance=tolerance)


@torch.no_grad()
def _measured(
    network: SeriesNetwork,
    features: Float[Tensor, "digits 10"],
    data: SeriesData,
    lengths: Sequence[int],
    sign: int,
) -> dict[int, Errors]:
    """Errors of the network on the test series, with readings of this sign."""
    found = {}
    for length in lengths:
        rows, targets = data.test_series(length)
        answers = network.accumulator(features[rows.cpu()])
        found[length] = errors(sign**length * answers, targets.cpu())
    return found


def _rounded(
    readings: Float[Tensor, "digits out"], data: SeriesData, lengths: Sequence[int]
) -> dict[int, Errors]:
    """Errors of the law of rounded readings on the test series."""
    if data.operation == "count":
        values = nn.functional.one_hot(readings.argmax(-1), NUM_FEATURES).double()
    else:
        values = readings.round()
    found = {}
    for length in lengths:
        rows, targets = data.test_series(length)
        answers = _accumulated(values, rows.cpu(), data.operation)
        found[length] = errors(answers, targets.cpu())
    return found


def _accumulated(
    values: Float[Tensor, "digits out"],
    rows: Int64[Tensor, "rows length"],
    operation: SequenceOperation,
) -> Float[Tensor, "rows out"]:
    """The law of what was read."""
    series = values[rows]
    return series.prod(1) if operation == "product" else series.sum(1)
