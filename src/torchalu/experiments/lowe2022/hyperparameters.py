"""The learning rate and weight decay of each activation, as the random search chose them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl

from torchalu.arguments import check_from_zero, check_positive

_FILE = "hyperparameters.csv"
LEARNING_RATES = (3e-4, 1e-1)
"""What the learning rates of a search lie between; a network may have other ends."""

_WEIGHT_DECAYS = (1e-7, 1e-2)
_STREAM = 2022


@dataclass(frozen=True)
class Hyperparameters:
    """What the random search is over.

    Args:
        learning_rate: the highest of the cycle.
        weight_decay: factor of the weights that is added to their gradients.

    Raises:
        ValueError: a rate that is not positive, a decay below 0, or one that is not finite.

    Example:
        >>> Hyperparameters(weight_decay=1e-4)
        Hyperparameters(learning_rate=0.01, weight_decay=0.0001)
    """

    learning_rate: float = 1e-2
    weight_decay: float = 1e-5

    def __post_init__(self) -> None:
        check_positive(learning_rate=self.learning_rate)
        check_from_zero(weight_decay=self.weight_decay)


def chosen(
    network: str,
    activation: str,
    learning_rate: float | None = None,
    weight_decay: float | None = None,
) -> Hyperparameters:
    """What the search chose for a network and an activation; the defaults where it has not run.

    Args:
        network: as the search has it.
        activation: its name.
        learning_rate: goes before what was chosen.
        weight_decay: goes before what was chosen.

    Raises:
        ValueError: as `Hyperparameters`.

    Example:
        >>> chosen("perceptron", "relu", learning_rate=0.5)
        Hyperparameters(learning_rate=0.5, weight_decay=1e-05)
    """
    found = _table().get((network, activation), Hyperparameters())
    given = {"learning_rate": learning_rate, "weight_decay": weight_decay}
    return replace(found, **{name: value for name, value in given.items() if value is not None})


def drawn(draw: int, learning_rates: tuple[float, float] = LEARNING_RATES) -> Hyperparameters:
    """One draw of the random search: both log-uniform, the same for all activations.

    Args:
        draw: its number, from 0.
        learning_rates: the least and the greatest.

    Source:
        Lowe et al. 2022, section 4.3, has a random search; what over, the main text does not say.
        Ours is over weight decays from 1e-7 to 0.01, and learning rates from 3e-4 to 0.1 where
        `learning_rates` does not say otherwise.

    Example:
        >>> drawn(0) == drawn(0), drawn(0) == drawn(1)
        (True, False)
    """
    random = np.random.default_rng([_STREAM, draw])
    rate, decay = (
        float(np.exp(random.uniform(*np.log(bounds))))
        for bounds in (learning_rates, _WEIGHT_DECAYS)
    )
    return Hyperparameters(rate, decay)


@cache
def _table() -> dict[tuple[str, str], Hyperparameters]:
    """What the search chose: its summary, as it lies beside this file."""
    path = files("torchalu.experiments.lowe2022") / _FILE
    if not path.is_file():
        return {}
    table = pl.read_csv(path.read_bytes())
    columns = ("network", "activation", "learning_rate", "weight_decay")
    return {
        (network, activation): Hyperparameters(rate, decay)
        for network, activation, rate, decay in table.select(columns).iter_rows()
    }
