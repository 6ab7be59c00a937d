"""The order in which structures are looked for, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from torchalu.estimators.closed_form import (
    library_structures,
    linear_structures,
    multilinear_structures,
    power_of_sum_structures,
    power_structures,
    power_with_sum_structures,
    quadratic_structures,
    ratio_structures,
    split_structures,
    transformed_structures,
)
from torchalu.estimators.polish import polish
from torchalu.estimators.selection import Candidate, Pool
from torchalu.estimators.structures import Structure, Term
from torchalu.estimators.table import CanonicalTable

_POLISHED = 4
_SPLIT = 2
_LARGE = 1_000_000
_MULTILINEAR_STARTS = 5


def search(
    table: CanonicalTable,
    families: Collection[str],
    native: Callable[[CanonicalTable], Iterator[Structure]],
    generator: np.random.Generator,
    report: Callable[[str], None],
) -> list[Candidate]:
    """Looks for formulas, from the simplest means to the costliest, until one is exact.

    Closed forms come first, in the order of their families; then the best of what they found is
    changed bit by bit; then the native trainer restarts many stacks, whose answers are changed bit
    by bit too. The search ends after the first step that leaves an exact and simple answer.

    Values that overflow on the way are no errors: what comes of them is not finite, and dropped.

    Args:
        table: the table, held-out rows marked.
        families: names of the families wanted.
        native: yields what the native trainer finds.
        generator: source of all randomness here.
        report: told the name of each step.

    Returns:
        All candidates, the best first.
    """
    pool = Pool(table, families)
    polished: set[Term] = set()
    learn = table.learn
    steps: list[tuple[str, Callable[[], Iterator[Structure]]]] = [
        ("sums", lambda: linear_structures(learn)),
        ("products of powers", lambda: power_structures(learn)),
        ("powers of sums", lambda: transformed_structures(learn)),
        ("products with one sum", lambda: power_with_sum_structures(learn)),
        ("quadratic forms", lambda: quadratic_structures(learn)),
        ("ratios of sums", lambda: ratio_structures(learn)),
        ("sums of products", lambda: library_structures(learn)),
        ("powers of sums of products", lambda: power_of_sum_structures(learn)),
        ("products of sums", lambda: multilinear_structures(learn, generator, _MULTILINEAR_STARTS)),
        ("products near squares", lambda: _split(pool, generator)),
        ("changes one by one", lambda: _polished(pool, polished)),
        ("native restarts", lambda: native(learn)),
        ("changes one by one", lambda: _polished(pool, polished)),
    ]
    with np.errstate(all="ignore"):
        for name, structures in steps:
            report(name)
            pool.add_all(structures())
            if pool.solved():
                break
    return pool.ranked()


def _split(pool: Pool, generator: np.random.Generator) -> Iterator[Structure]:
    """Products that the best squares so far may stand for."""
    for term, weight in _best_terms(pool, _SPLIT):
        yield from split_structures(term, pool.table.learn, weight, generator)


def _polished(pool: Pool, done: set[Term]) -> Iterator[Structure]:
    """What the best terms so far become when they are changed bit by bit, each term once."""
    learn = pool.table.learn
    for term, weight in _best_terms(pool, _POLISHED if learn.X.size < _LARGE else 1):
        if term not in done:
            done.add(term)
            yield from polish(term, learn, weight)


def _best_terms(pool: Pool, count: int) -> list[tuple[Term, np.ndarray]]:
    """The terms of the best candidates that have one, with weights for their noise."""
    noises: dict[Term, str] = {}
    for candidate in pool.ranked():
        if len(candidate.structure.terms) == 1 and candidate.structure.power == 1:
            noises.setdefault(candidate.structure.terms[0], candidate.fit.noise)
        if len(noises) == count:
            break
    constant, proportional = pool.table.learn.views
    return [(t, constant if noise == "constant" else proportional) for t, noise in noises.items()]
