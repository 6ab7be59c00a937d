"""The random search for learning rates and weight decays, judged on validation samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import polars as pl
import tyro

from torchalu.arguments import check_positive_integers
from torchalu.experiments.lowe2022.activations import check_activations, label
from torchalu.experiments.lowe2022.bach import bach, bach_setting, excerpts
from torchalu.experiments.lowe2022.cifar import cifar_setting, figure6
from torchalu.experiments.lowe2022.covertype import covertype, covertype_setting
from torchalu.experiments.lowe2022.hyperparameters import LEARNING_RATES, Hyperparameters, drawn
from torchalu.experiments.lowe2022.mnist import figure5, network_setting
from torchalu.experiments.lowe2022.parity_experiments import figure4, four_logits_setting
from torchalu.experiments.lowe2022.study import ClassificationSetting
from torchalu.experiments.lowe2022.training import ClassificationRuns
from torchalu.experiments.lowe2022.transfer import table1, transfer_setting
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import SettingsStudy


@dataclass(frozen=True)
class Searched:
    """A network that is searched for, and the experiment that goes by what is found.

    Args:
        make: gives the setting to train, from an activation's name and a draw.
        experiment: whose activations, epochs and batch size are those of the search.
        learning_rates: the least and the greatest of the draws.

    Example:
        >>> NETWORKS["transfer"].runs.epochs, "softsign" in NETWORKS["transfer"].activations
        (20, True)
    """

    make: Callable[[str, Hyperparameters], ClassificationSetting]
    experiment: Callable[..., Any]
    learning_rates: tuple[float, float] = LEARNING_RATES

    @property
    def activations(self) -> tuple[str, ...]:
        """Those that the experiment compares."""
        return self._default("activations")

    @property
    def runs(self) -> ClassificationRuns:
        """How long the experiment trains."""
        return self._default("runs")

    def _default(self, option: str) -> Any:
        return inspect.signature(self.experiment).parameters[option].default


NETWORKS = {
    "four_logits": Searched(four_logits_setting, figure4, learning_rates=(3e-3, 3.0)),
    "mlp": Searched(lambda name, numbers: network_setting("mlp", name, 128, numbers), figure5),
    "cnn": Searched(lambda name, numbers: network_setting("cnn", name, 8, numbers), figure5),
    "bach": Searched(
        lambda name, numbers: bach_setting(name, numbers, 128, excerpts(8, 0.1)), bach
    ),
    "transfer": Searched(
        lambda name, numbers: transfer_setting("cifar10", "efficientnet", name, numbers, 512),
        table1,
    ),
    "covertype": Searched(
        lambda name, numbers: covertype_setting(name, numbers, 128, "random"), covertype
    ),
    "resnet": Searched(
        lambda name, numbers: cifar_setting("cifar10", name, numbers, 0.25, depth=26), figure6
    ),
}
"""What can be searched for."""


@dataclass(frozen=True)
class SearchRuns(Seeds):
    """The seeds of a search, and how long each network is trained.

    Args:
        seeds: how many.
        first_seed: the number of the first; the experiments' own begin at 0.
        epochs: how often the training samples are gone through; as often as in the network's
            experiment if left out.
        batch_size: samples in a batch, likewise.

    Raises:
        ValueError: a number is out of its range.

    Example:
        >>> SearchRuns().of(NETWORKS["covertype"]).batch_size
        256
    """

    seeds: int = 1
    first_seed: int = 1000
    epochs: int | None = None
    batch_size: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive_integers(**self._given())

    def of(self, network: Searched) -> ClassificationRuns:
        """How long one network is trained."""
        return replace(network.runs, **self._given())

    def _given(self) -> dict[str, int]:
        both = {"epochs": self.epochs, "batch_size": self.batch_size}
        return {name: value for name, value in both.items() if value is not None}


SearchOptions: TypeAlias = Annotated[SearchRuns, tyro.conf.arg(name="")]

_RUNS = SearchRuns()


def search(
    runs: SearchOptions = _RUNS,
    *,
    networks: tuple[str, ...] = ("mlp", "cnn"),
    activations: tuple[str, ...] | None = None,
    draws: int = 20,
    first_draw: int = 0,
) -> SettingsStudy:
    """Learning rates and weight decays, by a random search judged on validation samples.

    Its summary, put in the place of `hyperparameters.csv` in this package, is what the other
    experiments go by.

    Args:
        runs: seeds, and epochs and batch size where those of the experiments are not wanted.
        networks: "four_logits" (figure 4), "mlp", "cnn" (figure 5), "bach", "transfer" (table 1),
            "covertype", "resnet" (figure 6).
        activations: their names, as `torchalu.nn.activation` takes them; those of each network's
            experiment if left out.
        draws: how many.
        first_draw: the number of the first.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Lowe et al. 2022, section 4.3: a random search, judged on the last 10,000 training images;
        section 4.4: on CIFAR-100, for one width. Departure: one size of each network, at which
        all activations are searched for; of the residual network a small one, on CIFAR-10.

    Example:
        >>> len(search(networks=("mlp",), activations=("relu",), draws=3).chunks())
        3
    """
    choose("networks", networks, NETWORKS)
    check_positive_integers(draws=draws)
    if first_draw < 0:
        raise ValueError(f"first_draw is {first_draw}; give 0 or more")
    settings = [
        replace(
            NETWORKS[network].make(name, drawn(draw, NETWORKS[network].learning_rates)),
            labels={"network": network, "activation": name, "draw": draw},
            runs=runs.of(NETWORKS[network]),
        )
        for draw in range(first_draw, first_draw + draws)
        for network in networks
        for name in check_activations(
            NETWORKS[network].activations if activations is None else activations
        )
    ]
    return SettingsStudy("lowe2022.search", settings, runs, best_draws)


def best_draws(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The best draw of each network and activation.

    Args:
        outcomes: of all chunks.

    Returns:
        A table `search`, which has the form of `hyperparameters.csv`: the hyperparameters with
        the highest validation accuracy, that accuracy, and of how many draws. Where some draws
        have more seeds than others, as the best of a first round that are trained again, the best
        is one of these.
    """
    keys = ["network", "activation"]
    means = outcomes.group_by([*keys, "draw"], maintain_order=True).agg(
        pl.col("learning_rate", "weight_decay").first(),
        pl.col("validation_accuracy").mean(),
        seeds=pl.len(),
    )
    draws = means.group_by(keys).agg(draws=pl.len())
    order = ["seeds", "validation_accuracy", "draw"]
    best = means.sort(order, descending=[True, True, False]).unique(keys, keep="first")
    best = best.drop("seeds")
    table = best.join(draws, on=keys).sort(keys)
    labels = pl.Series("label", [label(name) for name in table["activation"]])
    return {"search": table.with_columns(labels)}
