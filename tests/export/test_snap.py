"""Snapping reaches the discrete set, says what moved, and moves nothing twice."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchalu.export import (
    SnapEntry,
    SnapReport,
    snap,
    to_sympy,
    to_verilog,
    truth_table,
    verify,
)
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    NPU,
    SNMU,
    GatedNAUNMU,
    LogicGates,
    NACMul,
    RealNPU,
)

UNITS = [
    (NAU, {}, {"weight": {-1, 0, 1}}),
    (NMU, {}, {"weight": {0, 1}}),
    (NAC, {}, {"effective_weight": {-1, 0, 1}}),
    (NACMul, {}, {"effective_weight": {-1, 0, 1}}),
    (NACMul, {"parametrization": "sigmoid"}, {"effective_weight": {0, 1}}),
    (NACMul, {"parametrization": "clamped"}, {"weight": {0, 1}}),
    (NALU, {}, {"effective_weight": {-1, 0, 1}}),
    (
        NALU,
        {"separate": True},
        {"effective_weight": {-1, 0, 1}, "effective_mul_weight": {-1, 0, 1}},
    ),
    (GatedNAUNMU, {}, {"nau_weight": {-1, 0, 1}, "nmu_weight": {0, 1}}),
    (
        INALU,
        {},
        {
            "effective_weight": {-1, 0, 1},
            "effective_mul_weight": {-1, 0, 1},
            "effective_gate": {0, 1},
        },
    ),
    (NMRU, {}, {"weight": {0, 1}, "reciprocal_weight": {0, 1}}),
    (SNMU, {}, {"weight": {0, 1}}),
    (RealNPU, {"modified": True}, {"weight": {-1, 0, 1}, "gate": {0, 1}}),
    (RealNPU, {}, {"weight": {i / 2 for i in range(-20, 21)}, "gate": {0, 1}}),
    (
        NPU,
        {},
        {
            "weight": {i / 2 for i in range(-20, 21)},
            "imag_weight": {i / 2 for i in range(-20, 21)},
            "gate": {0, 1},
        },
    ),
]


@pytest.mark.parametrize(("kind", "options", "sets"), UNITS)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), dtype=st.sampled_from([torch.float64, torch.bfloat16]))
def test_snap_is_idempotent_and_reaches_its_set(kind, options, sets, seed, dtype):
    unit = kind(3, 2, dtype=dtype, **options)
    generator = torch.Generator().manual_seed(seed)
    for parameter in unit.parameters():
        parameter.data.normal_(0.0, 1.3, generator=generator)
    first = snap(unit)
    state = {name: value.clone() for name, value in unit.state_dict().items()}
    for name, allowed in sets.items():
        value = getattr(unit, name)
        value = value() if callable(value) else value
        assert set(value.detach().flatten().tolist()) <= allowed
    second = snap(unit)
    assert (second.moved, second.largest_move) == (0, 0.0)
    assert all(torch.equal(value, state[name]) for name, value in unit.state_dict().items())
    assert [entry.name for entry in first.entries] == [entry.name for entry in second.entries]
    assert set(sets) <= {entry.name for entry in first.entries}


def test_report_by_hand():
    model = nn.Sequential(NAU(2, 2), nn.ReLU(), NMU(2, 1))
    model[0].weight.data.copy_(torch.tensor([[0.75, -0.25], [1.0, 0.0]]))
    model[2].weight.data.copy_(torch.tensor([[1.0, 0.625]]))
    report = snap(model)
    assert report == SnapReport(
        (
            SnapEntry("0.weight", 4, 2, 0.25, 0.125),
            SnapEntry("2.weight", 2, 1, 0.375, 0.1875),
        )
    )
    assert (report.count, report.moved, report.largest_move) == (6, 3, 0.375)
    assert model[0].weight.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert model[2].weight.tolist() == [[1.0, 1.0]]
    assert json.loads(report.to_json())["entries"][1] == {
        "name": "2.weight",
        "count": 2,
        "moved": 1,
        "largest_move": 0.375,
        "mean_move": 0.1875,
    }
    assert str(report).splitlines() == [
        "weight    count  moved  largest move  mean move",
        "0.weight      4      2          0.25      0.125",
        "2.weight      2      1         0.375      0.188",
    ]


def test_gate_of_a_nalu_stays():
    unit = NALU(2, 1)
    gate = unit.gate_weight.detach().clone()
    report = snap(unit)
    assert torch.equal(unit.gate_weight, gate)
    assert [(entry.name, entry.moved) for entry in report.entries][1] == ("gate_weight", 0)


def test_shared_unit_is_reported_once():
    unit = NMU(2, 2)
    assert len(snap(nn.Sequential(unit, unit)).entries) == 1


def test_model_without_units():
    model = nn.Linear(2, 1)
    weight = model.weight.detach().clone()
    assert str(snap(model)) == "no units, nothing to snap"
    assert torch.equal(model.weight, weight)


def test_nan_is_refused_before_anything_changes():
    model = nn.Sequential(NAU(2, 1), NAU(1, 1))
    model[0].weight.data.fill_(0.75)
    model[1].weight.data.fill_(float("nan"))
    with pytest.raises(ValueError, match=r"1\.weight has 1 of 1 elements that are NaN"):
        snap(model)
    assert model[0].weight.tolist() == [[0.75, 0.75]]


def test_shapes_without_numbers_are_refused():
    model = nn.Sequential(NAU(2, 1), NAU(1, 1, device="meta"))
    with pytest.raises(ValueError, match=r"module has 1\.weight on the device meta"):
        snap(model)
    with pytest.raises(ValueError, match=r"module has 1\.weight on the device meta"):
        verify(model, [[1, 2]], [3])
    with pytest.raises(ValueError, match=r"module has 1\.weight on the device meta"):
        to_sympy(model, ["a", "b"])
    with pytest.raises(ValueError, match=r"model has 1\.weight on the device meta"):
        truth_table(model, ["a", "b"])
    with pytest.raises(ValueError, match="model has weight on the device meta"):
        to_verilog(LogicGates(2, 2, device="meta"))


def test_no_module():
    with pytest.raises(TypeError, match="module is dict"):
        snap({})


def test_a_parameter_on_two_sets_is_not_moved():
    sums, products = NAU(2, 2), NMU(2, 2)
    products.weight = sums.weight
    sums.weight.data.fill_(-0.9)
    message = r"0\.weight of NAU and 1\.weight of NMU are one parameter; allowed: one that is sh"
    with pytest.raises(ValueError, match=message):
        snap(nn.Sequential(sums, products))
    assert (sums.weight == -0.9).all()
    twice = NAU(2, 2)
    twice.weight = sums.weight
    report = snap(nn.Sequential(sums, twice))
    assert [entry.largest_move for entry in report.entries] == pytest.approx([0.1, 0.1])
    assert (sums.weight == -1).all()
