"""Columns on which a target depends come before all others."""

import numpy as np
import pytest
from scipy.stats import rankdata

from torchalu.estimators.screening import by_relevance
from torchalu.estimators.table import canonical_table


def draw(columns, rows=240, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def standardized(values):
    ranks = rankdata(values, axis=0)
    return (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)


@pytest.mark.parametrize("columns", [8, 20, 100])
@pytest.mark.parametrize(
    ("count", "law"),
    [
        (2, lambda x: x[0] * x[1]),
        (2, lambda x: np.hypot(x[0], x[1])),
        (3, lambda x: x[0] * x[1] * x[2]),
        (3, lambda x: x[0] * x[1] / (1 + x[2] ** 2)),
        (4, lambda x: x[0] ** 2 - x[1] * x[2] + x[3]),
        (4, lambda x: (x[0] * x[1] + x[2] * x[3]) / np.sqrt(1 + x[0] ** 2)),
    ],
)
def test_columns_that_matter_only_together_come_first(count, law, columns):
    X = draw(columns)
    assert set(by_relevance(X, law(X.T))[: count + 2]) >= set(range(count))


def test_terms_left_out_are_those_of_least_coefficients():
    """With all terms written out, which takes as many unknowns as there are terms."""
    X = draw(7, rows=60)
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2] ** 2 - 0.4 * X[:, 3] + 0.05 * X[:, 4] * X[:, 0]
    r, q = standardized(X), standardized(np.abs(X))
    t = np.stack([standardized(y), standardized(np.abs(y))], axis=1)
    active, order = list(range(7)), []
    while len(active) > 1:
        terms = {(j,): r[:, j] for j in active} | {(j, j): q[:, j] for j in active}
        terms |= {(i, j): r[:, i] * r[:, j] for i in active for j in active if i < j}
        A = np.stack(list(terms.values()), axis=1)
        A = A - A.mean(axis=0)
        fit = np.linalg.solve(A.T @ A + 0.1 * 60 * np.eye(A.shape[1]), A.T @ t)
        square = (fit**2).sum(axis=1)
        size = {
            j: sum(s for term, s in zip(terms, square, strict=True) if j in term) for j in active
        }
        order.insert(0, min(active, key=size.get))
        active.remove(order[0])
    assert by_relevance(X, y) == active + order


def test_nothing_counts_but_the_order_of_positive_numbers():
    X = np.exp(draw(12))
    y = X[:, 3] * X[:, 5] + X[:, 7]
    assert by_relevance(X**3, np.log1p(y)) == by_relevance(X, y)


def test_the_order_of_the_columns_does_not_matter():
    X = draw(12)
    y = X[:, 3] * X[:, 5] + X[:, 7]
    shuffled = np.random.default_rng(1).permutation(12)
    assert shuffled[by_relevance(X[:, shuffled], y)].tolist() == by_relevance(X, y)


def test_a_column_that_is_the_same_on_all_rows_comes_last():
    x = np.linspace(1, 2, 50)
    X = np.column_stack([np.full(50, 3.0), x, draw(3, rows=50)])
    order = by_relevance(X, x**2)
    assert order[0] == 1
    assert order[-1] == 0


def test_a_table_takes_the_first_in_their_own_order():
    X = draw(9)
    table = canonical_table(X, X[:, 8] * X[:, 2] - X[:, 5], None, tuple("abcdefghi"), 1e-9)
    assert table.screened(9) == list(range(9))
    assert table.screened(3) == [2, 5, 8]
