"""Networks that read digits from images and accumulate them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.experiments.setting import choose
from torchalu.nn import NAC, NALU, NAU, NMU, NACMul, Unit, UnitRNN, input_penalty
from torchalu.tasks import SequenceOperation

REFERENCE = "reference"
"""The name of the network that is given the operation and learns to read digits only."""


class DigitReader(nn.Module):
    """A convolutional network that reads one number from the image of a digit.

    Shape:
        `(*, 1, 28, 28)` to `(*, 1)`.

    Source:
        Madsen & Johansen 2020, section 4.2 and its footnote: the network of PyTorch's MNIST
        example, as it was then (two convolutions of 20 and 50 channels, two linear layers,
        no dropout), with one output. The maximum is taken before the ReLU instead of after it,
        which gives the same and costs a quarter.

    Example:
        >>> DigitReader()(torch.zeros(2, 7, 1, 28, 28)).shape
        torch.Size([2, 7, 1])
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 20, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(20, 50, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(4 * 4 * 50, 500),
            nn.ReLU(),
            nn.Linear(500, 1),
        ).to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]

    def forward(self, images: Float[Tensor, "*batch 1 28 28"]) -> Float[Tensor, "*batch 1"]:
        """Read all images at once."""
        flat = images.reshape(-1, 1, 28, 28).contiguous(memory_format=torch.channels_last)
        return self.layers(flat).reshape(*images.shape[:-3], 1)


