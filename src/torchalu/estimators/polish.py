"""Discrete descent: changes one weight, one power or one factor of a term at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from torchalu.estimators.least_squares import NOISE_FLOOR
from torchalu.estimators.structures import (
    Structure,
    Term,
    make_factor,
    make_structure,
    make_term,
    raise_to,
)
from torchalu.estimators.table import CanonicalTable

_MOST_MOVES = 300
_MOST_SWAPS = 800
_CHUNK = 64
_POWER_STEPS = (Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2))
_LARGEST_POWER = 4


@dataclass(frozen=True)
class _Draft:
    """A term under work: a row of integer weights (columns, then the constant) a factor."""

    weights: tuple[tuple[int, ...], ...]
    powers: tuple[Fraction, ...]

    def mentions(self) -> int:
        """How many columns, constants and powers it takes to write it."""
        powers = sum(power != 1 for power in self.powers)
        return sum(sum(map(bool, row)) for row in self.weights) + powers

    def term(self) -> Term | None:
        """The term in canonical form."""
        return make_term(
            make_factor(dict(enumerate(row[:-1])), row[-1], power)
            for row, power in zip(self.weights, self.powers, strict=True)
        )


def polish(term: Term, table: CanonicalTable, weight: np.ndarray) -> Iterator[Structure]:
    """Descends from a term to one that no single change betters.

    A change flips one weight among -1, 0 and 1, moves a column from one sum to another, exchanges
    columns between two sums, steps a power by 1/2 or 1, takes a factor away or adds a column as a
    factor. Each changed term is rated with the scale and the offset that fit it best, which have a
    closed form, and by what its new length costs.

    Args:
        term: where to start.
        table: the rows to learn from.
        weight: weight of the rows.

    Yields:
        The structure after each change.
    """
    judge = _Judge(table, weight)
    draft = _draft(term, table.features)
    cost = judge.cost([draft])[0]
    for _ in range(_MOST_MOVES):
        moves = [move for move in _moves(draft, table.features) if any(map(any, move.weights))]
        costs = judge.cost(moves)
        best = int(np.argmin(costs)) if moves else 0
        if not moves or not costs[best] < cost - 1e-6:
            return
        draft, cost = moves[best], costs[best]
        changed = draft.term()
        if changed is None:
            return
        yield make_structure([changed], offset=False)
        if cost <= judge.floor:
            return


@dataclass(frozen=True)
class _Judge:
    """Rates drafts on a table."""

    table: CanonicalTable
    weight: np.ndarray

    @property
    def floor(self) -> float:
        """A cost that only rounding errors are left of."""
        return self.table.count * math.log(NOISE_FLOOR * 1e4)

    def cost(self, drafts: list[_Draft]) -> np.ndarray:
        """Nats of the residuals and of the length of each draft."""
        nats = math.log(self.table.features + 1) + math.log(6)
        length = np.array([draft.mentions() * nats for draft in drafts])
        left = [
            self._unexplained(drafts[start : start + _CHUNK])
            for start in range(0, len(drafts), _CHUNK)
        ]
        return length + np.concatenate(left) if left else length

    def _unexplained(self, drafts: list[_Draft]) -> np.ndarray:
        """Half the rows times the log of the unexplained share, for the better of two fits."""
        values = self._values(drafts)
        usable = np.all(np.isfinite(values), axis=0)
        values = np.where(usable, values, 0.0)
        w, y = self.weight / self.weight.sum(), self.table.y
        norm = np.sqrt(w @ values**2)
        usable &= (norm > 0) & np.isfinite(norm)
        values = values / np.where(usable, norm, 1.0)
        mean, mean_y, square_y = w @ values, w @ y, w @ y**2
        product = (w * y) @ values
        without = 1.0 - product**2 / square_y
        spread = np.maximum(1.0 - mean**2, 1e-12)
        with_offset = (square_y - mean_y**2 - (product - mean * mean_y) ** 2 / spread) / square_y
        least = (NOISE_FLOOR * 1e3) ** 2
        half = 0.5 * self.table.count
        cost = half * np.log(np.maximum(without, least))
        cost = np.minimum(cost, half * np.log(np.maximum(with_offset, least)) + 4.0)
        return np.where(usable, cost, np.inf)

    def _values(self, drafts: list[_Draft]) -> np.ndarray:
        """Each draft on each row."""
        count = max(len(draft.weights) for draft in drafts)
        values = np.ones((len(self.table.y), len(drafts)))
        features = self.table.X
        with np.errstate(all="ignore"):
            for place in range(count):
                rows = [_row(draft, place, self.table.features) for draft in drafts]
                weights = np.array([row for row, _ in rows], dtype=np.float64)
                base = features @ weights[:, :-1].T + weights[:, -1]
                for power in {power for _, power in rows}:
                    chosen = [i for i, (_, p) in enumerate(rows) if p == power]
                    values[:, chosen] *= raise_to(base[:, chosen], power)
        return values


def _row(draft: _Draft, place: int, features: int) -> tuple[tuple[int, ...], Fraction]:
    """A factor of a draft, or the factor 1 where it has fewer or an empty one."""
    if place < len(draft.weights) and any(draft.weights[place]):
        return draft.weights[place], draft.powers[place]
    return (0,) * features + (1,), Fraction(1)


def _draft(term: Term, features: int) -> _Draft:
    """A term as rows of weights."""
    rows = []
    for factor in term.factors:
        row = [0] * (features + 1)
        for column, value in factor.coefficients:
            row[column] = value
        row[-1] = factor.constant
        rows.append(tuple(row))
    return _Draft(tuple(rows), tuple(factor.power for factor in term.factors))


def _moves(draft: _Draft, features: int) -> list[_Draft]:
    """All drafts that one change leads to."""
    return [
        *_flips(draft, features),
        *_transfers(draft, features),
        *_power_steps(draft),
        *_factor_changes(draft, features),
    ]


def _replace(draft: _Draft, rows: dict[int, tuple[int, ...]]) -> _Draft:
    """The draft with some factors' weights replaced."""
    weights = tuple(rows.get(i, row) for i, row in enumerate(draft.weights))
    return _Draft(weights, draft.powers)


