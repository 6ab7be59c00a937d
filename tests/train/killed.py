"""A run for the test that kills it, in a module of its own, for another process to start."""

import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from torchalu.nn import NAU, NMU
from torchalu.train import TrainingConfiguration, fit


def run(folder):
    """Trains from the checkpoint in a folder, slowly, and writes what came of it."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    units = NAU(3, 2, generator=generator), NMU(2, 1, generator=generator)

    def sample(step, generator):
        time.sleep(1e-3)
        x = 1 + torch.rand(16, 3, generator=generator)
        return x, (x[:, :1] + x[:, 1:2]) * x[:, 2:]

    def loss(module, batch):
        return nn.functional.mse_loss(module(batch[0]), batch[1])

    def evaluate(module):
        x = torch.linspace(0, 1, 30).reshape(10, 3)
        return {"validation_loss": loss(module, (x, x[:, :1])).item()}

    print("running", flush=True)
    result = fit(
        nn.Sequential(*units),
        sample,
        loss,
        TrainingConfiguration(steps=200, evaluate_every=7, checkpoint_every=10, penalty=0.1),
        evaluate=evaluate,
        folder=folder,
    )
    result.records.write_parquet(Path(folder) / "records.parquet")
    save_file(result.last_state, Path(folder) / "last.safetensors")
    save_file(result.best_state, Path(folder) / "best.safetensors")
