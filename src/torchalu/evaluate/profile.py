r"""The profile likelihood of the mean of a gamma and of a beta law.

Both laws concentrate on a point where their values nearly agree; the difference of two log-gamma
functions then has no digit left. So each likelihood is written with Stirling's formula taken out,

.. math:: S(x) = \log \Gamma(x) - (x - \tfrac12) \log x + x - \tfrac12 \log 2 \pi,

and with the mean divergence between the law's mean and the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import scipy
from jaxtyping import Float

_SERIES_FROM = 10.0

Values = Float[np.ndarray, " rows"]


class GammaProfile:
    """Of the logarithm of the mean, for positive values, a row's share of the log-likelihood.

    With the shape k and the divergence d(mu), the mean of x / mu - 1 - log(x / mu), it is
    log(k / 2 pi) / 2 - S(k) - k d(mu), up to a constant.

    Args:
        values: positive, not all equal.
    """

    def __init__(self, values: Values) -> None:
        center = values.mean()
        deviation = (values - center) / center
        self.best = float(np.log(center))
        self._least = float((deviation - np.log1p(deviation)).mean())
        self.width = _step(self._least, len(values))

    def mean(self, position: float) -> float:
        """The mean at a position."""
        return float(np.exp(position))

    def log_likelihood(self, position: float) -> float:
        """At a mean, with the shape that suits it best."""
        shift = position - self.best
        divergence = self._least + float(np.expm1(-shift)) + shift

        def slope(log_shape: float) -> float:
            shape = np.exp(log_shape)
            return 0.5 - shape * (_stirling_slope(shape) + divergence)

        shape = _shape(slope, divergence)
        return 0.5 * np.log(shape) - _stirling(shape) - shape * divergence


class BetaProfile:
    """Of the log-odds of the mean, for values in (0, 1), a row's share of the log-likelihood.

    With the precision n, parameters a = n m and b = n (1 - m), and the mean divergence d(m)
    between m and the values, it is S(n) - S(a) - S(b) + log(a b / (2 pi n)) / 2 - n d(m), up to a
    constant.

    Args:
        values: between 0 and 1, not all equal.
        rest: 1 - values, to full precision.
    """

    def __init__(self, values: Values, rest: Values) -> None:
        self._values, self._rest = values, rest
        start = float(scipy.special.logit(np.clip(values.mean(), 1e-15, 1 - 1e-15)))
        self.width = _step(self._divergence(start), len(values))
        rising = self._slope(start) > 0
        self.best = solve(
            lambda at: self._slope(at) if rising else -self._slope(at),
            start,
            self.width if rising else -self.width,
        )

    def mean(self, position: float) -> float:
        """The mean at a position."""
        return float(scipy.special.expit(position))

    def log_likelihood(self, position: float) -> float:
        """At a mean, with the precision that suits it best."""
        precision, a, b = self._parameters(position)
        remainder = _stirling(precision) - _stirling(a) - _stirling(b)
        linear = 0.5 * np.log(a * (b / precision)) - precision * self._divergence(position)
        return remainder + linear

    def _parameters(self, position: float) -> tuple[float, float, float]:
        """The precision that suits a mean best, with a and b."""
        m, rest = float(scipy.special.expit(position)), float(scipy.special.expit(-position))
        divergence = self._divergence(position)

        def slope(log_precision: float) -> float:
            n = np.exp(log_precision)
            terms = _stirling_slope(n) - m * _stirling_slope(n * m)
            return 0.5 + n * (terms - rest * _stirling_slope(n * rest) - divergence)

        precision = _shape(slope, divergence)
        return precision, precision * m, precision * rest

    def _divergence(self, position: float) -> float:
        m, rest = scipy.special.expit(position), scipy.special.expit(-position)
        x, y = self._values, self._rest
        change = m - x if m < 0.5 else y - rest
        return float((m * _log_ratio(m, x, change) + rest * _log_ratio(rest, y, -change)).mean())

    def _slope(self, position: float) -> float:
        """The sign of the profile's derivative in the mean; its factor, the precision, is left."""
        _, a, b = self._parameters(position)
        m, rest = scipy.special.expit(position), scipy.special.expit(-position)
        x, y = self._values, self._rest
        change = m - x if m < 0.5 else y - rest
        gap = (_log_ratio(m, x, change) - _log_ratio(rest, y, -change)).mean()
        return _stirling_slope(b) - _stirling_slope(a) + 0.5 / a - 0.5 / b - float(gap)


def solve(function: Callable[[float], float], start: float, step: float) -> float:
    """The root of a function that is positive at the start and falls in the step's direction.

    Args:
        function: to find the root of.
        start: where to begin.
        step: first stride; it doubles until the function is negative.
    """
    inside = start
    while function(start + step) > 0:
        inside = start + step
        step *= 2
    return _root(function, inside, start + step, abs(step) * 1e-12)


def _shape(slope: Callable[[float], float], divergence: float) -> float:
    """The shape or precision at which the likelihood's slope vanishes."""
    low, high = 1e-3 / max(divergence, 1.0), 1.6 / divergence
    return float(np.exp(_root(slope, float(np.log(low)), float(np.log(high)), 1e-12)))


def _root(function: Callable[[float], float], start: float, end: float, within: float) -> float:
    return cast("float", scipy.optimize.brentq(function, start, end, xtol=within))


def _step(divergence: float, rows: int) -> float:
    """About the standard error of a mean, relative to it."""
    return float(np.sqrt(2 * divergence / rows))


def _log_ratio(m: float, x: Values, change: Values) -> Values:
    """log(m / x), from m - x where the two are close."""
    ratio = change / x
    return np.where(np.abs(ratio) < 0.5, np.log1p(np.maximum(ratio, -0.5)), np.log(m / x))


def _stirling(x: float) -> float:
    """S(x)."""
    if x < _SERIES_FROM:
        return float(scipy.special.gammaln(x) - (x - 0.5) * np.log(x) + x - 0.5 * np.log(2 * np.pi))
    square = x**-2
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680)))) / x


def _stirling_slope(x: float) -> float:
    """S'(x)."""
    if x < _SERIES_FROM:
        return float(scipy.special.digamma(x) - np.log(x) + 0.5 / x)
    square = x**-2
    return -square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240))))
