"""JSON: what is written is read back, and nothing else is."""

import json
import math

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from torchalu.export import from_json, to_json, to_sympy

X, Y = sympy.symbols("x y")


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), snapped=st.booleans())
def test_formula_of_a_stack_comes_back(make_stack, seed, snapped):
    formula = to_sympy(make_stack(seed, snapped=snapped), ["a", "column b", "*"])
    text = to_json(formula)
    assert from_json(text) == formula
    assert to_json(from_json(text)) == text


LEAVES = st.one_of(
    st.sampled_from([X, Y, sympy.Symbol('"'), sympy.Symbol(""), sympy.pi, sympy.E]),
    st.fractions(max_denominator=10**9).map(lambda f: sympy.Rational(f.numerator, f.denominator)),
    st.floats(allow_nan=False, allow_infinity=False)
    .filter(bool)
    .map(lambda value: sympy.Float(value, 17)),
)
TREES = st.recursive(
    LEAVES,
    lambda children: st.one_of(
        st.lists(children, min_size=2, max_size=3).map(lambda a: sympy.Add(*a, evaluate=False)),
        st.lists(children, min_size=2, max_size=3).map(lambda a: sympy.Mul(*a, evaluate=False)),
        st.tuples(children, children).map(lambda a: sympy.Pow(*a, evaluate=False)),
        st.tuples(
            st.sampled_from(
                [sympy.Abs, sympy.sign, sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.tanh]
            ),
            children,
        ).map(lambda a: a[0](a[1], evaluate=False)),
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(formula=TREES)
def test_any_tree_comes_back(formula):
    assert from_json(to_json(formula)) == formula


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_float_comes_back_with_its_bits(value):
    formula = sympy.Float(value, 17)
    again = from_json(to_json(formula))
    assert again == formula
    assert again._prec == formula._prec
    assert float(again) == value
    assert math.copysign(1, float(again)) == 1 or value < 0


@pytest.mark.parametrize(
    "formula",
    [
        sympy.Max(0, X, Y),
        sympy.Min(6, sympy.Max(0, X)),
        sympy.Heaviside(-X, 0),
        sympy.tan(X),
        2 * (X + Y) / 3 - sympy.sqrt(2) * X ** sympy.Rational(3, 2) / Y,
        sympy.Integer(7) ** 900 * X,
    ],
)
def test_operators_come_back(formula):
    assert from_json(to_json(formula)) == formula


def test_text_by_hand():
    assert json.loads(to_json(X ** sympy.Rational(3, 2) + sympy.pi * sympy.Float(0.1, 17))) == {
        "format": "torchalu formula 1",
        "expression": {
            "operator": "add",
            "arguments": [
                {
                    "operator": "pow",
                    "arguments": [{"symbol": "x"}, {"rational": [3, 2]}],
                },
                {
                    "operator": "mul",
                    "arguments": [
                        {"float": "0.10000000000000000555", "precision": 60},
                        {"constant": "pi"},
                    ],
                },
            ],
        },
    }


def _wrapped(node):
    return json.dumps({"format": "torchalu formula 1", "expression": node})


def _nested(depth):
    node = '{"symbol": "x"}'
    for _ in range(depth):
        node = f'{{"operator": "sin", "arguments": [{node}]}}'
    return f'{{"format": "torchalu formula 1", "expression": {node}}}'


HALF = {"rational": [1, 2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("1" * 100_000, "no JSON"),
        ("[]", "no formula"),
        ('{"expression": {"symbol": "x"}}', "no formula"),
        ('{"format": "2", "expression": {"symbol": "x"}}', "format '2'"),
        (_wrapped("__import__('os')"), "keys None"),
        (_wrapped({"symbol": "x", "assumptions": {}}), "keys \\['assumptions', 'symbol'\\]"),
        (_wrapped({"symbol": 3}), "symbol 3"),
        (_wrapped({"operator": "Lambda", "arguments": [HALF]}), "operator 'Lambda'"),
        (_wrapped({"operator": ["sin"], "arguments": [HALF]}), "operator"),
        (_wrapped({"operator": "sin", "arguments": []}), "a list of 1"),
        (_wrapped({"operator": "sin", "arguments": [HALF, HALF]}), "a list of 1"),
        (_wrapped({"operator": "pow", "arguments": [HALF]}), "a list of 2"),
        (_wrapped({"operator": "add", "arguments": [HALF]}), "2 or more"),
        (_wrapped({"operator": "add", "arguments": {"a": 1}}), "2 or more"),
        (_wrapped({"operator": "heaviside", "arguments": [HALF, HALF]}), "heaviside with 1/2"),
        (_wrapped({"rational": [1, 0]}), "rational"),
        (_wrapped({"rational": [1, -2]}), "rational"),
        (_wrapped({"rational": [1.5, 2]}), "rational"),
        (_wrapped({"rational": [True, 2]}), "rational"),
        (_wrapped({"rational": ["1", 2]}), "rational"),
        (_wrapped({"rational": [10**3000, 1]}), "rational"),
        (_wrapped({"float": "nan", "precision": 60}), "float 'nan'"),
        (_wrapped({"float": "inf", "precision": 60}), "float 'inf'"),
        (_wrapped({"float": "1e999999999", "precision": 60}), "float"),
        (_wrapped({"float": "1/2", "precision": 60}), "float"),
        (_wrapped({"float": "1\n", "precision": 60}), "float"),
        (_wrapped({"float": 0.5, "precision": 60}), "float 0.5"),
        (_wrapped({"float": "0.5", "precision": 10**9}), "precision 1000000000"),
        (_wrapped({"float": "0.5", "precision": True}), "precision True"),
        (_wrapped({"constant": "zoo"}), "constant 'zoo'"),
        (_wrapped({"constant": ["pi"]}), "constant"),
        (_nested(200), "more than 150 levels"),
        (_wrapped({"operator": "add", "arguments": [{"symbol": "x"}] * 100_001}), "nodes|list"),
        (" " * 10_000_001, "characters"),
    ],
)
def test_hostile_text(text, message):
    with pytest.raises(ValueError, match=message):
        from_json(text)


def test_tower_of_powers_is_not_computed():
    node = {"rational": [9, 1]}
    for _ in range(20):
        node = {"operator": "pow", "arguments": [{"rational": [9, 1]}, node]}
    formula = from_json(_wrapped(node))
    assert isinstance(formula, sympy.Pow)


def test_no_string():
    with pytest.raises(TypeError, match="text is dict"):
        from_json({})


@pytest.mark.parametrize(
    ("formula", "error", "message"),
    [
        ("x", TypeError, "expr is str"),
        (sympy.gamma(X), ValueError, "gamma"),
        (sympy.oo, ValueError, "Infinity"),
        (sympy.nan, ValueError, "NaN"),
        (sympy.Float("1e20000", 17), ValueError, "1e-9999 to 1e9999"),
        (sympy.Float("0.1", precision=3000), ValueError, "3000 bits"),
        (sympy.Integer(7) ** 4000, ValueError, "1000 digits"),
    ],
)
def test_what_cannot_be_written(formula, error, message):
    with pytest.raises(error, match=message):
        to_json(formula)


def test_formula_that_is_too_large_as_a_tree():
    formula = X
    for _ in range(40):
        formula = sympy.sin(formula) * sympy.cos(formula)
    with pytest.raises(ValueError, match="shared parts once"):
        to_json(formula)
