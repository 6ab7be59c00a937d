"""Two clouds of points to tell apart, in place of a data set of Lowe et al. 2022."""

from functools import partial

import numpy as np
import torch

from torchalu.experiments.lowe2022.data import ClassificationData, Samples, Source
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.networks import mlp
from torchalu.experiments.lowe2022.study import ClassificationSetting
from torchalu.experiments.lowe2022.training import ClassificationRuns

TINY = ClassificationRuns(seeds=2, epochs=2, batch_size=8)


def cloud(rows, seed):
    """Points of two classes, each around a corner of its own."""
    random = np.random.default_rng(seed)
    labels = random.integers(2, size=rows)
    points = random.standard_normal((rows, 4)) + 2.0 * (2 * labels[:, None] - 1)
    return Samples(torch.from_numpy(points), torch.from_numpy(labels))


CLOUDS = ClassificationData(cloud(80, 0), cloud(40, 1), cloud(60, 2))


def setting(name):
    """A network of four hidden units, with an activation by name."""
    return ClassificationSetting(
        {"activation": name, "width": 4},
        partial(mlp, 4, (4,), 2, name),
        Hyperparameters(0.1),
        Source("clouds", lambda: CLOUDS),
    )
