"""Formulas read off networks of known logic, and certificates against counts by hand."""

import pytest
import sympy
import torch
from sympy import And, Not, Or, Xor, symbols
from sympy.logic import false, true
from torch import nn

from torchalu.export import certify_logic, to_logic, truth_table
from torchalu.export.bits import bit_model
from torchalu.export.logic_structure import structure_formulas
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

A, B, C, D = symbols("a b c d")
NAMES = ["a", "b", "c", "d"]
OPERATORS = {
    ANDAIL: And,
    ANDIL: And,
    MinOut: And,
    ORAIL: Or,
    ORIL: Or,
    MaxOut: Or,
    XNORAIL: lambda *parts: Not(Xor(*(Not(part) for part in parts))),
    XNORIL: lambda *parts: Not(Xor(*(Not(part) for part in parts))),
    SignedGeomean: lambda *parts: Not(Xor(*(Not(part) for part in parts))),
}


def linear(weight, bias=None):
    layer = nn.Linear(len(weight[0]), len(weight))
    layer.weight.data.copy_(torch.tensor(weight))
    layer.bias.data.copy_(torch.zeros(len(weight)) if bias is None else torch.tensor(bias))
    return layer


def noisy(weight, seed=0, size=0.3):
    """The weights, with others beside them that are too small to matter."""
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.tensor(weight)
    noise = (2 * torch.rand(matrix.shape, generator=generator) - 1) * size
    return linear((matrix + noise).tolist(), (noise[:, 0] / 2).tolist())


def parity_network(inputs, seed=0):
    """A tree of XNORs, two by two, whose inputs come in random order and with random signs."""
    generator = torch.Generator().manual_seed(seed)
    layers, count = [], inputs
    while count > 1:
        signs = torch.randint(2, (count,), generator=generator) * 2.0 - 1
        order = torch.randperm(count, generator=generator)
        layers += [noisy((torch.diag(signs)[order] * 3).tolist(), seed, 0.5 / count), XNORAIL()]
        count //= 2
    return nn.Sequential(*layers, linear([[-2.0]]))


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_each_activation_is_its_operator(kind, layout):
    first = noisy([[2.0, 0, 0, 0], [0, 0, -2.0, 0], [0, 2.0, 0, 0], [0, 0, 0, 2.0]])
    reading = to_logic(nn.Sequential(first, kind(layout=layout)), NAMES)
    pairs = [(A, ~C), (B, D)] if layout == "pairs" else [(A, B), (~C, D)]
    assert reading.certificate.method == "structure"
    assert reading.certificate.exact
    for formula, pair in zip(reading.formulas, pairs, strict=True):
        assert sympy.simplify_logic(Xor(formula, OPERATORS[kind](*pair))) == false


@pytest.mark.parametrize("kind", [ANDAIL, ORIL, XNORAIL, XNORIL])
def test_groups_of_three(kind):
    model = nn.Sequential(linear(torch.diag(torch.tensor([3.0, -3, 3])).tolist()), kind(k=3))
    formula = to_logic(model, ["a", "b", "c"]).formula()
    assert sympy.simplify_logic(Xor(formula, OPERATORS[kind](A, ~B, C))) == false


@pytest.mark.parametrize("strategy", ["duplicate", "partition"])
@pytest.mark.parametrize("normalized", [False, True])
def test_ensembles(strategy, normalized):
    operators = ["or_ail", "xnor_ail"]
    activation = LogicActivation(operators, strategy=strategy, normalized=normalized)
    first = noisy([[3.0, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 3.0]])
    model = nn.Sequential(first, activation)
    reading = to_logic(model, NAMES)
    duplicate = [A | B, C | D, ~(A ^ B), ~(C ^ D)]
    assert reading.formula() == (duplicate if strategy == "duplicate" else [A | B, ~(C ^ D)])
    assert (reading.certificate.method, reading.certificate.exact) == ("structure", True)


def test_shift_of_a_normalized_operator_goes_into_the_next_bias():
    """-mean/std of AND is +0.70; without it the last bias would outvote the weight."""
    model = nn.Sequential(
        linear([[1.0, 0], [0, 1.0]]), ANDAIL(normalized=True), linear([[1.0]], [-1.4])
    )
    reading = to_logic(model, ["a", "b"])
    assert reading.formula() == A & B
    assert reading.certificate.method == "structure"


