"""The experiments of the papers: a function for each table or figure, which gives a study."""

from torchalu.experiments.registry import get, included, names
from torchalu.experiments.runs import Runs

__all__ = ["Runs", "get", "included", "names"]
