"""Many grid worlds at once, to train agents in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64, UInt8

from torchalu.arguments import check_positive_integers
from torchalu.tasks.grid_rules import GRID_ACTIONS, GridRules


class GridView(NamedTuple):
    """What agents see.

    Attributes:
        images: RGB pictures of the worlds.
        instructions: the time at which to arrive, or 0 where it is not shown.
    """

    images: UInt8[np.ndarray, "worlds pixels pixels 3"]
    instructions: Float32[np.ndarray, "worlds 1"]


class GridStep(NamedTuple):
    """What comes of an action.

    Attributes:
        view: what agents see next; where an episode ended, the start of another one.
        rewards: what the action was paid.
        arrived: whether the agent stepped onto the target, which ended the episode.
        timed_out: whether time ended the episode.
    """

    view: GridView
    rewards: Float64[np.ndarray, " worlds"]
    arrived: Bool[np.ndarray, " worlds"]
    timed_out: Bool[np.ndarray, " worlds"]

    @property
    def ended(self) -> Bool[np.ndarray, " worlds"]:
        """Whether the episode ended."""
        return self.arrived | self.timed_out


class GridWorlds:
    """Grid worlds side by side, each of which begins a new episode when one ends.

    The starts of a world follow from the seed, the number of the world and that of its episode,
    whatever the other worlds do. Rules and transitions are those of the gymnasium environment in
    `torchalu.tasks.grid_world`, which is one such world.

    Args:
        count: how many worlds.
        rules: size, instructions, timeout and rewards; those of the paper if left out.
        seed: settles the starts.

    Raises:
        ValueError: `count` is not positive or `seed` negative.

    Source:
        Trask et al. 2018, section 4.5; departures as in `GridRules`.

    Example:
        >>> worlds = GridWorlds(64, seed=0)
        >>> view = worlds.reset()
        >>> view.images.shape, view.instructions.shape
        ((64, 56, 56, 3), (64, 1))
        >>> worlds.step(np.full(64, GRID_ACTIONS.index("PASS"))).rewards.sum()
        np.float64(0.0)
    """

    def __init__(self, count: int, rules: GridRules | None = None, *, seed: int = 0) -> None:
        check_positive_integers(count=count)
        if seed < 0:
            raise ValueError(f"seed is {seed}; give 0 or more")
        self.rules = rules or GridRules()
        self.seed = seed
        self.agents, self.targets, self.instructions, self.times, self.episodes = np.zeros(
            (5, count), np.int64
        )
        self._instruction: int | None = None
        self.reset()

    def __len__(self) -> int:
        return len(self.agents)

    def reset(self, instruction: int | None = None) -> GridView:
        """Begin anew, with the first episode of each world.

        Args:
            instruction: T of all episodes until the next reset; drawn for each by the rules if
                left out.

        Raises:
            ValueError: the instruction is no integer from 1 to the timeout.
        """
        if instruction is not None:
            instruction = self.rules.check_instruction(instruction)
        self._instruction = instruction
        self.episodes[:] = 0
        self._start(np.arange(len(self)))
        return self.view()

    def place(self, world: int, agent: int, target: int, instruction: int) -> None:
        """Put a world at the start of an episode of one's choice.

        Args:
            world: its number.
            agent: the cell where the agent is; cells are numbered row by row.
            target: the cell where it should go.
            instruction: T.

        Raises:
            ValueError: a cell that is not on the grid, the same cell twice, or an instruction
                that is no integer from 1 to the timeout.
        """
        cells = range(self.rules.cells)
        if agent == target or agent not in cells or target not in cells:
            raise ValueError(
                f"agent is {agent} and target {target}; give different cells from 0 to "
                f"{self.rules.cells - 1}"
            )
        self.instructions[world] = self.rules.check_instruction(instruction)
        self.agents[world], self.targets[world], self.times[world] = agent, target, 0

    def view(self) -> GridView:
        """What agents see now."""
        return GridView(
            self.rules.draw(self.agents, self.targets),
            self.rules.seen_instruction(self.times, self.instructions),
        )

    def advance(
        self, actions: Int64[np.ndarray, " worlds"]
    ) -> tuple[
        Float64[np.ndarray, " worlds"], Bool[np.ndarray, " worlds"], Bool[np.ndarray, " worlds"]
    ]:
        """Act in each world, and leave those whose episode ends as they are then.

        Args:
            actions: indices into `GRID_ACTIONS`.

        Returns:
            Rewards, who arrived, and who did not before the timeout; as in `GridStep`.

        Raises:
            ValueError: not one action for each world, or one that does not exist.
        """
        actions = np.asarray(actions)
        known = np.isin(actions, range(len(GRID_ACTIONS))).all()
        if actions.shape != self.agents.shape or not known:
            raise ValueError(
                f"actions has shape {actions.shape} and values {np.unique(actions)[:6]}; give "
                f"{len(self)} integers from 0 to {len(GRID_ACTIONS) - 1}: {', '.join(GRID_ACTIONS)}"
            )
        self.times += 1
        self.agents[:] = self.rules.move(self.agents, actions.astype(np.int64))
        arrived = self.agents == self.targets
        paid = self.rules.reward(self.times, self.instructions)
        return np.where(arrived, paid, 0.0), arrived, ~arrived & (self.times >= self.rules.timeout)

    def step(self, actions: Int64[np.ndarray, " worlds"]) -> GridStep:
        """Act in each world; where an episode ends, the next one begins.

        Args:
            actions: indices into `GRID_ACTIONS`.

        Raises:
            ValueError: not one action for each world, or one that does not exist.
        """
        rewards, arrived, timed_out = self.advance(actions)
        ended = np.flatnonzero(arrived | timed_out)
        self.episodes[ended] += 1
        self._start(ended)
        return GridStep(self.view(), rewards, arrived, timed_out)

    def _start(self, worlds: Int64[np.ndarray, " some"]) -> None:
        """The start of the present episode of some worlds."""
        for world in worlds.tolist():
            random = np.random.default_rng((self.seed, world, int(self.episodes[world])))
            agent, target, instruction = self.rules.start(random)
            self.place(world, agent, target, self._instruction or instruction)
