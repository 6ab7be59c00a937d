"""The update gate RNN: a recurrent network whose only gate says how much of its state it keeps."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers


class UGRNN(nn.Module):
    r"""Update gate recurrent neural network.

    .. math:: c_t = \tanh(W_c [x_t; h_{t-1}] + b_c), \quad
              g_t = \sigma(W_g [x_t; h_{t-1}] + b_g), \quad
              h_t = g_t \odot h_{t-1} + (1 - g_t) \odot c_t

    Args:
        input_size: numbers in each input.
        hidden_size: numbers in the state, which is 0 at first.
        keep: added to b_g, so that the state is kept at first.

    Shape:
        `(batch, steps, input_size)` to `(batch, steps, hidden_size)`.

    Raises:
        ValueError: a size is not positive.

    Source:
        Collins et al. 2017, Capacity and trainability in recurrent neural networks, section 2.1,
        with tanh.

    Example:
        >>> UGRNN(3, 5)(torch.zeros(2, 4, 3)).shape
        torch.Size([2, 4, 5])
    """

    def __init__(self, input_size: int, hidden_size: int, keep: float = 1.0) -> None:
        super().__init__()
        check_positive_integers(input_size=input_size, hidden_size=hidden_size)
        self.output_size = self.hidden_size = hidden_size
        self.keep = keep
        self.from_input = nn.Linear(input_size, 2 * hidden_size)
        self.from_state = nn.Linear(hidden_size, 2 * hidden_size, bias=False)

    def forward(
        self, input: Float[Tensor, "batch steps in"]
    ) -> Float[Tensor, "batch steps hidden"]:
        """Run over sequences."""
        state = input.new_zeros(input.shape[0], self.hidden_size)
        states = []
        for step in self.from_input(input).unbind(1):
            candidate, gate = (step + self.from_state(state)).chunk(2, -1)
            kept = torch.sigmoid(gate + self.keep)
            state = kept * state + (1 - kept) * torch.tanh(candidate)
            states.append(state)
        return torch.stack(states, 1)
