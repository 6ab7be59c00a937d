"""Truth tables of known functions, and formulas that give them back, by Python and by SymPy."""

import itertools
import random

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Symbol, symbols
from sympy.logic import false, true
from torch import nn

from torchalu.export import (
    TruthTable,
    certify_logic,
    evaluate_boolean,
    short_formula,
    to_logic,
    truth_table,
)
from torchalu.export.boolean import formula_length
from torchalu.nn import GroupSum, LogicGates

A, B, C, D = symbols("a b c d")


def rows(inputs):
    return list(itertools.product((0, 1), repeat=inputs))


def table_of(function, inputs):
    return np.array([bool(function(*row)) for row in rows(inputs)])


def values_of(formula, used):
    """A formula's values, by substitution in SymPy."""
    found = []
    for row in rows(len(used)):
        pairs = {symbol: true if bit else false for symbol, bit in zip(used, row, strict=True)}
        found.append(formula.subs(pairs) == true)
    return found


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b, c: False, false),
        (lambda a, b, c: True, true),
        (lambda a, b, c: not b, ~B),
        (lambda a, b, c: a and c, A & C),
        (lambda a, b, c: a or not b or c, A | ~B | C),
        (lambda a, b, c: a != c, A ^ C),
        (lambda a, b, c: a == b, ~(A ^ B)),
        (lambda a, b, c: (a + b + c) % 2, A ^ B ^ C),
        (lambda a, b, c: a + b + c >= 2, (A & B) | (A & C) | (B & C)),
        (lambda a, b, c: b if a else c, (A & B) | (C & ~A)),
        (lambda a, b, c: (a or b) and c, C & (A | B)),
        (lambda a, b, c: a ^ (b & c), A ^ (B & C)),
        (lambda a, b, c: not a and b != c, ~A & (B ^ C)),
        (lambda a, b, c: a or b == c, A | ~(B ^ C)),
    ],
)
def test_known_functions_have_their_formula(function, expected):
    assert short_formula(table_of(function, 3), [A, B, C]) == expected


@given(st.integers(1, 5), st.integers(0))
@settings(max_examples=60, deadline=None)
def test_formula_has_the_values_of_the_table(inputs, seed):
    used = symbols(f"x:{inputs}")
    values = np.array(random.Random(seed).choices((False, True), k=2**inputs))
    formula = short_formula(values, used)
    assert values_of(formula, used) == values.tolist()


@given(st.integers(8, 9), st.integers(0), st.sampled_from([0.02, 0.1, 0.5, 0.95]))
@settings(max_examples=12, deadline=None)
def test_formula_of_many_inputs_has_the_values_of_the_table(inputs, seed, share):
    used = symbols(f"x:{inputs}")
    values = np.random.default_rng(seed).random(2**inputs) < share
    formula = short_formula(values, used)
    bits = np.array(rows(inputs), dtype=bool)
    columns = {symbol.name: column for symbol, column in zip(used, bits.T, strict=True)}
    assert np.array_equal(evaluate_boolean(formula, columns), values)


@pytest.mark.parametrize("inputs", [9, 20])
def test_large_functions_with_short_formulas(inputs):
    used = symbols(f"x:{inputs}")
    counts = np.arange(2**inputs)
    bit = [(counts >> (inputs - 1 - i)) & 1 == 1 for i in range(inputs)]
    assert short_formula(~np.logical_xor.reduce(bit), used) == ~sympy.Xor(*used)
    assert short_formula(np.logical_and.reduce(bit), used) == sympy.And(*used)
    assert short_formula(np.logical_or.reduce(bit), used) == sympy.Or(*used)
    pairs = [first & second for first, second in zip(bit[:8:2], bit[1:8:2], strict=True)]
    products = [first & second for first, second in zip(used[:8:2], used[1:8:2], strict=True)]
    assert short_formula(np.logical_xor.reduce(pairs), used) == sympy.Xor(*products)
    assert short_formula(np.logical_or.reduce(pairs), used) == sympy.Or(*products)
    chosen = short_formula(np.where(bit[0], bit[3], bit[-1]), used)
    assert chosen == (used[0] & used[3]) | (used[-1] & ~used[0])


def test_inputs_that_occur_once_can_occur_once():
    """Every function of 3 inputs in which each occurs once at most."""
    literals = [[s, ~s] for s in (A, B, C)]
    for a, b, c in itertools.product(*literals):
        forms = (
            a & b & c,
            a | b | c,
            a & (b | c),
            a | (b & c),
            a & (b ^ c),
            a | (b ^ c),
            a ^ b ^ c,
        )
        for formula in (*forms, a ^ (b & c), a ^ (b | c), a ^ b, a & b, a | b, c):
            values = np.array(values_of(sympy.sympify(formula), (A, B, C)))
            assert formula_length(short_formula(values, [A, B, C])) == formula_length(formula)


def test_function_without_a_short_formula():
    values = np.random.default_rng(0).random(2**14) < 0.5
    with pytest.raises(ValueError, match=r"of 14 inputs has no short formula.*take the table"):
        short_formula(values, symbols("x:14"))


