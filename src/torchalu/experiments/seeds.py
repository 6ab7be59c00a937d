"""What studies that train one network after the other share: seeds, one thread, weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import torch
import tyro
from torch import Tensor, nn

from torchalu.arguments import check_integers_from_zero, check_positive_integers

_MOST = 2**63


def check_first_seed(first_seed: int, seeds: int) -> None:
    """Check that the numbers of some seeds are those that generators take.

    Args:
        first_seed: the number of the first.
        seeds: how many.

    Raises:
        TypeError: the first is no integer.
        ValueError: a number is negative, or not below 2**63.

    Example:
        >>> check_first_seed(-1, 5)
        Traceback (most recent call last):
        ValueError: first_seed is -1; give an integer, 0 or more
    """
    check_integers_from_zero(first_seed=first_seed)
    if first_seed > _MOST - seeds:
        raise ValueError(f"first_seed is {first_seed}; give one so that all seeds are below 2**63")


@dataclass(frozen=True)
class Seeds:
    """The seeds of an experiment.

    Args:
        seeds: how many.
        first_seed: the number of the first.

    Raises:
        ValueError: no seeds, or a negative one.

    Example:
        >>> list(Seeds(3, first_seed=7).numbers)
        [7, 8, 9]
    """

    seeds: int = 5
    first_seed: int = 0

    def __post_init__(self) -> None:
        check_positive_integers(seeds=self.seeds)
        check_first_seed(self.first_seed, self.seeds)

    @property
    def numbers(self) -> range:
        """The numbers of the seeds."""
        return range(self.first_seed, self.first_seed + self.seeds)


SeedOptions: TypeAlias = Annotated[Seeds, tyro.conf.arg(name="")]
"""`Seeds` as a parameter: each field is an option of the command line."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it torch has one thread; a sweep has a chunk on each core."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def weights(module: nn.Module) -> dict[str, Tensor]:
    """A copy of what a module has learned, on the CPU.

    Args:
        module: trained.

    Example:
        >>> sorted(weights(nn.Linear(2, 1)))
        ['bias', 'weight']
    """
    return {name: value.detach().cpu().clone() for name, value in module.state_dict().items()}
