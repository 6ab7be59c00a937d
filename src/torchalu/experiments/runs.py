"""Which seeds an experiment has, and when a run ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import tyro

from torchalu.arguments import check_positive_integers
from torchalu.experiments.seeds import check_first_seed


@dataclass(frozen=True)
class Runs:
    """The seeds of an experiment, when a run ends, and how many are trained together.

    Args:
        seeds: how many.
        first_seed: the number of the first.
        steps: optimizer steps of a run, at most.
        settle: a solved run ends once its validation loss has not fallen for so many steps.
        stall: the same for a run that is not solved.
        give_up: the same only for a model and operation of which the paper solved no run; it does
            nothing in an experiment without published counts.
        team: most settings in a chunk.

    Raises:
        ValueError: a count that is not positive, a seed below 0.

    Example:
        >>> list(Runs(seeds=3, first_seed=7).seed_numbers)
        [7, 8, 9]
    """

    seeds: int = 100
    first_seed: int = 0
    steps: int = 5_000_000
    settle: int | None = 500_000
    stall: int | None = None
    give_up: int | None = None
    team: int = 8

    def __post_init__(self) -> None:
        for name in ("seeds", "steps", "settle", "stall", "give_up", "team"):
            value = getattr(self, name)
            if value is not None:
                check_positive_integers(**{name: value})
        check_first_seed(self.first_seed, self.seeds)

    @property
    def seed_numbers(self) -> range:
        """The numbers of the seeds."""
        return range(self.first_seed, self.first_seed + self.seeds)


RunOptions: TypeAlias = Annotated[Runs, tyro.conf.arg(name="")]
"""`Runs` as a parameter of an experiment: each field is an option of the command line."""
