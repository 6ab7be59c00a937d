"""Networks that read the digits of a series and answer at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.experiments.setting import choose
from torchalu.nn import Unit, UnitRNN, input_penalty
from torchalu.tasks import SequenceBatch

NUM_FEATURES = 10
"""How many numbers the convolutional network answers with, as in the example it is taken from."""

Output = Literal["linear", "log_softmax", "softmax"]


class DigitFeatures(nn.Module):
    """The convolutional network of PyTorch's MNIST example, which answers with ten numbers.

    Args:
        output: what follows the last linear layer: nothing, a softmax, or its logarithm.
        dropout: whether the example's two dropouts are there.
        mean: what the numbers start around; a softmax does not see it.

    Shape:
        `(*, 1, 28, 28)` to `(*, 10)`.

    Raises:
        ValueError: an unknown output.

    Source:
        Trask et al. 2018, section 4.2 and its footnote: the example as it was in 2018, with 10 and
        20 channels and 50 hidden units, which ends in a log-softmax. Departure, where the paper
        leaves a choice: "linear" is what stands before the log-softmax, which is never positive;
        and its answers may start around a mean.
        The maximum is taken before the first ReLU, as in the example.

    Example:
        >>> DigitFeatures()(torch.zeros(2, 7, 1, 28, 28)).shape
        torch.Size([2, 7, 10])
    """

    def __init__(
        self, output: Output = "linear", *, dropout: bool = True, mean: float = 0.0
    ) -> None:
        super().__init__()
        choose("output", [output], get_args(Output))
        ends = {"linear": [], "log_softmax": [nn.LogSoftmax(-1)], "softmax": [nn.Softmax(-1)]}
        self.layers = nn.Sequential(
            nn.Conv2d(1, 10, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(10, 20, 5),
            nn.Dropout2d() if dropout else nn.Identity(),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(320, 50),
            nn.ReLU(),
            nn.Dropout() if dropout else nn.Identity(),
            _around(nn.Linear(50, NUM_FEATURES), mean),
            *ends[output],
        ).to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]

    def forward(self, images: Float[Tensor, "*batch 1 28 28"]) -> Float[Tensor, "*batch 10"]:
        """Read all images at once."""
        flat = images.reshape(-1, 1, 28, 28).contiguous(memory_format=torch.channels_last)
        return self.layers(flat).reshape(*images.shape[:-3], NUM_FEATURES)


def _around(layer: nn.Linear, mean: float) -> nn.Linear:
    """A layer whose answers are shifted by a mean."""
    with torch.no_grad():
        layer.bias.add_(mean)
    return layer


class CellAccumulator(nn.Module):
    """A recurrent network of PyTorch with a linear read-out at the end.

    Args:
        cell: makes the network from input and hidden size.
        hidden_size: of its state.
        out_features: numbers in the answer.
        mean: of the targets; the answers start near it. Adam takes thousands of steps from 0 to
            sums of 45, in which the network learns nothing else.

    Shape:
        `(batch, length, 10)` to `(batch, out_features)`.

    Source:
        Trask et al. 2018, section 4.2. The read-out, its start and the size are our choice; the
        paper states none of them.

    Example:
        >>> CellAccumulator(nn.GRU, 16, 1)(torch.zeros(2, 7, 10)).shape
        torch.Size([2, 1])
    """

    def __init__(
        self,
        cell: Callable[..., nn.RNNBase],
        hidden_size: int,
        out_features: int,
        mean: float = 0.0,
    ) -> None:
        super().__init__()
        self.rnn = cell(NUM_FEATURES, hidden_size, batch_first=True)
        self.read_out = nn.Linear(hidden_size, out_features)
        nn.init.constant_(self.read_out.bias, mean)

    def forward(self, features: Float[Tensor, "batch length 10"]) -> Float[Tensor, "batch out"]:
        """Run over the series."""
        return self.read_out(self.rnn(features)[0][:, -1])


class UnitAccumulator(nn.Module):
    """A recurrent unit whose last state is the answer.

    Args:
        unit: as :class:`torchalu.nn.UnitRNN` takes it.
        out_features: numbers in the state, and so in the answer.
        initial: the state before the first step.
        options: of the unit.

    Shape:
        `(batch, length, 10)` to `(batch, out_features)`.

    Source:
        Trask et al. 2018, section 4.2.

    Example:
        >>> from torchalu.nn import NAC
        >>> UnitAccumulator(NAC, 1, 0.0)(torch.zeros(2, 7, 10)).shape
        torch.Size([2, 1])
    """

    def __init__(
        self, unit: Callable[..., Unit], out_features: int, initial: float, **options: Any
    ) -> None:
        super().__init__()
        self.rnn = UnitRNN(
            unit, NUM_FEATURES, out_features, batch_first=True, initial=initial, **options
        )

    @property
    def unit(self) -> Unit:
        """The unit, which sees ten features and the state."""
        return self.rnn.cell.unit

    def forward(self, features: Float[Tensor, "batch length 10"]) -> Float[Tensor, "batch out"]:
        """Run over the series."""
        return self.rnn(features)[0][:, -1]


class SeriesNetwork(nn.Module):
    """Reads each image of a series, accumulates what it read, and answers at the end.

    Args:
        features: reads the images.
        accumulator: from `(batch, length, 10)` to the answers.
        input_penalty: the factor of R_z; only a :class:`UnitAccumulator` has it.

    Shape:
        `(batch, length, 1, 28, 28)` to `(batch, out_features)`.

    Source:
        Trask et al. 2018, section 4.2.

    Example:
        >>> from torchalu.nn import NAC
        >>> network = SeriesNetwork(DigitFeatures(), UnitAccumulator(NAC, 10, 0.0))
        >>> network(torch.zeros(2, 7, 1, 28, 28)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self, features: DigitFeatures, accumulator: nn.Module, input_penalty: float = 0.0
    ) -> None:
        super().__init__()
        self.features = features
        self.accumulator = accumulator
        self.input_penalty = input_penalty

    def forward(self, images: Float[Tensor, "batch length 1 28 28"]) -> Float[Tensor, "batch out"]:
        """Read all images, then accumulate."""
        return self.accumulator(self.features(images))

    def loss(self, batch: SequenceBatch) -> Float[Tensor, ""]:
        """The mean square error at the end of the series, and R_z times its factor.

        Args:
            batch: series of images with the targets of all prefixes.
        """
        features = self.features(batch.images)
        if not (self.input_penalty and isinstance(self.accumulator, UnitAccumulator)):
            return nn.functional.mse_loss(self.accumulator(features), batch.final)
        rnn = self.accumulator.rnn
        states, _ = rnn(features)
        penalty = input_penalty(self.accumulator.unit, rnn.unit_inputs(features, states))
        loss = nn.functional.mse_loss(states[:, -1], batch.final)
        return loss + self.input_penalty * penalty
