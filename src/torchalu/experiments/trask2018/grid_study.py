"""Agents of the grid world as settings of a study, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import torch

from torchalu.experiments.seeds import one_thread, weights
from torchalu.experiments.setting import Label
from torchalu.experiments.trask2018.devices import without_cpu
from torchalu.experiments.trask2018.grid_agent import GridAgent
from torchalu.experiments.trask2018.grid_episodes import Episodes, all_starts, gumbel, play
from torchalu.experiments.trask2018.grid_training import GridTraining, train_agent
from torchalu.tasks import GridRules
from torchalu.train import JSON, Part, Report

_TRAINING = 0.95  # of a chunk, for the progress bar
_ACTIONS = ("greedy", "sampled")
_TYPES = {"arrival_time": pl.Float64}


@dataclass(frozen=True)
class GridSetting:
    """An agent and its training, and the instructions that it is tested on.

    Args:
        model: the agent's name.
        training: the numbers.
        instructions: the least and the greatest T of the tests; without it nothing is tested, and
            the agent is judged by its validation episodes alone.
        varied: the numbers that tell this setting from others, by name.

    Raises:
        ValueError: the instructions are not in order, or beyond the timeout.

    Example:
        >>> GridSetting("LSTM", GridTraining(), (5, 30)).keys
        ('model', 'actions', 'instruction')
    """

    model: str
    training: GridTraining
    instructions: tuple[int, int] | None = None
    varied: Mapping[str, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.instructions is None:
            return
        least, most = self.instructions
        timeout = self.training.rules().timeout
        if not 1 <= least <= most <= timeout:
            raise ValueError(
                f"instructions is {self.instructions}; give (least, most), 1 <= least <= most <= "
                f"{timeout}, the timeout"
            )

    @property
    def labels(self) -> dict[str, Label]:
        """The columns that tell this setting's results apart."""
        return {"model": self.model, **self.varied}

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return (*self.labels, *(("actions", "instruction") if self.instructions else ()))

    @property
    def work(self) -> float:
        """The expected cost, in episodes."""
        return float(self.training.updates * self.training.worlds)

    def describe(self) -> Mapping[str, JSON]:
        """What settles its results, for the configuration of a study."""
        return {
            "labels": self.labels,
            "training": without_cpu(asdict(self.training)),
            "instructions": self.instructions,
        }

    def run(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train one agent, and measure it; see `torchalu.train.Study`.

        The best weights are the part's weights, so that the agent can be filmed later.
        """
        with one_thread():
            return self._part(seed, scratch, report)

    def _part(self, seed: int, scratch: Path, report: Report) -> Part:
        """Train one agent, and measure it."""
        agent = self.training.agent(self.model, seed)
        result = train_agent(
            agent, self.training, seed, scratch, lambda done: report(_TRAINING * done)
        )
        labels = {**self.labels, "seed": seed}
        best = result.records.filter(pl.col("step") == result.best_step)
        common = {
            "validation_reward": best["validation_reward"][0],
            "best_step": result.best_step,
            "steps": result.steps,
            "status": result.status,
            "parameters": sum(p.numel() for p in agent.parameters()),
        }
        outcomes = [
            labels | row | common for row in self._measured(agent.eval(), seed, report)
        ] or [labels | common]
        columns = [pl.lit(value).alias(name) for name, value in labels.items()]
        records = result.records.select(*columns, pl.all())
        records = records.with_columns(pl.col(pl.Int32).cast(pl.Int64))
        types = _TYPES if self.instructions else None
        return Part(records, pl.DataFrame(outcomes, schema_overrides=types), weights(agent))

    @torch.no_grad()
    def _measured(self, agent: GridAgent, seed: int, report: Report) -> Iterator[dict[str, Any]]:
        """A row an instruction and way to act, from all starts."""
        if self.instructions is None:
            return
        rules, generator = self.training.rules(), torch.Generator().manual_seed(seed)
        least, most = self.instructions
        for instruction in range(least, most + 1):
            for actions in _ACTIONS:
                worlds = all_starts(rules, (instruction,))
                noise = gumbel(rules.timeout, len(worlds), generator)
                episodes = play(agent, worlds, noise if actions == "sampled" else None)
                labels = {"actions": actions, "instruction": instruction}
                yield labels | measured(episodes, instruction, rules)
            done = (instruction - least + 1) / (most - least + 1)
            report(_TRAINING + (1 - _TRAINING) * done)


def measured(episodes: Episodes, instruction: int, rules: GridRules) -> dict[str, float | None]:
    """What episodes under one instruction come to.

    Args:
        episodes: two or more that were played.
        instruction: T.
        rules: by which they were paid.

    Returns:
        The mean `reward` and its standard error over the episodes; the shares of episodes that
        `arrived` at all and `on_time`; the mean time of the arrivals, None without any; and the
        `optimal_return`.

    Example:
        >>> rules = GridRules()
        >>> row = measured(play(GridAgent("LSTM"), all_starts(rules, (7,))), 7, rules)
        >>> round(row["optimal_return"], 3)
        0.999
    """
    arrived, ends = episodes.arrived, episodes.ends
    return {
        "reward": float(episodes.rewards.mean()),
        "reward_error": float(episodes.rewards.std(ddof=1) / len(arrived) ** 0.5),
        "arrived": float(arrived.mean()),
        "on_time": float((arrived & (ends == instruction)).mean()),
        "arrival_time": float(ends[arrived].mean()) if arrived.any() else None,
        "optimal_return": rules.optimal_return(instruction),
    }
