"""The command: what it prints, what it writes, and one message for each bad input."""

import json
import os
import re
import runpy
from importlib import resources
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import sympy

from torchalu.cli import main
from torchalu.cli.cite import entries
from torchalu.export import from_json

KEPLER = str(resources.files("torchalu.tasks.tables") / "kepler.csv")


class Known:
    """A regressor that already knows the answer: what the command does around it is tested."""

    calls: list[dict] = []  # noqa: RUF012

    def __init__(self, **options):
        self.calls.append(options)

    def fit(self, X, y):
        self.columns = list(X.columns)
        symbols = sympy.symbols(self.columns)
        self.formula_ = symbols[0] ** sympy.Rational(3, 2)
        self.certificate_ = "exact on 19 rows"
        self.constants_ = {}
        self.candidates_ = pd.DataFrame(
            {"formula": ["a**(3/2)", "11*a"], "error": [1e-3, 40.0], "complexity": [3, 4]}
        )
        return self

    def predict(self, X):
        assert list(X.columns) == self.columns
        return X.to_numpy()[:, 0] ** 1.5


class Interrupted(Known):
    def fit(self, X, y):
        raise KeyboardInterrupt


class Refusing(Known):
    def fit(self, X, y):
        raise ValueError("the target has\n  no pattern; measure again")


def raising(error):
    """A regressor that fails so."""

    class Raising(Known):
        def fit(self, X, y):
            raise error

    return Raising


@pytest.fixture
def regressor(monkeypatch):
    """Puts a regressor in place of the real one."""

    def replace(kind):
        monkeypatch.setattr("torchalu.estimators.ArithmeticRegressor", kind, raising=False)

    Known.calls.clear()
    replace(Known)
    return replace


@pytest.fixture
def table(tmp_path):
    """Writes a table and returns its path."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def refused(capsys, arguments, *parts):
    """Status 2, nothing on standard output, one line on standard error with these parts."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("torchalu: ")
    assert "Traceback" not in err
    assert re.search(".*".join(map(re.escape, parts)), err), err


