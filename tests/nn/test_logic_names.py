"""Activations by name."""

import pytest
import torch
from pytorch_logit_logic import actfun_name2factory
from pytorch_logit_logic.actfuns import _ACT_LAYER_LOGICAL

from activations import ACTIVATIONS, Case, logits
from torchalu import functional, kernels, nn
from torchalu.experiments.lowe2022.activations import FIGURE5, FIGURE6, TABLE1, label

TORCH_OWN = {
    "ReLU": torch.nn.ReLU,
    "leaky relu": torch.nn.LeakyReLU,
    "PReLU": torch.nn.PReLU,
    "SELU": torch.nn.SELU,
    "gelu": torch.nn.GELU,
    "Mish": torch.nn.Mish,
    "tanh": torch.nn.Tanh,
    "swish": torch.nn.SiLU,
    "LogSigmoid": torch.nn.LogSigmoid,
    "GLU": torch.nn.GLU,
}

# The ensembles of Lowe et al. 2022, figures 5 and 6 and table 1, with the names of the package
ENSEMBLES = {
    "max_min_d": ("max_min_dup", ("max_out", "min_out"), False),
    "nil_or_and_d": ("NIL_OR_AND_dup", ("logit_or", "logit_and"), True),
    "nil_or_xnor_d": ("nil_or_xnor_dup", ("logit_or", "logit_xnor"), True),
    "il_or_and_xnor_d": ("IL-or-and-xnor-d", ("logit_or", "logit_and", "logit_xnor"), False),
    "nail_or_and_d": ("nail or and d", ("or_ail", "and_ail"), True),
    "ail_or_xnor_p": ("ail_or_xnor_part", ("or_ail", "xnor_ail"), False),
    "nail_and_or_xnor_p": ("nail_and_or_xnor_part", ("and_ail", "or_ail", "xnor_ail"), True),
}


@pytest.mark.parametrize("case", ACTIVATIONS, ids=str)
def test_single_operators(case: Case):
    for name in (*case.names, case.names[0].upper(), case.names[0].replace("_", "-")):
        assert repr(nn.activation(name, k=3)) == repr(case.make(k=3))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles(name):
    other, operators, normalized = ENSEMBLES[name]
    strategy = {"d": "duplicate", "p": "partition"}[name[-1]]
    for spelling in (name, other):
        unit = nn.activation(spelling, dim=-1, layout="halves")
        assert isinstance(unit, nn.LogicActivation)
        assert (unit.operators, unit.strategy) == (operators, strategy)
        assert (unit.normalized, unit.dim, unit.layout) == (normalized, -1, "halves")


def test_functions_are_known_by_their_names():
    z = logits(4, 6)
    for name in kernels.FUNCTIONS:
        unit = nn.activation(name, k=3)
        assert not isinstance(unit, nn.LogicActivation)
        assert unit(z).equal(getattr(functional, name)(z, k=3))
        assert nn.LogicActivation([name], k=3)(z).equal(unit(z))


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("nail_or_xnor_duplicate", "nail_or_xnor_d"),
        ("AIL OR AND partition", "ail_or_and_p"),
        ("max-min-duplicate", "max_min_d"),
        ("LOGIT-XNOR", "xnor_il"),
    ],
)
def test_strategies_may_be_written_out(spelling, name):
    assert nn.canonical_activation(spelling) == name
    assert repr(nn.activation(spelling)) == repr(nn.activation(name))


PUBLISHED = [name for name in _ACT_LAYER_LOGICAL if "clamp" not in name and "fixed" not in name]


@pytest.mark.parametrize("name", PUBLISHED)
def test_names_of_the_authors_package_mean_the_same(name):
    """Its normalized exact functions have constants from a simulation, of four to five digits."""
    ours, published = nn.activation(name), actfun_name2factory(name)()
    z = logits(64, 24, 3)
    tolerance = 1e-4 if name.startswith("nil") else 1e-9
    torch.testing.assert_close(ours(z), published(z), rtol=tolerance, atol=tolerance)
    assert nn.features_multiple(ours) == published.divisor
    assert nn.features_ratio(ours) == pytest.approx(published.feature_factor)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("{OR, AND, XNOR AIL (d)}", "ail_or_and_xnor_d"),
        ("{OR, XNOR NIL (p)}", "nil_or_xnor_p"),
        ("XNOR, OR NAIL partition", "nail_xnor_or_p"),
        ("{Max, Min (d)}", "max_min_d"),
        ("{Min, Max (p)}", "min_max_p"),
        ("OR AIL", "or_ail"),
    ],
)
def test_names_as_tables_print_them(printed, name):
    assert nn.canonical_activation(printed) == name
    assert repr(nn.activation(printed)) == repr(nn.activation(name))


def test_every_label_is_a_name():
    labels = {name: label(name) for name in (*FIGURE5, *FIGURE6, *TABLE1) if name != "identity"}
    found = {name: nn.canonical_activation(printed) for name, printed in labels.items()}
    assert found == {name: nn.canonical_activation(name) for name in labels}


@pytest.mark.parametrize("name", TORCH_OWN)
def test_torch_own(name):
    assert type(nn.activation(name)) is TORCH_OWN[name]


def test_options_reach_the_constructor():
    assert nn.activation("leaky_relu", negative_slope=0.3).negative_slope == 0.3
    assert nn.activation("prelu", num_parameters=4).weight.shape == (4,)
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        nn.activation("relu", k=2)


def test_glu_halves_channels_like_the_others():
    z = torch.ones(2, 6, 5, 5)
    assert nn.activation("glu")(z).shape == nn.activation("or_ail")(z).shape


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("rellu", "relu"),
        ("xnor-aill", "xnor_ail"),
        ("nail_or_xnorr_d", "nail_or_xnor_d"),
        ("signed_geometric_mean", "signed_geomean"),
        ("or_xnorr_nail_d", "or_xnor_nail_d"),
        ("nail_or_xnorr_duplicate", "nail_or_xnor_duplicate"),
        ("geomean_signed", "signed_geomean"),
        ("relu leaky", "leaky_relu"),
        ("logit_nand", "logit_and"),
        ("logit_adn", "logit_and"),
    ],
)
def test_wrong_names_are_told_the_nearest(wrong, near):
    with pytest.raises(ValueError, match=f"no activation called '{wrong}'; did you mean '{near}'"):
        nn.activation(wrong)


def test_a_name_is_a_string():
    with pytest.raises(TypeError, match="the name of an activation is None; give a string"):
        nn.activation(None)  # pyright: ignore[reportArgumentType]


def test_every_listed_name_makes_a_module_of_its_own():
    names = nn.activation_names()
    assert len(set(names)) == len(names)
    made = [
        repr(nn.activation(name, **({"threshold": 0, "value": 1} if name == "threshold" else {})))
        for name in names
    ]
    assert len(set(made)) == len(names)
