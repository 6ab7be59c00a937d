"""Check a prediction against a table, row by row, and write down what was checked."""

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import nn

from torchalu.export.arrays import finite, input_names, real_array
from torchalu.export.module_numbers import double_copy
from torchalu.export.snap import snap
from torchalu.export.tolerance import default_tolerance
from torchalu.nn import Unit
from torchalu.nn.training import check_own_weights
from torchalu.tasks.table_names import printable

Predict = Callable[[np.ndarray], Any]

MOST_DEVIATIONS = 1e3
"""An error is never compared with more than this many standard deviations of the target."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative errors up to this are rounding."""

_RMS_SHARE = 1e-3
_CHUNK = 4096
_MOST_LINES = 8


@dataclass(frozen=True)
class Certificate:
    r"""What a check of a prediction against a table found.

    The relative error of a row compares with the scale of the target there, which is not less
    than a thousandth of the target's root mean square, and not more than a thousand times its
    standard deviation:

    .. math:: e_i = \frac{|\hat y_i - y_i|}{s_i}, \qquad
              s_i = \min\Bigl(\max\bigl(|y_i|, 10^{-3} \sqrt{\mathrm{mean}(y^2)}\bigr),
              10^3\, \mathrm{std}(y)\Bigr)

    so that a row in which terms cancel is not compared with a number near 0, and no error hides
    behind a large offset, as that of a date. The upper limit does not count for errors of a few
    units in the last place, nor where the target is constant. A prediction that
    is NaN or infinite counts as an infinite error. Of several outputs each has its own scale.

    Args:
        rows: how many rows were checked.
        max_abs_error: the largest absolute error.
        max_rel_error: the largest relative error.
        max_abs_error_before: the largest absolute error before snapping; None where nothing
            was snapped.
        max_rel_error_before: the largest relative error before snapping, likewise.
        tolerance: the relative error up to which the prediction counts as exact.
        exact: whether the prediction is finite everywhere, and `max_rel_error` is at most
            `tolerance`.
        input_ranges: the lowest and the highest value of each input that was checked.
        non_finite_rows: in how many rows the prediction was NaN or infinite.
        small_rows: in how many rows a target is smaller than a thousandth of the root mean square,
            so that the error of the row, as a part of its own target, may be larger than
            `max_rel_error`.
    """

    rows: int
    max_abs_error: float
    max_rel_error: float
    max_abs_error_before: float | None
    max_rel_error_before: float | None
    tolerance: float
    exact: bool
    input_ranges: Mapping[str, tuple[float, float]]
    non_finite_rows: int = 0
    small_rows: int = 0

    def to_json(self) -> str:
        """The certificate as JSON, with the fields as keys; an infinity is the string "inf"."""
        fields = {
            key: "inf" if isinstance(value, float) and math.isinf(value) else value
            for key, value in asdict(self).items()
        }
        return json.dumps(fields, allow_nan=False)

    def __str__(self) -> str:
        verdict = "exact" if self.exact else "not exact"
        relation = "<=" if self.max_rel_error <= self.tolerance else ">"
        lines = [
            f"{verdict} on {self.rows} rows: largest relative error {self.max_rel_error:.3g} "
            f"{relation} {self.tolerance:.3g}, absolute {self.max_abs_error:.3g}"
        ]
        if self.non_finite_rows:
            lines.append(f"the prediction is NaN or infinite in {self.non_finite_rows} rows")
        if self.small_rows:
            lines.append(
                f"rows whose target is below {_RMS_SHARE:g} of the root mean square, by which they "
                f"are judged: {self.small_rows}"
            )
        if self.max_rel_error_before is not None and self.max_abs_error_before is not None:
            lines.append(
                f"before snapping: largest relative error {self.max_rel_error_before:.3g}, "
                f"absolute {self.max_abs_error_before:.3g}"
            )
        ranges = [
            f"{printable(name)} in [{low:.6g}, {high:.6g}]" for name, (low, high) in self._ranges()
        ]
        hidden = len(self.input_ranges) - len(ranges)
        lines.append("inputs seen: " + ", ".join(ranges) + (f", {hidden} more" if hidden else ""))
        return "\n".join(lines)

    def _ranges(self) -> list[tuple[str, tuple[float, float]]]:
        """The ranges that are printed."""
        return list(self.input_ranges.items())[:_MOST_LINES]


