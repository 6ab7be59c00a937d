"""The order in which structures are looked for, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import numpy as np

from torchalu.estimators.closed_form import (
    added_term_structures,
    common_factor_structures,
    library_structures,
    linear_structures,
    multilinear_structures,
    power_beside_structures,
    power_of_sum_structures,
    power_structures,
    powers_of_two_terms_structures,
    powers_with_sums_structures,
    quadratic_structures,
    ratio_of_products_structures,
    ratio_structures,
    signed_factor_structures,
    split_structures,
    sum_library_structures,
    sum_of_powers_structures,
    sum_over_root_structures,
    transformed_structures,
)
from torchalu.estimators.polish import polish
from torchalu.estimators.selection import Candidate, Pool
from torchalu.estimators.structures import FAMILIES, Structure, Term
from torchalu.estimators.table import CanonicalTable

_POLISHED = 4
_SPLIT = 2
_LARGE = 1_000_000
_MULTILINEAR_STARTS = 5


class Step(NamedTuple):
    """A means of finding formulas.

    Attributes:
        name: what it looks for.
        families: those that its structures may belong to.
        structures: yields them.
    """

    name: str
    families: Collection[str]
    structures: Callable[[], Iterator[Structure]]


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
    by bit too. The search ends after the first step that leaves an exact and simple answer. Steps
    that cannot find anything of the families wanted are left out.

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
    with np.errstate(all="ignore"):
        for step in search_steps(pool, native, generator):
            if not pool.families.isdisjoint(step.families):
                report(step.name)
                pool.add_all(step.structures())
            if pool.solved():
                break
    return pool.ranked()


def search_steps(
    pool: Pool,
    native: Callable[[CanonicalTable], Iterator[Structure]],
    generator: np.random.Generator,
) -> list[Step]:
    """All means of finding formulas, in their order.

    Args:
        pool: what has been found, on which some of them go on.
        native: yields what the native trainer finds.
        generator: source of all randomness here.
    """
    learn = pool.table.learn
    polished: set[Term] = set()
    extended: set[Term] = set()
    products = ("sum", "powers", "product_of_sums")
    one_term, sums = (*products, "ratio_of_sums"), ("sum_of_products", "ratio_of_sums")
    changes = Step("changes one by one", one_term, lambda: _polished(pool, polished))
    beside = Step("terms beside a product", sums, lambda: _extended(pool, extended))
    return [
        Step("sums", FAMILIES, lambda: linear_structures(learn)),  # and the constant, of no family
        Step("products of powers", products[:2], lambda: power_structures(learn)),
        Step("powers of sums", one_term[1:], lambda: transformed_structures(learn)),
        Step("products with sums", FAMILIES, lambda: powers_with_sums_structures(learn)),
        Step(
            "quadratic forms", (*products, "sum_of_products"), lambda: quadratic_structures(learn)
        ),
        Step("ratios of sums", FAMILIES[:-1], lambda: ratio_structures(learn)),
        Step(
            "powers of sums of two products",
            ("sum", "powers", "sum_of_products", "power_of_sum"),
            lambda: powers_of_two_terms_structures(learn, generator),
        ),
        Step(
            "sums of powers",
            ("sum", "powers", "sum_of_products", "power_of_sum"),
            lambda: sum_of_powers_structures(learn, generator),
        ),
        Step(
            "sums of products",
            ("sum", "powers", "sum_of_products"),
            lambda: library_structures(learn),
        ),
        Step(
            "sums of products with a sum",
            ("product_of_sums", *sums),
            lambda: sum_library_structures(learn, _known(pool)),
        ),
        Step(
            "powers of sums of products", ("power_of_sum",), lambda: power_of_sum_structures(learn)
        ),
        Step(
            "sums with common factors",
            (*products, "sum_of_products", "power_of_sum"),
            lambda: common_factor_structures(learn),
        ),
        Step(
            "products over powers of sums",
            ("ratio_of_sums", "power_of_sum"),
            lambda: signed_factor_structures(learn),
        ),
        Step("powers beside a term", ("power_of_sum",), lambda: power_beside_structures(learn)),
        Step("ratios of sums of products", sums[1:], lambda: ratio_of_products_structures(learn)),
        Step("sums over roots", ("power_of_sum",), lambda: sum_over_root_structures(learn)),
        Step(
            "products of sums",
            products,
            lambda: multilinear_structures(learn, generator, _MULTILINEAR_STARTS),
        ),
        Step("products near squares", products, lambda: _split(pool, generator)),
        changes,
        beside,
        Step("native restarts", FAMILIES, lambda: native(learn)),
        changes,
        beside,
    ]


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


def _known(pool: Pool) -> tuple[Term, ...]:
    """The terms of the best sum so far."""
    sums = (c.structure.terms for c in pool.ranked() if c.structure.power == 1)
    return next(sums, ())


def _extended(pool: Pool, done: set[Term]) -> Iterator[Structure]:
    """The best terms so far that have a sum, with others beside them, each term once."""
    for term, _ in _best_terms(pool, _POLISHED):
        if term not in done and not term.is_plain:
            done.add(term)
            yield from added_term_structures(term, pool.table.learn)


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
