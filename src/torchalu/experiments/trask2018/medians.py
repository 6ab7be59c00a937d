"""How sure a median over seeds is."""

from __future__ import annotations

from collections.abc import Sequence

import scipy

_CONFIDENCE = 0.95


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The 95% interval of a median, whatever the distribution.

    Between the k-th value from below and from above lies the median, unless fewer than k of n
    values are on one side of it, which has the chances of a fair coin.

    Args:
        values: of all seeds.

    Returns:
        The two values, for the greatest k with 95%; of fewer than six values, which have none, the
        least and the greatest: of five they hold the median with 94%, of three with 75%. None of
        one value.

    Example:
        >>> median_interval([5.0, 1.0, 9.0, 2.0, 8.0, 7.0, 4.0, 6.0, 3.0])
        (2.0, 8.0)
    """
    if len(values) < 2:
        return None, None
    chance = (1 - _CONFIDENCE) / 2
    below = int(scipy.stats.binom.ppf(chance, len(values), 0.5))
    place = max(below - 1, 0)
    order = sorted(values)
    return order[place], order[-1 - place]
