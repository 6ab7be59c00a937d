"""From records to outcomes: what counts as solved, when, how sparse, and with what certainty."""

from torchalu.evaluate.criterion import nearly_perfect_loss, threshold
from torchalu.evaluate.intervals import (
    Estimate,
    beta_mean_interval,
    gamma_mean_interval,
    t_upper,
    wilson,
)
from torchalu.evaluate.outcomes import outcomes
from torchalu.evaluate.summary import summarize

__all__ = [
    "Estimate",
    "beta_mean_interval",
    "gamma_mean_interval",
    "nearly_perfect_loss",
    "outcomes",
    "summarize",
    "t_upper",
    "threshold",
    "wilson",
]
