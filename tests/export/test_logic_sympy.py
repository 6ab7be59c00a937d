"""Formulas of real numbers, read off logic activations and gates, against the modules."""

import mpmath
import pytest
import sympy
import torch
from torch import nn

from torchalu.export import evaluate, from_json, to_json, to_python, to_sympy
from torchalu.nn import (
    ANDAIL,
    ANDIL,
    ORAIL,
    ORIL,
    XNORAIL,
    XNORIL,
    GroupSum,
    LogicActivation,
    LogicGates,
    MaxOut,
    MinOut,
    SignedGeomean,
)

KINDS = [ANDAIL, ANDIL, MinOut, ORAIL, ORIL, MaxOut, XNORAIL, XNORIL, SignedGeomean]
A, B, C = sympy.symbols("a b c")


def diverged(inputs):
    """Gates one weight of which is not a number."""
    gates = LogicGates(inputs, 1)
    gates.weight.data[0, 3] = float("nan")
    return gates


def check(module, inputs, rows=40, seed=0):
    """The formula of each output has the module's values."""
    generator = torch.Generator().manual_seed(seed)
    x = 2 * torch.randn(rows, inputs, generator=generator, dtype=torch.float64)
    names = [f"x{i}" for i in range(inputs)]
    with torch.no_grad():
        outputs = module.double().eval()(x)
    formulas = to_sympy(module, names)
    formulas = formulas if isinstance(formulas, list) else [formulas]
    assert len(formulas) == outputs.shape[1]
    for formula, column in zip(formulas, outputs.T, strict=True):
        values = evaluate(formula, x.numpy(), names)
        assert values == pytest.approx(column.numpy(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_activation(kind, k, layout):
    check(kind(k=k, layout=layout), 6)


@pytest.mark.parametrize("kind", [ANDIL, ORIL, XNORIL], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_exact_forms_of_large_logits(kind, k):
    """As numbers and as Python, where exp overflows and 1 + exp(-z) is 1."""
    sizes = torch.tensor([-9000.0, -800.0, -40.0, 0.5, 36.0, 40.0, 41.0, 9000.0])
    x = torch.cartesian_prod(*[sizes.double()] * k)
    names = list("abcd")[:k]
    formula = to_sympy(kind(k=k), names)
    wanted = kind(k=k)(x)[:, 0].numpy()
    assert evaluate(formula, x.numpy(), names) == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    scope = {}
    exec(to_python(formula, "f", names), scope)
    rows = x[::7].tolist()
    assert [scope["f"](*row) for row in rows] == pytest.approx(wanted[::7], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("kind", [ANDAIL, ORIL, XNORAIL], ids=lambda kind: kind.__name__)
def test_normalized_activation(kind):
    check(kind(normalized=True), 4)


@pytest.mark.parametrize("strategy", ["duplicate", "partition"])
def test_ensemble_in_a_network(strategy):
    torch.manual_seed(0)
    activation = LogicActivation(["or_ail", "and_il", "max_out"], strategy=strategy)
    last = nn.Linear(6 if strategy == "duplicate" else 3, 2)
    first = nn.Linear(3, 4 if strategy == "duplicate" else 6)
    check(nn.Sequential(first, activation, last), 3)


def test_gates_and_their_sum():
    generator = torch.Generator().manual_seed(0)
    check(nn.Sequential(nn.Sigmoid(), LogicGates(5, 12, generator=generator), GroupSum(3, 2.5)), 5)


def test_known_forms():
    assert to_sympy(ORAIL(), ["a", "b"]) == sympy.Max(A, B, A + B)
    assert to_sympy(ANDAIL(), ["a", "b"]) == sympy.Min(A, B, A + B)
    gates = LogicGates(2, 2, connections=torch.tensor([[0, 0], [1, 1]]))
    gates.weight.data.copy_(torch.eye(16)[[6, 14]])
    assert to_sympy(gates, ["a", "b"]) == [A + B - 2 * A * B, 1 - A * B]


def test_text_forms_know_them():
    formula = to_sympy(nn.Sequential(XNORAIL(), ANDAIL()), ["a", "b", "c", "d"])
    assert from_json(to_json(formula)) == formula
    scope = {}
    exec(to_python(formula, "f", ["a", "b", "c", "d"]), scope)
    assert scope["f"](-1.0, 2.0, 3.0, -0.5) == pytest.approx(-1.5)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (XNORAIL(k=2), "given 3 features; allowed: a multiple of 2"),
        (XNORAIL(k=3, dim=2), "has dim=2"),
        (LogicGates(4, 1), "given 3 inputs, and takes 4"),
        (diverged(3), "LogicGates with weights that are NaN or infinite"),
        (GroupSum(2), "given 3 inputs; allowed: a multiple of 2"),
    ],
)
def test_layers_that_do_not_fit(module, message):
    with pytest.raises(ValueError, match=message):
        to_sympy(module, ["a", "b", "c"])


def test_formulas_keep_what_the_units_keep():
    """XNOR IL without cancellation, and the geometric mean without the product."""
    names = ["a", "b"]
    x = torch.tensor([[1e17, 1.0], [1e12, 1e-3], [0.0, 1.0], [3.0, -0.2]], dtype=torch.float64)
    formula = to_sympy(XNORIL(), names)
    expected = [1.0, 1e-3, 0.0, float(2 * mpmath.atanh(mpmath.tanh(1.5) * mpmath.tanh(-0.1)))]
    assert evaluate(formula, x.numpy(), names) == pytest.approx(expected, rel=1e-14, abs=0)
    assert [to_python_value(formula, row) for row in x.tolist()] == pytest.approx(
        expected, rel=1e-14, abs=0
    )
    names = ["a", "b", "c", "d"]
    formula = to_sympy(SignedGeomean(k=4), names)
    for size in (1e100, 1e-100):
        assert evaluate(formula, [[size] * 4], names).item() == pytest.approx(size, rel=1e-13)


def to_python_value(formula, row):
    """What a formula of a and b gives as a Python function."""
    scope = {}
    exec(to_python(formula, "f", ["a", "b"]), scope)
    return scope["f"](*row)
