"""The models and settings against what the paper and its program print."""

import math

import pytest
import torch
from scipy import stats
from torch import nn

from torchalu.experiments import Runs, get
from torchalu.experiments.madsen2020 import models as paper
from torchalu.experiments.setting import Setting, start_dense
from torchalu.nn import penalty
from torchalu.tasks import SimpleFunction

# Table 4, with the first layer of NAC*,NMU and the last of the ReLU models as in the program; the
# gated model's penalty is the program's default.
TABLE_4 = {
    "NMU": ("NAU NMU", 10.0, 1e6, 2e6),
    "NAU": ("NAU NAU", 0.01, 5e3, 5e4),
    "NAC*": ("NAC NACMul", 0.0, 0.0, 1.0),
    "NAC*,sigma": ("NAC NACMul", 0.0, 0.0, 1.0),
    "NAC*,NMU": ("NAU NACMul", 10.0, 1e6, 2e6),
    "NAC+": ("NAC NAC", 0.0, 0.0, 1.0),
    "NALU": ("NALU NALU", 0.0, 0.0, 1.0),
    "Gated NAU/NMU": ("GatedNAUNMU GatedNAUNMU", 10.0, 1e6, 2e6),
    "Linear": ("Linear Linear", 0.0, 0.0, 1.0),
    "ReLU": ("Linear ReLU Linear", 0.0, 0.0, 1.0),
    "ReLU6": ("Linear ReLU6 Linear", 0.0, 0.0, 1.0),
}


def test_there_is_no_other_model():
    assert set(paper.ALL) == set(TABLE_4)


@pytest.mark.parametrize("name", TABLE_4)
def test_table_4(name):
    model = paper.model(name)
    layers = " ".join(type(layer).__name__ for layer in model.build(100, 2))
    ramp = (model.penalty, model.penalty_start, model.penalty_end)
    assert (layers, *ramp) == TABLE_4[name]
    assert model.learning_rate == 1e-3


def test_the_log_space_layers_differ_in_their_weights():
    last = {name: paper.model(name).build(100, 2)[1] for name in paper.ALL if "NAC*" in name}
    assert {name: layer.parametrization for name, layer in last.items()} == {
        "NAC*": "tanh_sigmoid",
        "NAC*,sigma": "sigmoid",
        "NAC*,NMU": "clamped",
    }


@pytest.mark.parametrize(
    ("name", "clamped", "factor"),
    [
        ("NMU", True, 10.0),
        ("NMU, no W clamp", False, 10.0),
        ("NMU, no Rsparse", True, 0.0),
        ("NMU, no Rsparse, no W-clamp", False, 0.0),
    ],
)
def test_ablations_of_figure_7(name, clamped, factor):
    model = paper.ablation(name)
    layers = model.build(3, 2)
    with torch.no_grad():
        for layer in layers:
            layer.weight.fill_(1.5)
            layer.constrain_()
    assert model.penalty == factor
    expected = 1.0 if clamped else 1.5
    assert all(torch.all(layer.weight == expected) for layer in layers)
    # Without the clamp min(|W|, |1 - |W||) reaches beyond 1: 1/2 in each of the two layers.
    assert penalty(nn.Sequential(*layers)).item() == (0.0 if clamped else 1.0)


def test_dense_layers_start_with_the_laws_of_the_program():
    layers = [nn.Linear(400, 50), nn.ReLU(), nn.Linear(50, 40)]
    start_dense(layers, torch.Generator().manual_seed(0))
    bounds = [math.sqrt(6 / 400), math.sqrt(6 / 90)]
    for layer, bound in zip((layers[0], layers[2]), bounds, strict=True):
        uniform = stats.uniform(-bound, 2 * bound)
        weights = layer.weight.detach().flatten().numpy()
        assert stats.kstest(weights, uniform.cdf).pvalue > 0.01
        assert abs(weights).max() <= bound
        assert torch.all(layer.bias == 0)


