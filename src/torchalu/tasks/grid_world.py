"""The grid world as an environment of gymnasium (the extra `grid`), imported here alone.

Importing this module registers `torchalu/GridWorldTime-v0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import UInt8

from torchalu.tasks.grid_rules import GRID_ACTIONS, GridRules, InstructionTime
from torchalu.tasks.grid_worlds import GridWorlds

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise ImportError(
        f"{error.name} is not installed, and the grid world needs it; "
        "install the extra: pip install 'torchalu[grid]'"
    ) from error

ENVIRONMENT = "torchalu/GridWorldTime-v0"
"""The name under which gymnasium knows the environment."""

Observation = dict[str, Any]


class GridWorldTime(gymnasium.Env[Observation, np.int64]):
    """An agent has to step onto the red square at a given time, not before.

    An observation is a dictionary: `image`, an RGB picture, and `instruction`, the time T. The
    episode is terminated when the agent is on the square, truncated at the timeout. `reset` takes
    `options={"instruction": T}`, and `info` tells time, instruction, and the cells of agent and
    target.

    Args:
        size: cells of a side.
        instructions: T is drawn uniformly from (least, most), both included.
        timeout: when an episode ends in any case.
        max_reward: what an arrival at T is paid.
        instruction_time: whether T is seen at the "start" alone, or "always".
        render_mode: "rgb_array", or None.

    Raises:
        ValueError: as `GridRules`; an unknown `render_mode`.

    Source:
        Trask et al. 2018, section 4.5; departures as in `GridRules`.

    Example:
        >>> environment = gymnasium.make("torchalu.tasks.grid_world:torchalu/GridWorldTime-v0")
        >>> observation, info = environment.reset(seed=0, options={"instruction": 17})
        >>> observation["image"].shape, observation["instruction"]
        ((56, 56, 3), array([17.], dtype=float32))
        >>> observation, reward, terminated, truncated, info = environment.step(4)
        >>> reward, terminated, truncated, info["time"]
        (0.0, False, False, 1)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        size: int = 5,
        instructions: tuple[int, int] = (5, 12),
        timeout: int = 40,
        max_reward: float = 1.0,
        instruction_time: InstructionTime = "start",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}; give 'rgb_array' or None")
        self.rules = GridRules(size, instructions, timeout, max_reward, instruction_time)
        self.render_mode = render_mode
        self._worlds = GridWorlds(1, self.rules)
        pixels = self.rules.pixels
        self.action_space = spaces.Discrete(len(GRID_ACTIONS))
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (pixels, pixels, 3), np.uint8),
                "instruction": spaces.Box(0, timeout, (1,), np.float32),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: settles this episode and those after it.
            options: "instruction" sets T; "agent" and "target" the cells, numbered row by row. Of
                two cells of which one is set the other is drawn among the rest.

        Raises:
            ValueError: an unknown option, a cell that is not on the grid, the same cell twice,
                or an instruction that is no integer from 1 to the timeout.
        """
        super().reset(seed=seed)
        agent, target, instruction = self.rules.start(self.np_random)
        start = {"agent": agent, "target": target, "instruction": instruction}
        unknown = [name for name in options or () if name not in start]
        if unknown:
            raise ValueError(f"options has {unknown[0]!r}; choose from {', '.join(start)}")
        given = options or {}
        for one, other in (("agent", "target"), ("target", "agent")):
            if one in given and other not in given and given[one] == start[other]:
                start[other] = start[one]  # drawn among the cells that are not this one
        self._worlds.place(0, **start | given)
        return self._observe(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act.

        Args:
            action: an index into `GRID_ACTIONS`.

        Raises:
            ValueError: there is no such action.
        """
        rewards, arrived, timed_out = self._worlds.advance(np.array([action]))
        reward, terminated, truncated = rewards.item(), arrived.item(), timed_out.item()
        return self._observe(), reward, terminated, truncated, self._info()

    def render(self) -> UInt8[np.ndarray, "pixels pixels 3"] | None:
        """A picture of the world, if `render_mode` asks for it."""
        return self._worlds.view().images[0] if self.render_mode else None

    def _observe(self) -> Observation:
        view = self._worlds.view()
        return {"image": view.images[0], "instruction": view.instructions[0]}

    def _info(self) -> dict[str, Any]:
        names = {
            "time": self._worlds.times,
            "instruction": self._worlds.instructions,
            "agent": self._worlds.agents,
            "target": self._worlds.targets,
        }
        return {name: int(values[0]) for name, values in names.items()}


if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point=f"{__name__}:GridWorldTime")
