"""A small product of sums to train on: what the general loop needs."""

import torch
from torch import nn

from torchalu.nn import NAU, NMU
from torchalu.train import TrainingConfiguration


def model(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return nn.Sequential(NAU(3, 2, generator=generator), NMU(2, 1, generator=generator))


def sample(step, generator):
    x = 1 + torch.rand(16, 3, generator=generator)
    return x, (x[:, :1] + x[:, 1:2]) * x[:, 2:]


def loss(module, batch):
    return nn.functional.mse_loss(module(batch[0]), batch[1])


def evaluate(module):
    x, y = sample(0, torch.Generator().manual_seed(99))
    return {
        "validation_loss": loss(module, (x, y)).item(),
        "extrapolation_loss": loss(module, (3 * x, 9 * y)).item(),
    }


def configuration(**changes):
    numbers = {"steps": 60, "learning_rate": 0.02, "penalty": 0.5, "penalty_start": 20}
    numbers |= {"penalty_end": 40, "evaluate_every": 20, "checkpoint_every": 7, "seed": 3}
    return TrainingConfiguration(**{**numbers, **changes})


def same(first, second):
    return first.keys() == second.keys() and all(
        torch.equal(value, second[name]) for name, value in first.items()
    )
