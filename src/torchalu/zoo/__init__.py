"""Learned algorithms: checkpoints that run, are measured, filmed, and shipped with the package."""

from torchalu.zoo.algorithm_file import AlgorithmFileError
from torchalu.zoo.card import RANDOM, Card, Measurement
from torchalu.zoo.film import shades, write_film
from torchalu.zoo.learn import learn
from torchalu.zoo.learned_algorithm import LearnedAlgorithm
from torchalu.zoo.shelf import find, load, names, put

__all__ = [
    "RANDOM",
    "AlgorithmFileError",
    "Card",
    "LearnedAlgorithm",
    "Measurement",
    "find",
    "learn",
    "load",
    "names",
    "put",
    "shades",
    "write_film",
]
