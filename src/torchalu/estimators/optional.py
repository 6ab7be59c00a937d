"""The packages of the extra `estimators`, imported here and nowhere else."""

try:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data
    from threadpoolctl import threadpool_limits
except ImportError as error:
    raise ImportError(
        f"{error.name} is not installed, and ArithmeticRegressor needs it; "
        "install the extra: pip install 'torchalu[estimators]'"
    ) from error

__all__ = [
    "BaseEstimator",
    "DataFrame",
    "RegressorMixin",
    "check_array",
    "check_is_fitted",
    "check_random_state",
    "column_or_1d",
    "threadpool_limits",
    "validate_data",
]
