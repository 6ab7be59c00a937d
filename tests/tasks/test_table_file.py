"""Reading CSV and Parquet: what is read, and one clear error for each way to fail."""

import datetime
import re
import time

import numpy as np
import polars as pl
import pytest

from torchalu.tasks import TableError, load_table, read_table


def fails(path, *args, parts, error=TableError, **kwargs):
    """The error has all the parts, in this order, and stands on its own."""
    with pytest.raises(error) as caught:
        read_table(path, *args, **kwargs)
    assert re.search(".*".join(map(re.escape, parts)), str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_reads_numbers_in_the_order_asked_for(write):
    path = write("b,y,a\n1, 2.5,-3\n4,5e2,+6\n7,8,.5\n")
    table = read_table(path, "y", ["a", "b"])
    assert table.X.tolist() == [[-3.0, 1.0], [6.0, 4.0], [0.5, 7.0]]
    assert table.y.tolist() == [2.5, 500.0, 8.0]
    assert table.feature_names == ("a", "b")
    assert table.target == "y"
    assert read_table(path, "y").feature_names == ("b", "a")


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfa,y\n1,2\n3,4\n",
        b"a,y\r\n1,2\r\n3,4\r\n",
        b"a,y\r1,2\r3,4\r",
        b"a,y\r1,2\r3,4",
        b"a,y\r\n1,2\r3,4\n",
        b"\n\na,y\n1,2\n3,4\n\n\n",
        b'"a","y"\n"1","2"\n"3","4"\n',
        b" a , y \n1,2\n3,4",
    ],
)
def test_reads_the_usual_variants(write, text):
    table = read_table(write(text), "y")
    assert table.X.tolist() == [[1.0], [3.0]]
    assert table.y.tolist() == [2.0, 4.0]


