"""Formulas whose powers are learned: Levenberg and Marquardt's method, then simple fractions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form.powers import DENOMINATORS, LARGEST_DENOMINATOR, LARGEST_POWER
from torchalu.estimators.table import CanonicalTable

EXACT = 1e-9
"""Root mean square of what is left of exact data, as a share of the target."""

REACHES = 3.0, 1.0
"""Standard errors within which powers are rounded."""

MOST_ROWS, FEWEST_ROWS = 500, 30
"""Rows that are learned from, and those that formulas which are not exact need."""

STARTS, SPREAD = 8, 1.5
"""Descents, and the standard deviation of the powers that they start from."""

_MOST_COLUMNS = 9
_TRIALS = 12
_LONGEST_STEP = 1.0
_LEAST_GAIN, _MOST_IDLE = 1e-3, 3
_STEPS, _STEPS_AFTER_ROUNDING = 80, 20
_ROUNDING = 1e-7
_TINY = float(np.finfo(np.float64).tiny)


def one_signed_columns(table: CanonicalTable) -> list[int]:
    """Those on which the target depends most, if they are above 0 on all rows, or below it.

    Args:
        table: the rows to learn from.
    """
    signs = np.abs(np.sign(table.X).sum(axis=0))
    return [j for j in table.screened(_MOST_COLUMNS) if signs[j] == len(table.y)]


class PowerFit(NamedTuple):
    """A formula, with the constants that are best for its powers.

    Attributes:
        powers: of any shape.
        constants: those that follow from the powers.
        residual: weighted, a value a row.
        error: the sum of its squares.
    """

    powers: np.ndarray
    constants: np.ndarray
    residual: np.ndarray
    error: float


class LearnedPowers(ABC):
    """A formula that depends on its powers smoothly, and linearly on its constants.

    Args:
        target: what is to be explained, weighted; a value a row.
    """

    target: np.ndarray

    @abstractmethod
    def evaluate(self, powers: np.ndarray) -> PowerFit | None:
        """The best constants for some powers; None where there are none."""

    @abstractmethod
    def derivatives(self, fit: PowerFit) -> tuple[np.ndarray, np.ndarray]:
        """By how much the formula changes with its constants, and with its powers.

        Shape:
            returns (rows, constants) and (rows, powers).
        """

    def best(self, starts: Iterable[np.ndarray], least: float) -> PowerFit | None:
        """The best of some descents; the first that leaves less than so much ends them."""
        best = None
        for start in starts:
            fit = self.evaluate(start)
            if fit is not None:
                fit = self._descend(fit, np.ones(start.shape, bool), _STEPS)
                best = fit if best is None or fit.error < best.error else best
                if best.error < least:
                    break
        return best

    def rounded(
        self,
        fit: PowerFit,
        reach: float,
        real: np.ndarray | None = None,
        given: Mapping[tuple[int, ...], Fraction] | None = None,
        last: tuple[int, ...] | None = None,
    ) -> tuple[np.ndarray, PowerFit] | None:
        """All powers as fractions within so many standard errors, and the formula with these.

        The surest of the simplest ones first, and the others are learned again.

        Args:
            fit: what was learned.
            reach: standard errors.
            real: which powers stay as they are learned; none if left out.
            given: fractions for some places; the others are learned again first.
            last: the place of a power that is rounded when all others are.

        Returns:
            The fractions, 0 for those that stay real; None where one is too large.
        """
        free = np.ones(fit.powers.shape, dtype=bool)
        rounds = free.copy() if real is None else ~real
        fractions = np.full(fit.powers.shape, Fraction(0))
        left = dict(given or {})
        while left or (free & rounds).any():
            if left:
                place, fraction = left.popitem()
            else:
                places = [*map(tuple, np.argwhere(free & rounds).tolist())]
                others = [place for place in places if place != last]
                place, fraction = self._surest(fit, free, others or places, reach)
            if abs(fraction) > LARGEST_POWER:
                return None
            fractions[place], free[place] = fraction, False
            powers = fit.powers.copy()
            powers[place] = float(fraction)
            start = self.evaluate(powers)
            if start is None:
                return None
            fit = self._descend(start, free, _STEPS_AFTER_ROUNDING) if free.any() else start
        return fractions, fit

    def errors(self, fit: PowerFit, free: np.ndarray) -> np.ndarray:
        """Standard errors of the free powers, 0 of the others."""
        slopes, length = self._slopes(fit, free)
        freedom = max(len(self.target) - slopes.shape[1], 1)
        variance = np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=1e-13, hermitian=True))
        own = np.sqrt(np.maximum(variance, 0.0) * fit.error / freedom) / length
        errors = np.zeros(free.shape)
        errors[free] = own[len(fit.constants) :]
        return errors

    def _surest(
        self, fit: PowerFit, free: np.ndarray, places: list[tuple[int, ...]], reach: float
    ) -> tuple[tuple[int, ...], Fraction]:
        """The surest of the simplest powers in some places, and what it may be."""
        near = reach * self.errors(fit, free) + _ROUNDING
        simple = {
            place: _simple_power(float(fit.powers[place]), float(near[place])) for place in places
        }
        place = min(simple, key=lambda place: (simple[place].denominator, near[place]))
        return place, simple[place]

    def _slopes(self, fit: PowerFit, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much the formula changes with its constants and free powers, and by how much.

        The columns of the first have length 1; the second are the lengths that they had.
        """
        of_constants, of_powers = self.derivatives(fit)
        slopes = np.hstack([of_constants, of_powers[:, free.ravel()]])
        length = np.maximum(np.linalg.norm(slopes, axis=0), _TINY)
        return slopes / length, length

    def _descend(self, fit: PowerFit, free: np.ndarray, steps: int) -> PowerFit:
        """Levenberg and Marquardt's method, in the powers that are free."""
        damping, idle = 1e-2, 0
        for _ in range(steps):
            slopes, length = self._slopes(fit, free)
            square, slope = slopes.T @ slopes, slopes.T @ fit.residual
            for _ in range(_TRIALS):
                damped = square + damping * np.eye(len(square))
                step = np.zeros(free.shape)
                step[free] = (np.linalg.solve(damped, slope) / length)[len(fit.constants) :]
                step *= min(1.0, _LONGEST_STEP / max(np.abs(step).max(), _TINY))
                tried = self.evaluate(fit.powers + step)
                if tried is not None and tried.error < fit.error:
                    break
                damping *= 4
            else:
                return fit
            idle = idle + 1 if fit.error - tried.error < _LEAST_GAIN * fit.error else 0
            fit, damping = tried, max(damping / 5, 1e-14)
            if fit.error == 0 or idle == _MOST_IDLE:
                break
        return fit


def _simple_power(value: float, reach: float) -> Fraction:
    """The simplest fraction within reach, or the nearest tenth."""
    near = [Fraction(round(value * denominator), denominator) for denominator in DENOMINATORS]
    if reach < 2 * _ROUNDING:
        near.append(Fraction(value).limit_denominator(LARGEST_DENOMINATOR))
    return next((one for one in near if abs(float(one) - value) <= reach), near[-1])