def certify(
    predict: Predict,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    tolerance: float | None = None,
    predict_before: Predict | None = None,
) -> Certificate:
    """Check any function of a table against the targets, row by row, in float64.

    The default tolerance belongs to the dtype of the data, the coarsest one of X, column by column
    where it is a data frame, and y:

    - float64 and whole numbers: 1e-9. A formula of some dozen operations in float64 is off by
      about 1e-14, and by 1e-11 in a row whose terms cancel to the thousandth of the scale below
      which no row is judged. The rest is room for text files: a number written with n
      significant digits is off by up to 5e-n of itself, so that 1e-9 takes files with 11 digits
      or more.
    - float32: 1e-5, which is 80 times the distance of neighboring numbers.
    - float16: 1e-2, ten times that distance.
    - bfloat16: 8e-2, ten times that distance.

    Numbers with fewer digits than that are themselves not exact: pass the tolerance that they
    allow, 5e-n for a target of n significant digits plus \\|p\\| * 5e-m for an input of m digits
    whose power p the formula has. For a table with 4 digits in both, `period = a**(3/2)` then
    takes 5e-4 + 1.5 * 5e-4, about 1.3e-3.

    Args:
        predict: takes a float64 array (rows, features) and returns the predictions, in the
            shape of `y`.
        X: the inputs, (rows, features).
        y: the targets, (rows,) or (rows, outputs).
        names: the names of the inputs; `x0`, `x1`, ... by default.
        tolerance: the relative error up to which the prediction counts as exact.
        predict_before: the prediction before snapping, if there was one.

    Returns:
        The certificate.

    Raises:
        TypeError: X or y hold no real numbers.
        ValueError: the shapes do not fit, there are no rows, X or y have NaN or infinities,
            names do not fit, `tolerance` is negative or not finite, or the prediction has
            another shape than `y`.

    Source:
        Ours; the papers judge the mean squared error against that of a nearly perfect model.

    Example:
        >>> X, y = [[1.0, 2.0], [3.0, 4.0]], [2.0, 12.0]
        >>> print(certify(lambda X: X[:, 0] * X[:, 1], X, y, names=["a", "b"]))
        exact on 2 rows: largest relative error 0 <= 1e-09, absolute 0
        inputs seen: a in [1, 3], b in [2, 4]
    """
    for name, function in (("predict", predict), ("predict_before", predict_before)):
        if not callable(function) and (name == "predict" or function is not None):
            raise TypeError(f"{name} is {function!r}; allowed: a function of an array")
    inputs, targets = real_array("X", X, 2), real_array("y", y, 1, 2)
    if len(inputs) != len(targets) or not inputs.size or not targets.size:
        raise ValueError(
            f"X has the shape {inputs.shape} and y {targets.shape}; allowed: as many rows in both, "
            "at least one row and one column"
        )
    if tolerance is None:
        tolerance = default_tolerance(*_dtypes(X, inputs), *_dtypes(y, targets))
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real):
        raise TypeError(f"tolerance is {tolerance!r}; allowed: a number that is not negative")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"tolerance is {tolerance}; allowed: a number that is not negative")
    names = input_names(names, inputs.shape[1])
    inputs, targets = finite("X", inputs), finite("y", targets)
    absolute, relative, bad = _errors("predict", predict, inputs, targets)
    before = (
        None
        if predict_before is None
        else _errors("predict_before", predict_before, inputs, targets)
    )
    ranges = zip(names, inputs.min(axis=0).tolist(), inputs.max(axis=0).tolist(), strict=True)
    return Certificate(
        rows=len(inputs),
        max_abs_error=absolute,
        max_rel_error=relative,
        max_abs_error_before=None if before is None else before[0],
        max_rel_error_before=None if before is None else before[1],
        tolerance=float(tolerance),
        exact=bad == 0 and relative <= tolerance,
        input_ranges={name: (low, high) for name, low, high in ranges},
        non_finite_rows=bad,
        small_rows=_small_rows(targets),
    )