def test_prints_formula_certificate_and_runners_up(regressor, capsys):
    assert main(["fit", KEPLER, "--target", "period", "--features", "a"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("period = a**(3/2)\n\nexact on 19 rows\n")
    assert "candidates" in out
    assert "11*a" in out
    assert err == ""


def test_quiet_prints_the_formula_alone(regressor, capsys):
    assert main(["fit", KEPLER, "--target", "period", "--features", "a", "--quiet"]) == 0
    assert capsys.readouterr() == ("a**(3/2)\n", "")


def test_options_reach_the_regressor(regressor):
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a", "--quiet"]
    assert main(arguments) == 0
    assert main([*arguments, "--restarts", "7", "--seed", "3", "--holdout", "random"]) == 0
    assert Known.calls[0]["random_state"] == 0
    assert Known.calls[0]["holdout"] == "outer"
    assert "restarts" not in Known.calls[0]
    assert Known.calls[1]["restarts"] == 7
    assert Known.calls[1]["random_state"] == 3
    assert Known.calls[1]["holdout"] == "random"


def test_the_tolerance_is_the_one_given_or_that_of_the_tables_precision(regressor, tmp_path):
    values = {"a": [1.0, 2.0, 3.0], "y": [1.0, 4.0, 9.0]}
    for dtype, expected in ((pl.Float64, 1e-9), (pl.Float32, 1e-5)):
        path = tmp_path / f"{dtype}.parquet"
        pl.DataFrame(values, schema=dict.fromkeys(values, dtype)).write_parquet(path)
        arguments = ["fit", str(path), "--target", "y", "--quiet"]
        assert main(arguments) == 0
        assert main([*arguments, "--tolerance", "1e-3"]) == 0
        assert [call["tolerance"] for call in Known.calls[-2:]] == [expected, 1e-3]


def test_names_that_are_no_words_are_printed_in_backticks(regressor, table, capsys):
    path = table("x-y,y\n1,1\n2,4\n3,9\n")
    assert main(["fit", path, "--target", "y", "--quiet"]) == 0
    assert capsys.readouterr().out == "`x-y`**(3/2)\n"
    assert main(["fit", path, "--target", "y"]) == 0
    assert capsys.readouterr().out.startswith("y = `x-y`**(3/2)\n")


def test_features_together_or_one_by_one(regressor, table):
    path = table("a,b,c,y\n1,3,1,1\n2,5,3,2\n3,4,4,3\n")
    for options in (["--features", "a", "b"], ["--features", "a", "--features", "b"]):
        assert main(["fit", path, "--target", "y", "--quiet", *options]) == 0


def test_writes_every_export(regressor, tmp_path, capsys):
    files = [str(tmp_path / f"formula{extension}") for extension in (".py", ".tex", ".c", ".json")]
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a"]
    assert main([*arguments, "--export", *files[:2], "--export", *files[2:]]) == 0
    assert capsys.readouterr().out.count("wrote") == 4
    texts = [Path(file).read_text() for file in files]
    assert all(text.endswith("\n") and not text.endswith("\n\n") for text in texts)
    assert runpy.run_path(files[0])["formula"](4.0) == pytest.approx(8.0)
    assert "frac{3}{2}" in texts[1]
    assert "double formula(" in texts[2]
    assert json.loads(texts[3])["expression"]


def test_plots(regressor, tmp_path, capsys):
    path = tmp_path / "fit.png"
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a", "--plot", str(path)]
    assert main(arguments) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["fit.png"]
    assert f"wrote {path}" in capsys.readouterr().out


def test_the_formula_is_printed_even_where_a_file_cannot_be_written(
    regressor, tmp_path, capsys, monkeypatch
):
    def full(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr("torchalu.report.formulas.write_atomic", full)
    path = str(tmp_path / "formula.py")
    assert main(["fit", KEPLER, "--target", "period", "--features", "a", "--export", path]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("period = a**(3/2)\n")
    assert "wrote" not in out
    assert err == "torchalu: No space left on device\n"


ROWS = "1,2,3\n2,3,5\n4,1,6\n5,5,7\n"


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("", [], ["is empty"]),
        ("a,b,y\n", [], ["no rows"]),
        (f"a,b,y\n{ROWS}", ["--target", "x"], ["no column called 'x'", "did you mean"]),
        (f"a,b,y\n{ROWS}", ["--features", "q"], ["no column called 'q'"]),
        (f"a,b,y\n{ROWS}", ["--features", "a", "y"], ["target 'y' is among the features"]),
        (f"a,b,y\n{ROWS}u,1,2\n", [], ["column 'a', row 5: 'u' is text", "mixes"]),
        ("a,y\nu,1\nv,2\n", [], ["column 'a', row 1: 'u' is text", "--features"]),
        ("a,y\n2020-01-01,1\n2020-01-02,2\n", [], ["column 'a', row 1", "is a date"]),
        (f"a,b,y\n{ROWS}nan,1,2\n", [], ["column 'a', row 5: nan"]),
        (f"a,b,y\n{ROWS}1,inf,2\n", [], ["column 'b', row 5: inf is infinity"]),
        (f"a,b,y\n{ROWS}1,1e300,2\n", [], ["column 'b', row 5: 1e+300 is too large"]),
        ("a,y\n1,2\n2,2\n", [], ["target column 'y' is 2 in all 2 rows"]),
        ("a,y\n1,2\n", [], ["1 row"]),
        ("a,b,c,y\n1,2,3,4\n2,3,5,6\n", [], ["fewer rows (2) than feature columns (3)"]),
        ("a,a,y\n1,2,3\n2,3,4\n", [], ["two columns called 'a'"]),
        ("a,b,y\n1,1,3\n2,2,4\n", [], ["'a' and 'b' hold the same values"]),
        (
            ",".join(f"c{index}" for index in range(10_000)) + ",y\n" + "1," * 10_000 + "1\n",
            [],
            ["10000 feature columns", "up to 500"],
        ),
    ],
)
def test_bad_tables(regressor, capsys, table, text, options, parts):
    path = table(text)
    arguments = ["fit", path, *(["--target", "y"] if "--target" not in options else []), *options]
    refused(capsys, arguments, *parts)
    assert Known.calls == []


def test_missing_file_and_wrong_format(capsys, table):
    refused(capsys, ["fit", "no.csv", "--target", "y"], "no such file: 'no.csv'")
    refused(capsys, ["fit", table("", "t.xls"), "--target", "y"], "ends in '.xls'", ".csv or")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--export", "formula.doc"], ["--export is 'formula.doc'", ".py, .tex, .c, .json"]),
        (["--export", "formula"], ["ends in no extension"]),
        (["--export", "no/folder/formula.py"], ["there is no folder", "no/folder"]),
        (["--plot", "fit.pdf"], ["--plot is 'fit.pdf'", "allowed: .png"]),
        (["--restarts", "0"], ["--restarts is 0; allowed: 1 or more"]),
        (["--seed=-1"], ["--seed is -1; allowed: 0 to 4294967295"]),
        (["--seed", str(2**64)], [f"--seed is {2**64}; allowed: 0 to 4294967295"]),
        (["--tolerance", "1"], ["--tolerance is 1.0; allowed: from 0 to below 1"]),
        (["--tolerance=-1e-3"], ["--tolerance is -0.001"]),
    ],
)
def test_bad_options_are_errors_before_the_table_is_read(regressor, capsys, options, parts):
    refused(capsys, ["fit", "no.csv", "--target", "y", *options], *parts)


