"""The rules of the grid world: to step onto a square at a given time, not before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float32, Float64, Int64, UInt8

InstructionTime = Literal["start", "always"]

GRID_ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT", "PASS")
"""The actions by their number."""

_MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)])
_CELL = 10  # pixels of a cell; lines of one pixel lie around and between the cells
_LINE, _AGENT, _TARGET = (40, 40, 40), (160, 160, 160), (220, 30, 30)


@dataclass(frozen=True)
class GridRules:
    r"""What an agent in a grid world sees, may do and is paid for.

    Agent and target start at random on different cells, at time 0. Each action takes one unit
    of time; one against the wall leaves the agent where it is. The episode ends when the agent
    is on the target, or at the timeout. For an arrival at time t under the instruction T it is
    paid

    .. math:: m \cdot \max\Bigl(0, 1 - \frac{|t - T|}{T}\Bigr),

    all of it at t = T, less the earlier or later it is; at the timeout, nothing.

    Args:
        size: cells of a side.
        instructions: T is drawn uniformly from (least, most), both included.
        timeout: when an episode ends in any case.
        max_reward: m.
        instruction_time: whether T is seen at the "start" alone, with 0 in its place afterwards,
            or "always".

    Raises:
        ValueError: a grid of one cell, instructions that are not in order or beyond the timeout,
            a reward that is not positive, an unknown `instruction_time`.

    Source:
        Trask et al. 2018, section 4.5: 5 x 5 cells, 56 x 56 pixels, a gray agent, a red target,
        five actions, T from 5 to 12 in training; an episode ends at the target or at a timeout
        L. Departures, where the paper leaves a choice: (1) it names the greatest reward m, for
        an arrival at T, and says that one who always arrives at 12 gets incrementally less with
        larger T: the slope above, and paying a late arrival like an early one, are ours; (2) L
        is not stated: 40, beyond the longest T tested; (3) the agent receives T "at the start of
        the episode", which is read literally; (4) shades, lines and starts on different cells.

    Example:
        >>> rules = GridRules()
        >>> rules.reward(np.array([5, 12, 18, 30]), np.array([12, 12, 12, 12])).round(3).tolist()
        [0.417, 1.0, 0.5, 0.0]
    """

    size: int = 5
    instructions: tuple[int, int] = (5, 12)
    timeout: int = 40
    max_reward: float = 1.0
    instruction_time: InstructionTime = "start"

    def __post_init__(self) -> None:
        if self.size < 2:
            raise ValueError(f"size is {self.size}; give 2 or more")
        least, most = self.instructions
        if not 1 <= least <= most <= self.timeout:
            raise ValueError(
                f"instructions is {self.instructions}; give (least, most), 1 <= least <= most <= "
                f"timeout = {self.timeout}"
            )
        if not 0 < self.max_reward < np.inf:
            raise ValueError(f"max_reward is {self.max_reward}; give a positive number")
        if self.instruction_time not in get_args(InstructionTime):
            allowed = ", ".join(get_args(InstructionTime))
            raise ValueError(
                f"instruction_time is {self.instruction_time!r}; choose from {allowed}"
            )

    @property
    def cells(self) -> int:
        """How many cells there are; they are numbered row by row."""
        return self.size**2

    @property
    def pixels(self) -> int:
        """How many pixels a side of the picture has."""
        return self.size * (_CELL + 1) + 1

    def check_instruction(self, instruction: int) -> int:
        """An instruction that somebody asks for, if there is time enough for it.

        Args:
            instruction: T.

        Raises:
            ValueError: it is no integer from 1 to the timeout.
        """
        if not 1 <= instruction <= self.timeout or instruction != int(instruction):
            raise ValueError(
                f"instruction is {instruction}; give an integer from 1 to timeout = {self.timeout}"
            )
        return int(instruction)

    def start(self, random: np.random.Generator) -> tuple[int, int, int]:
        """Agent, target and instruction of a new episode.

        Args:
            random: where the random numbers come from.
        """
        agent, target = random.choice(self.cells, 2, replace=False)
        return int(agent), int(target), int(random.integers(*self.instructions, endpoint=True))

    def move(
        self, agents: Int64[np.ndarray, " worlds"], actions: Int64[np.ndarray, " worlds"]
    ) -> Int64[np.ndarray, " worlds"]:
        """Where agents are after an action.

        Args:
            agents: the cells where they are.
            actions: indices into `GRID_ACTIONS`.
        """
        places = np.stack(np.divmod(agents, self.size), -1) + _MOVES[actions]
        rows, columns = places.clip(0, self.size - 1).T
        return rows * self.size + columns

    def reward(
        self, times: Int64[np.ndarray, " worlds"], instructions: Int64[np.ndarray, " worlds"]
    ) -> Float64[np.ndarray, " worlds"]:
        """What is paid for arrivals.

        Args:
            times: of the arrivals.
            instructions: T of each.
        """
        return self.max_reward * np.maximum(0.0, 1 - abs(times - instructions) / instructions)

    def seen_instruction(
        self, times: Int64[np.ndarray, " worlds"], instructions: Int64[np.ndarray, " worlds"]
    ) -> Float32[np.ndarray, "worlds 1"]:
        """The instructions as agents see them.

        Args:
            times: when they look.
            instructions: T of each.
        """
        seen = np.where(times == 0, instructions, 0)
        chosen = seen if self.instruction_time == "start" else instructions
        return chosen[:, None].astype(np.float32)

    def draw(
        self, agents: Int64[np.ndarray, " worlds"], targets: Int64[np.ndarray, " worlds"]
    ) -> UInt8[np.ndarray, "worlds pixels pixels 3"]:
        """Pictures of worlds; an agent on its target covers it.

        Args:
            agents: the cells where they are.
            targets: the cells where they should go.
        """
        picture = np.zeros((self.pixels, self.pixels, 3), np.uint8)
        picture[:: _CELL + 1] = picture[:, :: _CELL + 1] = _LINE
        pictures = np.tile(picture, (len(agents), 1, 1, 1))
        worlds, inside = np.arange(len(agents))[:, None, None], 1 + np.arange(_CELL)
        for cells, color in ((targets, _TARGET), (agents, _AGENT)):
            rows, columns = (
                (_CELL + 1) * part[:, None] + inside for part in divmod(cells, self.size)
            )
            pictures[worlds, rows[:, :, None], columns[:, None, :]] = color
        return pictures

    def optimal_return(self, instruction: int) -> float:
        """What the best agent is paid under an instruction, averaged over all starts.

        By backward induction over all cells, targets and times, so that no policy does better.

        Args:
            instruction: T.

        Raises:
            ValueError: it is no integer from 1 to the timeout.

        Example:
            >>> GridRules().optimal_return(8)
            1.0
            >>> round(GridRules().optimal_return(5), 4)
            0.972
        """
        instructions = np.array([self.check_instruction(instruction)])
        cells = np.arange(self.cells)
        reached = [self.move(cells, np.full(self.cells, one)) for one in range(len(GRID_ACTIONS))]
        best = np.zeros((self.cells, self.cells))  # by agent and target
        for time in range(self.timeout, 0, -1):
            paid = self.reward(np.array([time]), instructions).item()
            worth = np.where(np.eye(self.cells, dtype=bool), paid, best)
            best = np.max([worth[cell] for cell in reached], axis=0)
        return float(best[~np.eye(self.cells, dtype=bool)].mean())
