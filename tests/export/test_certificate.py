"""Certificates against numbers computed by hand."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sympy
import torch
from torch import nn

from torchalu.export import Certificate, certify, evaluate, to_sympy, verify
from torchalu.nn import NAU, NMU, NACMul, RealNPU

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]])


def _filled(unit, weight):
    unit.weight.data.copy_(torch.tensor(weight).expand_as(unit.weight))
    return unit


def test_errors_by_hand():
    y = np.array([3.0, 7.0, 0.0])
    certificate = certify(lambda table: table.sum(axis=1), X, y, names=["a", "b"], tolerance=0.5)
    scale = 1e-3 * math.sqrt((9 + 49) / 3)
    assert certificate == Certificate(
        rows=3,
        max_abs_error=1.0,
        max_rel_error=pytest.approx(1.0 / scale, rel=1e-14),
        max_abs_error_before=None,
        max_rel_error_before=None,
        tolerance=0.5,
        exact=False,
        input_ranges={"a": (1.0, 5.0), "b": (-6.0, 4.0)},
        small_rows=1,
    )


def test_rows_that_the_least_scale_judges_are_counted():
    y = np.array([[1e4, 1.0], [1.0, 1.0], [1e4, 1e-4], [-1e-9, 0.0]])
    certificate = certify(lambda X: y, np.zeros((4, 1)), y)
    assert certificate.small_rows == 3
    assert "below 0.001 of the root mean square, by which they are judged: 3\n" in str(certificate)
    assert "root mean square" not in str(certify(lambda X: y[:1], np.zeros((1, 1)), y[:1]))


def test_relative_error_is_that_of_the_row():
    certificate = certify(lambda X: [1.01, 100.0], [[0.0], [0.0]], [1.0, 100.0])
    assert certificate.max_rel_error == pytest.approx(0.01)
    assert certificate.max_abs_error == pytest.approx(0.01)


def test_cancelled_row_is_compared_with_the_scale():
    y = [1.0, -1.0, 0.0]
    rounding = certify(lambda X: np.array(y) + 1e-14, np.zeros((3, 1)), y)
    assert rounding.exact
    assert rounding.max_rel_error == pytest.approx(1e-14 / (1e-3 * math.sqrt(2 / 3)), rel=1e-9)
    assert not certify(lambda X: np.array(y) + 1e-11, np.zeros((3, 1)), y).exact


def test_an_error_does_not_hide_behind_an_offset():
    y = np.array([1e6, 1e6 + 1, 1e6 + 2])
    deviation = math.sqrt(2 / 3)
    wrong = certify(lambda X: np.add(y, [0, 0, 1e-3]), np.zeros((3, 1)), y)
    assert wrong.max_rel_error == pytest.approx(1e-3 / (1e3 * deviation), rel=1e-6)
    assert not wrong.exact
    assert certify(lambda X: np.add(y, [0, 0, 0.9e-6 * deviation]), np.zeros((3, 1)), y).exact


def test_errors_of_a_few_units_in_the_last_place_are_none():
    y = np.array([1e14, 1e14 + 1, 1e14 + 2])
    near = certify(lambda X: np.add(y, [0, 0, 1 / 16]), np.zeros((3, 1)), y)
    assert near.max_rel_error == pytest.approx(1e-14 / 16)
    far = certify(lambda X: np.add(y, [0, 0, 1 / 8]), np.zeros((3, 1)), y)
    assert far.max_rel_error == pytest.approx(0.125 / (1e3 * math.sqrt(2 / 3)))


def test_a_constant_target_is_compared_with_itself():
    y = np.full(7, 0.1)
    assert np.std(y) > 0  # by rounding
    assert certify(lambda X: y + 0.9e-10, np.zeros((7, 1)), y).exact
    assert not certify(lambda X: y + 1.1e-10, np.zeros((7, 1)), y).exact


def test_predictions_that_are_no_real_numbers():
    X, y = [[4.0], [9.0], [-1.0]], [2.0, 3.0, 0.0]
    roots = certify(lambda X: X[:, 0].astype(complex) ** 0.5, X, y)
    assert (roots.exact, roots.non_finite_rows) == (False, 1)
    assert certify(lambda X: (X[:, 0] ** 2).astype(complex), X, [16.0, 81.0, 1.0]).exact
    masked = certify(lambda X: np.ma.masked_array(y, mask=[0, 1, 0]), X, y)
    assert (masked.exact, masked.non_finite_rows) == (False, 1)
    with pytest.raises(TypeError, match=r"predict returned the dtype <U3; allowed: real numbers"):
        certify(lambda X: np.array(["2.0", "3.0", "0.0"]), X, y)


def test_masked_rows_are_refused():
    X, y = np.ma.masked_array([[1.0], [2.0]], mask=[[0], [1]]), [2.0, 4.0]
    with pytest.raises(ValueError, match="X has masked entries; allowed: none"):
        certify(lambda X: 2 * X[:, 0], X, y)
    with pytest.raises(ValueError, match="y has masked entries"):
        certify(lambda X: 2 * X[:, 0], [[1.0], [2.0]], np.ma.masked_array(y, mask=[0, 1]))


def test_a_name_with_a_line_break_stays_in_its_line():
    certificate = certify(lambda X: X[:, 0], [[1.0], [2.0]], [1.0, 2.0], names=["mass\n[kg]"])
    assert "mass\\n[kg] in [1, 2]" in str(certificate)


@pytest.mark.parametrize(("error", "exact"), [(0.9e-9, True), (1.1e-9, False)])
def test_default_tolerance_in_float64(error, exact):
    certificate = certify(lambda X: [1.0 + error], [[1.0]], [1.0])
    assert (certificate.tolerance, certificate.exact) == (1e-9, exact)


@pytest.mark.parametrize(
    ("dtypes", "tolerance"),
    [
        ((torch.float64, torch.float64), 1e-9),
        ((torch.int64, torch.int32), 1e-9),
        ((torch.int8, torch.float32), 1e-5),
        ((torch.float32, torch.float64), 1e-5),
        ((torch.float64, torch.float16), 1e-2),
        ((torch.bfloat16, torch.bfloat16), 8e-2),
        ((torch.float32, torch.bfloat16), 8e-2),
    ],
)
def test_default_tolerance_is_that_of_the_coarser_dtype(dtypes, tolerance):
    table, target = (torch.ones(2, 1).to(dtype) for dtype in dtypes)
    assert certify(lambda X: X, table, target).tolerance == tolerance


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_a_data_frame_may_be_coarser_than_the_others(frame):
    columns = {"p": np.ones(3, dtype=np.float32), "q": np.ones(3)}
    assert certify(lambda X: X[:, 0], frame(columns), np.ones(3)).tolerance == 1e-5
    assert certify(lambda X: X[:, 0], frame(columns)[["q"]], np.ones(3)).tolerance == 1e-9


def test_an_exact_unit_is_exact_on_bfloat16():
    table = torch.rand(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.bfloat16) + 1
    product = table[:, 0] * table[:, 1]
    rounding = (product.double() / table.double().prod(dim=1) - 1).abs().max().item()
    certificate = verify(_filled(NMU(2, 1), 1.0), table, product)
    assert 1e-5 < rounding < 2**-8
    assert certificate.exact
    assert certificate.max_rel_error == pytest.approx(rounding, rel=1e-2)
    assert not verify(_filled(NMU(2, 1), 1.0), table, 1.1 * product).exact


def test_boundary_counts_as_exact():
    assert certify(lambda X: [1.25], [[1.0]], [1.0], tolerance=0.25).exact


def test_zero_target():
    zeros = np.zeros((2, 1))
    assert certify(lambda X: X, zeros, zeros).exact
    wrong = certify(lambda X: X + 1e-300, zeros, zeros)
    assert (wrong.max_rel_error, wrong.exact) == (math.inf, False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_prediction_that_is_not_finite(value):
    certificate = certify(lambda X: [1.0, value, value], np.ones((3, 1)), np.ones(3), tolerance=9)
    assert not certificate.exact
    assert certificate.max_abs_error == certificate.max_rel_error == math.inf
    assert certificate.non_finite_rows == 2
    assert "NaN or infinite in 2 rows" in str(certificate)
    fields = json.loads(certificate.to_json())
    assert (fields["max_abs_error"], fields["exact"]) == ("inf", False)


def test_huge_target_does_not_overflow():
    certificate = certify(lambda X: [1e300, 1e300], np.ones((2, 1)), [1e300, -1e300])
    assert (certificate.max_abs_error, certificate.max_rel_error) == (2e300, 2.0)


def test_every_output_has_its_scale():
    y = np.array([[1e6, 1.0], [1e6, 0.0]])
    certificate = certify(lambda X: y + np.array([0.0, 1e-4]), np.ones((2, 1)), y)
    assert certificate.max_rel_error == pytest.approx(1e-4 / (1e-3 * math.sqrt(0.5)))


def test_verify_before_and_after_by_hand():
    model = nn.Sequential(_filled(NAU(2, 1), [[0.75, 1.0]]))
    before = model[0].weight.detach().clone()
    certificate = verify(model, X, [3.0, 7.0, -1.0], names=["a", "b"])
    assert (certificate.exact, certificate.max_abs_error, certificate.rows) == (True, 0.0, 3)
    assert certificate.max_abs_error_before == 1.25
    assert certificate.max_rel_error_before == 1.25
    assert torch.equal(model[0].weight, before)
    assert model[0].weight.dtype == torch.float32
    assert model.training
    assert str(certificate).splitlines() == [
        "exact on 3 rows: largest relative error 0 <= 1e-09, absolute 0",
        "before snapping: largest relative error 1.25, absolute 1.25",
        "inputs seen: a in [1, 5], b in [-6, 4]",
    ]


def test_verify_a_model_without_units():
    certificate = verify(nn.Identity(), [[1.0]], [1.0])
    assert (certificate.exact, certificate.max_abs_error_before) == (True, None)
    assert certificate.input_ranges == {"x0": (1.0, 1.0)}


def test_verify_many_rows():
    table = np.arange(20_000.0).reshape(-1, 2)
    certificate = verify(_filled(NAU(2, 1), 1.0), table, table.sum(axis=1))
    assert (certificate.exact, certificate.rows) == (True, 10_000)


def test_sign_that_log_space_loses_is_certified_as_wrong():
    product = X[:, 0] * X[:, 1]
    unit = _filled(NACMul(2, 1, parametrization="clamped"), 1.0)
    assert "Abs(b)" in str(to_sympy(unit, ["a", "b"]))
    assert verify(unit, X[:2], product[:2], tolerance=1e-6).exact
    wrong = verify(unit, X, product, tolerance=1e-6)
    assert not wrong.exact
    assert wrong.max_abs_error == pytest.approx(60.0, rel=1e-6)
    power = _filled(RealNPU(2, 1), 1.0)
    power.gate.data.fill_(1.0)
    for signed in (_filled(NMU(2, 1), 1.0), power):
        assert verify(signed, X, product, tolerance=1e-6).exact


def test_eps_of_log_space_is_seen_by_the_default_tolerance():
    unit = _filled(NACMul(1, 1, parametrization="clamped"), 1.0)
    certificate = verify(unit, [[1.0]], [1.0])
    assert not certificate.exact
    assert certificate.max_rel_error == pytest.approx(1e-7, rel=1e-6)


def test_json_has_all_fields():
    certificate = verify(_filled(NAU(2, 1), [[0.75, 1.0]]), X, [3.0, 7.0, -1.0])
    assert json.loads(certificate.to_json()) == {
        "rows": 3,
        "max_abs_error": 0.0,
        "max_rel_error": 0.0,
        "max_abs_error_before": 1.25,
        "max_rel_error_before": 1.25,
        "tolerance": 1e-9,
        "exact": True,
        "input_ranges": {"x0": [1.0, 5.0], "x1": [-6.0, 4.0]},
        "non_finite_rows": 0,
        "small_rows": 0,
    }


def test_prediction_cannot_change_the_table():
    table = X.copy()

    def destroy(values):
        values[:] = 0
        return values[:, 0]

    certify(destroy, table, [1.0, 2.0, 3.0], predict_before=destroy)
    assert np.array_equal(table, X)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"X": [1.0, 2.0]}, ValueError, r"X has the shape \(2,\)"),
        ({"X": np.zeros((0, 2)), "y": []}, ValueError, "at least one row"),
        ({"X": np.zeros((3, 0))}, ValueError, "at least one row and one column"),
        ({"y": [1.0]}, ValueError, "as many rows in both"),
        ({"y": np.ones((3, 1, 1))}, ValueError, "y has the shape"),
        ({"X": [["a", "b"]] * 3}, TypeError, "X has the dtype"),
        ({"y": [1j, 0, 0]}, TypeError, "y has the dtype complex"),
        ({"y": [1.0, math.nan, 0.0]}, ValueError, r"y has 1 entries.*\[1\]"),
        ({"X": [[1.0, math.inf]] * 3}, ValueError, r"X has 3 entries.*\[0, 1\]"),
        ({"names": ["a"]}, ValueError, "names has 1 entries"),
        ({"names": ["a", "a"]}, ValueError, "1 of them different"),
        ({"tolerance": -1.0}, ValueError, "tolerance is -1"),
        ({"tolerance": math.nan}, ValueError, "tolerance is nan"),
        ({"predict": lambda X: X}, ValueError, r"predict returned the shape \(3, 2\)"),
        ({"predict_before": lambda X: 1.0}, ValueError, "predict_before returned"),
    ],
)
def test_bad_arguments(changes, error, message):
    arguments = {"predict": lambda X: X[:, 0], "X": X, "y": np.ones(3)} | changes
    with pytest.raises(error, match=message):
        certify(arguments.pop("predict"), arguments.pop("X"), arguments.pop("y"), **arguments)


def test_verify_needs_a_module():
    with pytest.raises(TypeError, match="module is function"):
        verify(lambda X: X, X, [1.0, 2.0, 3.0])


def test_a_model_is_verified_without_its_dropout():
    model = nn.Sequential(nn.Dropout(0.5), _filled(NMU(2, 1), 1.0), nn.Dropout(0.5))
    certificate = verify(model, X, X[:, 0] * X[:, 1])
    assert certificate.exact
    assert (certificate.max_abs_error, certificate.max_abs_error_before) == (0.0, 0.0)
    assert model.training


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: certify(3, [[1.0]], [1.0]), "predict is 3; allowed: a function of an array"),
        (lambda: certify(abs, [[1.0]], [1.0], tolerance="x"), "tolerance is 'x'; allowed: a num"),
        (lambda: certify(abs, [[1.0]], [1.0], tolerance=True), "tolerance is True; allowed: a n"),
        (lambda: verify(nn.RNN(1, 1), [[1.0]], [1.0]), "module returned tuple; allowed: one ten"),
        (lambda: evaluate(sympy.Symbol("a"), [[1 + 2j]], ["a"]), "X has the dtype complex128"),
    ],
)
def test_what_cannot_be_checked_is_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_prediction_may_be_a_tensor_with_a_gradient():
    weight = torch.tensor(2.0, requires_grad=True)
    for convert in (torch.Tensor.float, torch.Tensor.bfloat16):

        def predict(X, convert=convert):
            return convert(torch.from_numpy(X[:, 0])) * weight

        assert certify(predict, [[3.0]], [6.0]).max_abs_error == 0
