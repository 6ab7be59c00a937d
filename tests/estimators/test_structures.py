"""Structures: their values, their canonical form, their expressions."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from torchalu.estimators.constants import ConstantFit
from torchalu.estimators.formula import to_expression
from torchalu.estimators.selection import Candidate
from torchalu.estimators.structures import (
    Term,
    count_nodes,
    description_nats,
    family_of,
    inverses,
    make_factor,
    make_structure,
    make_term,
    monomial,
    shared_factors,
)

HALF = Fraction(1, 2)
X = np.array([[1.5, 2.0, -3.0], [4.0, 0.5, 7.0]])
A, B, C = X.T


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (make_term([make_factor({0: 1, 1: -1}), make_factor({2: 2}, 1)]), (A - B) * (2 * C + 1)),
        (monomial({0: HALF, 1: -2}), np.sqrt(A) / B**2),
        (make_term([make_factor({0: 1, 1: 1}, 0, -HALF)]), 1 / np.sqrt(A + B)),
        (monomial({0: Fraction(2, 3), 2: 3}), np.cbrt(A) ** 2 * C**3),
    ],
)
def test_values(term, expected):
    np.testing.assert_allclose(term.values(X), expected, rtol=1e-14)


def test_outside_its_domain_a_term_is_not_finite():
    assert np.isnan(monomial({2: HALF}).values(X)[0])
    assert np.isinf(monomial({0: -1}).values(np.zeros((1, 3))))[0]


def test_canonical_form():
    assert make_factor({0: 2, 1: -4}, 6) == make_factor({0: -1, 1: 2}, -3)
    assert make_factor({0: -1}, 0, HALF) != make_factor({0: 1}, 0, HALF)
    assert make_factor({0: 0}, 5) is None
    assert monomial({0: 1, 1: 0}) == monomial({0: 1})
    twice = make_term([make_factor({0: 1}), make_factor({0: 1})])
    assert twice == monomial({0: 2})
    assert make_term([make_factor({0: 1}), make_factor({0: 1}, 0, -1)]) is None
    assert make_structure([monomial({1: 1}), None, monomial({0: 1})], False) == make_structure(
        [monomial({0: 1}), monomial({1: 1}), monomial({1: 1})], False
    )


@pytest.mark.parametrize(
    ("terms", "family"),
    [
        ([], "sum"),
        ([monomial({0: 1}), monomial({1: 1})], "sum"),
        ([make_term([make_factor({0: 1, 1: -1})])], "sum"),
        ([monomial({0: HALF, 1: -1})], "powers"),
        ([make_term([make_factor({0: 1, 1: 1}), make_factor({2: 1})])], "product_of_sums"),
        ([monomial({0: 1, 1: 1}), monomial({2: 1})], "sum_of_products"),
        ([make_term([make_factor({0: 1, 1: 1}, 0, -1)])], "ratio_of_sums"),
    ],
)
def test_family(terms, family):
    assert family_of(make_structure(terms, False)) == family


def test_a_power_of_a_sum_is_a_family_of_its_own():
    terms = [monomial({0: 2}), monomial({1: 2})]
    root = make_structure(terms, False, HALF)
    assert family_of(root) == "power_of_sum"
    assert count_nodes(root) == count_nodes(make_structure(terms, False)) + 2
    assert description_nats(root, 3) > description_nats(make_structure(terms, False), 3)


def test_what_stands_beside_a_power_costs_as_much_as_in_a_sum():
    terms, one = [monomial({0: 2}), monomial({1: 2})], monomial({2: 1})
    root, more = make_structure(terms, False, HALF), make_structure(terms, False, HALF, [one])
    constant = make_structure(terms, True, HALF, [Term(())])
    assert {family_of(root), family_of(more), family_of(constant)} == {"power_of_sum"}
    assert more.columns == {0, 1, 2}
    assert constant.columns == {0, 1}
    assert count_nodes(more) == count_nodes(root) + 2  # a column and an operator
    assert count_nodes(constant) == count_nodes(root) + 1  # the operator
    price = description_nats(make_structure([one], False), 3)
    assert description_nats(more, 3) == pytest.approx(description_nats(root, 3) + price + np.log(6))
    assert inverses(make_structure(terms, False, -HALF, [monomial({2: -1})])) == 2


def test_a_sum_below_makes_a_ratio():
    above, below = [monomial({0: 1}), monomial({1: 2})], [Term(()), monomial({1: 1, 2: 1})]
    ratio = make_structure(above, True, below=below[::-1])
    assert ratio.below == tuple(below)
    values = ratio.values(X, np.array([2.0, -3.0, 0.5, 5.0, 0.25]))
    np.testing.assert_allclose(values, (2 * A - 3 * B**2 + 0.5) / (5 + B * C / 4), rtol=1e-14)
    assert family_of(ratio) == "ratio_of_sums"
    assert ratio.columns == {0, 1, 2}
    assert inverses(ratio) == 1
    alone = make_structure(above, True)
    assert count_nodes(ratio) == count_nodes(alone) + 3 + 2  # b*c; a quotient and a sum
    price = description_nats(make_structure(below[1:], False), 3)
    assert description_nats(ratio, 3) == pytest.approx(
        description_nats(alone, 3) + price + 2 * np.log(6)
    )


def test_the_sum_below_may_stand_under_a_root():
    above, below = [monomial({0: 1}), monomial({1: 2})], [Term(()), monomial({2: 2})]
    ratio = make_structure(above, False, below=below)
    rooted = make_structure(above, False, below=below, root_below=True)
    constants = np.array([2.0, -3.0, 99.0, -0.25])
    expected = (2 * A - 3 * B**2) / np.sqrt(99 - C**2 / 4)
    np.testing.assert_allclose(rooted.values(X, constants), expected, rtol=1e-14)
    assert np.isnan(rooted.values(X, np.array([2.0, -3.0, -99.0, -0.25]))).all()
    assert family_of(rooted) == "power_of_sum"
    assert rooted.columns == {0, 1, 2}
    assert inverses(rooted) == 1
    assert count_nodes(rooted) == count_nodes(ratio) + 2  # an operator and the exponent
    price = description_nats(rooted, 3) - description_nats(ratio, 3)
    assert price == pytest.approx(np.log(6) + np.log(2))  # likewise
    fit = ConstantFit(constants, np.zeros(4), "constant", 5.0, 0.0, 0.0)
    given = (Fraction(2), Fraction(-3), None, Fraction(-1, 4))
    expression = to_expression(Candidate(rooted, given, fit, 0.0), ["a", "b", "c"])
    assert expression == sympy.sympify("(2*a - 3*b**2)/sqrt(99.0 - c**2/4)")


@pytest.mark.parametrize(
    ("above", "constants", "expected"),
    [
        ([{0: 1}, {0: 1, 1: 1}], [0.37, 3.0], "a*(3.0*b + 0.37)/(5.0 - c)"),
        ([{1: 1}, {0: 2}], [3.0, 0.37], "(0.37*a**2 + 3.0*b)/(5.0 - c)"),
    ],
)
def test_expression_of_a_ratio(above, constants, expected):
    structure = make_structure(map(monomial, above), False, below=[Term(()), monomial({2: 1})])
    order = [structure.terms.index(monomial(one)) for one in above]
    values = np.array([*np.array(constants)[np.argsort(order)], 5.0, -1.0])
    fit = ConstantFit(values, np.zeros(4), "constant", 5.0, 0.0, 0.0)
    candidate = Candidate(structure, (None, None, None, Fraction(-1)), fit, 0.0)
    expression = to_expression(candidate, ["a", "b", "c"])
    assert expression == sympy.sympify(expected)
    function = sympy.lambdify(sympy.symbols("a b c"), expression)
    np.testing.assert_allclose(function(A, B, C), candidate.predict(X), rtol=1e-13)


def test_sums_that_all_terms_share_stand_before_the_sum():
    share = make_factor({0: 1, 1: 1}, 0, -1)
    above = monomial({0: 1, 2: 1}), monomial({1: 2})
    structure = make_structure([make_term([*one.factors, share]) for one in above], False)
    fit = ConstantFit(np.ones(2), np.zeros(2), "constant", 5.0, 0.0, 0.0)
    candidate = Candidate(structure, (Fraction(1), Fraction(1)), fit, 0.0)
    expected = sympy.sympify("(a*c + b**2)/(a + b)")
    assert to_expression(candidate, ["a", "b", "c"]) == expected


def test_a_longer_formula_costs_more():
    short = make_structure([monomial({0: 1, 1: 1})], False)
    long = make_structure([monomial({0: 1, 1: 1}), monomial({2: 2})], False)
    assert count_nodes(short) == 3
    assert count_nodes(short) < count_nodes(long)
    assert description_nats(short, 3) < description_nats(long, 3) < description_nats(long, 30)


@pytest.mark.parametrize("power", [Fraction(1), HALF, Fraction(-1)])
def test_what_all_terms_share_is_named_once_as_it_stands_before_the_power(power):
    """c*sqrt(a**2 + b) is longer than sqrt(a**2 + b) by a column and two operators."""
    alone = [monomial({0: 2}), monomial({1: 1})]
    times = [monomial({0: 2, 2: 1 / power}), monomial({1: 1, 2: 1 / power})]
    price = np.log(4) + 2 * np.log(6)
    for offset in (False, True):
        short, long = (make_structure(terms, offset, power) for terms in (alone, times))
        more = description_nats(long, 3) - description_nats(short, 3)
        assert more > price + 1 if offset else more == pytest.approx(price)


def test_powers_of_which_all_terms_have_a_part_are_named_once():
    """1/(a*c**4) - b/(a*c**6) as (1 - b/c**2)/(a*c**4): six operators less two of the powers."""
    shared = make_structure([monomial({0: -1, 2: -4}), monomial({0: -1, 1: 1, 2: -6})], False)
    columns, operators, powers = 4, 4 + 3 + 1, np.log(4) + np.log(2)  # -1, -4 and -2; a product
    expected = columns * np.log(4) + operators * np.log(6) + powers
    assert description_nats(shared, 3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "power", "taken"),
    [
        ((-4, -6), Fraction(-1, 2), -4),  # c**2/sqrt(1 + 1/c**2)
        ((Fraction(-2, 3), Fraction(4, 3)), Fraction(-3, 2), Fraction(-2, 3)),  # z/(1 + z**2)**1.5
        ((1, 2), Fraction(1), 1),  # c*(1 + c)
        ((1, -1), Fraction(-1), 0),  # 1/(c + 1/c)
        ((Fraction(1, 2), 1), Fraction(1, 2), 0),  # sqrt(sqrt(c) + c)
        ((2, 2, 0), Fraction(1, 2), 0),  # not all terms have it
    ],
)
def test_what_is_taken_out_makes_all_powers_the_shortest(own, power, taken):
    terms = [monomial({j: 1, 3: one} if one else {j: 1}) for j, one in enumerate(own)]
    expected = [make_factor({3: 1}, 0, taken)] if taken else []
    assert shared_factors(terms, power) == expected


def test_an_offset_costs_an_operator():
    terms = [monomial({0: 1, 1: 1})]
    without, with_one = (make_structure(terms, offset) for offset in (False, True))
    more = description_nats(with_one, 3) - description_nats(without, 3)
    assert more == pytest.approx(np.log(6))


@pytest.mark.parametrize("beside", [[], [monomial({2: 2}), Term(())]])
@pytest.mark.parametrize("power", [Fraction(1), Fraction(-1), Fraction(2)])
def test_expression_equals_the_structure(power, beside):
    terms = [
        monomial({0: HALF, 1: -1}),
        make_term([make_factor({0: 1, 2: -2}, 3), make_factor({1: 1, 2: 1}, 0, 2)]),
    ]
    structure = make_structure(terms, True, power, beside)
    constants = np.array([1.0, 0.37, -2.5, 0.75, -1.0][: 3 + len(beside)])
    fit = ConstantFit(constants, np.zeros(len(constants)), "constant", 5.0, 0.0, 0.0)
    fixed = (Fraction(1), None, *map(Fraction, constants[2:]))
    candidate = Candidate(structure, fixed, fit, 0.0)
    expression = to_expression(candidate, ["a", "b", "c"])
    function = sympy.lambdify(sympy.symbols("a b c"), expression)
    np.testing.assert_allclose(function(A, B, C), candidate.predict(X), rtol=1e-13)
    assert expression.coeff(sympy.Float(0.37)) == 0 or "0.37" in str(expression)


@pytest.mark.parametrize(
    ("power", "positive", "expected"),
    [
        (Fraction(-1), [], "a**2/((1.0 + 0.37*b**2/a**2)*(b + c)**2)"),
        (-HALF, [0], "a/sqrt(1.0*(b + c)**2 + 0.37*b**2*(b + c)**2/a**2)"),
        (HALF, [0], "sqrt(1.0*(b + c)**2 + 0.37*b**2*(b + c)**2/a**2)/a"),
        (HALF, [], "sqrt(1.0*(b + c)**2/a**2 + 0.37*b**2*(b + c)**2/a**4)"),
    ],
)
def test_what_terms_share_stands_before_a_power(power, positive, expected):
    """Of a root only columns that are positive; a sum may have either sign."""
    shared = [make_factor({0: 1}, 0, -2), make_factor({1: 1, 2: 1}, 0, 2)]
    more = [make_factor({0: 1}, 0, -2), make_factor({1: 1}, 0, 2)]
    structure = make_structure([make_term(shared), make_term([*shared, *more])], False, power)
    assert structure.terms[1] == make_term(shared)
    fit = ConstantFit(np.array([0.37, 1.0]), np.zeros(2), "constant", 5.0, 0.0, 0.0)
    candidate = Candidate(structure, (None, None), fit, 0.0)
    expression = to_expression(candidate, ["a", "b", "c"], positive)
    assert expression == sympy.sympify(expected)
    function = sympy.lambdify(sympy.symbols("a b c"), expression)
    np.testing.assert_allclose(function(A, B, C), candidate.predict(X), rtol=1e-13)
