"""Formulas from tables, through scikit-learn's door."""

from torchalu.estimators.formula import Constant
from torchalu.estimators.regressor import ArithmeticRegressor

__all__ = ["ArithmeticRegressor", "Constant"]
