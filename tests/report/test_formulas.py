"""A formula in each of its files says the same."""

import json
import runpy

import pytest
import sympy

from torchalu.report import FORMULA_EXTENSIONS, readable, write_formula

A, B = sympy.symbols("a b")


@pytest.mark.parametrize("extension", FORMULA_EXTENSIONS)
def test_every_extension_ends_in_one_line_break(tmp_path, extension):
    path = tmp_path / f"formula{extension.upper()}"
    write_formula(A / B, ["a", "b"], path)
    text = path.read_text()
    assert text.strip()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_a_function_takes_the_used_columns_in_the_tables_order(tmp_path):
    write_formula(A / B, ["unused", "b", "a"], tmp_path / "f.py", name="ratio")
    assert runpy.run_path(str(tmp_path / "f.py"))["ratio"](4.0, 2.0) == 0.5
    write_formula(A / B, ["unused", "b", "a"], tmp_path / "f.c")
    assert "double formula(double b, double a)" in (tmp_path / "f.c").read_text()


def test_json_is_json(tmp_path):
    write_formula(A**2, ["a"], tmp_path / "f.json")
    assert "expression" in json.loads((tmp_path / "f.json").read_text())


def test_unknown_extension(tmp_path):
    with pytest.raises(ValueError, match=r"f.txt'; allowed: a name that ends in .py, .tex"):
        write_formula(A, ["a"], tmp_path / "f.txt")
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_words_stand_in_backticks():
    mass, difference, ratio = map(sympy.Symbol, ("mass [kg]", "x-y", "c/d"))
    assert readable(mass * difference / ratio) == "`mass [kg]`*`x-y`/`c/d`"
    assert readable((sympy.Symbol("a+b") + difference) / A) == "(`a+b` + `x-y`)/a"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x_0", "x_0"),
        ("größe", "größe"),
        ("E", "E"),
        ("exp", "exp"),
        ("lambda", "lambda"),
        ("2", "`2`"),
        ("", "``"),
        ("a.b", "`a.b`"),
        ("m(t)", "`m(t)`"),
        ("a`b", "`a``b`"),
        ("1.23456789 V", "`1.23456789 V`"),
    ],
)
def test_which_names_are_words(name, text):
    assert readable(3 * sympy.Symbol(name)) == f"3*{text}"


def test_digits_of_constants():
    formula = 2.3456789012 * A
    assert readable(formula) == "2.34568*a"
    assert readable(formula, digits=3) == "2.35*a"
    assert readable(formula, digits=None) == str(formula)
