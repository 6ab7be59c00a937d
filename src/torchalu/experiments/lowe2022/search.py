"""The random search for learning rates and weight decays, judged on validation samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import polars as pl
from torch import nn

from torchalu.arguments import check_positive_integers
from torchalu.experiments.lowe2022.activations import FIGURE5, check_activations, label
from torchalu.experiments.lowe2022.bach import bach_setting, excerpts
from torchalu.experiments.lowe2022.cifar import cifar_setting
from torchalu.experiments.lowe2022.covertype import covertype_setting
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, drawn
from torchalu.experiments.lowe2022.mnist import network_setting
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.lowe2022.transfer import transfer_setting
from torchalu.experiments.setting import choose

Make: TypeAlias = Callable[[str, Hyperparameters], ClassificationSetting]

NETWORKS: dict[str, Make] = {
    "mlp": lambda name, numbers: network_setting("mlp", name, 128, numbers),
    "cnn": lambda name, numbers: network_setting("cnn", name, 8, numbers),
    "bach": lambda name, numbers: bach_setting(name, numbers, 128, excerpts(8, 0.1)),
    "transfer": lambda name, numbers: transfer_setting(
        "cifar10", "efficientnet", name, numbers, 512
    ),
    "covertype": lambda name, numbers: covertype_setting(name, numbers, 128, "random"),
    "resnet": lambda name, numbers: cifar_setting("cifar10", name, numbers, 0.25, depth=26),
}
"""What the search trains for each network, from an activation's name and a draw."""

_RUNS = ClassificationRuns(seeds=1)


class SearchStudy(ClassificationStudy):
    """Draws of hyperparameters, the best of which is chosen for each network and activation."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The best draw of each network and activation.

        Args:
            outcomes: of all chunks.

        Returns:
            A table `search`, which has the form of `hyperparameters.csv`: the hyperparameters
            with the highest validation accuracy, that accuracy, and of how many draws.
        """
        keys = ["network", "activation"]
        means = outcomes.group_by([*keys, "draw"], maintain_order=True).agg(
            pl.col("learning_rate", "weight_decay").first(),
            pl.col("validation_accuracy").mean(),
        )
        draws = means.group_by(keys).agg(draws=pl.len())
        best = means.sort("validation_accuracy", "draw", descending=[True, False]).unique(
            keys, keep="first"
        )
        table = best.join(draws, on=keys).sort(keys)
        labels = pl.Series("label", [label(name) for name in table["activation"]])
        return {"search": table.with_columns(labels)}


def search(
    runs: ClassificationOptions = _RUNS,
    *,
    networks: tuple[str, ...] = ("mlp", "cnn"),
    activations: tuple[str, ...] = FIGURE5,
    draws: int = 20,
    first_draw: int = 0,
) -> SearchStudy:
    """Learning rates and weight decays, by a random search judged on validation samples.

    Its summary, put in the place of `hyperparameters.csv` in this package, is what the other
    experiments go by.

    Args:
        runs: seeds, and epochs and batch size, which should be those of the experiment that the
            search is for; its learning rate and weight decay do nothing here.
        networks: "mlp", "cnn" (figure 5), "bach", "transfer" (table 1), "covertype", "resnet"
            (figure 6).
        activations: their names, as `torchalu.nn.activation` takes them.
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
    activations = check_activations(activations)
    check_positive_integers(draws=draws)
    if first_draw < 0:
        raise ValueError(f"first_draw is {first_draw}; give 0 or more")
    settings = [
        _relabeled(NETWORKS[network](name, drawn(draw)), network, draw)
        for draw in range(first_draw, first_draw + draws)
        for network in networks
        for name in activations
    ]
    return SearchStudy("lowe2022.search", settings, runs)


def _relabeled(setting: ClassificationSetting, network: str, draw: int) -> ClassificationSetting:
    """The setting under the labels that all of the search have."""
    labels = {"network": network, "activation": setting.labels["activation"], "draw": draw}
    return replace(setting, labels=labels, observe=_hyperparameters)


def _hyperparameters(
    setting: ClassificationSetting,
    seed: int,  # noqa: ARG001
    network: nn.Module,  # noqa: ARG001
) -> dict[str, float]:
    """What was drawn, as columns of the outcomes."""
    return vars(setting.hyperparameters)
