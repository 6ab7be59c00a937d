"""From records to outcomes: what counts as solved, when, how sparse, and with what certainty."""

from torchalu.evaluate.comparison import compare, holm, t_interval, t_test
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
    "compare",
    "gamma_mean_interval",
    "holm",
    "nearly_perfect_loss",
    "outcomes",
    "summarize",
    "t_interval",
    "t_test",
    "t_upper",
    "threshold",
    "wilson",
]
