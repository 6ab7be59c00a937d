"""A data frame on the terminal."""

import io

import polars as pl
import pytest
from rich.console import Console

from torchalu.evaluate import summarize
from torchalu.report import in_brief, print_frame


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


def test_in_brief_keeps_the_counts_and_what_was_published():
    outcomes = pl.DataFrame(
        {
            "model": ["NMU"] * 4 + ["NAU"] * 2,
            "solved": [True, True, True, False, False, False],
            "solved_at_step": [1000, 3000, 2000, None, None, None],
            "sparsity_error": [0.1, 0.2, 0.1, 0.4, 0.4, 0.3],
            "steps": [9000] * 6,
            "status": ["finished"] * 6,
        }
    )
    summary = summarize(outcomes, by=["model"]).with_columns(published_solved=pl.lit(98))
    rows = in_brief(summary)
    # Wilson's limits of 3 of 4 and of 0 of 2, from the formula by hand.
    assert rows.rows() == [
        ("NMU", 4, 3, "30 to 95%", 2000.0, 98),
        ("NAU", 2, 0, "0 to 66%", None, 98),
    ]
    unknown = in_brief(summary.with_columns(solved_low=pl.Series([float("nan"), None])))
    assert unknown["interval"].to_list() == [None, None]
    surface = pl.DataFrame({"eps": [0.1], "loss": [2.0]})
    assert in_brief(surface).equals(surface)
