"""Structures that stacks of arithmetic units find, trained natively with many restarts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import torch
from torch import nn

from torchalu.engine import train
from torchalu.estimators.least_squares import to_integers
from torchalu.estimators.structures import (
    Factor,
    Structure,
    make_factor,
    make_structure,
    make_term,
    monomial,
)
from torchalu.estimators.table import CanonicalTable
from torchalu.nn import NAU, NMU, RealNPU
from torchalu.tasks import Table

_READ = 6
_LARGEST_POWER = 8
_WORK = 1.5e9
_MOST_ROWS = 4096
_PENALTY = 1e-3
_LEARNING_RATE = 1e-2

Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Stack:
    """A stack of units, and how a trained replica of it is read off as structures.

    Args:
        family: the family of its formulas.
        modules: makes the modules for a number of columns.
        read: makes structures of the weights of one replica.
    """

    family: str
    modules: Callable[[int], list[nn.Module]]
    read: Callable[[Weights], Iterator[Structure]]


def native_structures(
    table: CanonicalTable,
    families: Collection[str],
    restarts: int,
    steps: int | None,
    *,
    seed: int,
    threads: int | None,
) -> Iterator[Structure]:
    """What the replicas with the smallest loss stand for, a stack of units after the other.

    Columns are divided by one common factor, the target by its root mean square; a last
    `torch.nn.Linear(1, 1)` is the scale and the offset. Weights are read off as small integers in
    the proportion in which they were learned.

    Args:
        table: the rows to learn from.
        families: names of the families wanted.
        restarts: replicas of each stack.
        steps: steps of each replica; None chooses as many as a second or so allows.
        seed: of all randomness.
        threads: threads of the trainer; every core if None.
    """
    if restarts == 0 or len(table.y) < 4:
        return
    rows = table.thin(_MOST_ROWS)
    unit = float(np.sqrt(np.mean(rows.X**2))) or 1.0
    data = Table(rows.X / unit, rows.y / table.scale, sample_weight=rows.weight)
    for stack in STACKS:
        if stack.family not in families:
            continue
        with torch.random.fork_rng(devices=[]):  # the replicas have starts of their own
            modules = [*stack.modules(table.features), nn.Linear(1, 1)]
        for weights in _train(modules, data, restarts, steps, seed, threads):
            yield from stack.read(weights)


def _train(
    modules: list[nn.Module],
    data: Table,
    restarts: int,
    steps: int | None,
    seed: int,
    threads: int | None,
) -> Iterator[Weights]:
    """The weights of the best replicas of a stack."""
    batch = min(128, data.rows)
    if steps is None:
        parameters = sum(p.numel() for module in modules for p in module.parameters())
        steps = int(np.clip(_WORK / (restarts * batch * (parameters + 20)), 300, 3000))
    result = train(
        modules,
        data,
        steps=steps,
        replicas=restarts,
        seed=seed,
        batch_size=batch,
        learning_rate=_LEARNING_RATE,
        penalty=_PENALTY,
        penalty_start=steps // 3,
        penalty_end=max(2 * steps // 3, steps // 3 + 1),
        clip_norm=1.0,
        evaluate_every=max(1, steps // 8),
        threads=threads,
    )
    loss = result.validation_loss
    for replica in np.argsort(loss, kind="stable")[: min(_READ, int(np.isfinite(loss).sum()))]:
        yield {
            name: tensor[int(replica)].double().numpy()
            for name, tensor in result.best_parameters.items()
        }


def _read_sum(weights: Weights) -> Iterator[Structure]:
    """NAU: one sum."""
    for integers in to_integers(weights["0.weight"][0]):
        yield make_structure([make_term([_sum(integers)])], offset=True)


def _read_powers(weights: Weights) -> Iterator[Structure]:
    """RealNPU: a product of powers of columns."""
    powers = weights["0.weight"][0] * (weights["0.gate"] > 0.5)
    for step in (1, 2):
        rounded = {j: Fraction(round(p * step), step) for j, p in enumerate(powers)}
        term = monomial(rounded)
        if term is not None and max(map(abs, rounded.values())) <= _LARGEST_POWER:
            yield make_structure([term], offset=False)


def _read_product_of_sums(weights: Weights) -> Iterator[Structure]:
    """NAU, then NMU: a product of those sums that the NMU lets through."""
    gate = weights["1.weight"][0]
    sums = [to_integers(row)[:2] for row in weights["0.weight"]]
    for threshold in (0.5, 0.1):
        taken = [s for s, g in zip(sums, gate, strict=True) if g > threshold and s]
        for choice in product(*taken):
            yield make_structure([make_term(map(_sum, choice))], offset=False)


def _read_sum_of_products(weights: Weights) -> Iterator[Structure]:
    """NMU, then NAU: a sum of products of columns."""
    size = np.abs(weights["1.weight"][0])
    terms = [
        monomial(dict.fromkeys(np.flatnonzero(row > 0.5).tolist(), 1))
        for row, s in zip(weights["0.weight"], size, strict=True)
        if s > 0.1 * size.max()
    ]
    if any(term is not None for term in terms):
        yield make_structure(terms, offset=True)


def _read_ratio(weights: Weights) -> Iterator[Structure]:
    """NAU, then RealNPU: a product of whole powers of two sums."""
    powers = weights["1.weight"][0] * (weights["1.gate"] > 0.5)
    rounded = [round(p) if abs(p) < _LARGEST_POWER else 0 for p in powers]
    sums = [to_integers(row)[:2] for row in weights["0.weight"]]
    for choice in product(*[s or [()] for s in sums]):
        factors = [_sum(integers, p) for integers, p in zip(choice, rounded, strict=True)]
        term = make_term(factors)
        if term is not None:
            yield make_structure([term], offset=False)


def _sum(integers: Sequence[int], power: int = 1) -> Factor | None:
    """A sum of columns, raised to a power."""
    return make_factor(dict(enumerate(integers)), 0, power)


STACKS = (
    Stack("sum", lambda d: [NAU(d, 1)], _read_sum),
    Stack("powers", lambda d: [RealNPU(d, 1)], _read_powers),
    Stack("product_of_sums", lambda d: [NAU(d, 2), NMU(2, 1)], _read_product_of_sums),
    Stack("product_of_sums", lambda d: [NAU(d, 3), NMU(3, 1)], _read_product_of_sums),
    Stack("sum_of_products", lambda d: [NMU(d, 2), NAU(2, 1)], _read_sum_of_products),
    Stack("sum_of_products", lambda d: [NMU(d, 3), NAU(3, 1)], _read_sum_of_products),
    Stack("ratio_of_sums", lambda d: [NAU(d, 2), RealNPU(2, 1)], _read_ratio),
)
"""The stacks that are trained, each with a scale and an offset behind it."""