def test_batch_norm_sigmoid_and_gates():
    norm = nn.BatchNorm1d(4)
    norm.running_mean.copy_(torch.tensor([0.2, -0.2, 0.1, 0.0]))
    norm.running_var.copy_(torch.tensor([4.0, 1.0, 0.25, 1.0]))
    norm.weight.data.copy_(torch.tensor([1.0, -1.0, 2.0, 1.0]))
    gates = LogicGates(4, 2, connections=torch.tensor([[0, 2], [1, 3]]))
    gates.weight.data.copy_(torch.eye(16)[[1, 6]])
    model = nn.Sequential(noisy((8 * torch.eye(4)).tolist()), norm, nn.Sigmoid(), gates)
    reading = to_logic(model, NAMES, threshold=0.5)
    assert reading.formula() == [A & ~B, C ^ D]
    assert reading.certificate.method == "structure"


def test_nested_xnor_is_a_parity():
    reading = to_logic(parity_network(4), NAMES)
    assert reading.formula() in (A ^ B ^ C ^ D, ~(A ^ B ^ C ^ D))
    assert (reading.certificate.method, reading.certificate.rows) == ("structure", 16)


@pytest.mark.parametrize("seed", range(3))
def test_parity_of_32_from_the_weights(seed):
    model, names = parity_network(32, seed), [f"x{i}" for i in range(32)]
    reading = to_logic(model, names, rows=20_000, generator=torch.Generator().manual_seed(0))
    certificate = reading.certificate
    assert (certificate.method, certificate.inputs, certificate.rows) == (
        "structure",
        "random",
        20_000,
    )
    assert certificate.exact
    assert reading.formula() in (Xor(*symbols(names)), ~Xor(*symbols(names)))


def test_few_inputs_of_many_are_found_by_queries():
    names = [f"x{i}" for i in range(40)]
    x = symbols(names)
    expected = [(x[0] & x[13] & ~x[7]) | (x[9] & x[39]), x[2] ^ x[39], x[1]]

    def model(z):
        rule = torch.maximum(
            torch.stack([z[:, 0], z[:, 13], -z[:, 7]]).amin(0), torch.minimum(z[:, 9], z[:, 39])
        )
        return torch.stack([rule, -z[:, 2] * z[:, 39], z[:, 1]], 1)

    reading = to_logic(model, names, generator=torch.Generator().manual_seed(0))
    for formula, rule in zip(reading.formulas, expected, strict=True):
        assert sympy.simplify_logic(Xor(formula, rule)) == false
    assert (reading.certificate.method, reading.certificate.exact) == ("few inputs", True)
    assert reading.certificate.rows == 100_000
    assert "of those that matter" in str(reading)


def test_few_inputs_are_told_from_many_that_hardly_matter():
    """One input in 500 has another answer, by what all inputs are."""
    names = [f"x{i}" for i in range(40)]

    def model(z):
        bits = (z > 0).long()
        odd = (bits * torch.arange(1, 41) ** 3).sum(1) % 499 == 0
        return torch.where(odd, -1, 1) * torch.minimum(z[:, 3], -z[:, 30])

    reading = to_logic(model, names, generator=torch.Generator().manual_seed(0))
    assert reading.formula() == symbols("x3") & ~symbols("x30")
    assert (reading.certificate.method, reading.certificate.exact) == ("few inputs", False)
    assert reading.certificate.share == pytest.approx(1 - 1 / 499, abs=6e-4)


def test_constant_that_is_not_exact_is_no_reading():
    with pytest.raises(ValueError, match=r"a constant, which agrees on 0\.99"):
        to_logic(lambda z: z.sum(1) - 14, [f"x{i}" for i in range(30)])


def test_parity_that_the_weights_hide_is_found_by_queries():
    names = [f"x{i}" for i in range(30)]
    used = list(range(25))
    generator = torch.Generator().manual_seed(0)
    reading = to_logic(lambda x: x[:, used].prod(1), names, generator=generator)
    assert reading.formula() == Xor(*(symbols(names[i]) for i in used))
    assert (reading.certificate.method, reading.certificate.exact) == ("parity", True)
    assert reading.certificate.low == pytest.approx(1 / (1 + 1.959963984540054**2 / 100_000))


