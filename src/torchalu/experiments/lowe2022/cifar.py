"""Figure 6: a pre-activation residual network on CIFAR-10 and CIFAR-100."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from torchalu.experiments.lowe2022.activations import FIGURE6, check_activations
from torchalu.experiments.lowe2022.augmentation import AugmentedPictures
from torchalu.experiments.lowe2022.data import Samples, Source
from torchalu.experiments.lowe2022.embedded import DATASETS
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.preactivation_resnet import preactivation_resnet
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import Label, check_positive, choose
from torchalu.experiments.settings_study import check_device
from torchalu.tasks import normalize_pictures
from torchalu.train import JSON

_PREPARE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "cifar10": normalize_pictures,
    "cifar100": partial(
        normalize_pictures, mean=(0.5071, 0.4865, 0.4409), std=(0.2673, 0.2564, 0.2762)
    ),
}
_RUNS = ClassificationRuns(seeds=4, epochs=100)


@dataclass(frozen=True)
class PictureSetting(ClassificationSetting):
    """A convolutional network, laid out in memory channel by channel at each pixel.

    Args:
        device: where it is trained.
    """

    device: str = "cpu"

    def network(self, seed: int) -> nn.Module:
        """The network with the start of one seed.

        Args:
            seed: settles the start.
        """
        network = super().network(seed).to(self.device)
        return network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]

    def describe(self) -> dict[str, JSON]:
        """What settles its results, the kind of device among it."""
        return {**super().describe(), "device": torch.device(self.device).type}


def figure6(
    runs: ClassificationOptions = _RUNS,
    *,
    datasets: tuple[str, ...] = ("cifar10",),
    activations: tuple[str, ...] = FIGURE6,
    widths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0),
    depth: int = 50,
    device: str = "cpu",
) -> ClassificationStudy:
    """Figure 6: pre-activation ResNet-50 on CIFAR, accuracy against the number of parameters.

    On a processor a run of the paper's size takes days; fewer epochs and a smaller depth or
    width give a reduced experiment, which says so in its labels and its configuration.

    Args:
        runs: seeds, epochs, and hyperparameters where the search's are not wanted.
        datasets: "cifar10", and "cifar100" for whoever has it.
        activations: their names, as `torchalu.nn.activation` takes them.
        widths: factors of the network's width.
        depth: layers with weights: 26, 38, 50, 101 or 152.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, a device that is
            not there.

    Source:
        Lowe et al. 2022, section 4.4 and figure 6. Departures: see `docs/lowe2022.md`.

    Example:
        >>> study = figure6(activations=("relu", "or_ail"), widths=(0.25,), depth=26)
        >>> [setting.parameters for setting in study.settings]
        [880474, 443354]
    """
    choose("datasets", datasets, _PREPARE)
    activations = check_activations(activations)
    check_device(device)
    check_positive("widths", widths)
    rates = runs.learning_rate, runs.weight_decay
    settings = [
        cifar_setting(dataset, name, chosen("resnet", name, *rates), width, depth, device)
        for dataset in datasets
        for width in widths
        for name in activations
    ]
    return ClassificationStudy("lowe2022.figure6", settings, runs, varied="width")


def cifar_setting(
    dataset: str,
    name: str,
    hyperparameters: Hyperparameters,
    width: float,
    depth: int = 50,
    device: str = "cpu",
    more: Mapping[str, Label] | None = None,
) -> PictureSetting:
    """A residual network on CIFAR.

    Args:
        dataset: "cifar10" or "cifar100".
        name: of the activation.
        hyperparameters: learning rate and weight decay.
        width: factor of the network's width.
        depth: layers with weights.
        device: where to train.
        more: labels.
    """
    classes = DATASETS[dataset][1]
    labels = {"dataset": dataset, "depth": depth, "activation": name, "width": float(width)}
    return PictureSetting(
        {**labels, **(more or {})},
        partial(preactivation_resnet, classes, name, width, depth),
        hyperparameters,
        augmented(dataset, device),
        device=device,
    )


def augmented(dataset: str, device: str = "cpu") -> Source:
    """Pictures, those to learn from shifted and mirrored.

    Args:
        dataset: "cifar10" or "cifar100".
        device: where they are kept.
    """
    return Source(f"{dataset}, shifted and mirrored", partial(_load, dataset, device))


@cache
def _load(dataset: str, device: str) -> AugmentedPictures:
    """The data of `augmented`."""
    plain = DATASETS[dataset][0]()
    train, validation, test = (
        Samples(part.inputs.to(device), part.labels.to(device))
        for part in (plain.train, plain.validation, plain.test)
    )
    return AugmentedPictures(train, validation, test, partial(_prepare, dataset))


def _prepare(
    dataset: str, pictures: UInt8[Tensor, "batch 3 32 32"]
) -> Float[Tensor, "batch 3 32 32"]:
    """Normalized pictures, in the layout that convolutions are fastest with."""
    return _PREPARE[dataset](pictures).contiguous(memory_format=torch.channels_last)
