"""The scientist's door: a scikit-learn regressor that answers with a formula."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np

from torchalu.estimators.columns import (
    as_arrays,
    check_names,
    feature_columns,
    target_column,
)
from torchalu.estimators.formula import constants_of, to_expression
from torchalu.estimators.native import native_structures
from torchalu.estimators.optional import (
    BaseEstimator,
    DataFrame,
    RegressorMixin,
    check_array,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    threadpool_limits,
    validate_data,
)
from torchalu.estimators.reporting import stage_reporter
from torchalu.estimators.search import search
from torchalu.estimators.selection import Candidate, make_candidate
from torchalu.estimators.structures import FAMILIES, Structure
from torchalu.estimators.table import CanonicalTable, canonical_table, hold_out
from torchalu.export import Certificate, certify, evaluate
from torchalu.export.tolerance import default_tolerance
from torchalu.tasks import Table, check_table
from torchalu.tasks.table import coarsest_dtype
from torchalu.tasks.table_cells import check_column

HOLDOUTS = ("outer", "random", "none")
HOLDOUT_FRACTION = 0.2
"""Share of the rows that is held out while candidates are compared."""

_LISTED = 25
_LEAST_WEIGHT = 1e-100
_LEARNED = ("formula_", "constants_", "certificate_", "candidates_")


class ArithmeticRegressor(RegressorMixin, BaseEstimator):
    r"""Learns an exact arithmetic formula from a table, and proves it on the table.

    .. math:: y = \Bigl(c_0 + \sum_k c_k
              \prod_f \bigl(m_{kf} + \sum_j n_{kfj} x_j\bigr)^{p_{kf}}\Bigr)^q + d\,b

    with whole numbers m and n, rational powers p and q, as few real constants c and d as the data
    need, and b 1, a column or a power of one: sums, products of powers, products of sums, sums of
    products, ratios of sums, and roots and reciprocals of such sums, by themselves or beside b; of
    sums of two products other powers, too. Or the ratio of two such sums with q = 1 and d = 0, with
    real constants in both. Candidates come from closed forms, from stacks of NAU, NMU and RealNPU
    that the native trainer restarts many times, and from changing both bit by bit. Each is fitted
    without the held-out rows, and the shortest description of all rows wins: of formulas that
    explain the data equally well the simplest. Its constants are then fitted to all rows, and the
    formula is checked on all rows.

    Args:
        restarts: starts of each stack in the native trainer; 0 leaves the trainer out.
        steps: optimizer steps of a restart; chosen by the table's size if None.
        holdout: rows that candidates are compared on: "outer", the fifth of the rows that is
            farthest from the middle, a test of extrapolation; "random", a random fifth; "none",
            no rows: all are learned from.
        families: names of the families of formulas wanted, of "sum", "powers", "product_of_sums",
            "sum_of_products", "ratio_of_sums" and "power_of_sum"; all of them if None. Fewer take
            less time: what finds none of them is left out.
        tolerance: relative error up to which the formula counts as exact; if None, 1e-9, 1e-5 for
            a table with float32, 1e-2 for one with float16.
        random_state: source of randomness; a number makes the fit repeatable.
        threads: threads of the native trainer; every core if None.
        verbose: shows each step on the standard error.

    Attributes:
        formula_: the formula, a SymPy expression in the features' names.
        certificate_: what checking `formula_` on all rows found (`torchalu.export.Certificate`).
        candidates_: data frame of the best candidates, the chosen one first: formula, family,
            error (root mean square in the held-out rows), complexity, free_constants, exact,
            description (nats), noise.
        constants_: the formula's constants by name: value, 95% interval, whether free.
        n_features_in_: number of features.
        feature_names_in_: names of the features, where X had names.

    Raises:
        ValueError: for an argument that is not allowed, and for a table that nothing can be
            learned from: text, dates, missing values, NaN, infinite, huge or tiny numbers, one row,
            a constant target, two equal columns, too many columns.

    Source:
        Madsen & Johansen 2020 and Heim et al. 2020 for the stacks. Departures: the search over
        structures, closed forms, selection by description length, and the certificate are ours.

    Example:
        >>> import numpy as np
        >>> a, b, c = np.random.default_rng(0).uniform(1, 3, (3, 100))
        >>> model = ArithmeticRegressor(random_state=0).fit(np.stack([a, b, c], axis=1), a * b / c)
        >>> model.formula_
        x0*x1/x2
        >>> model.certificate_.exact
        True
        >>> model.predict([[20.0, 30.0, 4.0]])
        array([150.])
    """

    def __init__(
        self,
        restarts: int = 64,
        steps: int | None = None,
        holdout: str = "outer",
        families: Collection[str] | None = None,
        tolerance: float | None = None,
        random_state: Any = None,
        threads: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.restarts = restarts
        self.steps = steps
        self.holdout = holdout
        self.families = families
        self.tolerance = tolerance
        self.random_state = random_state
        self.threads = threads
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ArithmeticRegressor:
        """Learns the formula.

        Args:
            X: the features.
            y: the target.
            sample_weight: how much each row counts. Whole weights count rows: 3 is the same as
                the row three times, 0 as leaving it out; others are relative to each other. Weights
                of measurements, 1 / sigma**2, are none that count: divide them by their mean.

        Shape:
            X: (rows, features); y: (rows,); sample_weight: (rows,).

        Returns:
            The regressor itself.
        """
        self._check_arguments()
        for name in _LEARNED:  # else a table that is refused would leave the old formula behind
            vars(self).pop(name, None)
        random = check_random_state(self.random_state)
        generator = np.random.default_rng(random.randint(2**31 - 1, size=4))
        checked = self._checked(X, y, sample_weight)
        sign = -1 if np.all(checked.y <= 0) else 1
        table = self._canonical(checked, sign)
        split = hold_out(table, self.holdout, HOLDOUT_FRACTION, generator)
        seed = int(generator.integers(2**31))

        def native(rows: CanonicalTable) -> Iterator[Structure]:
            return native_structures(
                rows, families, self.restarts, self.steps, seed=seed, threads=self.threads
            )

        families = FAMILIES if self.families is None else tuple(self.families)
        with stage_reporter(self.verbose) as report, threadpool_limits(1, user_api="blas"):
            self._keep(search(split, families, native, generator, report), table, sign)
        self.certificate_ = self._certify(checked, table.tolerance)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The formula's value for each row.

        Args:
            X: the features.

        Shape:
            X: (rows, features); returns (rows,).

        Returns:
            The values; NaN or infinite where the formula has none, as the root of a negative
            number or a division by 0.
        """
        check_is_fitted(self, _LEARNED[0])
        X = as_arrays("X", X)
        for name, values in feature_columns(X):
            check_column(name, values)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return evaluate(self.formula_, X, self._names)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has been called."""
        return hasattr(self, "formula_")

    def _check_arguments(self) -> None:
        """Raises where an argument is not allowed."""
        if not (isinstance(self.holdout, str) and self.holdout in HOLDOUTS):
            raise ValueError(f"holdout is {self.holdout!r}; allowed: {', '.join(HOLDOUTS)}")
        if not _whole(self.restarts, 0):
            raise ValueError(f"restarts is {self.restarts!r}; allowed: a whole number, 0 or more")
        if self.steps is not None and not _whole(self.steps, 1):
            raise ValueError(
                f"steps is {self.steps!r}; allowed: a whole number, 1 or more, or None"
            )
        if self.threads is not None and not _whole(self.threads, 1):
            raise ValueError(
                f"threads is {self.threads!r}; allowed: a whole number, 1 or more, or None"
            )
        if self.tolerance is not None and not (
            isinstance(self.tolerance, Real) and 0 <= float(self.tolerance) < 1
        ):
            raise ValueError(
                f"tolerance is {self.tolerance!r}; allowed: a number from 0 to below 1, or None"
            )
        if self.families is not None:
            listed = isinstance(self.families, Collection) and not isinstance(self.families, str)
            if (
                not listed
                or len(self.families) == 0
                or any(name not in FAMILIES for name in self.families)
            ):
                raise ValueError(
                    f"families is {self.families!r}; allowed: some of {', '.join(FAMILIES)}, in a "
                    "list, or None for all"
                )

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> Table:
        """The rows that count, checked by scikit-learn's rules and by ours."""
        X, y = as_arrays("X", X), as_arrays("y", y)
        features = feature_columns(X)
        check_names(name for name, _ in features)
        columns = [*features, *target_column(y)]
        for name, values in columns:
            check_column(name, values)
        dtype = coarsest_dtype(values.dtype for _, values in columns)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], y_numeric=True, ensure_min_samples=1
        )
        y = column_or_1d(y, warn=True)
        if sample_weight is not None:
            sample_weight = as_arrays("sample_weight", sample_weight)
            if np.ma.is_masked(sample_weight):
                raise ValueError("sample_weight has masked entries; a weight of 0 leaves a row out")
            sample_weight = check_array(sample_weight, ensure_2d=False, input_name="sample_weight")
            if 0 < np.max(sample_weight) < _LEAST_WEIGHT:
                raise ValueError(
                    f"sample_weight is at most {np.max(sample_weight):g}; allowed: {_LEAST_WEIGHT} "
                    "or more for the largest; multiply all of them by a number"
                )
            if not np.any(sample_weight):
                raise ValueError(
                    "sample_weight is zero in every row; allowed: at least one positive weight"
                )
        names = getattr(self, "feature_names_in_", None)
        self._names = (
            tuple(f"x{j}" for j in range(X.shape[1])) if names is None else tuple(map(str, names))
        )
        target = "y"
        while target in self._names:
            target += "_"
        checked = check_table(
            X, y, self._names, target, sample_weight, enough_rows=False, dtype=dtype
        )
        if checked.sample_weight is None:
            return checked
        counted = checked.take(checked.sample_weight > 0)
        return check_table(
            counted.X,
            counted.y,
            self._names,
            target,
            counted.sample_weight,
            enough_rows=False,
            dtype=counted.dtype,
        )

    def _canonical(self, checked: Table, sign: int) -> CanonicalTable:
        """The rows in canonical order, the target times a sign, with the tolerance of the data."""
        given = self.tolerance
        tolerance = default_tolerance(checked.dtype) if given is None else float(given)
        return canonical_table(
            checked.X, sign * checked.y, checked.sample_weight, self._names, tolerance
        )

    def _certify(self, checked: Table, tolerance: float) -> Certificate:
        """Checks the formula on every row."""
        return certify(
            lambda X: evaluate(self.formula_, X, self._names),
            checked.X,
            checked.y,
            names=self._names,
            tolerance=tolerance,
        )

    def _keep(self, ranked: list[Candidate], table: CanonicalTable, sign: int) -> None:
        """Fits the best candidate to all rows, certifies it, and lists those that came close."""
        rows, seen = [], set()
        positive = np.flatnonzero(np.all(table.X > 0, axis=0)).tolist()
        for candidate in ranked[: 4 * _LISTED]:
            if len(rows) == _LISTED:
                break
            whole = make_candidate(candidate.structure, table, candidate.fixed)
            whole = candidate if whole is None else whole
            formula = to_expression(whole, self._names, positive, sign)
            if str(formula) in seen:
                continue
            seen.add(str(formula))
            if not rows:
                self.formula_ = formula
                self.constants_ = constants_of(whole, table, self._names, positive, sign)
            rows.append(_listed(candidate, whole, formula, table))
        self.candidates_ = DataFrame(rows)


def _whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number, and not too small."""
    return isinstance(value, Integral) and int(value) >= least


def _listed(
    candidate: Candidate, whole: Candidate, formula: Any, table: CanonicalTable
) -> dict[str, Any]:
    """A row of the data frame of candidates."""
    return {
        "formula": formula,
        "family": candidate.family,
        "error": candidate.fit.error,
        "complexity": candidate.complexity,
        "free_constants": candidate.free_constants,
        "exact": whole.is_exact(table, table.tolerance),
        "description": candidate.nats,
        "noise": candidate.fit.noise,
    }