def test_parity_is_found_where_the_model_errs_and_the_errors_are_counted():
    names = [f"x{i}" for i in range(24)]

    def model(x):
        wrong = (x[:, :4] > 0).all(1)  # 1/16 of the inputs
        return x.prod(1) * torch.where(wrong, -1, 1)

    reading = to_logic(model, names, rows=50_000, generator=torch.Generator().manual_seed(1))
    certificate = reading.certificate
    assert reading.formula() == ~Xor(*symbols(names))
    assert not certificate.exact
    assert certificate.low < 15 / 16 < certificate.high
    assert certificate.high - certificate.low < 0.005
    assert all(row[:4] == (1, 1, 1, 1) for row in certificate.disagreements)
    assert "not exact: agrees on" in str(certificate)
    assert "95% interval" in str(certificate)


def test_parity_of_few_inputs_is_found_where_their_table_has_no_short_formula():
    count = 16
    wrong = torch.randperm(2**count, generator=torch.Generator().manual_seed(0))[:500]

    def model(z):
        bits = z.long()
        number = (bits * 2 ** torch.arange(count)).sum(1)
        return (bits.sum(1) + torch.isin(number, wrong)) % 2

    names = [f"x{i}" for i in range(count)]
    reading = to_logic(
        model, names, encoding=(0, 1), threshold=0.5, generator=torch.Generator().manual_seed(1)
    )
    assert reading.certificate.method == "parity"
    assert not reading.certificate.exact
    assert reading.certificate.share == 1 - 500 / 2**count
    assert reading.formula() == Xor(*symbols(names))


def test_constant_of_many_inputs():
    names = [f"x{i}" for i in range(25)]
    assert to_logic(lambda x: x[:, 0] * 0 + 1, names, rows=100).formula() == true


def test_network_without_structure_is_read_from_its_table():
    generator = torch.Generator().manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    for parameter in model.parameters():
        parameter.data.normal_(generator=generator)
    names = list("abcde")
    reading = to_logic(model, names)
    assert (reading.certificate.method, reading.certificate.exact) == ("truth table", True)
    assert reading.formula() == truth_table(model, names).formula()
    assert reading.certificate.true_share == 0.5


def test_structure_that_misleads_is_not_believed():
    """The second signal is larger than it looks where both of its operands are true."""
    model = nn.Sequential(
        linear([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]),
        LogicActivation(["max_out", "or_ail"], strategy="partition"),
        linear([[1.0, 0.9]]),
    )
    names = ["a", "b", "c"]
    assert structure_formulas(model, names, bit_model(model, names, None, None)) == (A,)
    reading = to_logic(model, names)
    assert reading.formula() == A | (B & C)
    assert (reading.certificate.method, reading.certificate.exact) == ("truth table", True)


def stacked_gates(layers, gates, connections):
    """Layers of two gates and a copied third input."""
    model = nn.Sequential()
    for index in range(layers):
        layer = LogicGates(3, 3, connections=torch.tensor(connections))
        layer.weight.data.copy_(torch.eye(16)[gates[index % len(gates)]])
        model.append(layer)
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        # AND and XOR in turn with the third input: a chain, which grows by an operator a layer.
        (
            stacked_gates(101, [[1, 1, 3], [6, 6, 3]], [[0, 1, 2], [2, 2, 2]]),
            r"layer 100 \(LogicGates\): a formula has 102 symbols, and 101 operators",
        ),
        # AND and XOR of the two before: twice as many symbols a layer.
        (
            stacked_gates(17, [[1, 6, 3]], [[0, 0, 2], [1, 1, 2]]),
            r"layer 16 \(LogicGates\): a formula has 131072 symbols",
        ),
    ],
    ids=["deep", "long"],
)
def test_formulas_that_nobody_could_print_are_not_made(model, message):
    names = ["a", "b", "c"]
    with pytest.raises(ValueError, match=message):
        structure_formulas(model, names, bit_model(model, names, None, None))
    assert to_logic(model, names).certificate.method == "truth table"


