"""Embeddings of pictures by a frozen encoder, as data to learn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import get_args

from torchalu.experiments.lowe2022.data import (
    ClassificationData,
    Part,
    Samples,
    Source,
    load_mnist_data,
)
from torchalu.experiments.lowe2022.efficientnet_lite import FEATURES, load_efficientnet_lite0
from torchalu.experiments.lowe2022.embeddings import Encoder, embeddings
from torchalu.experiments.lowe2022.resnet18 import load_resnet18
from torchalu.tasks import Pictures, load_cifar10, load_cifar100

Progress = Callable[[float], object]

ENCODERS: Mapping[str, tuple[Callable[[], Encoder], int]] = {
    "efficientnet": (load_efficientnet_lite0, FEATURES),
    "resnet18": (load_resnet18, 512),
}
"""What loads an encoder, and how many features it gives, by name."""

_AT_ONCE = 500  # pictures between two looks at whether to stop


def cifar(load: Callable[[Part], Pictures]) -> ClassificationData:
    """CIFAR: 40,000 pictures to train on, the last 10,000 of the training files to validate.

    Args:
        load: `load_cifar10` or `load_cifar100`.

    Raises:
        FileNotFoundError: it is not there.
        torchalu.tasks.DataError: a file is not the published one.
    """
    train, validation, test = (Samples(*load(part)) for part in get_args(Part))
    return ClassificationData(train, validation, test)


DATASETS: Mapping[str, tuple[Callable[[], ClassificationData], int]] = {
    "cifar10": (lambda: cifar(load_cifar10), 10),
    "cifar100": (lambda: cifar(load_cifar100), 100),
    "mnist": (load_mnist_data, 10),
}
"""What loads pictures, and how many classes they have, by name."""

_LOADED: dict[tuple[str, str], ClassificationData] = {}
_LOCKS = {dataset: Lock() for dataset in DATASETS}


def embedded(dataset: str, encoder: str) -> Source:
    """Embeddings of a data set.

    Args:
        dataset: one of `DATASETS`.
        encoder: one of `ENCODERS`.
    """
    load = partial(load_embedded, dataset, encoder)
    return Source(f"embeddings of {dataset} by {encoder}", load, prepare=load)


def load_embedded(
    dataset: str, encoder: str, progress: Progress = lambda _: None
) -> ClassificationData:
    """Embeddings of a data set, from the cache as far as they are there, else computed.

    One thread computes those of a data set while others wait for it.

    Args:
        dataset: one of `DATASETS`.
        encoder: one of `ENCODERS`.
        progress: is told the fraction that is done. It may raise to end the computation, which
            goes on from there the next time.

    Raises:
        FileNotFoundError: the pictures or the weights of the encoder are missing.
        torchalu.tasks.DataError: a file is not the published one, or is damaged.
    """
    with _LOCKS[dataset]:
        if (dataset, encoder) not in _LOADED:
            _LOADED[dataset, encoder] = _embed(DATASETS[dataset][0](), encoder, progress)
    return _LOADED[dataset, encoder]


def _embed(pictures: ClassificationData, encoder: str, progress: Progress) -> ClassificationData:
    """The same samples, embedded."""
    network = ENCODERS[encoder][0]()
    parts = pictures.train, pictures.validation, pictures.test
    total = sum(len(part.labels) for part in parts)
    found, before = [], 0
    for part in parts:
        features = embeddings(
            part.inputs,
            network,
            chunk=_AT_ONCE,
            progress=lambda done, _, before=before: progress((before + done) / total),
        )
        found.append(Samples(features, part.labels))
        before += len(part.labels)
    train, validation, test = found
    return ClassificationData(train, validation, test)