def test_table_of_a_network_by_hand():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    model[0].weight.data = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
    model[2].weight.data = torch.tensor([[1.0, 1.0]])
    for layer, bias in ((model[0], 0.0), (model[2], -1.0)):
        layer.bias.data.fill_(bias)
    table = truth_table(model, ["a", "b"])
    assert table.values.tolist() == [[True], [False], [False], [True]]
    assert table.formula() == ~(A ^ B)
    assert str(table).splitlines() == ["a b | y", "0 0 | 1", "0 1 | 0", "1 0 | 0", "1 1 | 1"]
    zeros = truth_table(model, ["a", "b"], encoding=(0, 1), threshold=0.5)
    assert zeros.formula() == A & B
    assert model.training
    assert model[0].weight.dtype == torch.float32


def test_first_name_is_the_highest_bit_and_outputs_keep_their_order():
    table = truth_table(lambda x: x, ["left", "right"])
    assert table.values.tolist() == [[False, False], [False, True], [True, False], [True, True]]
    assert table.formula() == [Symbol("left"), Symbol("right")]
    assert str(table).splitlines()[1:3] == ["   0     0 |  0  0", "   0     1 |  0  1"]


def test_output_at_the_threshold_is_false():
    assert truth_table(lambda x: 0 * x[:, 0], ["a"]).formula() == false
    assert truth_table(lambda x: 0 * x[:, 0], ["a"], threshold=-1e-9).formula() == true


def test_gates_take_bits_by_default():
    gates = LogicGates(2, 16, connections=torch.tensor([[0], [1]]).expand(2, 16))
    gates.weight.data.copy_(torch.eye(16))
    table = truth_table(gates, ["a", "b"])
    numbers = table.values.T @ np.array([8, 4, 2, 1])
    assert numbers.tolist() == list(range(16))


class Inside(nn.Module):
    """A layer of another class with a gate inside."""

    def __init__(self, gates):
        super().__init__()
        self.gates = gates

    def forward(self, x):
        return self.gates(x)


@pytest.mark.parametrize("before", [nn.Flatten, nn.Dropout, nn.Identity])
def test_layers_that_do_nothing_do_not_hide_gates_or_a_sigmoid(before):
    both = LogicGates(2, 1, connections=torch.tensor([[0], [1]]))
    both.weight.data.copy_(torch.eye(16)[[1]])
    assert truth_table(nn.Sequential(before(), both, nn.Identity()), ["a", "b"]).formula() == (
        Symbol("a") & Symbol("b")
    )
    net = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid(), before())
    net[0].weight.data.fill_(3.0)
    net[0].bias.data.fill_(-3.0)
    assert truth_table(net, ["a", "b"]).formula() == (Symbol("a") & Symbol("b"))


def test_gates_inside_another_class_have_to_be_told_what_they_get():
    both = LogicGates(2, 1, connections=torch.tensor([[0], [1]]))
    both.weight.data.copy_(torch.eye(16)[[1]])
    with pytest.raises(ValueError, match="encoding is left out, and Inside has LogicGates inside"):
        truth_table(Inside(both), ["a", "b"])
    with pytest.raises(ValueError, match="threshold is left out"):
        truth_table(Inside(both), ["a", "b"], encoding=(0, 1))
    table = truth_table(Inside(both), ["a", "b"], encoding=(0, 1), threshold=0.5)
    assert table.formula() == (Symbol("a") & Symbol("b"))


def test_label_of_gates_in_groups_is_their_greatest_count_the_first_of_equals():
    """Counts of (a ^ b, 1) and of (~(a ^ b), 1): both exceed 0 everywhere, and differ by a bit."""
    gates = LogicGates(2, 4, connections=torch.tensor([[0] * 4, [1] * 4]))
    gates.weight.data.copy_(torch.eye(16)[[6, 15, 9, 15]])
    model = nn.Sequential(gates, GroupSum(2, temperature=3.0))
    names = ["a", "b"]
    assert truth_table(model, names).formula() == [A ^ B, ~(A ^ B)]
    reading = to_logic(model, names)
    assert reading.formula() == [A ^ B, ~(A ^ B)]
    assert reading.certificate.exact
    assert certify_logic(model, [A ^ B, ~(A ^ B)], names).exact
    assert truth_table(model, names, threshold=0).formula() == [true, true]
    same = nn.Sequential(gates, GroupSum(4))
    assert truth_table(same, names).formula() == [A ^ B, ~(A ^ B), false, false]
    one = nn.Sequential(gates, GroupSum(1))
    with pytest.raises(ValueError, match=r"model ends with GroupSum\(1\).*has to exceed"):
        truth_table(one, names)
    assert truth_table(one, names, threshold=2.5).formula() == true


