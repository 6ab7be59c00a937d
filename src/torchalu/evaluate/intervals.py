"""Intervals of a rate and of a mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from torchalu.evaluate.profile import BetaProfile, GammaProfile, solve

_TINY = 1e-16
_SAME = 1e-9  # relative spread below which values count as equal


class Estimate(NamedTuple):
    """A mean with its interval; None where the data say nothing."""

    mean: float | None
    low: float | None
    high: float | None


def wilson(
    successes: int, trials: int, confidence: float = 0.95
) -> tuple[float, float] | tuple[None, None]:
    r"""Wilson's interval of a success rate.

    .. math:: \frac{\hat p + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat p (1 - \hat p)}{n}
              + \frac{z^2}{4 n^2}}}{1 + \frac{z^2}{n}}

    Args:
        successes: runs that were solved.
        trials: runs in all; without any, both ends are None.
        confidence: of the interval, between 0 and 1.

    Raises:
        ValueError: negative trials, successes not in 0 to trials, a confidence not between 0 and 1.

    Source:
        Wilson 1927; Madsen & Johansen 2020, section 4.1.1.

    Example:
        >>> wilson(98, 100)
        (0.929..., 0.994...)
    """
    check_confidence(confidence)
    if trials < 0:
        raise ValueError(f"trials is {trials}; give 0 or more")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes is {successes} of trials = {trials}; give 0 to {trials}")
    if trials == 0:
        return None, None
    rate, square = successes / trials, scipy.stats.chi2.ppf(confidence, 1) / trials
    center = (rate + square / 2) / (1 + square)
    half = np.sqrt(square * rate * (1 - rate) + square**2 / 4) / (1 + square)
    return max(float(center - half), 0.0), min(float(center + half), 1.0)


def gamma_mean_interval(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> Estimate:
    r"""Mean of positive values and its interval, by the profile likelihood of a gamma law.

    The interval holds each mean that, with the shape that suits it best, is not too unlikely:

    .. math:: 2 \Bigl(\max_{\mu, k} \ell(\mu, k) - \max_k \ell(\mu, k)\Bigr) \le \chi^2_1

    Args:
        values: such as the steps at which runs were solved. 0 counts as 1e-16 of the largest.
        confidence: of the interval, between 0 and 1.

    Returns:
        All None without values; the ends None for a single one; equal values have no width.

    Raises:
        ValueError: a value that is negative or not finite, a confidence not between 0 and 1.

    Source:
        Madsen & Johansen 2020, section 4.1.1. Departure: the maximum is exact, so that the mean is
        that of the values. The authors' program ends its search early where the values are widely
        spread (table 2, NAU on +: 3.9e5 where the mean of the published seeds is 1.9e5).

    Example:
        >>> gamma_mean_interval([1.2e6, 1.4e6, 1.5e6, 1.9e6])
        Estimate(mean=1500000.0..., low=1223..., high=1866...)
    """
    check_confidence(confidence)
    data = read_numbers(values)
    if data.size and data.min() < 0:
        raise ValueError(f"values holds {data.min()}; a gamma law takes numbers from 0 up")
    degenerate = _degenerate(data)
    if degenerate is not None:
        return degenerate
    data = np.maximum(data, _TINY * data.max())
    return _interval(GammaProfile(data), data.size, confidence, 1.0)


def beta_mean_interval(
    values: Sequence[float] | np.ndarray, upper: float = 0.5, confidence: float = 0.95
) -> Estimate:
    """Mean of values in [0, upper] and its interval, by the profile likelihood of a beta law.

    As `gamma_mean_interval`, with a beta law on [0, upper], given by its mean and its precision.
    The mean is the most likely one, which may differ from the mean of the values.

    Args:
        values: such as sparsity errors. Those beyond an end count as that end, the ends themselves
            as 1e-16 of `upper` inside.
        upper: end of the range.
        confidence: of the interval, between 0 and 1.

    Returns:
        All None without values; the ends None for a single one; equal values have no width.

    Raises:
        ValueError: a value that is not finite, an upper that is not positive, a confidence not
            between 0 and 1.

    Source:
        Madsen & Johansen 2020, section 4.1.1; the clipping from the authors' program.

    Example:
        >>> beta_mean_interval([0.1, 0.2, 0.15, 0.25])
        Estimate(mean=0.17..., low=0.11..., high=0.24...)
    """
    check_confidence(confidence)
    if not (np.isfinite(upper) and upper > 0):
        raise ValueError(f"upper is {upper}; give a positive number")
    data = np.clip(read_numbers(values), 0, upper)
    degenerate = _degenerate(data)
    if degenerate is not None:
        return degenerate
    parts = np.maximum(data / upper, _TINY), np.maximum((upper - data) / upper, _TINY)
    return _interval(BetaProfile(*parts), data.size, confidence, upper)


def t_upper(values: Sequence[float] | np.ndarray, confidence: float = 0.99) -> float:
    r"""Upper end of the one-sided Student-t interval of a mean.

    .. math:: \bar x + t_{n-1}(c) \, s / \sqrt n

    Args:
        values: such as the losses of baseline runs, whose accumulator is given.
        confidence: of the interval, between 0 and 1.

    Raises:
        ValueError: fewer than two values, one that is not finite, a confidence not between 0
            and 1.

    Source:
        Madsen & Johansen 2020, appendix D.1.

    Example:
        >>> t_upper([1.0, 2.0, 3.0])
        6.02...
    """
    check_confidence(confidence)
    data = read_numbers(values)
    if data.size < 2:
        raise ValueError(f"values has {data.size} of them; give at least 2")
    error = data.std(ddof=1) / np.sqrt(data.size)
    return float(data.mean() + scipy.stats.t.ppf(confidence, data.size - 1) * error)


def read_numbers(values: Sequence[float] | np.ndarray, name: str = "values") -> np.ndarray:
    """Values as an array, refused under the argument's name unless all are finite."""
    data = np.asarray(values, np.float64)
    if data.ndim != 1:
        raise ValueError(f"{name} has the shape {data.shape}; give a list of numbers")
    if not np.isfinite(data).all():
        raise ValueError(f"{name} holds NaN or infinity; leave those runs out")
    return data


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; give a number between 0 and 1")


def _degenerate(data: np.ndarray) -> Estimate | None:
    """The answer for no value, one value and equal values."""
    if data.size == 0:
        return Estimate(None, None, None)
    mean = float(data.mean())
    if data.size == 1:
        return Estimate(mean, None, None)
    if np.ptp(data) <= _SAME * data.max():
        return Estimate(mean, mean, mean)
    return None


def _interval(
    profile: GammaProfile | BetaProfile, count: int, confidence: float, scale: float
) -> Estimate:
    """The most likely mean, and the means on either side where the likelihood is at the limit."""
    drop = float(scipy.stats.chi2.ppf(confidence, 1)) / (2 * count)
    limit = profile.log_likelihood(profile.best) - drop

    def excess(position: float) -> float:
        return profile.log_likelihood(position) - limit

    low, high = (solve(excess, profile.best, side * profile.width) for side in (-1, 1))
    mean, low, high = (scale * profile.mean(position) for position in (profile.best, low, high))
    return Estimate(mean, low, high)
