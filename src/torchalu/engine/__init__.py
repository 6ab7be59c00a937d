"""Many replicas of a small stack of units, trained at native speed."""

from torchalu._core import instruction_set, instruction_sets, select_instruction_set
from torchalu.engine.result import Result
from torchalu.engine.rows import sample_batch
from torchalu.engine.run import Run
from torchalu.engine.trainer import TrainingInterrupted, train, train_together

__all__ = [
    "Result",
    "Run",
    "TrainingInterrupted",
    "instruction_set",
    "instruction_sets",
    "sample_batch",
    "select_instruction_set",
    "train",
    "train_together",
]
