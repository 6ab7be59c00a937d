"""Agents of the grid world: a convnet, an LSTM, and for one of them an arithmetic unit."""

from __future__ import annotations

from typing import TypeAlias

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.nn import NAC, NAU, Unit
from torchalu.tasks import GRID_ACTIONS

_FEATURES = 256  # of a picture

State: TypeAlias = tuple[Float[Tensor, "worlds size"], ...]

UNITS: dict[str, tuple[type[Unit], bool] | None] = {
    "LSTM": None,
    "NAC": (NAC, False),
    "NAC-summing": (NAC, True),
    "NAU": (NAU, False),
    "NAU-summing": (NAU, True),
}
"""Agents by name: the unit beside the LSTM, and whether its outputs are summed over time."""


class GridAgent(nn.Module):
    r"""An actor and critic that sees pictures, is told a time, and remembers.

    The conventional agent is an LSTM whose input is what the convnet makes of the picture, x_t,
    and the instruction as it is seen, T_t. In the other agents the instruction also goes through
    a unit, and from there into the LSTM:

    .. math:: n_t = \mathrm{unit}([T_t, h_{t-1}, n_{t-1}]) \quad \text{or} \quad
              n_t = n_{t-1} + \mathrm{unit}([T_t, h_{t-1}])

    .. math:: h_t, c_t = \mathrm{LSTM}([x_t, T_t, n_t], h_{t-1}, c_{t-1})

    so that n can hold the time that is left, which the LSTM's output counts down.

    Args:
        model: one of `UNITS`.
        core_size: of the LSTM's state.
        unit_size: outputs of the unit.

    Raises:
        ValueError: an unknown model, a size that is not positive.

    Source:
        Trask et al. 2018, section 4.5. Departures, where the paper leaves a choice: (1) the
        convnet is that of Mnih et al. 2016, from whom it has the agent, and the LSTM has half the
        size of theirs; (2) of the unit the paper says that the instruction "was passed both
        directly to the LSTM memory and passed through an NAC and back into the LSTM". A unit that
        sees nothing else would only scale a number that is shown once; that it sees the LSTM's
        output and its own, and how many outputs it has, is ours.

    Example:
        >>> agent = GridAgent("NAC")
        >>> features = agent.encode(torch.zeros(3, 56, 56, 3, dtype=torch.uint8))
        >>> start = agent.initial_state(3)
        >>> logits, values, state = agent(features, torch.full((3, 1), 7.0), start)
        >>> logits.shape, values.shape, [part.shape[1] for part in state]
        (torch.Size([3, 5]), torch.Size([3]), [128, 128, 8])
    """

    def __init__(self, model: str, core_size: int = 128, unit_size: int = 8) -> None:
        super().__init__()
        if model not in UNITS:
            raise ValueError(f"model is {model!r}; choose from {', '.join(UNITS)}")
        check_positive_integers(core_size=core_size, unit_size=unit_size)
        self.core_size = core_size
        self.convnet = nn.Sequential(
            nn.Conv2d(3, 16, 8, stride=4), nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 5 * 5, _FEATURES), nn.ReLU(),
        )  # fmt: skip
        self.unit, self.unit_size, self.summing = None, 0, False
        if (choice := UNITS[model]) is not None:
            unit, self.summing = choice
            self.unit_size = unit_size
            inputs = 1 + core_size + (0 if self.summing else unit_size)
            self.unit = unit(inputs, unit_size)
        self.core = nn.LSTMCell(_FEATURES + 1 + self.unit_size, core_size)
        self.actor = nn.Linear(core_size, len(GRID_ACTIONS))
        self.critic = nn.Linear(core_size, 1)

    def encode(
        self, images: UInt8[Tensor, "pictures pixels pixels 3"]
    ) -> Float[Tensor, "pictures features"]:
        """What the convnet makes of pictures.

        Args:
            images: of 56 x 56 pixels, in RGB.
        """
        return self.convnet(images.permute(0, 3, 1, 2).to(self.critic.weight.dtype) / 255)

    def initial_state(self, worlds: int) -> State:
        """What is remembered at the start of an episode: nothing.

        Args:
            worlds: how many.
        """
        sizes = [self.core_size, self.core_size] + [self.unit_size] * (self.unit is not None)
        return tuple(self.critic.weight.new_zeros(worlds, size) for size in sizes)

    def forward(
        self,
        features: Float[Tensor, "worlds features"],
        instructions: Float[Tensor, "worlds 1"],
        state: State,
    ) -> tuple[Float[Tensor, "worlds actions"], Float[Tensor, " worlds"], State]:
        """Look once, and act.

        Args:
            features: of the pictures that are seen.
            instructions: the times to arrive at, as they are seen.
            state: what is remembered.

        Returns:
            The logits of the actions, the return that is expected, and the state afterwards.
        """
        hidden, cell, *numbers = state
        parts = [features, instructions]
        if self.unit is not None:
            numbers = [self._count(instructions, hidden, numbers[0])]
            parts += numbers
        hidden, cell = self.core(torch.cat(parts, -1), (hidden, cell))
        return self.actor(hidden), self.critic(hidden).squeeze(-1), (hidden, cell, *numbers)

    def _count(self, instructions: Tensor, hidden: Tensor, numbers: Tensor) -> Tensor:
        """What the unit holds after this step."""
        assert self.unit is not None
        if self.summing:
            return numbers + self.unit(torch.cat((instructions, hidden), -1))
        return self.unit(torch.cat((instructions, hidden, numbers), -1))