def test_truth_values_are_one_and_zero(write):
    table = read_table(write("a,y\ntrue,1\nFalse,2\nTRUE,3\n"), "y")
    assert table.X[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_text_elsewhere_does_no_harm(write):
    table = read_table(write("name,a,y\nMars,1,2\n,3,4\n"), "y", ["a"])
    assert table.X.tolist() == [[1.0], [3.0]]


def test_reads_parquet(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame(
        {"a": [1, 2, 3], "flag": [True, False, True], "text": ["1", "2", "4"], "y": [0.5, 1.5, 7.0]}
    ).write_parquet(path)
    table = read_table(path, "y", ["flag", "a", "text"])
    assert table.X.tolist() == [[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [1.0, 3.0, 4.0]]
    assert table.y.tolist() == [0.5, 1.5, 7.0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,y\n1,2\nx,3\n", ["column 'a', row 2: 'x' is text in a column that mixes", "correct"]),
        ("a,y\nx,2\nz,3\n", ["column 'a', row 1: 'x' is text", "--features"]),
        (
            "a,y\n2020-01-02,2\n2020-02-03,3\n",
            ["column 'a', row 1: '2020-01-02' is a date", "days"],
        ),
        ("a,y\n3.4.2021,2\n", ["column 'a', row 1: '3.4.2021' is a date"]),
        ("a,y\n12:30,2\n", ["column 'a', row 1: '12:30' is a date or a time"]),
        ('a,y\n1,2\n"3,5",3\n', ["column 'a', row 2: '3,5' has a decimal comma", "point"]),
        ('a,y\n1,2\n"1,000",3\n', ["row 2: '1,000' has a comma", "thousands", "remove it, or"]),
        ('a,y\n1,2\n"-1,234,567",3\n', ["row 2: '-1,234,567' has a comma", "thousands"]),
        ('a,y\n1,2\n"12,345.5",3\n', ["row 2: '12,345.5' has a comma", "thousands"]),
        ('a,y\n1,2\n"1234,567",3\n', ["row 2: '1234,567' has a decimal comma"]),
        ("a,y\n1,2\n,3\n", ["column 'a', row 2: the cell is missing", "fill the cell in"]),
        ("a,y\n1,2\n  ,3\n", ["column 'a', row 2: the cell is missing"]),
        ("a,y\n1,2\n3\n", ["column 'y', row 2: the cell is missing"]),
        ("a,y\n1,2\nNaN,3\n", ["column 'a', row 2: nan is not a number", "remove the row"]),
        ("a,y\n1,2\n3,-inf\n", ["column 'y', row 2: -inf is infinity"]),
        ("a,y\n1,2\n1e300,3\n", ["column 'a', row 2: 1e+300 is too large", "1e+100", "rescale"]),
        ("a,y\n1,2\n1e999,3\n", ["column 'a', row 2: inf is infinity"]),
        (
            "a,y\n9007199254740992,2\n9007199254740993,3\n",
            ["column 'a', row 2: 9007199254740993 has more digits", "subtract a common start"],
        ),
        ("a,y\ntrue,2\n1,3\n", ["column 'a', row 1: 'true' is text in a column that mixes"]),
        ("a,y\n1,2\n3,2\n", ["target column 'y' is 2 in all 2 rows"]),
        ("a,y\n1,2\n", ["1 row", "add rows"]),
        ("a,b,c,y\n1,2,3,4\n2,3,5,7\n", ["fewer rows (2) than feature columns (3)"]),
        ("a,b,y\n1,1,3\n2,2,5\n4,4,7\n", ["columns 'a' and 'b' hold the same values"]),
        ("a,a,y\n1,2,3\n2,3,4\n", ["two columns called 'a' (columns 1 and 2)", "rename"]),
        ("a,y\n", ["column names but no rows"]),
        ("", ["is empty", "line of column names"]),
        ("\n\n  \n", ["is empty"]),
        ("y\n1\n2\n", ["leaves no features to explain 'y' with"]),
        (",y\n1,2\n2,3\n", ["column 1", "has no name", "--features"]),
        ("a;y\n1;2\n", ["one column, called 'a;y'", "separated by commas"]),
        ("a,y\n1,2\n1,2,3\n", ["row 2: 3 cells where the header names 2", "quote"]),
        ('a,y\n"1,2\n', ["not a valid CSV file"]),
        (f"a,y\n{'9' * 400},2\n3,4\n", ["column 'a', row 1", "finite numbers up to 1e+100"]),
        (f"a,y\n{'0' * 5000}12345678901234567,2\n3,4\n", ["row 1: 12345678901234567 has more"]),
        (f"a,y\n-{'9' * 5000},2\n3,4\n", ["column 'a', row 1", "finite numbers up to 1e+100"]),
        ('"a,y\n1,2\n3,4\n', ["not a valid CSV file", "quotation mark", "line of names", "close"]),
        ('"a,y\n' + "1,2\n" * 40_000, ["not a valid CSV file", "quotation mark", "close"]),
        ('a,y\n1,2\n"' + "1,2\n" * 40_000, ["not a valid CSV file", "save"]),
    ],
)
def test_says_what_is_wrong_with_a_csv(write, text, parts):
    fails(write(text), "y", parts=parts)


def test_missing_file(tmp_path):
    fails(
        tmp_path / "no.csv", "y", parts=["no such file", "no.csv", "check"], error=FileNotFoundError
    )


def test_wrong_extension_and_folder(tmp_path, write):
    fails(write("a,y\n", "table.xlsx"), "y", parts=["ends in '.xlsx'", ".csv or .parquet", "save"])
    fails(write("a,y\n", "table"), "y", parts=["ends in no extension"])
    (tmp_path / "folder.csv").mkdir()
    fails(tmp_path / "folder.csv", "y", parts=["is a folder"])


def test_not_utf8(write):
    fails(
        write("a,y\n1,2\nä,3\n".encode("latin-1")),
        "y",
        parts=["not UTF-8", "byte 0xe4 in line 3", "encoding"],
    )


def test_not_utf8_with_lines_that_end_in_cr(write):
    fails(write("a,y\r1,2\rä,3\r".encode("latin-1")), "y", parts=["byte 0xe4 in line 3"])


def test_a_name_may_have_two_lines(write):
    table = read_table(write('"mass\n(kg)",y\n1,2\n3,5\n'), "y")
    assert table.feature_names == ("mass\n(kg)",)


@pytest.mark.parametrize(
    ("dtypes", "coarsest"),
    [
        ((pl.Float64, pl.Int32), "float64"),
        ((pl.Float32, pl.Float32), "float32"),
        ((pl.Int8, pl.Float32), "float32"),
        ((pl.Float32, pl.Float64), "float32"),
        ((pl.String, pl.Boolean), "float64"),
    ],
)
def test_a_parquet_file_keeps_its_precision(tmp_path, dtypes, coarsest):
    path = tmp_path / "table.parquet"
    frame = pl.DataFrame({"a": [0, 1, 1], "y": [1, 0, 1]})
    frame.with_columns(pl.col("a").cast(dtypes[0]), pl.col("y").cast(dtypes[1])).write_parquet(path)
    assert read_table(path, "y").dtype == coarsest


def test_only_the_columns_that_are_read_decide_the_precision(tmp_path):
    path = tmp_path / "table.parquet"
    other = pl.Series("other", [1.0, 2.0], dtype=pl.Float32)
    pl.DataFrame({"a": [1.0, 2.0], "y": [1.0, 4.0]}).with_columns(other).write_parquet(path)
    assert read_table(path, "y", ["a"]).dtype == "float64"


def test_no_such_column_names_the_nearest(write):
    path = write("mass,length,speed\n1,2,3\n2,3,5\n4,5,6\n")
    fails(path, "sped", parts=["no column called 'sped' (target)", "'speed'", "'mass', 'length'"])
    fails(path, "speed", ["mas"], parts=["no column called 'mas' (feature)", "'mass'"])


def test_target_among_the_features(write):
    path = write("a,y\n1,2\n3,4\n")
    fails(path, "y", ["a", "y"], parts=["target 'y' is among the features ['a', 'y']", "take"])


def test_a_feature_twice(write):
    fails(write("a,y\n1,2\n3,4\n"), "y", ["a", "a"], parts=["feature 'a' is named twice"])


def test_no_features(write):
    fails(write("a,y\n1,2\n3,4\n"), "y", [], parts=["no features"])


def test_ten_thousand_columns_are_refused_at_once_and_a_few_of_them_read(write):
    names = [f"c{index}" for index in range(10_000)]
    rows = "\n".join(",".join([str(index + row) for index in range(10_000)]) for row in (0, 2, 5))
    path = write(f"{','.join(names)}\n{rows}\n")
    start = time.perf_counter()
    fails(path, "c7", parts=["9999 feature columns", "up to 500", "--features"])
    assert time.perf_counter() - start < 1
    assert read_table(path, "c7", ["c9999", "c0"]).X[1].tolist() == [10001.0, 2.0]


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        ([datetime.date(2020, 1, 1)] * 3, ["row 1: '2020-01-01' is a date", "days"]),
        ([datetime.datetime(2020, 1, 1)] * 3, ["row 1", "is a date"]),
        (["u", "v", "w"], ["row 1: 'u' is text"]),
        ([1.0, None, 2.0], ["row 2: the cell is missing"]),
        ([1.0, float("nan"), 2.0], ["row 2: nan is not a number"]),
        ([[1], [2], [3]], ["row 1", "is of type List"]),
        ([2, 2**53, 2**53 + 1], ["row 3: 9007199254740993 has more digits"]),
    ],
)
def test_says_what_is_wrong_with_a_parquet_column(tmp_path, column, parts):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": column, "y": [1.0, 2.0, 3.0]}).write_parquet(path)
    fails(path, "y", parts=["column 'a'", *parts])


