"""Figure 5: agents that are to arrive at a given time, and the search for their training."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Annotated

import tyro

from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.experiments.trask2018.checks import check_each, check_rates, check_unused
from torchalu.experiments.trask2018.grid_agent import UNITS
from torchalu.experiments.trask2018.grid_study import GridSetting
from torchalu.experiments.trask2018.grid_summaries import grid_world_tables, search_tables
from torchalu.experiments.trask2018.grid_training import GridTraining

Training = Annotated[GridTraining, tyro.conf.arg(name="")]

_FIVE, _TWO = Seeds(5), Seeds(2, first_seed=1000)
_NUMBERS, _SHORT = GridTraining(), GridTraining(updates=1000)


def grid_world(
    seeds: SeedOptions = _FIVE,
    *,
    models: tuple[str, ...] = tuple(UNITS),
    training: Training = _NUMBERS,
    instructions: tuple[int, int] = (5, 30),
) -> SettingsStudy:
    """Figure 5: agents trained to arrive at T from 5 to 12, tested on T up to 30.

    Args:
        seeds: of each agent.
        models: names of agents.
        training: the numbers of agents and training.
        instructions: the least and the greatest T of the tests.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Trask et al. 2018, section 4.5 and figure 5. Departures: see `GridAgent`, `GridRules` and
        `actor_critic_loss`; learning rate and entropy are ours, chosen before the search. Each
        agent is tested from all 600 starts.

    Example:
        >>> len(grid_world(Seeds(2), models=("LSTM", "NAC")).chunks())
        4
    """
    choose("models", models, UNITS)
    settings = [GridSetting(model, training, instructions) for model in models]
    return SettingsStudy("trask2018.grid_world", settings, seeds, grid_world_tables)


figure5 = grid_world
"""Figure 5 is of these agents."""


def grid_world_search(
    seeds: SeedOptions = _TWO,
    *,
    models: tuple[str, ...] = ("LSTM", "NAC-summing"),
    learning_rates: tuple[float, ...] = (3e-4, 1e-3, 3e-3),
    entropies: tuple[float, ...] = (0.003, 0.01, 0.03),
    training: Training = _SHORT,
) -> SettingsStudy:
    """The learning rate and the factor of the entropy, on instructions of the training alone.

    Args:
        seeds: of each cell; others than those of `grid_world`.
        models: names of agents.
        learning_rates: at the start.
        entropies: factors of the policy's entropy.
        training: all other numbers; the two that are searched are refused there.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, values twice.

    Source:
        Trask et al. 2018 state no number of the training. Mnih et al. 2016 draw learning rates
        between 1e-4 and 1e-2, and have 0.01 for the entropy.

    Example:
        >>> len(grid_world_search(Seeds(1), models=("LSTM",)).chunks())
        9
    """
    choose("models", models, UNITS)
    check_unused(training, _SHORT, {"learning_rate": "learning_rates", "entropy": "entropies"})
    check_rates(learning_rates)
    check_each(
        "entropies", entropies, lambda factor: 0 <= factor < math.inf, "finite numbers, 0 or more"
    )
    settings = [
        GridSetting(
            model,
            replace(training, learning_rate=learning_rate, entropy=entropy),
            varied={"learning_rate": learning_rate, "entropy": entropy},
        )
        for model, learning_rate, entropy in product(models, learning_rates, entropies)
    ]
    return SettingsStudy("trask2018.grid_world_search", settings, seeds, search_tables)
