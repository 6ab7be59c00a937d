"""Which of several groups of runs are better, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy

from torchalu.arguments import check_texts
from torchalu.evaluate.intervals import Estimate, check_confidence, read_numbers

_COLUMNS = {
    "n": pl.Int64,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p_best": pl.Float64,
    "p_baseline": pl.Float64,
    "marks": pl.String,
}

_NONE = object()
"""No group, which even null is."""


def t_interval(
    values: Sequence[float] | np.ndarray,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    r"""Mean of values and Student's interval of it.

    .. math:: \bar x \pm t_{n - 1, (1 + c) / 2} \frac{s}{\sqrt n}

    Args:
        values: such as accuracies over seeds.
        confidence: c, between 0 and 1.
        bounds: what a value can be at least and at most, such as 0 and 1 of an accuracy; the
            interval ends there.

    Returns:
        All None without values; the ends None for a single one.

    Raises:
        ValueError: a value that is not finite or beyond the bounds, a confidence not between 0
            and 1.

    Source:
        Student 1908.

    Example:
        >>> t_interval([97.0, 98.0, 99.0])
        Estimate(mean=98.0, low=95.51..., high=100.48...)
        >>> t_interval([97.0, 98.0, 99.0], bounds=(0, 100))
        Estimate(mean=98.0, low=95.51..., high=100.0)
    """
    check_confidence(confidence)
    data = read_numbers(values)
    least, most = map(float, bounds)
    beyond = data[(data < least) | (data > most)]
    if beyond.size:
        raise ValueError(f"values holds {beyond[0]}; give numbers from {least} to {most}")
    if data.size == 0:
        return Estimate(None, None, None)
    mean = float(data.mean())
    if data.size == 1:
        return Estimate(mean, None, None)
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, data.size - 1) * scipy.stats.sem(data))
    return Estimate(mean, max(mean - half, least), min(mean + half, most))


def t_test(
    first: Sequence[float] | np.ndarray,
    second: Sequence[float] | np.ndarray,
    *,
    equal_variances: bool = False,
) -> float | None:
    """The two-sided p-value of equal means.

    Args:
        first: values of one group.
        second: values of the other.
        equal_variances: Student's test, which takes the groups to vary equally; else Welch's.

    Returns:
        None where a group has fewer than two values. Where neither varies, 1 if they are equal
        and 0 if they are not.

    Raises:
        ValueError: a value that is not finite.

    Source:
        Student 1908, Welch 1947; Lowe et al. 2022, sections 4.3 and 4.5, have Student's.

    Example:
        >>> t_test([97.0, 98.0, 99.0], [94.0, 95.0, 96.0])
        0.0213...
    """
    one, other = read_numbers(first, "first"), read_numbers(second, "second")
    if min(one.size, other.size) < 2:
        return None
    if np.ptp(one) == 0 and np.ptp(other) == 0:
        return 1.0 if one[0] == other[0] else 0.0
    moments = [(data.mean(), data.std(ddof=1), data.size) for data in (one, other)]
    test: Any = scipy.stats.ttest_ind_from_stats(
        *moments[0], *moments[1], equal_var=equal_variances
    )
    return float(test.pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    r"""P-values of a family of tests, such that one bound holds for all of them together.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\bigl(1, (m - j + 1) \, p_{(j)}\bigr)

    Args:
        p_values: in any order; a None stays one and does not count.

    Raises:
        ValueError: a value not between 0 and 1.

    Source:
        Holm 1979.

    Example:
        >>> holm([0.01, 0.04, None, 0.03])
        [0.03, 0.06, None, 0.06]
    """
    wrong = [p for p in p_values if p is not None and not 0 <= p <= 1]
    if wrong:
        raise ValueError(f"p_values holds {wrong[0]}; give numbers from 0 to 1")
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(ranked):
        largest = max(largest, min(1.0, (len(ranked) - rank) * p))
        corrected[place] = largest
    return corrected


def compare(
    outcomes: pl.DataFrame,
    by: str,
    value: str,
    *,
    within: Sequence[str] = (),
    baseline: str | None = None,
    equal_variances: bool = False,
    significance: float = 0.05,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> pl.DataFrame:
    """Means with 95% intervals, and tests against the best group and against a baseline.

    In each family of tests, one for each value of `within`, p-values are corrected by Holm's
    method. That the best is chosen by the same values that it is then compared on favors it.

    Args:
        outcomes: a row a run.
        by: the column that names the groups that are compared.
        value: the column that is compared; more is better.
        within: the columns that must agree for groups to be compared.
        baseline: the group that all others of a family are tested against, where it is among
            them; none if left out.
        equal_variances: as of `t_test`.
        significance: of the marks.
        bounds: of the values, as of `t_interval`.

    Returns:
        A row a group, in the order of its first run: the columns of `within` and `by`; n, mean,
        sd, low, high; p_best and p_baseline, null for the best and the baseline themselves and
        where a group has a single run; marks, of which a group may have several: "best"; "tied",
        not significantly different from the best; "above" or "below" the baseline, significantly.

    Raises:
        TypeError: `within` is no list of strings.
        ValueError: a column is missing or has the name of one of the table's own, a value is not
            finite or beyond the bounds, `significance` is not between 0 and 1, or no group is the
            baseline.

    Example:
        >>> runs = pl.DataFrame(
        ...     {"unit": ["a", "a", "b", "b"], "accuracy": [0.90, 0.91, 0.98, 0.99]}
        ... )
        >>> table = compare(runs, "unit", "accuracy", baseline="a")
        >>> table.select("unit", "mean", "marks").rows()
        [('a', 0.905, ''), ('b', 0.985, 'best above')]
    """
    check_texts("within", within)
    if not 0 < significance < 1:
        raise ValueError(f"significance is {significance}; give a number between 0 and 1")
    needed = [*within, by, value]
    missing = [name for name in needed if name not in outcomes.columns]
    if missing:
        raise ValueError(f"outcomes has no column {missing[0]!r}; it has {outcomes.columns}")
    keys = [*within, by]
    if taken := [name for name in keys if name in _COLUMNS or keys.count(name) > 1]:
        raise ValueError(
            f"within and by hold {taken[0]!r}, a column of the comparison or a repetition; rename "
            "the column, or give it once"
        )
    families: dict[tuple[object, ...], dict[object, np.ndarray]] = {}
    for (*family, group), rows in outcomes.group_by([*within, by], maintain_order=True):
        families.setdefault(tuple(family), {})[group] = read_numbers(rows[value].to_numpy(), value)
    if baseline is not None and not any(baseline in groups for groups in families.values()):
        raise ValueError(
            f"baseline is {baseline!r}, which {by} does not hold; it holds "
            f"{', '.join(map(str, outcomes[by].unique(maintain_order=True)))}"
        )
    rows = []
    for family, groups in families.items():
        reference = baseline if baseline is not None and baseline in groups else _NONE
        compared = _family(groups, reference, equal_variances, significance, bounds)
        rows += [(*family, *row) for row in compared]
    schema = {name: outcomes.schema[name] for name in (*within, by)} | _COLUMNS
    return pl.DataFrame(rows, schema=schema, orient="row")


def _family(
    groups: dict[object, np.ndarray],
    baseline: object,
    equal_variances: bool,
    significance: float,
    bounds: tuple[float, float],
) -> list[tuple[object, ...]]:
    """The rows of groups that are compared with each other."""
    best = max(groups, key=lambda group: groups[group].mean())

    def against(reference: object) -> dict[object, float | None]:
        others = [group for group in groups if reference is not _NONE and group != reference]
        tests = [
            t_test(groups[group], groups[reference], equal_variances=equal_variances)
            for group in others
        ]
        return dict(zip(others, holm(tests), strict=True))

    to_best, to_baseline = against(best), against(baseline)
    rows = []
    for group, values in groups.items():
        p_best, p_baseline = to_best.get(group), to_baseline.get(group)
        marks = ["best"] if group == best else []
        if p_best is not None and p_best >= significance:
            marks.append("tied")
        if p_baseline is not None and p_baseline < significance:
            higher = values.mean() > groups[baseline].mean()
            marks.append("above" if higher else "below")
        mean, low, high = t_interval(values, bounds=bounds)
        sd = float(values.std(ddof=1)) if values.size > 1 else None
        numbers = (values.size, mean, sd, low, high, p_best, p_baseline)
        rows.append((group, *numbers, " ".join(marks)))
    return rows
