"""Which seeds an experiment has, and when a run ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import tyro

from torchalu.arguments import check_positive_integers
from torchalu.engine.device import DEVICES
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
        device: "cpu", with a chunk for each seed, or "cuda", with all seeds in one: a GPU is full
            with some thousands of runs at once.

    Raises:
        ValueError: a count that is not positive, a seed below 0, an unknown device.

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
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("seeds", "steps", "settle", "stall", "give_up", "team"):
            value = getattr(self, name)
            if value is not None:
                check_positive_integers(**{name: value})
        check_first_seed(self.first_seed, self.seeds)
        if self.device not in DEVICES:
            raise ValueError(f"device is {self.device!r}; choose from {', '.join(DEVICES)}")

    @property
    def seed_numbers(self) -> range:
        """The numbers of the seeds."""
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def together(self) -> list[range]:
        """The seeds that are trained together, in their order.

        Example:
            >>> Runs(seeds=2).together, Runs(seeds=2, device="cuda").together
            ([range(0, 1), range(1, 2)], [range(0, 2)])
        """
        seeds = self.seed_numbers
        return [seeds] if self.device == "cuda" else [range(k, k + 1) for k in seeds]


RunOptions: TypeAlias = Annotated[Runs, tyro.conf.arg(name="")]
"""`Runs` as a parameter of an experiment: each field is an option of the command line."""
