"""Powers of sums of products: the sums of products that a power of the target may be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np

from torchalu.estimators.closed_form.library import library_structures, make_library
from torchalu.estimators.closed_form.linear import linear_structures
from torchalu.estimators.closed_form.products import quadratic_structures
from torchalu.estimators.least_squares import NOISE_FLOOR, solve
from torchalu.estimators.structures import Structure, description_nats
from torchalu.estimators.table import CanonicalTable

POWERS = (Fraction(1, 2), Fraction(-1), Fraction(-1, 2))
"""Those of sums that are looked for."""

_KEPT = 6
_MOST_ROWS = 1000


def power_of_sum_structures(table: CanonicalTable) -> Iterator[Structure]:
    """Square roots and reciprocals of sums, such as sqrt(a**2 + b**2) and 1/(1/a + b/c).

    Where y = (c_0 + sum_k c_k T_k)**q, y**(1/q) is a sum of products, which is found as those of
    the target itself are, third and fourth powers apart: with these, a root of a sum would fit few
    noisy rows of a plain power better than the power does. Of each power the six with the shortest
    descriptions are yielded for each kind of noise.

    Args:
        table: the rows to learn from.
    """
    # Of positive targets every power has the same order or its reverse, and so the same library.
    shared = make_library(table, higher=False) if np.all(table.y > 0) else None
    for power in POWERS:
        raised = table.raised(float(1 / power))
        if raised is None:
            continue
        library = make_library(raised, higher=False) if shared is None else shared
        sums = (
            linear_structures,
            quadratic_structures,
            partial(library_structures, library=library),
        )
        found = dict.fromkeys(s.terms for s in chain.from_iterable(f(raised) for f in sums))
        structures = [Structure(terms, True, power) for terms in found if terms]
        for structure in best_described(structures, raised):
            yield replace(structure, offset=False)


def best_described(structures: list[Structure], raised: CanonicalTable) -> Iterator[Structure]:
    """The six powers of sums with the shortest descriptions for each kind of noise.

    Args:
        structures: all of one power.
        raised: the rows, with that power of the target which the sums are to be.
    """
    rows = raised.thin(_MOST_ROWS)
    costs = [_costs(structure, rows) for structure in structures]
    for of_one_noise in zip(*costs, strict=True):
        for index in np.argsort(of_one_noise, kind="stable")[:_KEPT]:
            yield structures[index]


def _costs(structure: Structure, table: CanonicalTable) -> list[float]:
    """Nats that the sum leaves of the raised target, for each kind of noise, and of its length."""
    design = structure.design(table.X)
    length = description_nats(structure, table.features)
    length += 0.5 * math.log(table.count + 1) * design.shape[1]
    costs = []
    for weight in table.views:
        fit = solve(design, table.y, weight) if len(design) > design.shape[1] else None
        if fit is None:
            costs.append(math.inf)
            continue
        share = float(weight @ fit.residual**2) / float(weight @ table.y**2)
        deviation = max(math.sqrt(share), NOISE_FLOOR)
        costs.append(table.count * math.log(deviation) + length)
    return costs