class LSTMAccumulator(nn.Module):
    """An LSTM with a linear read-out at each step.

    Args:
        hidden_size: units of the LSTM.

    Shape:
        `(batch, length, 1)` to `(batch, length, 1)`.

    Source:
        Madsen & Johansen 2020, section 4.2. Departure: the authors' baseline is one LSTM unit
        whose state is the answer; it lies in (-1, 1), so that it cannot fit.

    Example:
        >>> LSTMAccumulator(4)(torch.zeros(2, 7, 1)).shape
        torch.Size([2, 7, 1])
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, hidden_size, batch_first=True)
        self.read_out = nn.Linear(hidden_size, 1)

    def forward(self, values: Float[Tensor, "batch length 1"]) -> Float[Tensor, "batch length 1"]:
        """Run over the sequence."""
        return self.read_out(self.lstm(values)[0])


class UnitAccumulator(nn.Module):
    """A recurrent unit of one input and one state, which is the answer.

    Args:
        unit: as :class:`torchalu.nn.UnitRNN` takes it.
        initial: the state before the first step.
        options: of the unit.

    Shape:
        `(batch, length, 1)` to `(batch, length, 1)`.

    Example:
        >>> UnitAccumulator(NMU, 1.0)(torch.zeros(2, 7, 1)).shape
        torch.Size([2, 7, 1])
    """

    def __init__(self, unit: Callable[..., Unit], initial: float, **options: str) -> None:
        super().__init__()
        self.rnn = UnitRNN(unit, 1, 1, batch_first=True, initial=initial, **options)

    def forward(self, values: Float[Tensor, "batch length 1"]) -> Float[Tensor, "batch length 1"]:
        """Run over the sequence."""
        return self.rnn(values)[0]

    def input_penalty(
        self, values: Float[Tensor, "batch length 1"], states: Float[Tensor, "batch length 1"]
    ) -> Float[Tensor, ""]:
        """R_z over what the unit was given at all steps."""
        return input_penalty(self.rnn.cell.unit, self.rnn.unit_inputs(values, states))


class SolvedAccumulator(nn.Module):
    """The operation itself, which has nothing to learn.

    Args:
        operation: "sum" or "product".

    Shape:
        `(batch, length, 1)` to `(batch, length, 1)`.

    Source:
        Madsen & Johansen 2020, section 4.2 and appendix D.1.

    Example:
        >>> SolvedAccumulator("product")(torch.tensor([[[2.0], [3.0], [4.0]]])).flatten()
        tensor([ 2.,  6., 24.])
    """

    def __init__(self, operation: SequenceOperation) -> None:
        super().__init__()
        self.operation = operation

    def forward(self, values: Float[Tensor, "batch length 1"]) -> Float[Tensor, "batch length 1"]:
        """Run over the sequence."""
        return values.cumsum(1) if self.operation == "sum" else values.cumprod(1)


class SequenceNetwork(nn.Module):
    """Reads the digit on each image of a sequence and accumulates what it read.

    Args:
        accumulator: from `(batch, length, 1)` to the answers after each step.
        input_penalty: factor of R_z; the accumulator must be a :class:`UnitAccumulator` if it
            is not 0.

    Shape:
        `(batch, length, 1, 28, 28)` to `(batch, length, 1)`.

    Source:
        Madsen & Johansen 2020, section 4.2.

    Example:
        >>> network = SequenceNetwork(SolvedAccumulator("sum"))
        >>> network(torch.zeros(2, 7, 1, 28, 28)).shape
        torch.Size([2, 7, 1])
    """

    def __init__(self, accumulator: nn.Module, input_penalty: float = 0.0) -> None:
        super().__init__()
        self.reader = DigitReader()
        self.accumulator = accumulator
        self.input_penalty = input_penalty

    def forward(
        self, images: Float[Tensor, "batch length 1 28 28"]
    ) -> Float[Tensor, "batch length 1"]:
        """Read all images, then accumulate."""
        return self.accumulator(self.reader(images))

    def loss(
        self,
        images: Float[Tensor, "batch length 1 28 28"],
        targets: Float[Tensor, "batch length 1"],
    ) -> Float[Tensor, ""]:
        """The mean square error over all steps, and R_z times its factor."""
        values = self.reader(images)
        states = self.accumulator(values)
        loss = nn.functional.mse_loss(states, targets)
        if self.input_penalty and isinstance(self.accumulator, UnitAccumulator):
            loss = loss + self.input_penalty * self.accumulator.input_penalty(values, states)
        return loss

    def sparsity_error(self) -> float:
        """The largest distance of an effective weight from -1, 0 or 1; NaN without a unit."""
        if not isinstance(self.accumulator, UnitAccumulator):
            return float("nan")
        magnitude = self.accumulator.rnn.cell.unit.effective_weight().detach().abs()
        return torch.minimum(magnitude, (1 - magnitude).abs()).max().item()


@dataclass(frozen=True)
class SequentialModel:
    """An accumulator under its name in the figures.

    Args:
        name: as there.
        unit: the unit, if it is one.
        parametrization: of the unit, if it has several.
        input_penalty: whether R_z is part of its loss.

    Example:
        >>> SequentialModel("NMU", NMU).network("product", lstm_size=16).accumulator
        UnitAccumulator(...)
    """

    name: str
    unit: Callable[..., Unit] | None = None
    parametrization: str | None = None
    input_penalty: bool = False

    def network(
        self, operation: SequenceOperation, lstm_size: int, input_penalty: float = 1.0
    ) -> SequenceNetwork:
        """The network, with parameters drawn from torch's global generator.

        Args:
            operation: "sum" or "product".
            lstm_size: units of the LSTM, for the model of that name.
            input_penalty: factor of R_z, for models whose loss has it.

        Source:
            The state before the first step is the operation's identity, 0 or 1, whatever the
            unit. Departure: the authors' program starts the NALU at 0 in the product too.
        """
        if self.name == REFERENCE:
            return SequenceNetwork(SolvedAccumulator(operation))
        if self.unit is None:
            return SequenceNetwork(LSTMAccumulator(lstm_size))
        options = {} if self.parametrization is None else {"parametrization": self.parametrization}
        initial = 0.0 if operation == "sum" else 1.0
        accumulator = UnitAccumulator(self.unit, initial, **options)
        return SequenceNetwork(accumulator, input_penalty if self.input_penalty else 0.0)


_MODELS: dict[SequenceOperation, tuple[SequentialModel, ...]] = {
    "product": (
        SequentialModel("NAC*,NMU", NACMul, "clamped", input_penalty=True),
        SequentialModel("NAC*,sigma", NACMul, "sigmoid"),
        SequentialModel("NAC*", NACMul),
        SequentialModel("LSTM"),
        SequentialModel("NALU", NALU),
        SequentialModel("NMU", NMU, input_penalty=True),
        SequentialModel("NAC*,NMU, no Rz", NACMul, "clamped"),
        SequentialModel("NMU, no Rz", NMU),
    ),
    "sum": (
        SequentialModel("NAC+,Rz", NAC, input_penalty=True),
        SequentialModel("NAC+", NAC),
        SequentialModel("LSTM"),
        SequentialModel("NALU", NALU),
        SequentialModel("NAU", NAU, input_penalty=True),
        SequentialModel("NAU, no Rz", NAU),
    ),
}

MODELS = {operation: tuple(m.name for m in models) for operation, models in _MODELS.items()}
"""The names of all models, by operation."""


def sequential_model(operation: SequenceOperation, name: str) -> SequentialModel:
    """A model of figures 4 and 15 (product) or 13 and 14 (sum), or the reference.

    Args:
        operation: "sum" or "product".
        name: one of `MODELS[operation]`, or "reference".

    Raises:
        ValueError: there is no such model.

    Example:
        >>> sequential_model("sum", "NAU").input_penalty
        True
    """
    known = {model.name: model for model in _MODELS[operation]}
    known[REFERENCE] = SequentialModel(REFERENCE)
    choose("models", [name], known)
    return known[name]