def test_broken_and_empty_parquet(write, tmp_path):
    fails(write("a,y\n1,2\n", "table.parquet"), "y", parts=["not a valid Parquet file", "save"])
    numbers = np.random.default_rng(0).normal(size=(2, 5000))
    pl.DataFrame({"a": numbers[0], "y": numbers[1]}).write_parquet(tmp_path / "whole.parquet")
    damaged = bytearray((tmp_path / "whole.parquet").read_bytes())
    damaged[60:3000] = bytes(255 - byte for byte in damaged[60:3000])
    path = write(bytes(damaged), "damaged.parquet")
    fails(path, "y", parts=["damaged.parquet' is not a valid Parquet file", "save"])
    pl.DataFrame({"a": [], "y": []}).write_parquet(tmp_path / "none.parquet")
    fails(tmp_path / "none.parquet", "y", parts=["no rows"])


def test_kepler_is_the_law_to_the_planets_masses():
    frame = load_table("kepler")
    assert frame.columns == ["name", "kind", "a", "period", "source"]
    assert set(frame["kind"]) == {"planet", "dwarf planet", "asteroid", "comet"}
    a, period = frame["a"].to_numpy(), frame["period"].to_numpy()
    gaussian_year = 365.2568983 / 365.25
    deviation = period / (gaussian_year * a**1.5) - 1
    masses = {
        "Jupiter": 1 / 1047.35,
        "Saturn": 1 / 3497.9,
        "Uranus": 1 / 22903,
        "Neptune": 1 / 19412,
    }
    for name, found in zip(frame["name"], deviation, strict=True):
        assert abs(found + masses.get(name, 0) / 2) < 7e-4, name
    derived = ~np.isin(frame["kind"].to_numpy(), ["planet"]) & (frame["name"].to_numpy() != "Pluto")
    assert np.abs(deviation[derived]).max() < 5e-6


