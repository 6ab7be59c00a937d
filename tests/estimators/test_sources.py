"""Every source of structures finds what it is for, on its own."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from torchalu.estimators.closed_form import (
    added_term_structures,
    library_structures,
    linear_structures,
    multilinear_structures,
    power_beside_structures,
    power_of_sum_structures,
    power_structures,
    powers_with_sums_structures,
    quadratic_structures,
    ratio_of_products_structures,
    ratio_structures,
    signed_factor_structures,
    split_structures,
    sum_library_structures,
    sum_over_root_structures,
    transformed_structures,
)
from torchalu.estimators.closed_form.library import make_library
from torchalu.estimators.native import STACKS, native_structures
from torchalu.estimators.polish import polish
from torchalu.estimators.search import search_steps
from torchalu.estimators.selection import Pool
from torchalu.estimators.structures import (
    FAMILIES,
    Term,
    family_of,
    make_factor,
    make_structure,
    make_term,
    monomial,
)
from torchalu.estimators.table import canonical_table


def product_of(*sums, power=1):
    return make_term([make_factor(dict.fromkeys(columns, 1), 0, power) for columns in sums])


def table_of(terms, *, columns=6, rows=300, noise=0.0, low=0.5, high=4.0, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(low, high, (rows, columns))
    y = sum(term.values(X) for term in terms)
    y = y * (1 + noise * generator.normal(size=rows))
    return canonical_table(X, y, None, tuple(f"x{j}" for j in range(columns)), 1e-9)


def finds(structures, terms):
    return any(structure.terms == tuple(sorted(terms)) for structure in structures)


RATIO = make_term([make_factor({0: 1, 1: -1}), make_factor({2: 1, 3: 1}, 0, -1)])
LENS = make_term([*monomial({0: 1, 1: 1}).factors, make_factor({0: 1, 1: 1}, 0, -1)])
HALF = make_factor({3: 1, 4: -1}, 0, -2)
PART = make_term([*monomial({0: 1}).factors, make_factor({1: 1, 2: 1}, 0, -1)])
BOTH = monomial({3: 1}), monomial({4: -1})
CASES = [
    (linear_structures, [make_term([make_factor({0: 1, 1: 1, 4: -1})])]),
    (linear_structures, [monomial({1: 1}), monomial({3: 1})]),
    (transformed_structures, [product_of([0, 1], power=-1)]),
    (transformed_structures, [product_of([0, 1, 2], power=Fraction(1, 2))]),
    (power_structures, [monomial({0: 1, 1: 1, 2: -2})]),
    (power_structures, [monomial({0: Fraction(1, 3), 1: Fraction(-1, 2)})]),
    (powers_with_sums_structures, [LENS]),
    (powers_with_sums_structures, [make_term([*monomial({2: 1}).factors, HALF])]),
    (powers_with_sums_structures, [make_term([*LENS.factors, HALF])]),
    (powers_with_sums_structures, [make_term([make_factor({0: 1}, 1, 2), HALF])]),
    (quadratic_structures, [monomial({0: 1, 1: 1}), monomial({2: 1, 3: 1})]),
    (quadratic_structures, [product_of([0, 1], [1, 2])]),
    (ratio_structures, [RATIO]),
    (library_structures, [monomial({0: 1, 1: -1}), monomial({2: Fraction(1, 2)})]),
    (library_structures, [monomial({0: 1}), monomial({1: 2}), monomial({2: -1, 3: 1})]),
    (library_structures, [monomial({0: 1, j: 2}) for j in range(1, 5)]),
    (library_structures, [monomial({0: 1, j: 1, j + 1: 1}) for j in range(1, 5)]),
    (sum_library_structures, [product_of([1, 2], power=-1), monomial({3: 1})]),
    (sum_library_structures, [PART, monomial({3: 1, 4: -1})]),
    (sum_library_structures, [make_term([*PART.factors, *monomial({3: 1}).factors]), *BOTH]),
    (sum_library_structures, [product_of([0, 1], power=Fraction(1, 2)), *BOTH]),
]


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("source", "terms"), CASES)
def test_closed_forms(source, terms, noise):
    assert finds(source(table_of(terms, noise=noise)), terms)


ONE, X0, X1, X2, X3 = Term(()), *(monomial({j: 1}) for j in range(4))
REAL_RATIOS = [
    ({X0: 1.0, X1: 1.0}, {ONE: 1.0, monomial({0: 1, 1: 1}): 0.31}),
    ({X0: 1.3, monomial({0: 1, 1: 1}): 0.4}, {ONE: 1.0, X2: 0.21}),
    ({ONE: 0.6, X0: 1.7, X1: 2.9}, {ONE: 1.0, X0: 1.1, monomial({1: 2}): 0.37}),
    ({X0: 1.7, X1: 0.6}, {ONE: 1.0, X0: 0.45, monomial({0: 2}): 0.29}),
    ({monomial({0: 1, 1: 1}): 1.7}, {ONE: 1.0, monomial({2: 2}): 0.29}),
]


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("above", "below"), REAL_RATIOS)
def test_ratios_of_sums_of_products(above, below, noise):
    wanted = make_structure([t for t in above if t.factors], ONE in above, below=below)
    constants = [*(above[t] for t in wanted.summands), *(below[t] for t in wanted.below)]
    table = table_of([X0], columns=3, rows=400)
    e = np.random.default_rng(1).normal(size=400)
    y = wanted.values(table.X, np.array(constants)) * (1 + noise * e)
    assert wanted in list(ratio_of_products_structures(replace(table, y=y)))


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_ratios_of_sums_of_columns_of_a_wide_table(noise):
    below = [ONE, monomial({5: 1}), monomial({11: 1})]
    wanted = make_structure([X0, X2], False, below=below)
    table = table_of([X0], columns=12, rows=400)
    e = np.random.default_rng(1).normal(size=400)
    y = wanted.values(table.X, np.array([1.7, -0.6, 1.0, 0.45, 0.29])) * (1 + noise * e)
    assert wanted in list(ratio_structures(replace(table, y=y)))


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_ratios_of_columns_in_units_of_any_size_beside_one_of_zeros(scale):
    table = table_of([X0], columns=3, rows=60)
    X = table.X * np.array([scale, 1.0, 0.0])
    y = scale * (1.3 * table.X[:, 0] + table.X[:, 1]) / (2.3 + table.X[:, 0] * table.X[:, 1])
    wanted = make_structure([X0, X1], False, below=[ONE, monomial({0: 1, 1: 1})])
    assert wanted in list(ratio_of_products_structures(replace(table, X=X, y=y)))


def test_a_ratio_that_is_exact_may_have_poles_between_few_rows():
    """With as few rows only products of two columns are tried."""
    X = np.random.default_rng(0).uniform(-3, 3, (14, 2))
    wanted = make_structure([X0], True, below=[ONE, monomial({0: 1, 1: 1})])
    y = wanted.values(X, np.array([1.0, 1.7, 0.3, 1.0]))
    assert y.min() < 0 < y.max()
    table = canonical_table(X, y, None, ("a", "b"), 1e-9)
    assert wanted in list(ratio_of_products_structures(table))


def test_a_ratio_does_not_follow_the_errors_of_few_rows():
    table = table_of([X0], columns=2, rows=29)
    y = (table.X[:, 0] + 1.7) / (table.X[:, 0] + 0.4 * table.X[:, 1] + 3.1)
    e = np.random.default_rng(1).normal(size=29)
    exact, noisy = replace(table, y=y), replace(table, y=y * (1 + 0.01 * e))
    assert any(structure.below for structure in ratio_of_products_structures(exact))
    assert not list(ratio_of_products_structures(noisy))


ROOTED = [
    ({X0: 1.0, monomial({1: 1, 2: 1}): -1.0}, {ONE: 1.0, monomial({1: 2, 3: -2}): -0.014}),
    ({X0: 1.7, ONE: 0.6}, {X1: 1.0, X0: 0.31}),
    ({monomial({0: 1, 1: 1}): 1.7}, {ONE: 1.0, monomial({2: 2}): 0.29}),
    ({X0: 1.0, X1: -1.0}, {monomial({2: 2}): 1.0, X3: 1.3, monomial({1: 2}): 0.3}),
    (
        {monomial({0: 1, 2: 1}): 1.0, X3: 2.0, ONE: 0.7},
        {monomial({0: 2}): 1.0, monomial({1: 2}): 0.6},
    ),
]


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("above", "below"), ROOTED)
def test_sums_over_roots(above, below, noise):
    tops = [t for t in above if t.factors]
    wanted = make_structure(tops, ONE in above, below=below, root_below=True)
    constants = [*(above[t] for t in wanted.summands), *(below[t] for t in wanted.below)]
    table = table_of([X0], columns=4, rows=300)
    e = np.random.default_rng(1).normal(size=300)
    y = wanted.values(table.X, np.array(constants)) * (1 + noise * e)
    assert wanted in list(sum_over_root_structures(replace(table, y=y)))


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_sums_over_roots_in_units_of_any_size_beside_a_column_of_zeros(scale):
    wanted = make_structure([X0], True, below=[X0, X1], root_below=True)
    table = table_of([X0], columns=3, rows=60)
    X = table.X * np.array([scale, scale, 0.0])
    y = scale**0.5 * wanted.values(table.X, np.array([1.7, 0.6, 0.31, 1.0]))
    assert wanted in list(sum_over_root_structures(replace(table, X=X, y=y)))


def test_a_sum_over_a_root_does_not_follow_the_errors_of_few_rows():
    table = table_of([X0], columns=3, rows=29)
    a, b, c = table.X.T
    y = (a - b) / np.sqrt(1 + 0.3 * c**2)
    e = np.random.default_rng(1).normal(size=29)
    exact, noisy = replace(table, y=y), replace(table, y=y * (1 + 0.01 * e))
    assert any(structure.root_below for structure in sum_over_root_structures(exact))
    assert not list(sum_over_root_structures(noisy))


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_products_of_the_targets_sign_over_a_sum_or_its_root(sign, root, noise):
    above, below = monomial({0: 1, 2: 1}), [ONE, *(monomial({j: 2}) for j in (0, 1, 3))]
    wanted = make_structure([above], False, below=below, root_below=root)
    constants = [sign * 1.3, *(0.4 if t.factors == () else 0.7 for t in wanted.below)]
    table = table_of([X0], columns=6, rows=100)
    X = table.X - 2.0
    X[:3, 0] = 0.0
    e = np.random.default_rng(1).normal(size=100)
    y = wanted.values(X, np.array(constants)) * (1 + noise * e)
    assert wanted in list(signed_factor_structures(replace(table, X=X, y=y)))
    assert not list(signed_factor_structures(replace(table, X=X, y=np.abs(y))))
    few = replace(table, X=X, y=y).of(np.arange(32))  # 29 of these are not 0
    assert not list(signed_factor_structures(few))


@pytest.mark.parametrize("rows", [40, 300])
def test_a_sum_beside_products_is_found_where_these_are_known(rows):
    beside = [monomial({3: 1}), monomial({4: 1, 5: -1})]
    table = table_of([PART, *beside], rows=rows)
    assert finds(sum_library_structures(table, beside), [PART, *beside])


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("term", [product_of([0, 1], [2, 3]), RATIO])
@pytest.mark.parametrize(
    "beside", [[monomial({4: 1})], [monomial({4: 2}), monomial({1: 1, 5: -1})]]
)
def test_terms_beside_a_product_of_sums(term, beside, noise):
    table = table_of([term, *beside], rows=60, noise=noise)
    assert finds(added_term_structures(term, table), [term, *beside])


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_sums_in_units_of_any_size(scale):
    terms = [PART, monomial({3: 1})]
    table = table_of(terms, rows=40)
    X = table.X * np.array([scale, 1.0, 1.0, scale, 1.0, 0.0])
    assert finds(sum_library_structures(replace(table, X=X, y=scale * table.y)), terms)


@pytest.mark.parametrize("terms", [[product_of([0, 1], [1, 2])], [RATIO]])
def test_steps_find_nothing_of_families_that_they_are_not_left_out_without(terms):
    table = table_of(terms, columns=4, rows=120, noise=0.02)
    pool = Pool(table, FAMILIES)
    steps = search_steps(pool, lambda _: iter(()), np.random.default_rng(0))
    assert set(steps[0].families) == set(FAMILIES)  # it is never left out: it has the constant
    for step in steps:
        structures = list(step.structures())
        found = {family_of(structure) for structure in structures if structure.terms}
        assert found <= set(step.families), step.name
        pool.add_all(structures)


@pytest.mark.parametrize("noise", [pytest.param(0.0, marks=pytest.mark.long), 0.01])
@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(-1), Fraction(-1, 2)])
@pytest.mark.parametrize(
    "terms",
    [
        [monomial({0: 2}), monomial({1: 2})],
        [monomial({0: -1}), monomial({1: 1, 2: -1})],
        [monomial({0: -2}), monomial({1: 2, 2: -2, 3: 1})],
        [monomial({1: 1}), monomial({3: 1})],
    ],
)
def test_powers_of_sums_of_products(terms, power, noise):
    table = table_of(terms, columns=4)
    e = noise * np.random.default_rng(1).normal(size=len(table.y))
    table = replace(table, y=table.y ** float(power) * (1 + e))
    found = [s for s in power_of_sum_structures(table) if s.power == power]
    assert finds(found, terms)


@pytest.mark.parametrize("noise", [0.0, 0.001])
@pytest.mark.parametrize("beside", [Term(()), monomial({2: 1})])
@pytest.mark.parametrize(
    ("terms", "power"),
    [
        ([monomial({0: 2}), monomial({1: 2})], Fraction(1, 2)),
        ([monomial({0: 1, 1: -1})], Fraction(1, 2)),
        ([monomial({0: -1})], Fraction(-1)),
        ([monomial({0: -1}), monomial({0: -1, 1: 1})], Fraction(-1)),
        ([monomial({1: 1}), monomial({0: 1})], Fraction(-1)),
    ],
)
def test_powers_beside_a_term(terms, power, beside, noise):
    table = table_of(terms, columns=4, rows=100)
    values = (table.y + 0.7) ** float(power) - 1.3 * beside.values(table.X)
    table = replace(table, y=values * (1 + noise * np.random.default_rng(1).normal(size=100)))
    wanted = make_structure(terms, True, power, [beside])
    assert wanted in list(power_beside_structures(table))
    X = table.X * np.array([1e60, 1e60, 1e-60, 1.0])
    assert wanted in list(power_beside_structures(replace(table, X=X, y=1e-80 * table.y)))


@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(-1)])
def test_a_power_beside_a_term_of_few_rows_is_exact_or_not_found(power):
    table = table_of([monomial({0: 2})], columns=2, rows=20)
    exact = replace(table, y=(table.y + 0.7) ** float(power) + 1.3 * table.X[:, 1])
    wanted = make_structure([monomial({0: 2})], True, power, [monomial({1: 1})])
    assert wanted in list(power_beside_structures(exact))
    noise = 1 + 0.01 * np.random.default_rng(1).normal(size=20)
    assert not list(power_beside_structures(replace(exact, y=exact.y * noise)))


@pytest.mark.parametrize("power", [2.0, -1.0, -2.0])
def test_a_library_is_that_of_every_power_of_a_positive_target(power):
    """With twelve columns, of which those are taken that follow the order of the target best."""
    table = table_of([monomial({3: 1, 7: -1}), monomial({10: 2})], columns=12, noise=0.1)
    raised = table.raised(power)
    assert raised is not None
    one, other = make_library(table), make_library(raised)
    assert one.powers == other.powers
    np.testing.assert_array_equal(one.values, other.values)
    shifted = replace(table, y=table.y - np.median(table.y))
    inverse = shifted.raised(-1.0)
    assert inverse is not None
    assert make_library(shifted).powers != make_library(inverse).powers


def test_a_library_takes_what_there_is_room_for_and_the_simplest_first():
    size = {
        columns: len(make_library(table_of([monomial({0: 1})], columns=columns))[0])
        for columns in (3, 5, 9)
    }
    assert size[3] == 3 * 9 + 3 * 81 + 64  # all of one and two columns, three with whole powers
    assert size[5] == 5 * 9 + 10 * 25 + 10 * 64 + 5 * 16  # two columns up to the second power
    assert size[9] == 1200


def test_powers_of_columns_of_both_signs():
    term = monomial({0: 1, 1: -1, 2: 2})
    assert finds(power_structures(table_of([term], low=-3.0, high=3.0)), [term])


def test_multilinear_finds_a_product_among_many_columns():
    terms = [product_of(range(10), range(6, 16))]
    table = table_of(terms, columns=40, rows=800, low=1.0, high=2.0)
    assert finds(multilinear_structures(table, np.random.default_rng(0), 3), terms)


def test_multilinear_finds_a_product_of_three():
    true = make_term([make_factor({0: 1, 1: 1}), make_factor({2: 1, 3: -1}), make_factor({4: 1})])
    table = table_of([true], noise=0.01)
    assert finds(multilinear_structures(table, np.random.default_rng(0), 5), [true])


def test_split_finds_the_two_sums_in_a_square():
    terms = [product_of(range(8), range(4, 12))]
    table = table_of(terms, columns=20, rows=4000, noise=0.003, low=1.0, high=2.0)
    square = {j: 1 + (4 <= j < 8) for j in range(12)}
    start = make_term([make_factor(square, 0, 2)])
    structures = split_structures(start, table, table.weight, np.random.default_rng(0))
    assert finds(structures, terms)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_polish_repairs_a_damaged_term(noise):
    true = make_term([make_factor({0: 1, 1: 1, 2: 1}), make_factor({3: 1, 4: -1}, 0, -1)])
    damaged = make_term([make_factor({0: 1, 2: 1, 5: 1}), make_factor({3: 1, 4: -1}, 0, -1)])
    table = table_of([true], noise=noise)
    *_, last = polish(damaged, table, table.views[1])
    assert last.terms == (true,)


def test_polish_stays_at_the_truth():
    true = product_of([0, 1], [2, 3])
    table = table_of([true], noise=0.01)
    assert list(polish(true, table, table.views[1])) == []


NATIVE = [
    ("sum", [make_term([make_factor({0: 1, 1: 1, 2: -1})])]),
    ("powers", [monomial({0: 1, 1: 1, 2: -2})]),
    ("product_of_sums", [product_of([0, 1], [2, 3])]),
    ("sum_of_products", [monomial({0: 1, 1: 1}), monomial({2: 1, 3: 1})]),
    ("ratio_of_sums", [product_of([0, 1], power=-1)]),
]


@pytest.mark.parametrize(("family", "terms"), NATIVE)
def test_native_restarts(family, terms):
    table = table_of(terms, columns=5, noise=0.01)
    found = native_structures(table, [family], 32, None, seed=0, threads=1)
    assert finds(found, terms)


def test_native_restarts_do_not_depend_on_threads():
    table = table_of([product_of([0, 1], [2, 3])])
    one, two = (
        list(native_structures(table, FAMILIES, 4, 50, seed=1, threads=threads))
        for threads in (1, 2)
    )
    assert one == two
    assert one


def test_no_restarts_no_structures():
    table = table_of([monomial({0: 1})])
    assert list(native_structures(table, FAMILIES, 0, None, seed=0, threads=1)) == []


def test_a_sum_of_products_is_read_off_whatever_its_coefficients():
    """Of three products the last has a tenth of the largest coefficient, and is left out."""
    (read,) = {stack.read for stack in STACKS if stack.family == "sum_of_products"}
    weights = {
        "0.weight": np.array([[0.9, 1.0, 0.1, 0.0], [0.0, 0.4, 0.8, 1.0], [1.0, 0.0, 1.0, 0.0]]),
        "1.weight": np.array([[1.0, -0.25, 0.1]]),
    }
    terms = [monomial({0: 1, 1: 1}), monomial({2: 1, 3: 1})]
    assert list(read(weights)) == [make_structure(terms, offset=True)]
