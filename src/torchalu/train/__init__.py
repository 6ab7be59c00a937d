"""Studies and run folders, and the training loop for any module."""

from torchalu.train.algorithms import (
    AlgorithmProgress,
    AlgorithmResult,
    AlgorithmTraining,
    train_algorithm,
)
from torchalu.train.checkpoint import CheckpointError
from torchalu.train.configuration import TrainingConfiguration
from torchalu.train.files import remove_unfinished, write_atomic
from torchalu.train.hooks import Hook, Measured, Progress
from torchalu.train.loop import TrainingResult, fit, seeded
from torchalu.train.machine import cores, environment, processor
from torchalu.train.part_files import Cost, encode
from torchalu.train.run_folder import RunFolder
from torchalu.train.schedules import cosine, staircase
from torchalu.train.spent import Spent
from torchalu.train.study import JSON, Chunk, Part, Report, Stopped, Study

__all__ = [
    "JSON",
    "AlgorithmProgress",
    "AlgorithmResult",
    "AlgorithmTraining",
    "CheckpointError",
    "Chunk",
    "Cost",
    "Hook",
    "Measured",
    "Part",
    "Progress",
    "Report",
    "RunFolder",
    "Spent",
    "Stopped",
    "Study",
    "TrainingConfiguration",
    "TrainingResult",
    "cores",
    "cosine",
    "encode",
    "environment",
    "fit",
    "processor",
    "remove_unfinished",
    "seeded",
    "staircase",
    "train_algorithm",
    "write_atomic",
]
