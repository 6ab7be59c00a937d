"""A product of sums that was found, and terms beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from torchalu.estimators.closed_form.library import MOST_ROWS, tabulate
from torchalu.estimators.closed_form.sum_library import MOST_COLUMNS, simple_products
from torchalu.estimators.least_squares import beyond, pursue
from torchalu.estimators.structures import Structure, Term, make_structure
from torchalu.estimators.table import CanonicalTable

_MOST_ADDED = 3


def added_term_structures(term: Term, table: CanonicalTable) -> Iterator[Structure]:
    """A term with up to three powers or products of columns beside it, as (a + b)*(c - d) + e.

    Those are taken one after the other that explain most of what is left of the target (orthogonal
    matching pursuit), of the columns whose order is nearest to that of what is left.

    Args:
        term: what was found.
        table: the rows to learn from.
    """
    table = table.thin(MOST_ROWS)
    known = np.column_stack([np.ones(len(table.y)), term.values(table.X)])
    for root in map(np.sqrt, table.views):
        basis, _ = np.linalg.qr(known * root[:, None])
        left = beyond(basis, table.y * root)
        rest = replace(table, y=left / root)
        single, pairs = simple_products(rest, rest.screened(MOST_COLUMNS))
        library = tabulate(table.X, [*single, *pairs])
        columns = library.values * root[:, None]
        norm = np.sqrt((columns**2).sum(axis=0))
        order = pursue(beyond(basis, columns) / norm, left, min(_MOST_ADDED, len(left) // 4))
        for count in range(1, len(order) + 1):
            beside = [library.term(int(index)) for index in order[:count]]
            yield make_structure([term, *beside], offset=False)