def test_gates_are_exact_however_many_inputs():
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(
        LogicGates(30, 20, generator=generator), LogicGates(20, 3, generator=generator)
    )
    names = [f"x{i}" for i in range(30)]
    reading = to_logic(model, names, rows=2000)
    assert (reading.certificate.method, reading.certificate.exact) == ("structure", True)
    assert len(reading.formulas) == 3
    wrong = [Not(formula) for formula in reading.formulas]
    assert certify_logic(model, wrong, names, rows=500).agreements == 0


def test_row_that_follows_no_input_is_named():
    model = nn.Sequential(linear([[1.0, 0.0], [1.0, 1.0]]), XNORAIL())
    names = [f"x{i}" for i in range(2)]
    reading = to_logic(model, names)
    assert reading.certificate.method == "truth table"
    wide = nn.Sequential(linear(torch.ones(2, 21).tolist()), MinOut())
    with pytest.raises(
        ValueError, match=r"layer 1 \(MinOut\), feature 0: it follows no single"
    ) as e:
        to_logic(
            wide,
            [f"x{i}" for i in range(21)],
            rows=1000,
            generator=torch.Generator().manual_seed(0),
        )
    assert "few inputs: 21 inputs matter, more than 20" in str(e.value)
    assert "parity: a constant, which agrees on 0.5" in str(e.value)
    assert str(e.value).endswith("can be checked by certify_logic()")


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (3, {}, TypeError, "model is int"),
        (nn.Identity(), {"rows": 0}, ValueError, "rows is 0"),
        (nn.Identity(), {"rows": 10.5}, ValueError, r"rows is 10\.5"),
        (LogicGates(4, 1), {"encoding": (1, 0)}, ValueError, "encoding is"),
        (LogicGates(4, 1), {"encoding": (0,)}, ValueError, r"encoding is \(0,\)"),
        (LogicGates(4, 1), {"encoding": 1}, ValueError, "encoding is 1; allowed: two"),
        (nn.Linear(3, 1), {}, ValueError, "names has 4 entries; allowed: 3"),
    ],
)
def test_bad_arguments(model, options, error, message):
    with pytest.raises(error, match=message):
        to_logic(model, NAMES, **options)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogicGates(4, 1), r"layer 0 \(LogicGates\) takes bits as 0 and 1.*encoding=\(0, 1\)"),
        (nn.Sequential(nn.Linear(4, 2), nn.ReLU()), r"layer 1 \(ReLU\) is no layer whose logic"),
        (nn.Sequential(nn.Sigmoid(), GroupSum(2)), r"layer 1 \(GroupSum\) is no layer"),
        (nn.Sequential(nn.BatchNorm1d(4), nn.Linear(3, 1)), "takes 3 features, not 4"),
        (
            nn.Sequential(nn.Identity(), XNORAIL(k=3)),
            "is given 4 features; allowed: a multiple of 3",
        ),
        (XNORAIL(dim=0), "has dim=0"),
        (nn.BatchNorm1d(4, track_running_stats=False), "keeps no running mean"),
        (linear([[1.0, 1.0, 0.0, 0.0]]), "the output, feature 0: it follows no single input"),
    ],
)
def test_what_the_weights_do_not_spell_out(model, message):
    with pytest.raises(ValueError, match=message):
        structure_formulas(model, NAMES, bit_model(model, NAMES, (-1, 1), 0.0))


def test_weak_operands_of_an_exact_or_are_not_believed():
    """Three events that are likely false are not all false: the certificate finds it out."""
    model = nn.Sequential(linear(torch.eye(3).tolist()), ORIL(k=3))
    reading = to_logic(model, ["a", "b", "c"])
    assert (reading.formula(), reading.certificate.method) == (true, "truth table")


def test_an_activation_that_is_not_known_is_read_from_the_truth_table():
    class Mine(XNORAIL):
        pass

    model = nn.Sequential(nn.Linear(2, 2), Mine())
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(2))
        model[0].bias.zero_()
    reading = to_logic(model, ["a", "b"])
    assert reading.certificate.method == "truth table"
    known = to_logic(nn.Sequential(model[0], XNORAIL()), ["a", "b"])
    assert str(reading.formulas[0]) == str(known.formulas[0])