def test_the_start_of_a_dense_model_depends_on_the_seed_alone():
    add, mul = (
        Setting(paper.model("Linear"), SimpleFunction(operation), 1000)
        for operation in ("add", "mul")
    )
    first, again, other = add.initial(3), mul.initial(3), add.initial(4)
    assert first["0.weight"].shape == (1, 2, 100)
    assert torch.equal(first["0.weight"], again["0.weight"])
    assert not torch.equal(first["0.weight"], other["0.weight"])
    assert Setting(paper.model("NMU"), SimpleFunction("mul"), 1000).initial(3) is None


def test_table_1():
    study = get("madsen2020.table1")()
    assert [setting.labels["model"] for setting in study.settings] == ["NAC*", "NALU", "NMU"]
    for setting in study.settings:
        x = torch.tensor([[1.0, 2.0, 3.0, 5.0]])
        assert setting.task.target(x, *setting.task.subsets).item() == (1 + 2) * (1 + 2 + 3 + 5)
        assert setting.steps == 200_000
        assert setting.task.interpolation_range == (1.0, 2.0)
        assert setting.task.extrapolation_range == (2.0, 6.0)
        assert setting.model.penalty_start > setting.steps or setting.model.penalty == 0


def test_tables_2_and_6_have_the_settings_of_table_3():
    table2, table6 = get("madsen2020.table2")(), get("madsen2020.table6")()
    assert (len(table2.settings), len(table6.settings)) == (10 * 3, 11 * 6)
    assert len({tuple(setting.labels.items()) for setting in table6.settings}) == 66
    for setting in table6.settings:
        task = setting.task
        assert (task.in_features, task.subset_ratio, task.overlap_ratio) == (100, 0.25, 0.5)
        assert (task.interpolation_range, task.extrapolation_range) == ((1, 2), (2, 6))
        assert (setting.steps, setting.hidden_size, task.evaluation_rows) == (5e6, 2, 10_000)
        assert (task.noise, task.correlation) == (0.0, 0.0)


def test_figure_3_varies_one_quantity_at_a_time():
    study = get("madsen2020.figure3")()
    points = {(s.labels["hidden_size"], s.labels["interpolation_range"]) for s in study.settings}
    assert points == {(size, "U[1,2]") for size in range(2, 11)} | {
        (2, name)
        for name in (
            "U[-2,-1]",
            "U[-2,2]",
            "U[0,1]",
            "U[0.1,0.2]",
            "U[1.1,1.2]",
            "U[1,2]",
            "U[10,20]",
        )
    }
    assert len(study.settings) == 5 * (9 + 7 - 1)
    two_sided = [s for s in study.settings if s.labels["interpolation_range"] == "U[-2,2]"]
    assert {s.task.extrapolation_range for s in two_sided} == {((-6.0, -2.0), (2.0, 6.0))}
    widths = {s.hidden_size for s in study.settings}
    assert widths == set(range(2, 11))


def test_figure_8_runs_longer_on_more_inputs():
    settings = get("madsen2020.figure8")(models=("NMU",)).settings
    steps = {s.task.in_features: s.steps / 1e6 for s in settings if s.task.overlap_ratio == 0.5}
    assert steps == dict(
        zip(
            (4, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300),
            (5, 5, 5, 5, 5, 5, 10, 10, 10, 10, 15, 15, 15, 15),
            strict=True,
        )
    )
    assert {s.task.overlap_ratio for s in settings} == {0, 0.1, 0.25, 0.5, 0.75, 1}
    assert {s.task.subset_ratio for s in settings} == {0.05, 0.1, 0.25, 0.5}
    assert len(settings) == 14 + 5 + 3


