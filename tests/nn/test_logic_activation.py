"""Ensembles against their members applied one by one."""

from fractions import Fraction

import pytest
import torch

from activations import logits
from torchalu import nn

MEMBERS = {
    "or_ail": nn.ORAIL,
    "and_ail": nn.ANDAIL,
    "xnor_ail": nn.XNORAIL,
    "or_il": nn.ORIL,
    "and_il": nn.ANDIL,
    "xnor_il": nn.XNORIL,
    "max_out": nn.MaxOut,
    "min_out": nn.MinOut,
    "signed_geomean": nn.SignedGeomean,
}
SETS = [
    ("or_ail",),
    ("or_ail", "and_ail", "xnor_ail"),
    ("xnor_il", "and_il", "or_il"),
    ("max_out", "min_out"),
    ("or_ail", "or_ail", "xnor_il", "signed_geomean"),
]


def forms(operators):
    """The options of a normalized ensemble, where there is one."""
    return [{"normalized": True}, {}] if operators[0][-2:] == "il" == operators[-1][-2:] else [{}]


def share(z, count, number, k, layout):
    """The features of one of `count` contiguous blocks of groups."""
    blocks = z.shape[1] // k // count
    groups = range(number * blocks, (number + 1) * blocks)
    if layout == "pairs":
        features = [k * i + j for i in groups for j in range(k)]
    else:
        features = [i + z.shape[1] // k * j for j in range(k) for i in groups]
    return z[:, features]


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("operators", SETS, ids="-".join)
def test_strategies_concatenate_the_members(operators, k, layout):
    z = logits(3, 12 * k, 2)
    for form in forms(operators):
        options = {"k": k, "layout": layout, **form}
        members = [MEMBERS[name](**options) for name in operators]
        duplicate = nn.LogicActivation(operators, **options)
        torch.testing.assert_close(duplicate(z), torch.cat([unit(z) for unit in members], 1))
        partition = nn.LogicActivation(operators, strategy="partition", **options)
        parts = [
            unit(share(z, len(members), number, k, layout)) for number, unit in enumerate(members)
        ]
        torch.testing.assert_close(partition(z), torch.cat(parts, 1))


@pytest.mark.parametrize("strategy", ["duplicate", "partition"])
@pytest.mark.parametrize("operators", SETS, ids="-".join)
def test_gradients_are_the_sum_over_the_members(operators, strategy):
    unit = nn.LogicActivation(operators, strategy=strategy)
    assert torch.autograd.gradcheck(unit, (logits(2, 24).requires_grad_(),))


@pytest.mark.parametrize("dim", [0, 2, -1])
def test_features_lie_along_dim(dim):
    unit = nn.LogicActivation(["or_ail", "xnor_ail"], dim=dim)
    usual = nn.LogicActivation(["or_ail", "xnor_ail"])
    z = logits(4, 6, 8)
    assert unit(z).equal(usual(z.transpose(1, dim)).transpose(1, dim))


@pytest.mark.parametrize("strategy", ["duplicate", "partition"])
@pytest.mark.parametrize("operators", SETS, ids="-".join)
def test_ratio_and_multiple_are_those_of_the_output(operators, strategy):
    unit = nn.LogicActivation(operators, strategy=strategy, k=3)
    count = len(operators)
    assert unit.features_ratio == Fraction(count if strategy == "duplicate" else 1, 3)
    assert unit.features_multiple == (3 if strategy == "duplicate" else 3 * count)
    for features in range(1, 26):
        if features % unit.features_multiple == 0:
            assert unit(logits(1, features)).shape[1] == features * unit.features_ratio
        else:
            with pytest.raises(ValueError, match=str(features)):
                unit(logits(1, features))


def test_compiles_without_a_graph_break():
    unit = nn.LogicActivation(["or_ail", "and_ail", "xnor_ail"], normalized=True)
    z = logits(4, 6, dtype=torch.float32).requires_grad_()
    compiled = torch.compile(unit, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(z), unit(z))
    got, expected = (torch.autograd.grad(call(z).sin().sum(), z) for call in (compiled, unit))
    torch.testing.assert_close(got, expected)


def test_names_are_kept_as_those_of_the_functions():
    unit = nn.LogicActivation(name for name in ("OR-AIL", "and_il", "LOGIT_XNOR", "MaxOut"))
    assert unit.operators == ("or_ail", "logit_and", "logit_xnor", "max_out")
    assert repr(nn.LogicActivation(["OR_IL"], strategy="partition")) == (
        "LogicActivation(('logit_or',), strategy='partition', k=2, dim=1, layout='pairs', "
        "normalized=False)"
    )


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="operators is 'or_ail'; give a list of names"):
        nn.LogicActivation("or_ail")
    with pytest.raises(TypeError, match="operators is None; give a list of names"):
        nn.LogicActivation(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="the name of an operator is 3; give a string"):
        nn.LogicActivation([3])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="operators is empty; give some of and_ail"):
        nn.LogicActivation([])
    with pytest.raises(ValueError, match="no operator called 'xor_ail'; did you mean 'xnor_ail'"):
        nn.LogicActivation(["xor_ail"])
    with pytest.raises(ValueError, match="holds 'OR-NAIL'; give 'or_ail', and normalized=True"):
        nn.LogicActivation(["xnor_ail", "OR-NAIL"])
    with pytest.raises(ValueError, match="holds 'and_nil'; give 'and_il', and normalized=True"):
        nn.LogicActivation(["and_nil"])
    with pytest.raises(ValueError, match="strategy is 'd'; give 'duplicate' or 'partition'"):
        nn.LogicActivation(["or_ail"], strategy="d")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="normalized is True, but max_out has no normalized"):
        nn.LogicActivation(["or_ail", "max_out"], normalized=True)
    with pytest.raises(TypeError, match="normalized is 'no'; give True or False"):
        nn.LogicActivation(["or_ail"], normalized="no")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="k is 1"):
        nn.LogicActivation(["or_ail"], k=1)
    with pytest.raises(TypeError, match=r"torch\.int64"):
        nn.LogicActivation(["or_ail"])(torch.ones(2, 4, dtype=torch.int64))
