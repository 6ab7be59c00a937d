"""Many replicas of a small stack of units, trained at native speed."""

from torchalu._core import instruction_set, instruction_sets, select_instruction_set
from torchalu.engine.result import Result
from torchalu.engine.trainer import TrainingInterrupted, sample_batch, train

__all__ = [
    "Result",
    "TrainingInterrupted",
    "instruction_set",
    "instruction_sets",
    "sample_batch",
    "select_instruction_set",
    "train",
]
