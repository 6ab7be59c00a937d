"""Whole episodes of an agent in many grid worlds at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from torchalu.experiments.trask2018.grid_agent import GridAgent
from torchalu.tasks import GRID_ACTIONS, GridRules, GridWorlds

_PASS = GRID_ACTIONS.index("PASS")


class Episodes(NamedTuple):
    """What came of an episode in each world.

    Attributes:
        logits: of the actions, a row a time that an agent acted, in the order of the times.
        values: the returns that were expected.
        actions: that were taken.
        worlds: the number of the world of each row.
        times: when.
        rewards: what each world paid.
        arrived: whether the agent reached the target.
        ends: the time at which the episode ended.
    """

    logits: Float[Tensor, "rows actions"]
    values: Float[Tensor, " rows"]
    actions: Int64[Tensor, " rows"]
    worlds: Int64[np.ndarray, " rows"]
    times: Int64[np.ndarray, " rows"]
    rewards: Float64[np.ndarray, " worlds"]
    arrived: Bool[np.ndarray, " worlds"]
    ends: Int64[np.ndarray, " worlds"]


def play(
    agent: GridAgent,
    worlds: GridWorlds,
    noise: Float[Tensor, "timeout worlds actions"] | None = None,
    watch: Callable[[], object] | None = None,
) -> Episodes:
    r"""Play one episode in each world to its end.

    Args:
        agent: who acts in all of them.
        worlds: at the start of an episode each; as they ended, afterwards.
        noise: added to the logits before the greatest is taken. With Gumbel noise the actions are
            drawn as the agent would have it; without any it does what it thinks best.
        watch: called at the start and after each action.

    Example:
        >>> worlds = GridWorlds(3, GridRules(timeout=12))
        >>> episodes = play(GridAgent("LSTM"), worlds, gumbel(12, 3, torch.Generator()))
        >>> episodes.rewards.shape, bool((episodes.ends <= 12).all())
        ((3,), True)
    """
    state = agent.initial_state(len(worlds))
    device = state[0].device
    pictures = _Pictures(agent, worlds.rules, device)
    alive, rows = np.arange(len(worlds)), []
    rewards, arrived = np.zeros(len(worlds)), np.zeros(len(worlds), bool)
    ends = np.zeros(len(worlds), np.int64)
    while alive.size:
        if watch is not None:
            watch()
        times = worlds.times[alive]
        seen = worlds.rules.seen_instruction(times, worlds.instructions[alive])
        features = pictures(worlds.agents[alive], worlds.targets[alive])
        logits, values, state = agent(features, torch.from_numpy(seen).to(device), state)
        scores = logits.detach()
        if noise is not None:
            scores = scores + noise[len(rows), alive].to(device)
        chosen = scores.argmax(-1)
        rows.append((logits, values, chosen, alive, times))
        actions = np.full(len(worlds), _PASS)
        actions[alive] = chosen.cpu().numpy()
        paid, there, late = (part[alive] for part in worlds.advance(actions))
        rewards[alive], arrived[alive], ends[alive] = paid, there, times + 1
        going = ~(there | late)
        kept = torch.from_numpy(going).to(device)
        alive, state = alive[going], tuple(part[kept] for part in state)
    if watch is not None:
        watch()
    logits, values, chosen, which, times = zip(*rows, strict=True)
    return Episodes(
        torch.cat(logits), torch.cat(values), torch.cat(chosen),
        np.concatenate(which), np.concatenate(times), rewards, arrived, ends,
    )  # fmt: skip


def gumbel(
    timeout: int, worlds: int, generator: torch.Generator
) -> Float[Tensor, "timeout worlds actions"]:
    r"""Noise that makes the greatest logit a draw from the softmax.

    .. math:: -\log(-\log u), \qquad u \sim U(0, 1)

    Args:
        timeout: the longest time of an episode.
        worlds: how many.
        generator: where the random numbers come from.

    Example:
        >>> gumbel(40, 32, torch.Generator().manual_seed(0)).shape
        torch.Size([40, 32, 5])
    """
    shape = timeout, worlds, len(GRID_ACTIONS)
    return -torch.empty(shape).exponential_(generator=generator).log()


def all_starts(rules: GridRules, instructions: Iterable[int]) -> GridWorlds:
    """A world for every start there is, under each instruction.

    Args:
        rules: of the worlds.
        instructions: T of each.

    Raises:
        ValueError: an instruction is no integer from 1 to the timeout.

    Example:
        >>> len(all_starts(GridRules(), (7,)))
        600
    """
    cells = range(rules.cells)
    starts = [
        (agent, target, instruction)
        for instruction, agent, target in product(instructions, cells, cells)
        if agent != target
    ]
    worlds = GridWorlds(len(starts), rules)
    for number, start in enumerate(starts):
        worlds.place(number, *start)
    return worlds


class _Pictures:
    """What the convnet makes of the worlds; each picture is looked at once, when it first occurs.

    There are 600 pictures, and an agent that waits sees the same one again.
    """

    def __init__(self, agent: GridAgent, rules: GridRules, device: torch.device) -> None:
        self.agent, self.rules, self.device = agent, rules, device
        self.places = np.full(rules.cells**2, -1)
        self.features: list[Tensor] = []
        self.count = 0

    def __call__(
        self, agents: Int64[np.ndarray, " worlds"], targets: Int64[np.ndarray, " worlds"]
    ) -> Float[Tensor, "worlds features"]:
        """The features of worlds."""
        pictures = agents * self.rules.cells + targets
        new = np.unique(pictures[self.places[pictures] < 0])
        if new.size:
            images = self.rules.draw(*np.divmod(new, self.rules.cells))
            self.features.append(self.agent.encode(torch.from_numpy(images).to(self.device)))
            self.places[new] = self.count + np.arange(new.size)
            self.count += new.size
        seen = torch.from_numpy(self.places[pictures]).to(self.device)
        return torch.cat(self.features)[seen]
