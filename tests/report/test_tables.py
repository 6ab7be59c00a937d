"""A data frame on the terminal."""

import io

import polars as pl
import pytest
from rich.console import Console

from torchalu.report import print_frame


def printed(frame, width):
    text = io.StringIO()
    print_frame(Console(width=width, color_system=None, file=text), "title", frame)
    return text.getvalue()


def test_columns_that_do_not_fit_are_left_out_and_counted():
    frame = pl.DataFrame({f"column{k}": [k] for k in range(8)})
    assert printed(frame, 200).splitlines()[0] == "title"
    narrow = printed(frame, 40)
    kept = [name for name in frame.columns if name in narrow]
    assert kept == frame.columns[: len(kept)]
    assert 0 < len(kept) < 8
    assert narrow.splitlines()[0] == f"title ({8 - len(kept)} more columns in the file)"
    assert max(map(len, narrow.splitlines())) <= 40


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (1.6e-13, "1.6e-13"),
        (0.123456, "0.1235"),
        (1432000.0, "1432000"),
        (5_000_000, "5000000"),
        (True, "True"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ("[red]NAC*[/red]", "[red]NAC*[/red]"),
    ],
)
def test_cells(value, cell):
    assert printed(pl.DataFrame({"x": [value]}), 80).split()[-1] == cell


def test_no_rows():
    assert "model" in printed(pl.DataFrame({"model": []}, schema={"model": pl.String}), 80)
