"""Constants: least squares against SciPy, coverage of the intervals, simple values."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from torchalu.estimators.constants import (
    Multiple,
    fit_constants,
    unit_constants,
)
from torchalu.estimators.least_squares import solve, sparse_fits, to_integers
from torchalu.estimators.structures import Term, make_structure, monomial
from torchalu.estimators.table import canonical_table

LINE = make_structure([monomial({0: 1})], True)
PRODUCT = make_structure([monomial({0: 1, 1: 1})], False)


def test_line_equals_linregress():
    generator = np.random.default_rng(0)
    x = generator.uniform(-2, 2, 40)
    y = 3 * x + 1 + generator.normal(size=40)
    fit = fit_constants(LINE, canonical_table(x[:, None], y, None, ("x",), 1e-9))
    reference = stats.linregress(x, y)
    assert fit.noise == "constant"
    assert fit.values == pytest.approx([reference.slope, reference.intercept])
    assert fit.errors == pytest.approx([reference.stderr, reference.intercept_stderr])
    half = stats.t.ppf(0.975, 38) * reference.stderr
    assert fit.interval(0) == pytest.approx((reference.slope - half, reference.slope + half))


@pytest.mark.parametrize("noise", ["constant", "proportional"])
def test_intervals_cover(noise):
    generator = np.random.default_rng(7)
    covered, chosen, repeats = 0, 0, 400
    for _ in range(repeats):
        X = generator.uniform(0.5, 4, (25, 2))
        clean = 2.5 * X[:, 0] * X[:, 1]
        size = 0.01 * clean if noise == "proportional" else 0.1
        y = clean + size * generator.normal(size=25)
        fit = fit_constants(PRODUCT, canonical_table(X, y, None, ("a", "b"), 1e-9))
        low, high = fit.interval(0)
        covered += low <= 2.5 <= high
        chosen += fit.noise == noise
    assert chosen > 0.9 * repeats
    assert abs(covered / repeats - 0.95) < 4 * np.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize("noise", ["constant", "proportional"])
@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(-1), Fraction(-1, 2)])
def test_a_power_of_a_sum_equals_nonlinear_least_squares(power, noise):
    generator = np.random.default_rng(1)
    x = np.sort(generator.uniform(0.5, 4, 60))
    size = {"constant": 0.01, "proportional": 0.03}[noise]

    def function(x, scale, offset):
        return (scale * x + offset) ** float(power)

    clean = function(x, 2.3, 0.7)
    e = generator.normal(size=60)
    y = clean + size * e if noise == "constant" else clean * (1 + size * e)
    structure = make_structure([monomial({0: 1})], True, power)
    fit = fit_constants(structure, canonical_table(x[:, None], y, None, ("x",), 1e-9))
    spread = np.ones(60) if noise == "constant" else np.abs(function(x, *fit.values))
    values, covariance = curve_fit(function, x, y, p0=[1.0, 1.0], sigma=spread)
    assert fit.noise == noise
    assert fit.values == pytest.approx(values, rel=2e-4)
    assert fit.errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=2e-2)


@pytest.mark.parametrize("noise", ["constant", "proportional"])
@pytest.mark.parametrize("added", [-5.0, -0.4, 0.0, 0.7])
@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(-1)])
def test_a_power_beside_terms_equals_nonlinear_least_squares(power, added, noise):
    """Of rows of which one has an infinite term, where the power is negative."""
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 4, (2, 300))
    terms = [monomial({0: 1})]
    if power < 0:
        x[0, 0], terms = 0.0, [monomial({0: -1})]

    def function(x, scale, offset, coefficient, constant):
        with np.errstate(divide="ignore"):
            total = scale * x[0] ** (1.0 if power > 0 else -1.0) + offset
        return total ** float(power) + coefficient * x[1] + constant

    clean = function(x, 2.3, 0.7, 1.1, added)
    e = 0.002 * generator.normal(size=300)
    y = clean + e if noise == "constant" else clean * (1 + e)
    structure = make_structure(terms, True, power, [monomial({1: 1}), Term(())])
    assert structure.beside == (Term(()), monomial({1: 1}))
    fit = fit_constants(structure, canonical_table(x.T, y, None, ("a", "b"), 1e-9))
    constants = fit.values[[0, 1, 3, 2]]
    spread = np.ones(300) if fit.noise == "constant" else np.abs(function(x, *constants))
    start = [2.3, 0.7, 1.1, added]
    values, covariance = curve_fit(function, x, y, p0=start, sigma=spread, xtol=1e-12)
    assert constants == pytest.approx(values, rel=1e-3)
    assert fit.errors[[0, 1, 3, 2]] == pytest.approx(np.sqrt(np.diag(covariance)), rel=2e-2)


@pytest.mark.parametrize("noise", ["constant", "proportional"])
@pytest.mark.parametrize("unit", [0, 1])
def test_a_ratio_of_sums_equals_nonlinear_least_squares(unit, noise):
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 4, (2, 300))
    e = 0.01 * generator.normal(size=300)

    def function(x, first, second, other):
        below = 1.0 + other * x[0] * x[1] if unit == 0 else other + x[0] * x[1]
        return (first * x[0] + second * x[1]) / below

    clean = (1.3 * x[0] + 0.7 * x[1]) / (1.0 + 0.4 * x[0] * x[1])
    y = clean + e if noise == "constant" else clean * (1 + e)
    terms = [monomial({0: 1}), monomial({1: 1})]
    structure = make_structure(terms, False, below=[Term(()), monomial({0: 1, 1: 1})])
    table = canonical_table(x.T, y, None, ("a", "b"), 1e-9)
    fit = fit_constants(structure, table, unit_constants(structure, unit))
    assert fit.noise == noise
    assert fit.values[2 + unit] == 1
    assert fit.errors[2 + unit] == 0
    free = [0, 1, 3 - unit]
    spread = np.ones(300) if noise == "constant" else np.abs(function(x, *fit.values[free]))
    values, covariance = curve_fit(function, x, y, p0=np.ones(3), sigma=spread, xtol=1e-12)
    assert fit.values[free] == pytest.approx(values, rel=1e-4)
    assert fit.errors[free] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-2)


@pytest.mark.parametrize("noise", ["constant", "proportional"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_over_a_root_equals_nonlinear_least_squares(sign, noise):
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 4, (2, 300))
    e = 0.01 * generator.normal(size=300)
    other = 0.4 if sign == 1 else 40.0

    def function(x, first, second, other):
        return (first * x[0] + second * x[1]) / np.sqrt(sign * x[0] ** 2 + other * x[1] ** 0)

    clean = function(x, 1.3, 0.7, other)
    y = clean + e if noise == "constant" else clean * (1 + e)
    terms, below = [monomial({0: 1}), monomial({1: 1})], [Term(()), monomial({0: 2})]
    structure = make_structure(terms, False, below=below, root_below=True)
    table = canonical_table(x.T, y, None, ("a", "b"), 1e-9)
    fit = fit_constants(structure, table, unit_constants(structure, 1, sign))
    assert fit.noise == noise
    assert fit.values[3] == sign
    assert fit.errors[3] == 0
    spread = np.ones(300) if noise == "constant" else np.abs(function(x, *fit.values[:3]))
    start = [1.0, 1.0, 1.2 * other]
    values, covariance = curve_fit(function, x, y, p0=start, sigma=spread, xtol=1e-12)
    assert fit.values[:3] == pytest.approx(values, rel=1e-4)
    assert fit.errors[:3] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-2)


def test_a_sum_over_a_root_is_exact_where_the_data_are():
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (12, 2))
    y = 1e6 * (1.7 * x[:, 0] - 0.31) / np.sqrt(1 - x[:, 1] ** 2)
    below = [Term(()), monomial({1: 2})]
    structure = make_structure([monomial({0: 1})], True, below=below, root_below=True)
    table = canonical_table(x, y, None, ("a", "b"), 1e-9)
    expected = pytest.approx([1.7e6, -0.31e6, 1.0, -1.0], rel=1e-9)
    assert fit_constants(structure, table).values == expected
    given = (Fraction(1700000), None, None, Fraction(-1))
    assert fit_constants(structure, table, given).values == expected
    assert fit_constants(structure, table, (None, None, Fraction(-1), None)) is None


def test_a_multiple_of_another_constant_equals_one_column():
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 4, (80, 3))
    y = 0.731 * (x[:, 0] - 2 * x[:, 1]) + 0.3 * x[:, 2] + 0.05 * generator.normal(size=80)
    structure = make_structure([monomial({j: 1}) for j in range(3)], True)
    table = canonical_table(x, y, None, ("a", "b", "c"), 1e-9)
    given = (None, Multiple(0, Fraction(-2)), Fraction(3, 10), None)
    fit = fit_constants(structure, table, given)
    reference = stats.linregress(x[:, 0] - 2 * x[:, 1], y - 0.3 * x[:, 2])
    one, errors = reference.slope, reference.stderr
    assert fit.noise == "constant"
    assert fit.values == pytest.approx([one, -2 * one, 0.3, reference.intercept])
    assert fit.errors == pytest.approx([errors, 2 * errors, 0, reference.intercept_stderr])


@pytest.mark.parametrize("power", [Fraction(1), Fraction(-1, 2)])
def test_a_multiple_in_a_power_equals_nonlinear_least_squares(power):
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 4, (2, 100))

    def function(x, scale, offset):
        return (scale * (x[0] + 3 * x[1]) + offset) ** float(power)

    y = function(x, 0.73, 0.31) + 0.001 * generator.normal(size=100)
    structure = make_structure([monomial({0: 1}), monomial({1: 1})], True, power)
    table = canonical_table(x.T, y, None, ("a", "b"), 1e-9)
    fit = fit_constants(structure, table, (None, Multiple(0, Fraction(3)), None))
    spread = np.ones(100) if fit.noise == "constant" else function(x, *fit.values[[0, 2]])
    values, covariance = curve_fit(function, x, y, p0=[1.0, 1.0], sigma=spread, xtol=1e-12)
    assert fit.values[[0, 2]] == pytest.approx(values, rel=1e-4)
    assert fit.errors[[0, 2]] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-2)
    assert fit.values[1] == 3 * fit.values[0]


def test_a_ratio_of_sums_is_exact_where_the_data_are():
    x = np.random.default_rng(0).uniform(-4, 4, (12, 2))
    y = 1e6 * (1.7 * x[:, 0] - 0.31) / (2.9 + 0.2 * x[:, 1])
    structure = make_structure([monomial({0: 1})], True, below=[Term(()), monomial({1: 1})])
    table = canonical_table(x, y, None, ("a", "b"), 1e-9)
    expected = np.array([1.7e6, -0.31e6, 2.9, 0.2])
    assert fit_constants(structure, table).values == pytest.approx(expected / 2.9, rel=1e-9)
    given = (Fraction(17000000, 29), None, None, Fraction(2, 29))
    assert fit_constants(structure, table, given).values == pytest.approx(expected / 2.9, rel=1e-9)


@pytest.mark.parametrize("power", [Fraction(1, 2), Fraction(-1)])
def test_a_power_beside_a_term_is_exact_where_the_data_are(power):
    x = np.random.default_rng(0).uniform(0.5, 4, (12, 2))
    total = 0.3 + 1.7 * x[:, 0] + 0.2 * x[:, 0] * x[:, 1]
    y = 1e6 * (total ** float(power) - 0.31 * x[:, 1])
    terms = [monomial({0: 1}), monomial({0: 1, 1: 1})]
    structure = make_structure(terms, True, power, [monomial({1: 1})])
    table = canonical_table(x, y, None, ("a", "b"), 1e-9)
    unit = 1e6 ** (1 / float(power))
    expected = [1.7 * unit, 0.2 * unit, 0.3 * unit, -0.31e6]
    assert fit_constants(structure, table).values == pytest.approx(expected, rel=1e-9)
    given = (None, None, None, Fraction(-310000))
    assert fit_constants(structure, table, given).values == pytest.approx(expected, rel=1e-9)


def test_a_root_of_a_sum_that_is_negative_somewhere_is_no_fit():
    x = np.linspace(-1, 1, 20)
    table = canonical_table(x[:, None], x + 3, None, ("x",), 1e-9)
    assert fit_constants(make_structure([monomial({0: 1})], True, Fraction(1, 2)), table)
    table = canonical_table(x[:, None], x, None, ("x",), 1e-9)
    assert fit_constants(make_structure([monomial({0: 1})], True, Fraction(1, 2)), table) is None


def test_held_out_rows_are_rated_but_not_fitted():
    X = np.arange(1.0, 11.0)[:, None]
    y = np.where(X[:, 0] > 8, 100.0, 2 * X[:, 0])
    table = canonical_table(X, y, None, ("x",), 1e-9)
    inner = X[:, 0] <= 8
    split = type(table)(table.X, table.y, table.weight, inner, table.names, table.tolerance)
    fit = fit_constants(make_structure([monomial({0: 1})], False), split)
    assert fit.values == pytest.approx([2.0])
    assert fit.error == pytest.approx(np.sqrt(np.mean([82.0**2, 80.0**2])))


def test_weights_count_rows():
    generator = np.random.default_rng(3)
    x, weight = generator.uniform(1, 2, (20, 1)), generator.integers(1, 4, 20)
    y = 2 * x[:, 0] + generator.normal(size=20)
    weighted = fit_constants(LINE, canonical_table(x, y, weight, ("x",), 1e-9))
    reference = stats.linregress(x[:, 0].repeat(weight), y.repeat(weight))
    assert weighted.errors[0] == pytest.approx(reference.stderr)


def test_no_fit_where_there_can_be_none():
    X = np.array([[1.0, -1.0], [2.0, 1.0], [3.0, 2.0]])
    table = canonical_table(X, np.array([1.0, 2.0, 4.0]), None, ("a", "b"), 1e-9)
    assert fit_constants(make_structure([monomial({1: Fraction(1, 2)})], False), table) is None
    terms = [monomial({0: 1}), monomial({1: 1})]
    assert fit_constants(make_structure(terms, True), table) is None


def test_dependent_columns_have_no_solution():
    design = np.column_stack([np.arange(5.0), 2 * np.arange(5.0)])
    assert solve(design, np.arange(5.0), np.ones(5)) is None


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_sparse_fits_do_not_depend_on_units(unit):
    """Of weights, which are relative, or of the target."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 6))
    y = X @ np.array([1.0, 0, -2, 0, 0.5, 0]) + 0.1 * generator.normal(size=60)
    weight = generator.uniform(0.5, 2, 60)
    expected = sparse_fits(X, y, weight)
    for subsets, scale in (
        (sparse_fits(X, y, unit * weight), 1),
        (sparse_fits(X, unit * y, weight), unit),
    ):
        assert [one.columns for one in subsets] == [one.columns for one in expected]
        for one, other in zip(subsets, expected, strict=True):
            np.testing.assert_allclose(one.coefficients, scale * other.coefficients, rtol=1e-9)


def test_sparse_fits_find_the_columns():
    generator = np.random.default_rng(0)
    for rows, columns in [(300, 12), (40, 60)]:
        X = generator.normal(size=(rows, columns))
        y = 4 + 2 * X[:, 3] - X[:, 7] + 0.01 * generator.normal(size=rows)
        subsets = sparse_fits(X, y, np.ones(rows))
        match = [s for s in subsets if s.columns == (3, 7)]
        assert match[0].coefficients == pytest.approx([2, -1], abs=0.02)
        assert match[0].constant == pytest.approx(4, abs=0.02)


def test_integers_in_proportion():
    assert (1, -1, 0) in to_integers(np.array([37.4, -36.9, 0.4]))
    assert (1, 2, 0) in to_integers(np.array([0.51, 0.99, 0.02]))
    assert (3, 10) in to_integers(np.array([0.3, 1.0]))
    assert to_integers(np.zeros(3)) == []