@pytest.mark.parametrize(
    ("name", "model", "operation", "ramp"),
    [
        ("figure10", "NAU", "add", (5e3, 5e4)),
        ("figure11", "NAU", "sub", (5e3, 5e4)),
        ("figure12", "NMU", "mul", (1e6, 2e6)),
    ],
)
def test_figures_10_to_12_vary_the_factor_of_the_penalty(name, model, operation, ramp):
    study = get(f"madsen2020.{name}")()
    assert [s.model.penalty for s in study.settings] == [0, 0.01, 0.1, 1, 10, 100]
    for setting in study.settings:
        assert setting.labels["model"] == setting.model.name == model
        assert setting.task == SimpleFunction(operation)
        assert (setting.model.penalty_start, setting.model.penalty_end) == ramp
    assert study.runs.seeds == 50


def test_figure_9_gates_the_second_layer_alone():
    study = get("madsen2020.figure9")()
    layers = {s.model.name: s.model.build(100, 2) for s in study.settings}
    assert {name: [type(x).__name__ for x in stack] for name, stack in layers.items()} == {
        "Gated NAU/NMU": ["NAU", "GatedNAUNMU"],
        "NALU (separate)": ["NAC", "NALU"],
        "NALU (shared)": ["NAC", "NALU"],
    }
    assert layers["NALU (separate)"][1].separate
    assert not layers["NALU (shared)"][1].separate
    assert {s.task.operation for s in study.settings} == {"add", "mul"}


def test_figure_3_has_the_papers_ranges():
    settings = get("madsen2020.figure3")(models=("NMU",), hidden_sizes=(2,)).settings
    ranges = {
        setting.labels["interpolation_range"]: (
            setting.task.interpolation_range,
            setting.task.extrapolation_range,
        )
        for setting in settings
    }
    assert ranges == {
        "U[-2,-1]": ((-2, -1), (-6, -2)),
        "U[-2,2]": ((-2, 2), ((-6, -2), (2, 6))),
        "U[0,1]": ((0, 1), (1, 5)),
        "U[0.1,0.2]": ((0.1, 0.2), (0.2, 2)),
        "U[1.1,1.2]": ((1.1, 1.2), (1.2, 6)),
        "U[1,2]": ((1, 2), (2, 6)),
        "U[10,20]": ((10, 20), (20, 40)),
    }


def test_a_single_module_has_the_penalty_and_rate_of_its_unit_and_the_ramp_of_the_run():
    """Of sums 0.01, of products 10 as in table 4; the others as their papers have it."""
    study = get("madsen2020.single_module")(Runs(steps=1000))
    models = {setting.model.name: setting.model for setting in study.settings}
    assert {(m.penalty_start, m.penalty_end) for m in models.values()} == {(400, 700)}
    numbers = {name: (m.penalty, m.learning_rate) for name, m in models.items()}
    products, powers = ("NMU", "NAC*,NMU", "Gated NAU/NMU"), ("RealNPU", "NPU")
    plain = ("NAC+", "NAC*", "NAC*,sigma", "NALU (shared)", "NALU (separate)")
    assert numbers == {
        "NAU": (0.01, 1e-3),
        "sNMU": (10, 1e-3),
        "NMRU": (10, 1e-2),
        "iNALU": (0, 1e-3),
        "RealNPU (modified)": (1, 5e-3),
        **dict.fromkeys(products, (10, 1e-3)),
        **dict.fromkeys(powers, (1e-7, 5e-3)),
        **dict.fromkeys(plain, (0, 1e-3)),
    }
    bounds = {name: m.clip_norm for name, m in models.items() if m.clip_norm < math.inf}
    assert bounds == {"NMRU": 1.0, "iNALU": 0.1}
    assert {s.run(0).clip_norm for s in study.settings if s.model.name == "iNALU"} == {0.1}
    units = {name: model.build(2, 1) for name, model in models.items()}
    assert all(len(stack) == 1 for stack in units.values())
    assert [units[f"NALU ({kind})"][0].separate for kind in ("shared", "separate")] == [False, True]
    parametrizations = [units[f"NAC*{end}"][0].parametrization for end in ("", ",sigma", ",NMU")]
    assert parametrizations == ["tanh_sigmoid", "sigmoid", "clamped"]