def test_label_of_logits():
    model = nn.Linear(2, 3)
    model.weight.data.copy_(torch.tensor([[1.0, 1.0], [-1.0, 2.0], [0.0, 0.0]]))
    model.bias.data.copy_(torch.tensor([-1.0, 0.0, 0.5]))
    labels = truth_table(model, ["a", "b"], threshold="argmax")
    expected = [
        max(range(3), key=lambda k: (a + b - 1, 2 * b - a, 0.5)[k])
        for a, b in itertools.product((-1, 1), repeat=2)
    ]
    assert labels.values.argmax(1).tolist() == expected
    assert labels.values.sum(1).tolist() == [1] * 4


def test_table_is_the_same_in_parts():
    names = [f"x{i}" for i in range(16)]
    table = truth_table(lambda x: x[:, 3] * x[:, 12] + 0.5 * x[:, 0], names)
    counts = np.arange(2**16)
    first, second, third = ((counts >> (15 - i)) & 1 == 1 for i in (3, 12, 0))
    assert np.array_equal(table.values[:, 0], first == second)
    assert table.formula() == ~(Symbol("x3") ^ Symbol("x12"))
    tilted = truth_table(lambda x: x[:, 3] * x[:, 12] + 2 * x[:, 0], names)
    assert np.array_equal(tilted.values[:, 0], third)


def test_long_table_is_cut():
    text = str(truth_table(lambda x: x.prod(1), list("abcdefg")))
    assert text.splitlines()[-1] == "64 more rows"
    assert len(text.splitlines()) == 66


def test_texts_run():
    names = ["a b", "lambda", "c"]
    values = table_of(lambda a, b, c: (a != b) or not c, 3)
    table = TruthTable(tuple(names), np.stack([values, ~values], 1))
    scope = {}
    exec(table.to_python("rule"), scope)
    assert [scope["rule"](*row) for row in rows(3)] == [(v, not v) for v in values.tolist()]
    assert all(type(value) is bool for value in scope["rule"](1, 0, 1))
    assert r"\mathrm{a\ b}" in table.to_latex()[0]
    with pytest.raises(ValueError, match="name is 'a b'"):
        table.to_python("a b")


@pytest.mark.parametrize("formula", [true, A, ~A, A ^ ~B, ~(A & (B ^ C)), (A | B) ^ (C & D)])
def test_python_of_every_operator(formula):
    values = table_of(lambda *row: values_of(formula, (A, B, C, D))[rows(4).index(row)], 4)
    scope = {}
    table = TruthTable(("a", "b", "c", "d"), values[:, None])
    object.__setattr__(table, "formulas", (formula,))
    exec(table.to_python(), scope)
    assert [scope["formula"](*row) for row in rows(4)] == values.tolist()


@pytest.mark.parametrize(
    ("model", "names", "options", "error", "message"),
    [
        (3, ["a"], {}, TypeError, "model is int"),
        (nn.Identity(), "ab", {}, TypeError, "names is 'ab'"),
        (nn.Identity(), [], {}, ValueError, "names is empty"),
        (nn.Identity(), ["a", "a"], {}, ValueError, "'a' twice"),
        (nn.Identity(), [f"x{i}" for i in range(21)], {}, ValueError, r"2\*\*21 rows.*to_logic"),
        (nn.Identity(), ["a"], {"encoding": (1, 0)}, ValueError, r"encoding is \(1, 0\)"),
        (nn.Identity(), ["a"], {"threshold": float("nan")}, ValueError, "threshold is nan"),
        (nn.Identity(), ["a"], {"threshold": "max"}, ValueError, "threshold is 'max'.*'argmax'"),
        (nn.Identity(), ["a"], {"threshold": "argmax"}, ValueError, "model has one output"),
        (lambda x: x[:, 0], ["a"], {"threshold": "argmax"}, ValueError, "model has one output"),
        (lambda x: x[:, 0] / 0 - x[:, 0] / 0, ["a"], {}, ValueError, "returned NaN"),
        (lambda x: x.sum(), ["a"], {}, ValueError, r"returned the shape \(\) for 2 rows"),
    ],
)
def test_bad_arguments(model, names, options, error, message):
    with pytest.raises(error, match=message):
        truth_table(model, names, **options)


def test_formula_of_other_operators_is_refused():
    columns = {"a": np.array([True]), "b": np.array([False])}
    with pytest.raises(TypeError, match="which is Implies"):
        evaluate_boolean(sympy.Implies(A, B), columns)
    with pytest.raises(ValueError, match="symbol c; allowed: a, b"):
        evaluate_boolean(A & C, columns)


def test_a_model_that_looks_at_its_batch_has_no_truth_table():
    normalized = nn.Sequential(
        nn.BatchNorm1d(2, track_running_stats=False, affine=False), nn.Linear(2, 1)
    )
    normalized[1].weight.data.fill_(1)
    normalized[1].bias.data.fill_(1.5)

    def centered(x):
        return x[:, 0] - x[:, 0].mean() + 0.5

    for model in (normalized.eval(), centered):
        with pytest.raises(ValueError, match=r"decides rows otherwise where it is given fewer at"):
            truth_table(model, ["a", "b"])
