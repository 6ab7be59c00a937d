"""When a run counts as solved: the loss of a nearly perfect solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from jaxtyping import Float

from torchalu.arguments import check_positive_integers
from torchalu.tasks import SimpleFunction, intervals

_PUBLISHED = {"mul": 0.160010658743333, "add": 1.47861742158438e-5, "sub": 1.38437045113029e-8}
_BLOCK = 1000  # rows that stay in cache

Form = Float[np.ndarray, " in"]
"""Coefficients of a linear form of the independent numbers behind the inputs."""


def threshold(task: SimpleFunction) -> float:
    """The extrapolation loss below which a run on this task is solved.

    For "mul", "add" and "sub" on 100 inputs, subsets of 25 that overlap by half, and inputs of
    U[2, 6], this is the number that the authors published and used, so that success counts
    compare with theirs. For everything else it is `nearly_perfect_loss`.

    Args:
        task: its operation, inputs, subsets, extrapolation range and correlation matter, nothing
            else.

    Raises:
        ValueError: as `nearly_perfect_loss`.

    Source:
        Madsen & Johansen 2020, section 4.1.1, and the thresholds in the authors' published
        program. Departure: that program simulates subsets of 26 inputs instead of 25, by an
        index that is off by one, so that its thresholds are 0.3% (mul) and 8% (add) below those of
        `nearly_perfect_loss`; for sub, 0.2% are left to chance. They are kept where outcomes were
        published by seed, not elsewhere.

    Example:
        >>> threshold(SimpleFunction("mul"))
        0.160010658743333
        >>> round(threshold(SimpleFunction("square")), 4)
        0.16
    """
    default = _inputs(task) == _inputs(SimpleFunction(task.operation))
    if default and task.operation in _PUBLISHED:
        return _PUBLISHED[task.operation]
    return nearly_perfect_loss(task)


def _inputs(task: SimpleFunction) -> tuple[object, ...]:
    """What a threshold depends on, besides the operation."""
    subsets = (task.subset_ratio, task.overlap_ratio, task.subsets)
    return task.in_features, *subsets, intervals(task.extrapolation_range), task.correlation


def nearly_perfect_loss(
    task: SimpleFunction, *, eps: float = 1e-5, rows: int = 1_000_000, seed: int = 0
) -> float:
    r"""Mean squared error, on the extrapolation range, of a stack whose first layer is off by eps.

    .. math:: W_1^\epsilon = \begin{cases} 1 - \epsilon & \text{inputs of the subset} \\
              \epsilon & \text{others} \end{cases}, \qquad
              \mathrm{E}\bigl[(z_1 \circ z_2 - a \circ b)^2\bigr],\ z = W_1^\epsilon x

    The second layer is perfect. For "add", "sub", "mul" and "square" the expectation is computed
    exactly, from the first four cumulants of an input; "div" and "root" are simulated in float64.
    It does not depend on where the subsets lie. Answers are kept, so that asking again is free.

    Args:
        task: its operation, inputs, subsets, extrapolation range and correlation matter, nothing
            else.
        eps: how far each weight is off, towards the wrong side.
        rows: to simulate; the default gives "div" and "root" to about 0.2%.
        seed: of the simulation.

    Raises:
        ValueError: eps or rows not positive; "div" where the second sum may be 0, "root" where
            the first may be negative.

    Source:
        Madsen & Johansen 2020, section 4.1.1, equation 16.

    Example:
        >>> nearly_perfect_loss(SimpleFunction("sub", in_features=2, subsets=((0,), (1,))))
        1.0666...e-09
    """
    if not (np.isfinite(eps) and eps > 0):
        raise ValueError(f"eps is {eps}; give a positive number, such as 1e-5")
    check_positive_integers(rows=rows)
    return _loss(_plain(task), eps, rows, seed)


def noise_loss(task: SimpleFunction, *, rows: int = 1_000_000, seed: int = 0) -> float:
    r"""Mean squared error, on the extrapolation range, of targets as noisy as those of training.

    .. math:: \sigma^2 \, \mathrm{E}[t^2]

    A model below it is nearer to the truth, where it has never been, than one measurement is where
    it learned. The expectation is computed exactly, but for "div", which is simulated in float64.

    Args:
        task: its operation, inputs, subsets, extrapolation range, correlation and noise matter,
            nothing else.
        rows: to simulate; the default gives "div" to about 0.1%.
        seed: of the simulation.

    Raises:
        ValueError: a task without noise, rows not positive; "div" where the second sum may be 0,
            "root" where the first may be negative.

    Source:
        Beyond Madsen & Johansen 2020, whose targets are exact. Their criterion, weights that are
        off by 1e-5, cannot be met from such data: the noise moves the weights by more.

    Example:
        >>> task = SimpleFunction("mul", in_features=2, subsets=((0,), (1,)), noise=0.01)
        >>> round(noise_loss(task) / 1e-4, 2)  # the square of 52/3
        300.44
    """
    if task.noise == 0:
        raise ValueError("task has a noise of 0; give one with noise, or take nearly_perfect_loss")
    check_positive_integers(rows=rows)
    return task.noise**2 * _target_square(_plain(task), rows, seed)


def _plain(task: SimpleFunction) -> SimpleFunction:
    """The task with nothing but what matters on its extrapolation range, to be kept in a cache."""
    first, second = task.subsets_of(0, 0)
    sides = intervals(task.extrapolation_range)
    return SimpleFunction(
        task.operation,
        task.in_features,
        extrapolation_range=sides if len(sides) == 2 else sides[0],
        subsets=(tuple(first.tolist()), tuple(second.tolist())),
        correlation=task.correlation,
    )


def _counts(task: SimpleFunction) -> list[np.ndarray]:
    """How often each input is in each subset."""
    assert task.subsets is not None
    return [np.bincount(subset, minlength=task.in_features) for subset in task.subsets]


@lru_cache(maxsize=4096)
def _target_square(task: SimpleFunction, rows: int, seed: int) -> float:
    a, b = (_independent(form, task.common_part) for form in _counts(task))
    match task.operation:
        case "add":
            return _mean_square([(a + b,)], task)
        case "sub":
            return _mean_square([(a - b,)], task)
        case "mul":
            return _mean_square([(a, b)], task)
        case "square":
            return _mean_square([(a, a)], task)
        case "root":
            _check_domain(task, a, b)
            return _moment((a,), _cumulants(task))
        case "div":
            _check_domain(task, a, b)
            return _simulate(task, np.stack([a, b], axis=1), rows, seed, lambda a, b: a / b)


@lru_cache(maxsize=4096)
def _loss(task: SimpleFunction, eps: float, rows: int, seed: int) -> float:
    counts = _counts(task)
    wrong = [eps * np.where(count > 0, -1.0, 1.0) for count in counts]
    a, b, p, q = (_independent(form, task.common_part) for form in (*counts, *wrong))
    match task.operation:
        case "add":
            return _mean_square([(p + q,)], task)
        case "sub":
            return _mean_square([(p - q,)], task)
        case "mul":
            return _mean_square([(a, q), (p, b), (p, q)], task)
        case "square":
            return _mean_square([(2 * a, p), (p, p)], task)
        case "div" | "root":
            _check_domain(task, a, b)
            error = _quotient_error if task.operation == "div" else _root_error
            return _simulate(task, np.stack([a, b, p, q], axis=1), rows, seed, error)


def _quotient_error(
    a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray
) -> Float[np.ndarray, " rows"]:
    return (a + p) / (b + q) - a / b


def _root_error(
    a: np.ndarray,
    b: np.ndarray,  # noqa: ARG001
    p: np.ndarray,
    q: np.ndarray,  # noqa: ARG001
) -> Float[np.ndarray, " rows"]:
    return np.sqrt(a + p) - np.sqrt(a)


def _independent(form: Float[np.ndarray, " features"], common: float) -> Form:
    """A form of the inputs as one of the numbers that they are means of, a common one the last."""
    if common == 0:
        return form.astype(np.float64)
    return np.append((1 - common) * form, common * form.sum())


def _mean_square(terms: Sequence[tuple[Form, ...]], task: SimpleFunction) -> float:
    """The expectation of the square of a sum of products of linear forms."""
    cumulants = _cumulants(task)
    return sum(_moment((*one, *other), cumulants) for one in terms for other in terms)


def _moment(forms: Sequence[Form], cumulants: Sequence[float]) -> float:
    """The expectation of a product of linear forms of independent numbers.

    The forms that share a block with the first one contribute their joint cumulant, the others
    the expectation of their own product.
    """
    if not forms:
        return 1.0
    first, rest = forms[0], forms[1:]
    total = 0.0
    for size in range(len(rest) + 1):
        for block in combinations(range(len(rest)), size):
            product = np.prod([first, *(rest[i] for i in block)], axis=0)
            others = [form for i, form in enumerate(rest) if i not in block]
            total += cumulants[size] * float(product.sum()) * _moment(others, cumulants)
    return total


def _cumulants(task: SimpleFunction) -> tuple[float, float, float, float]:
    """The first four cumulants of a number drawn from the extrapolation range."""
    bounds = np.array(intervals(task.extrapolation_range), np.float64)
    middle, half = bounds.mean(axis=1), np.diff(bounds).ravel() / 2
    mean = middle.mean()
    center = middle - mean
    second = (center**2 + half**2 / 3).mean()
    third = (center**3 + center * half**2).mean()
    fourth = (center**4 + 2 * center**2 * half**2 + half**4 / 5).mean()
    return float(mean), float(second), float(third), float(fourth - 3 * second**2)


def _check_domain(task: SimpleFunction, a: Form, b: Form) -> None:
    """Refuse a quotient whose loss has no bound, and the root of a negative sum."""
    if task.operation == "div":
        wrong = any(low <= 0 <= high for low, high in _reach(task, b))
        fault = "the second sum may be 0"
    else:
        wrong = any(low < 0 for low, _ in _reach(task, a))
        fault = "the first sum may be negative"
    if wrong:
        raise ValueError(
            f"operation is {task.operation!r}, but with extrapolation_range = "
            f"{task.extrapolation_range} {fault}; give a range of positive numbers"
        )


def _reach(task: SimpleFunction, form: Form) -> list[tuple[float, float]]:
    """The values that a form can take, as disjoint intervals in rising order."""
    reach = [(0.0, 0.0)]
    for weight in form[form > 0]:
        reach = sorted(
            (low + weight * lower, high + weight * upper)
            for low, high in reach
            for lower, upper in intervals(task.extrapolation_range)
        )
        merged = reach[:1]
        for low, high in reach[1:]:
            if low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        reach = merged
    return reach


def _simulate(
    task: SimpleFunction,
    forms: Float[np.ndarray, "in forms"],
    rows: int,
    seed: int,
    value: Callable[..., Float[np.ndarray, " rows"]],
) -> float:
    """The mean square of a value, a function of linear forms of the inputs."""
    generator = np.random.default_rng(seed)
    bounds = np.array(intervals(task.extrapolation_range), np.float64)
    total = 0.0
    for start in range(0, rows, _BLOCK):
        x = generator.random((min(_BLOCK, rows - start), len(forms)))
        side = generator.integers(len(bounds), size=x.shape) if len(bounds) > 1 else 0
        x *= (bounds[:, 1] - bounds[:, 0])[side]
        x += bounds[side, 0]
        values = value(*(x @ forms).T)
        total += float(values @ values)
    return total / rows