def test_an_output_that_is_a_folder(capsys, tmp_path):
    (tmp_path / "x.py").mkdir()
    refused(
        capsys,
        ["fit", KEPLER, "--target", "period", "--export", str(tmp_path / "x.py")],
        "is a folder",
    )


def test_what_the_regressor_refuses_is_one_line(regressor, capsys):
    regressor(Refusing)
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a"]
    refused(capsys, arguments, "the target has no pattern; measure again")


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (MemoryError(), ["out of memory: an allocation failed; take a smaller table"]),
        (MemoryError("Unable to allocate 8 TiB"), ["out of memory: Unable to allocate 8 TiB;"]),
        (OverflowError("int too big to convert"), [f"--restarts {10**20} is too large; allowed"]),
        (ValueError("Overflow when unpacking long long"), [f"--restarts {10**20} is too large"]),
    ],
)
def test_no_memory_and_numbers_that_are_too_large(regressor, capsys, error, parts):
    regressor(raising(error))
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a", "--restarts", str(10**20)]
    refused(capsys, arguments, *parts)


def test_an_overflow_that_no_argument_explains_is_not_hidden(regressor):
    regressor(raising(OverflowError("math range error")))
    with pytest.raises(OverflowError, match="math range error"):
        main(["fit", KEPLER, "--target", "period", "--features", "a"])


def test_interrupted(regressor, capsys, tmp_path):
    regressor(Interrupted)
    export = str(tmp_path / "formula.py")
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a", "--export", export]
    assert main(arguments) == 130
    assert capsys.readouterr() == ("", "torchalu: interrupted\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [[], ["fit"], ["fit", "t.csv"], ["fit", "t.csv", "--target", "y", "--holdout", "all"], ["x"]],
)
def test_arguments_that_do_not_parse(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert "Traceback" not in err


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["fit", "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    names = "target features restarts seed holdout tolerance plot export quiet"
    for option in names.split():
        assert f"--{option}" in text


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"torchalu (\d+\.\d+.*|\(not installed.*\))\n", capsys.readouterr().out)


def test_cite_all_and_some(capsys):
    assert main(["cite"]) == 0
    text = capsys.readouterr().out
    for identifier in ("1808.00508", "2001.05016", "1511.08228", "2110.11940", "2006.01681"):
        assert text.count(identifier) == 1
    assert main(["cite", "nmu", "NAU", "RealNPU"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"@\w+{(\w+),", text) == ["madsen2020nau", "heim2020npu"]
    assert main(["cite", "kaiser2016neuralgpu"]) == 0
    assert "Sutskever" in capsys.readouterr().out


def test_cite_an_unknown_unit(capsys):
    refused(capsys, ["cite", "NMUU"], "no unit called 'NMUU'; did you mean 'NMU'? Units: NAC")


def test_references_are_balanced():
    assert "kaiser2016neuralgpu" in entries()
    for key, entry in entries().items():
        assert entry.count("{") == entry.count("}"), key
        for field in ("title", "author", "year", "(eprint|doi|url)"):
            assert re.search(rf"^  {field} +=", entry, flags=re.M), (key, field)


def test_a_missing_extra_is_one_line_and_other_import_errors_are_not_hidden(monkeypatch, capsys):
    def missing(kind):
        def make(**options):
            raise ImportError(kind)

        monkeypatch.setattr("torchalu.estimators.ArithmeticRegressor", make, raising=False)

    arguments = ["fit", KEPLER, "--target", "period", "--features", "a"]
    missing("needs pandas; run: pip install 'torchalu[estimators]'")
    refused(capsys, arguments, "pip install 'torchalu[estimators]'")
    missing("cannot import name 'x'")
    with pytest.raises(ImportError, match="cannot import name"):
        main(arguments)


def test_kepler_from_end_to_end(tmp_path, capsys):
    files = [tmp_path / "formula.py", tmp_path / "formula.json"]
    arguments = ["fit", KEPLER, "--target", "period", "--features", "a", "--restarts", "1"]
    assert main([*arguments, "--quiet", "--export", *map(str, files)]) == 0
    out, err = capsys.readouterr()
    formula = from_json(files[1].read_text())
    assert out == f"{formula}\n"
    values = [float(formula.subs("a", a)) for a in (1.0, 9.0, 400.0)]
    assert values == pytest.approx([1.0, 27.0, 8000.0], rel=2e-3)
    assert runpy.run_path(str(files[0]))["formula"](9.0) == pytest.approx(values[1])
    assert err == ""
