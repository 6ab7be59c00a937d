"""The experiments of the papers: a function for each table or figure, which gives a study."""

from torchalu.experiments.counterparts import counterparts
from torchalu.experiments.registry import get, included, including, names
from torchalu.experiments.runs import Runs

__all__ = ["Runs", "counterparts", "get", "included", "including", "names"]
