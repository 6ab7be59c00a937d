"""A table holds what it was given, and says exactly what is wrong with what it cannot hold."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pytest

from torchalu.tasks import MAX_FEATURES, MAX_MAGNITUDE, Table, TableError, check_table

X = [[1.0, 5.0], [2.0, 7.0], [3.0, 1.0]]
Y = [5.0, 14.0, 3.0]


def fails(function, *args, parts, **kwargs):
    """The error has all the parts, in this order."""
    with pytest.raises(TableError) as caught:
        function(*args, **kwargs)
    assert isinstance(caught.value, ValueError)
    assert re.search(".*".join(map(re.escape, parts)), str(caught.value)), str(caught.value)


def test_holds_float64_copies_and_default_names():
    values = np.array(X, dtype=np.float32)
    table = Table(values, np.array(Y, dtype=np.int64))
    values[:] = 0
    assert table.X.dtype == table.y.dtype == np.float64
    assert table.X.tolist() == X
    assert table.y.tolist() == Y
    assert table.feature_names == ("x0", "x1")
    assert (table.target, table.sample_weight, table.rows) == ("y", None, 3)
    assert table.X.flags.c_contiguous
    assert table.X.flags.writeable


def test_is_frozen():
    with pytest.raises(AttributeError):
        Table(X, Y).target = "z"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    "values",
    [
        np.array([[True], [False], [True]]),
        np.array([["1"], ["0"], ["1"]]),
        np.array([[1], [0], [1.0]], dtype=object),
        np.array([[1], [0], [1]], dtype=np.uint8),
    ],
)
def test_takes_what_is_a_number(values):
    assert Table(values, Y).X[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_weights_are_kept_and_taken_along():
    table = Table(X, Y, names=["a", "b"], target="t", sample_weight=[1, 0, 2])
    part = table.take([2, 0])
    assert part.sample_weight is not None
    assert part.sample_weight.tolist() == [2.0, 1.0]
    assert part.X.tolist() == [X[2], X[0]]
    assert (part.feature_names, part.target) == (("a", "b"), "t")


def with_cell(value):
    """The table with one cell replaced: second column, third row."""
    cells = np.array(X, dtype=object)
    cells[2, 1] = value
    return cells


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (float("nan"), ["column 'b', row 3: nan is not a number", "fill the value in"]),
        (float("inf"), ["column 'b', row 3: inf is infinity", "correct the value"]),
        (-float("inf"), ["column 'b', row 3: -inf is infinity"]),
        (1e300, ["column 'b', row 3: 1e+300 is too large", "1e+100", "rescale the column"]),
        (-2e100, ["column 'b', row 3: -2e+100 is too large"]),
        (10**400, ["column 'b', row 3: 1.000e+400 is too large", "rescale the column"]),
        pytest.param(-(10**5000), ["row 3: -1.000e+5000 is too large"], id="of 5000 digits"),
        (Fraction(10**400, 3), ["column 'b', row 3: 3.333e+399 is too large"]),
        ("many", ["column 'b', row 3: 'many' is not a number", "allowed", "leave the column out"]),
        (None, ["column 'b', row 3: None is a missing value", "fill the value in"]),
        ([1], ["column 'b', row 3: [1] is not a number"]),
        (2**53 + 1, ["column 'b', row 3: 9007199254740993 has more digits", "subtract a common"]),
        (datetime.date(2020, 1, 2), ["column 'b', row 3: '2020-01-02' is a date", "days since"]),
        (np.datetime64("2020-01-02"), ["column 'b', row 3: '2020-01-02' is a date"]),
    ],
)
def test_names_the_cell(value, parts):
    fails(Table, with_cell(value), Y, names=["a", "b"], parts=parts)


def test_the_limit_itself_is_allowed_and_its_cube_is_finite():
    table = Table([[MAX_MAGNITUDE], [-MAX_MAGNITUDE]], [1, 2])
    assert np.isfinite(table.X**3).all()


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (float("nan"), ["column 'age', row 2: nan is not a number"]),
        (1e300, ["column 'age', row 2: 1e+300 is too large"]),
    ],
)
def test_names_the_target(value, parts):
    fails(Table, X, [1.0, value, 2.0], target="age", parts=parts)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_whole_numbers_that_float64_would_round(dtype):
    start = 1_700_000_000_000_000_000
    times = np.array([[start], [start + 256], [start + 100]], dtype=dtype)
    fails(Table, times, Y, parts=[f"column 'x0', row 3: {start + 100} has more digits", "start"])
    assert Table(times[:2], Y[:2]).X[:, 0].tolist() == [float(start), float(start + 256)]


def test_masked_cells():
    masked = np.ma.masked_array(np.array(X, dtype=float), mask=np.zeros((3, 2)))
    assert Table(masked, Y).X.tolist() == np.array(X).tolist()
    masked.mask[2, 1] = True
    fails(Table, masked, Y, names=["a", "b"], parts=["column 'b', row 3: '--' is masked", "fill"])
    weight = np.ma.masked_array([1.0, 5.0, 1.0], mask=[0, 1, 0])
    fails(Table, X, Y, sample_weight=weight, parts=["sample_weight has masked entries"])
    target = np.ma.masked_array(np.array(Y, dtype=float), mask=[0, 1, 0])
    fails(Table, X, target, target="age", parts=["column 'age', row 2: '--' is masked"])


def test_dates_and_complex_numbers():
    dates = np.array([["2020-01-01"], ["2020-01-02"], ["2020-01-03"]], dtype="datetime64[D]")
    fails(Table, dates, Y, parts=["column 'x0', row 1: '2020-01-01' is a date", "days since"])
    nanoseconds = dates.astype("datetime64[ns]")
    fails(Table, nanoseconds, Y, parts=["column 'x0', row 1: '2020-01-01T00:00:00"])
    fails(Table, [[1j], [2], [3]], Y, parts=["column 'x0', row 1: 1j is complex"])


@pytest.mark.parametrize(
    ("values", "target", "parts"),
    [
        ([1.0, 2.0], [1, 2], ["X has shape (2,)", "(rows, features)", "reshape(-1, 1)"]),
        (np.zeros((2, 2, 2)), [1, 2], ["X has shape (2, 2, 2)"]),
        (X, [[1], [2], [3]], ["target 'y' has shape (3, 1)", "ravel"]),
        (X, [1, 2], ["X has 3 rows", "has 2", "as many"]),
        (np.zeros((0, 2)), [], ["no rows"]),
        (np.zeros((2, 0)), [1, 2], ["no features"]),
        (np.zeros((3, MAX_FEATURES + 1)), Y, [f"{MAX_FEATURES + 1} feature columns", "up to 500"]),
    ],
)
def test_shapes(values, target, parts):
    fails(Table, values, target, parts=parts)


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["a", "a"], ["two columns are called 'a'", "(columns 1 and 2)", "rename"]),
        (["a", "y"], ["target 'y' is among the features", "take it out"]),
        (["a"], ["names is ('a',)", "2 strings"]),
        (["a", 2], ["names is ('a', 2)"]),
    ],
)
def test_names(names, parts):
    fails(Table, X, Y, names=names, parts=parts)


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        ([1, 2], ["sample_weight has shape (2,)", "(3,)"]),
        ([1, -1, 2], ["sample_weight, row 2: -1 is negative"]),
        ([0, 0, 0], ["sample_weight is 0 in every row"]),
        ([1, float("nan"), 2], ["column 'sample_weight', row 2: nan"]),
    ],
)
def test_weights(weight, parts):
    fails(Table, X, Y, sample_weight=weight, parts=parts)


def test_check_table_passes_what_can_be_learned_from():
    table = check_table(X, Y, ["a", "b"], "area", [1, 1, 2])
    assert table.X.tolist() == X
    assert table.target == "area"


@pytest.mark.parametrize(
    ("values", "target", "parts"),
    [
        ([[1.0]], [1.0], ["1 row (n_samples=1)", "2 rows or more", "add rows"]),
        (X, [4, 4, 4], ["target column 'y' is 4 in all 3 rows", "choose another target"]),
        (
            np.arange(8.0).reshape(2, 4),
            [1, 2],
            ["fewer rows (2) than feature columns (4)", "fewer features"],
        ),
        (
            [[1, 0, 1], [2, 1, 2], [3, 0, 3]],
            Y,
            ["columns 'x0' and 'x2' hold the same values in all 3 rows", "leave one"],
        ),
        ([[0.0, -0.0], [1, 1]], [1, 2], ["columns 'x0' and 'x1' hold the same values"]),
    ],
)
def test_check_table_says_why_nothing_can_be_learned(values, target, parts):
    fails(check_table, values, target, parts=parts)


def test_few_rows_can_be_let_through():
    assert check_table([[1, 2, 3], [3, 5, 8]], [1, 2], enough_rows=False).rows == 2


def test_a_table_alone_may_be_too_small_to_learn_from():
    assert Table([[1.0, 2.0]], [3.0]).rows == 1


@pytest.mark.parametrize(
    ("dtypes", "coarsest"),
    [
        (("float64", "float64"), "float64"),
        (("int8", "bool"), "float64"),
        (("float32", "float64"), "float32"),
        (("int64", "float16"), "float16"),
    ],
)
def test_remembers_the_coarsest_type(dtypes, coarsest):
    table = check_table(np.array([[0], [1]], dtypes[0]), np.array([0, 1], dtypes[1]))
    assert table.dtype == table.take([1, 0]).dtype == coarsest
    assert table.X.dtype == table.y.dtype == np.float64
    assert check_table([[0.0], [1.0]], [0, 1], dtype=np.dtype("float16")).dtype == "float16"


@pytest.mark.parametrize("largest", [9e-101, 1e-170, 1e-310])
def test_columns_that_underflow_are_refused(largest):
    tiny = [0.0, -largest, largest / 2]
    parts = [f"is {largest:g} in magnitude at most", "1e-100 or more", "rescale the column"]
    fails(check_table, X, tiny, target="t", parts=["column 't'", *parts])
    fails(check_table, np.transpose([tiny, Y]), Y, parts=["column 'x0'", *parts])


def test_small_numbers_beside_larger_ones_are_allowed():
    assert check_table([[1e-300], [1e-100], [0.0]], [1e-100, 0.0, 1e-310]).rows == 3
    assert check_table([[0.0, 1.0], [0.0, 2.0]], [1.0, 2.0]).rows == 2
