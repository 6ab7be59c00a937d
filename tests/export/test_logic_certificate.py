"""Certificates of Boolean formulas against counts by hand."""

import json

import numpy as np
import pytest
import torch
from sympy import symbols

from torchalu.export import LogicCertificate, certify_logic

A, B, C = symbols("a b c")


def test_certificate_by_hand():
    certificate = certify_logic(lambda x: x[:, 0] * x[:, 1], A & B, ["a", "b"])
    assert certificate == LogicCertificate(
        method="given",
        inputs="all",
        rows=4,
        agreements=3,
        exact=False,
        low=0.75,
        high=0.75,
        true_share=0.5,
        disagreements=((0, 0),),
        names=("a", "b"),
    )
    assert certificate.share == 0.75
    fields = json.loads(certificate.to_json())
    assert (fields["disagreements"], fields["names"]) == ([[0, 0]], ["a", "b"])


def test_certificate_on_data():
    X = np.array([[0.1, 5.0], [-3.0, -0.2], [0.7, -0.4], [2.0, 2.0], [-1.0, 3.0]])
    certificate = certify_logic(lambda x: x.amin(1), A & B, ["a", "b"], X)
    assert (certificate.inputs, certificate.rows, certificate.exact) == ("data", 5, True)
    assert certificate.true_share == 0.4
    square = 1.959963984540054**2
    assert certificate.low == pytest.approx(5 / (5 + square), rel=1e-12)
    assert certificate.high == 1.0
    shifted = certify_logic(lambda x: x.amin(1), A & B, ["a", "b"], X, encoding=(0, 1))
    assert shifted.disagreements == ((0, 1),)
    assert shifted.agreements == 4


def test_random_inputs_follow_the_generator():
    names = [f"x{i}" for i in range(22)]
    formula = symbols("x0") & symbols("x1")

    def check(seed):
        generator = torch.Generator().manual_seed(seed)
        return certify_logic(lambda x: x[:, 0], formula, names, rows=1000, generator=generator)

    assert check(0) == check(0)
    assert check(0) != check(1)
    assert check(0).agreements == pytest.approx(750, abs=60)


@pytest.mark.parametrize(
    ("formula", "X", "error", "message"),
    [
        ([A, B], None, ValueError, "formula has 2 parts and the model 1 outputs"),
        (C, None, ValueError, "symbol c; allowed: a, b"),
        (True, None, TypeError, "formula is True, which is bool"),
        (None, None, TypeError, "formula is None"),
        ("a & b", None, TypeError, "formula is 'a & b', which is str"),
        ([2 * A], None, TypeError, r"formula is 2\*a, which is Mul"),
        (A, [[1.0]], ValueError, r"X has the shape \(1, 1\)"),
        (A, np.zeros((0, 2)), ValueError, r"X has the shape \(0, 2\)"),
        (A, [[1.0, float("inf")]], ValueError, "X has 1 entries"),
        (A, [["x", "y"]], TypeError, "X has the dtype"),
    ],
)
def test_bad_certificates(formula, X, error, message):
    with pytest.raises(error, match=message):
        certify_logic(lambda x: x[:, 0], formula, ["a", "b"], X)


def test_formula_and_model_agree_where_all_outputs_do():
    """Of (and, or) the model has (and, first): they differ where the second bit alone is true."""
    certificate = certify_logic(
        lambda x: torch.stack([x.amin(1), x[:, 0]], 1), [A & B, A | B], ["a", "b"]
    )
    assert (certificate.agreements, certificate.rows, certificate.exact) == (3, 4, False)
    assert certificate.disagreements == ((0, 1),)
