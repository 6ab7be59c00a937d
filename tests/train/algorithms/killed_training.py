"""Trainings for the test that kills them, in a file of their own, for another process."""

import sys
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from torchalu.tasks import algorithm
from torchalu.train import loop
from torchalu.train.algorithms import AlgorithmTraining, train_algorithm

COMMON = {"batch": 4, "evaluate_every": 7, "checkpoint_every": 3, "every": 4}
COMMON |= {"validate_at": (1.0, 2.0), "validation_strings": 4}
TRAININGS = {
    "diagonal": AlgorithmTraining(
        maps=6, bins=(3, 5), examples=8, gradient_noise=1.0, average=0.9, steps=40, **COMMON
    ),
    "cgru": AlgorithmTraining(
        form="cgru", maps=2, width=2, layers=1, parameter_sets=2, pull=0.09, lengths="curriculum",
        bins=(5,), start=1, threshold=1.0, dropout=0.01, learning_rate=0.02, optimizer="adam",
        clip_norm=1.0, gradient_noise=0.1, gradient_noise_law="error", noise=0.0, saturation=0.0,
        steps=40, **COMMON,
    ),
}  # fmt: skip


def run(folder):
    """Trains from the checkpoints in a folder, slowly, and writes what came of it."""
    torch.set_num_threads(1)
    loop._REPORT_SECONDS = -1.0
    print("running", flush=True)
    for name, training in TRAININGS.items():
        place = Path(folder) / name
        result = train_algorithm(
            algorithm("copy"), training, folder=place, report=lambda _: time.sleep(0.02)
        )
        result.records.drop("seconds").write_parquet(place / "records.parquet")
        save_file(result.module.state_dict(), place / "best.safetensors")


if __name__ == "__main__":
    run(sys.argv[1])
