"""From records to outcomes: what counts as solved, when, how sparse, and with what certainty."""

from torchalu.evaluate.comparison import compare, holm, t_interval, t_test
from torchalu.evaluate.counterexamples import Counterexamples, find_counterexamples
from torchalu.evaluate.criterion import nearly_perfect_loss, noise_loss, threshold
from torchalu.evaluate.digits import matching_digits
from torchalu.evaluate.intervals import (
    Estimate,
    beta_mean_interval,
    gamma_mean_interval,
    t_upper,
    wilson,
)
from torchalu.evaluate.memory import check_memory, free_bytes, unroll_bytes
from torchalu.evaluate.noisy import Noisy
from torchalu.evaluate.outcomes import outcomes
from torchalu.evaluate.output_ensemble import OutputEnsemble
from torchalu.evaluate.signals import signal_correlations
from torchalu.evaluate.strings import StringAccuracy, string_accuracy
from torchalu.evaluate.summary import summarize

__all__ = [
    "Counterexamples",
    "Estimate",
    "Noisy",
    "OutputEnsemble",
    "StringAccuracy",
    "beta_mean_interval",
    "check_memory",
    "compare",
    "find_counterexamples",
    "free_bytes",
    "gamma_mean_interval",
    "holm",
    "matching_digits",
    "nearly_perfect_loss",
    "noise_loss",
    "outcomes",
    "signal_correlations",
    "string_accuracy",
    "summarize",
    "t_interval",
    "t_test",
    "t_upper",
    "threshold",
    "unroll_bytes",
    "wilson",
]
