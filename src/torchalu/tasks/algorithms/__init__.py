"""Algorithms to be learned from strings: each the truth, samplers and adversarial inputs."""

from torchalu.tasks.algorithms.catalog import algorithm, algorithm_names
from torchalu.tasks.algorithms.encoding import SymbolBatch, decode, encode
from torchalu.tasks.algorithms.task import AlgorithmicTask, CarryTask, check_carries
from torchalu.tasks.algorithms.task_file import StringFileTask, read_task_file
from torchalu.tasks.algorithms.variations import in_runs, neighbors

__all__ = [
    "AlgorithmicTask",
    "CarryTask",
    "StringFileTask",
    "SymbolBatch",
    "algorithm",
    "algorithm_names",
    "check_carries",
    "decode",
    "encode",
    "in_runs",
    "neighbors",
    "read_task_file",
]