def verify(
    module: nn.Module,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    tolerance: float | None = None,
) -> Certificate:
    """Snap a copy of a model, and check it against a table before and after, in float64.

    The caller's model stays as it is, its dtype and device included. A model without units has
    nothing to snap, and no errors before.

    The units that multiply in log space add a small number eps to each magnitude, and are off by
    about eps / \\|x\\| however exact their weights are. At the default eps of 1e-7 they are not
    exact at the default tolerance; the formula that they stand for is
    `to_sympy(module, names, keep_eps=False)`, and :func:`certify` checks it.

    Args:
        module: the model; takes (rows, features).
        X: the inputs, (rows, features).
        y: the targets, (rows,) or (rows, outputs).
        names: the names of the inputs; `x0`, `x1`, ... by default.
        tolerance: the relative error up to which the model counts as exact; see
            :func:`certify` for the default, which depends on the dtype of the data.

    Returns:
        The certificate.

    Raises:
        TypeError: `module` is not a module, or X or y hold no real numbers.
        ValueError: as :func:`certify` and :func:`torchalu.snap`.

    Source:
        Ours.

    Example:
        >>> from torchalu.nn import NAU
        >>> unit = NAU(2, 1)
        >>> _ = unit.weight.data.copy_(torch.tensor([[0.75, -1.0]]))
        >>> print(verify(unit, [[4, 1], [8, 4]], [3, 4], names=["a", "b"]))
        exact on 2 rows: largest relative error 0 <= 1e-09, absolute 0
        before snapping: largest relative error 0.5, absolute 2
        inputs seen: a in [4, 8], b in [1, 4]
        >>> unit.weight.data
        tensor([[ 0.7500, -1.0000]])
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module is {type(module).__name__}; allowed: a torch.nn.Module")
    check_own_weights(module)
    before = double_copy("module", module)
    after = copy.deepcopy(before)
    snap(after)
    has_units = any(isinstance(part, Unit) for part in module.modules())
    return certify(
        _prediction(after),
        X,
        y,
        names=names,
        tolerance=tolerance,
        predict_before=_prediction(before) if has_units else None,
    )


def _prediction(module: nn.Module) -> Predict:
    """The module as a function of arrays, a part of the rows at a time."""

    def predict(X: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            chunks = [module(chunk) for chunk in torch.from_numpy(X).split(_CHUNK)]
        if not isinstance(chunks[0], torch.Tensor):
            raise TypeError(
                f"module returned {type(chunks[0]).__name__}; allowed: one tensor, (rows,) or "
                "(rows, outputs)"
            )
        return torch.cat(chunks).numpy()

    return predict


def _dtypes(values: Any, array: np.ndarray) -> list[np.dtype] | list[torch.dtype]:
    """The dtypes that the values came in: a data frame has one a column, NumPy no bfloat16."""
    if isinstance(values, torch.Tensor):
        return [values.dtype]
    if hasattr(values, "columns"):
        return [np.asarray(values[name]).dtype for name in values.columns]
    return [array.dtype]


def _errors(
    name: str, predict: Predict, inputs: np.ndarray, targets: np.ndarray
) -> tuple[float, float, int]:
    """The largest absolute and relative error, and the number of rows without a finite value."""
    predicted = _real(name, predict(inputs.copy()))
    if predicted.shape != targets.shape and {predicted.shape, targets.shape} != {
        (len(targets),),
        (len(targets), 1),
    }:
        raise ValueError(
            f"{name} returned the shape {predicted.shape}; allowed: that of y, {targets.shape}"
        )
    predicted, targets = (array.reshape(len(inputs), -1) for array in (predicted, targets))
    bad = int((~np.isfinite(predicted)).any(axis=1).sum())
    if bad:
        return math.inf, math.inf, bad
    error = np.abs(predicted - targets)
    return float(error.max()), float(relative_errors(error, targets).max()), 0


def _real(name: str, predicted: Any) -> np.ndarray:
    """A prediction in float64, with NaN for what is no real number."""
    if isinstance(predicted, torch.Tensor):
        predicted = predicted.detach().cpu()
        predicted = predicted.double() if predicted.is_floating_point() else predicted
    masked = np.ma.isMaskedArray(predicted)
    array = np.asarray(np.ma.filled(predicted.astype(np.float64), np.nan) if masked else predicted)
    if array.dtype.kind == "c":
        array = np.where(np.imag(array) == 0, np.real(array), np.nan)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} returned the dtype {array.dtype}; allowed: real numbers")
    return array.astype(np.float64)


def relative_errors(error: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Errors by the scales of their rows; see :class:`Certificate`.

    Args:
        error: absolute errors.
        targets: the numbers that were to be predicted.

    Shape:
        (rows,) or (rows, outputs), all of them.
    """
    magnitude = np.abs(targets)
    largest, _ = _units(targets)
    shifted = targets / 2 - targets[0] / 2  # a difference may overflow
    _, half = _units(shifted)
    with np.errstate(over="ignore"):
        deviation = 2 * half * np.std(shifted / half, axis=0)
    scale = np.maximum(magnitude, _least_scale(targets))
    tiny = (error <= ROUNDING * magnitude) | (deviation <= ROUNDING * largest)
    scale = np.where(tiny, scale, np.minimum(scale, MOST_DEVIATIONS * deviation))
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, error / scale)


def _small_rows(targets: np.ndarray) -> int:
    """In how many rows a target is smaller than the least scale of its output."""
    targets = targets.reshape(len(targets), -1)
    return int((np.abs(targets) < _least_scale(targets)).any(axis=1).sum())


def _least_scale(targets: np.ndarray) -> np.ndarray:
    """A thousandth of the root mean square of each output."""
    _, unit = _units(targets)
    return _RMS_SHARE * unit * np.sqrt(np.mean((targets / unit) ** 2, axis=0))


def _units(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest magnitude of each column, and the same with 1 for 0, to divide by."""
    largest = np.abs(columns).max(axis=0)
    return largest, np.where(largest > 0, largest, 1.0)
