"""Mean and standard deviation of the logic functions on standard normal logits."""

import math
import operator
from functools import cache
from numbers import Integral
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TERMS = np.arange(1.0, 513.0)  # the power series below reach the last digit with k = 2


class Moments(NamedTuple):
    """Mean and variance."""

    mean: float
    variance: float


def logic_moments(function: str, k: int) -> tuple[float, float]:
    r"""Mean and standard deviation of a logic function of k independent standard normal logits.

    .. math:: m = E[f(z)], \quad s^2 = E[(f(z) - m)^2], \quad z_1, ..., z_k \sim N(0, 1)

    The normalized form of a function is :math:`(f - m) / s`. Both numbers are computed once, to
    12 digits, for any k. Those of the approximations are integrals of the distribution of the
    smallest operand. Those of the exact functions are power series, in which the expected
    powers of :math:`\sigma(z_i)` or :math:`\tanh(z_i / 2)` are one-dimensional integrals.

    Args:
        function: `"and_ail"`, `"or_ail"`, `"xnor_ail"`, `"logit_and"`, `"logit_or"` or
            `"logit_xnor"`.
        k: number of operands.

    Raises:
        TypeError: `k` is no integer.
        ValueError: no such function; `k` is less than 2; `k` is so large that a double cannot
            hold the variance.

    Source:
        Lowe et al. 2022, section 3.6. Departure: any k is computed. The authors' program holds
        closed forms for the approximations of two operands, and for the rest figures from
        simulations, to three to five digits, which these numbers agree with.

    Example:
        >>> mean, deviation = logic_moments("and_ail", 2)
        >>> f"{mean:.12f} {deviation:.12f}"
        '-0.681037072175 0.972287740031'
        >>> logic_moments("logit_xnor", 2)[0]
        0.0
    """
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise TypeError(f"k is {k!r}; give a whole number of operands, 2 or more")
    if k < 2:
        raise ValueError(f"k is {k}; a logic function takes 2 operands or more")
    if function not in _MOMENTS:
        raise ValueError(f"function is {function!r}; give one of {', '.join(_MOMENTS)}")
    return _constants(function, operator.index(k))  # the compiler may hold k as a symbol


def _constants(function: str, k: int) -> tuple[float, float]:
    """The answer, which the compiler takes as it is instead of tracing what computes it."""
    return _moments(function, k)


# What `torch.compiler.assume_constant_result` sets, which would first import the whole compiler.
_constants._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


@cache
def _moments(function: str, k: int) -> tuple[float, float]:
    """The answer for checked arguments."""
    mean, variance = _MOMENTS[function](k)
    if variance < np.finfo(np.float64).tiny:
        raise ValueError(
            f"k is {k}: the variance of {function} is too small for a double; take a smaller k"
        )
    return mean, math.sqrt(variance)


def _and_ail(k: int) -> Moments:
    """Sum of the negative operands, or, where there are none, the smallest."""
    half_normal = 1 / math.sqrt(2 * math.pi)  # mean of max(z, 0); its square has the mean 1/2
    smallest, square = _least_moments(k, 0.5)
    mean = smallest - k * half_normal
    variance = k * (0.5 - half_normal**2) + square - smallest**2 + 2 * k * half_normal * smallest
    return Moments(mean, variance)


def _xnor_ail(k: int) -> Moments:
    """The smallest magnitude, with either sign as often."""
    return Moments(0.0, _least_moments(k, 1.0)[1])


def _least_moments(k: int, share: float) -> tuple[float, float]:
    r"""Integrals of :math:`P(t)^k` and of :math:`2t P(t)^k`, where P(t) is share * P(\|z\| > t).

    They are the first two moments of the smallest operand, of those draws in which all are
    positive, for a share of 1/2; of the smallest magnitude for a share of 1. The trapezoidal
    rule in log t reaches the last digit: the integrand is analytic and falls off at both ends.
    """
    step = 1 / 16
    t = np.exp(np.arange(-50.0, 3.7, step))
    tail = (share * scipy.special.erfc(t / math.sqrt(2))) ** k
    return step * float(tail @ t), step * float(tail @ (2 * t**2))


def _logit_and(k: int) -> Moments:
    r"""By :math:`f = R - S`, :math:`S = -\sum_i \log \sigma(z_i)`, :math:`R = -\log(1 - e^{-S})`.

    R is the series :math:`\sum_n e^{-nS} / n`, its square :math:`\sum_n 2 H_{n-1} e^{-nS} / n`,
    and the mean of :math:`e^{-nS}` is that of :math:`\sigma(z)^n`, to the power k.
    """
    z, weight = _normal_grid()
    cost = np.logaddexp(0, -z)
    powers = np.exp(-np.outer(_TERMS, cost))
    each, each_cost = powers @ weight, powers @ (weight * cost)
    harmonic = np.cumsum(1 / _TERMS) - 1 / _TERMS
    cost_mean, cost_variance = _weighted_moments(cost, weight)
    rest = float(np.sum(each**k / _TERMS))
    rest_square = float(np.sum(2 * harmonic / _TERMS * each**k))
    product = float(np.sum(k * each_cost * each ** (k - 1) / _TERMS))
    covariance = product - k * cost_mean * rest
    variance = k * cost_variance - 2 * covariance + rest_square - rest**2
    return Moments(rest - k * cost_mean, variance)


def _logit_xnor(k: int) -> Moments:
    r"""By the series of :math:`\operatorname{artanh}^2 u` in :math:`u^2`, u a product of tanh."""
    z, weight = _normal_grid()
    each = np.tanh(z / 2) ** (2 * _TERMS[:, None]) @ weight
    coefficients = np.cumsum(1 / (2 * _TERMS - 1)) / _TERMS
    return Moments(0.0, float(4 * coefficients @ each**k))


def _normal_grid() -> tuple[Array, Array]:
    """Points, and weights with which a sum over them is the mean under N(0, 1).

    The trapezoidal rule: on analytic functions that do not grow it reaches the last digit.
    """
    step = 1 / 8
    z = np.arange(-13.0, 13.0 + step, step)
    return z, step * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def _weighted_moments(values: Array, weight: Array) -> Moments:
    """Mean and variance of values with weights."""
    mean = float(weight @ values)
    return Moments(mean, float(weight @ (values - mean) ** 2))


def _mirrored(moments: Moments) -> Moments:
    """Of -f(-z): what De Morgan's law makes of AND."""
    return Moments(-moments.mean, moments.variance)


_MOMENTS = {
    "and_ail": _and_ail,
    "or_ail": lambda k: _mirrored(_and_ail(k)),
    "xnor_ail": _xnor_ail,
    "logit_and": _logit_and,
    "logit_or": lambda k: _mirrored(_logit_and(k)),
    "logit_xnor": _logit_xnor,
}
