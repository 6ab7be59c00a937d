"""The estimator behaves as scikit-learn asks of a regressor."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from torchalu.estimators import ArithmeticRegressor


@parametrize_with_checks([ArithmeticRegressor(restarts=1, steps=50, families=("sum",), threads=1)])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.long
def test_estimator_checks_with_default_arguments():
    results = check_estimator(ArithmeticRegressor(), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
