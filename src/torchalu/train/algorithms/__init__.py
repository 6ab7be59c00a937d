"""Methods by which algorithms are learned from strings, each a hook of `fit` or what it reads."""

from torchalu.train.algorithms.adamax import ClippedAdamax
from torchalu.train.algorithms.batches import TrainingGroup, TrainingStrings
from torchalu.train.algorithms.clock import AlgorithmProgress
from torchalu.train.algorithms.configuration import AlgorithmTraining
from torchalu.train.algorithms.counterexample_training import CounterexampleTraining
from torchalu.train.algorithms.give_up import GiveUp
from torchalu.train.algorithms.gradient_noise import GradientNoise
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.algorithms.lengths import (
    LengthBins,
    LengthCurriculum,
    LengthGroup,
    LengthPlan,
)
from torchalu.train.algorithms.loss import string_loss
from torchalu.train.algorithms.plateau import PlateauDecay
from torchalu.train.algorithms.relaxation import SharingRelaxation
from torchalu.train.algorithms.result import AlgorithmResult
from torchalu.train.algorithms.rounding import Rounding
from torchalu.train.algorithms.saturation_cost import SaturationCost
from torchalu.train.algorithms.sharpening import Sharpening
from torchalu.train.algorithms.start import new_module
from torchalu.train.algorithms.stopwatch import Stopwatch
from torchalu.train.algorithms.training import length_plan, train_algorithm
from torchalu.train.algorithms.validation import EndWhenRight, StringValidation
from torchalu.train.algorithms.weight_average import WeightAverage

__all__ = [
    "AlgorithmProgress",
    "AlgorithmResult",
    "AlgorithmTraining",
    "ClippedAdamax",
    "CounterexampleTraining",
    "EndWhenRight",
    "GiveUp",
    "GradientNoise",
    "Hardening",
    "LengthBins",
    "LengthCurriculum",
    "LengthGroup",
    "LengthPlan",
    "PlateauDecay",
    "Rounding",
    "SaturationCost",
    "SharingRelaxation",
    "Sharpening",
    "Stopwatch",
    "StringValidation",
    "TrainingGroup",
    "TrainingStrings",
    "WeightAverage",
    "length_plan",
    "new_module",
    "string_loss",
    "train_algorithm",
]