def test_kepler_agrees_with_the_published_periods_in_days():
    frame = load_table("kepler")
    days = dict(zip(frame["name"], frame["period"] * 365.25, strict=True))
    published = {
        "Mercury": 87.969, "Venus": 224.701, "Earth": 365.256, "Mars": 686.980,
        "Jupiter": 4332.589, "Saturn": 10759.22, "Uranus": 30685.4, "Neptune": 60189.0,
        "Pluto": 90560.0, "Ceres": 1683.25, "Vesta": 1325.389, "Eros": 643.196,
    }  # fmt: skip
    for name, value in published.items():
        assert days[name] == pytest.approx(value, rel=5e-4), name


def test_boyle_is_boyles_own_hypothesis_to_within_two_percent():
    frame = load_table("boyle")
    assert frame.shape == (25, 2)
    hypothesis = 29.125 * 48 / frame["volume"].to_numpy()
    assert np.abs(frame["pressure"].to_numpy() / hypothesis - 1).max() < 0.015
    assert (frame["pressure"] * 16 % 1 == 0).all()
    assert frame["volume"].to_list()[11:14] == [26, 24, 23]


def test_unknown_table_lists_the_known_ones():
    with pytest.raises(ValueError, match="no table called 'galileo'; allowed: 'boyle', 'kepler'"):
        load_table("galileo")


def test_a_row_with_a_cell_too_many_is_no_row_of_some_of_its_columns(write):
    path = write("price,x,y,z\n" + "".join(f"{i},5,{i},{3 * i},{7 * i}\n" for i in range(1, 9)))
    with pytest.raises(TableError, match="row 1: 5 cells where the header names 4 columns"):
        read_table(path, "z", ["y"])


def test_whole_numbers_of_128_bits(tmp_path):
    path = tmp_path / "t.parquet"
    wide = pl.Series("a", [1, 2, 2**60], dtype=pl.Int128)
    frame = pl.DataFrame({"a": wide, "y": [1.0, 2.0, 4.0]})
    frame.write_parquet(path)
    table = read_table(path, "y")
    assert (table.X[:, 0].tolist(), table.dtype) == ([1.0, 2.0, 2.0**60], np.dtype("float64"))
    frame.with_columns(wide + pl.Series([0, 0, 1], dtype=pl.Int128)).write_parquet(path)
    with pytest.raises(TableError, match=f"row 3: {2**60 + 1} has more digits than float64"):
        read_table(path, "y")