def _with(row: tuple[int, ...], changes: dict[int, int]) -> tuple[int, ...]:
    """A row with some weights replaced."""
    return tuple(changes.get(i, value) for i, value in enumerate(row))


def _flips(draft: _Draft, features: int) -> Iterator[_Draft]:
    """One weight changed."""
    for place, row in enumerate(draft.weights):
        for column in range(features + 1):
            for value in (-1, 0, 1):
                if row[column] != value:
                    yield _replace(draft, {place: _with(row, {column: value})})


def _transfers(draft: _Draft, features: int) -> Iterator[_Draft]:
    """A column moved from one sum to another, or two exchanged."""
    swaps = 0
    for a, row in enumerate(draft.weights):
        for b, other in enumerate(draft.weights):
            only = [j for j in range(features) if row[j] and not other[j]]
            if a == b or len(only) < 1:
                continue
            for j in only:
                moved = {a: _with(row, {j: 0}), b: _with(other, {j: row[j]})}
                yield _replace(draft, moved)
            back = [j for j in range(features) if other[j] and not row[j]]
            for i in only if a < b else []:
                for j in back:
                    swaps += 1
                    if swaps > _MOST_SWAPS:
                        return
                    first = _with(row, {i: 0, j: other[j]})
                    second = _with(other, {j: 0, i: row[i]})
                    yield _replace(draft, {a: first, b: second})


def _power_steps(draft: _Draft) -> Iterator[_Draft]:
    """One power changed."""
    for place, power in enumerate(draft.powers):
        for step in _POWER_STEPS:
            changed = power + step
            if changed != 0 and abs(changed) <= _LARGEST_POWER:
                powers = (*draft.powers[:place], changed, *draft.powers[place + 1 :])
                yield _Draft(draft.weights, powers)


def _factor_changes(draft: _Draft, features: int) -> Iterator[_Draft]:
    """One factor taken away, or a column added as a factor."""
    if len(draft.weights) > 1:
        for place in range(len(draft.weights)):
            keep = [i for i in range(len(draft.weights)) if i != place]
            yield _Draft(
                tuple(draft.weights[i] for i in keep), tuple(draft.powers[i] for i in keep)
            )
    if len(draft.weights) < 5:
        for column in range(features):
            row = tuple(int(i == column) for i in range(features + 1))
            for power in (Fraction(1), Fraction(-1)):
                yield _Draft((*draft.weights, row), (*draft.powers, power))
