"""What is printed of a fit."""

import io
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console

from torchalu.report import constant_lines, print_fit


def printed(model, target="y", **options):
    text = io.StringIO()
    print_fit(Console(file=text, width=100, color_system=None), target, model, **options)
    return text.getvalue()


@pytest.fixture
def model():
    frame = pd.DataFrame(
        {
            "formula": [f"x{index}*[red]a[/red]" for index in range(20)],
            "error": [0.00123456 * 10**index for index in range(20)],
            "complexity": range(20),
            "family": "product",
        }
    )
    return SimpleNamespace(
        formula_="[bold]a[/bold]*2", constants_={}, certificate_="exact on 3 rows",
        candidates_=frame,
    )  # fmt: skip


def test_a_target_that_is_no_word_stands_in_backticks(model):
    assert printed(model, "F - G").startswith("`F - G` = ")


def test_prints_formula_certificate_and_candidates(model):
    text = printed(model)
    assert text.startswith("y = [bold]a[/bold]*2\n\nexact on 3 rows\n")
    assert "x0*[red]a[/red]" in text
    assert "0.00123" in text
    assert "x7*" in text
    assert "x8*" not in text


def test_long_formulas_are_cut_in_the_list_but_not_above_it(model):
    model.formula_ = " + ".join(f"column_{index}" for index in range(60))
    model.candidates_.loc[0, "formula"] = model.formula_
    text = printed(model)
    assert text.splitlines()[0] == f"y = {model.formula_}"
    assert "…" in text


def test_no_candidates(model):
    model.candidates_ = model.candidates_.head(0)
    assert "candidates" not in printed(model)


def test_constants_free_fixed_and_certain():
    constants = {
        "scale": SimpleNamespace(value=1410.25, low=1400.0, high=1420.5, free=True),
        "scale_2": SimpleNamespace(value=1.0, low=0.99, high=1.02, free=False),
        "offset": SimpleNamespace(value=2.0, low=2.0, high=2.0, free=False),
        "rounded": SimpleNamespace(value=1.0, low=1.0 - 1e-16, high=1.0 + 3e-16, free=False),
    }
    assert constant_lines(constants) == [
        "scale = 1410.25, 95% interval [1400, 1420.5]",
        "scale_2 = 1, the simplest number in its 95% interval [0.99, 1.02]",
        "offset = 2",
        "rounded = 1",
    ]


def test_a_constant_has_the_digits_that_its_interval_tells_apart(model):
    free = SimpleNamespace(value=2459000.5123, low=2459000.5098, high=2459000.5148, free=True)
    assert constant_lines({"offset": free}) == [
        "offset = 2459000.5123, 95% interval [2459000.5098, 2459000.5148]"
    ]
    model.formula_, model.constants_ = "3.5*epoch + 2459000.5123", {"offset": free}
    assert printed(model).startswith("y = 3.5*epoch + 2459000.5123\n")


def test_a_number_outside_its_interval_is_not_said_to_lie_in_it():
    fixed = SimpleNamespace(value=1.0, low=0.97, high=0.997, free=False)
    assert constant_lines({"scale": fixed}) == ["scale = 1, 95% interval [0.97, 0.997]"]


def test_the_list_rounds_long_decimals_and_leaves_names_alone(model):
    model.candidates_.loc[0, "formula"] = "0.999890572235868*x1.2345678 - 3.68294025153982e-6"
    assert "0.999891*x1.2345678 - 3.68294e-06" in printed(model)
