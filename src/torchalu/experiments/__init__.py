"""The experiments of the papers: a function for each table or figure, which gives a study."""

from torchalu.experiments.registry import get, names

__all__ = ["get", "names"]
