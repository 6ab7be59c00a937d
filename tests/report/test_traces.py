"""Positions of signals against steps, as they are drawn."""

import polars as pl
import pytest

from torchalu.report import draw_exhibit
from torchalu.report.traces import draw_traces


def places():
    """Digit d of `first` stays at d; `carry` moves right, and cannot be read before step 2."""
    rows = [
        {
            "signal": signal,
            "digit": digit,
            "step": step,
            "position": digit if signal == "first" else digit + step,
            "correlation": 1.0 if signal == "first" or step >= 2 else 0.5,
        }
        for signal in ("first", "carry")
        for digit in range(20)
        for step in range(4)
    ]
    return pl.DataFrame(rows)


def test_each_signal_has_a_panel_and_each_dot_its_position_and_step():
    figure = draw_traces(places())
    assert [axes.get_title() for axes in figure.axes] == ["first", "carry"]
    first, carry = (
        [part.get_offsets().tolist() for part in axes.collections] for axes in figure.axes
    )
    shown = [0, 4, 8, 11, 15, 19]
    assert first == [[[digit, step] for step in range(4)] for digit in shown]
    assert carry == [[[digit + step, step] for step in (2, 3)] for digit in shown]
    assert figure.axes[0].yaxis_inverted()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"digit {d}" for d in shown]


def test_it_is_drawn_from_the_committed_table(tmp_path):
    places().write_csv(tmp_path / "traces.csv")
    assert list(draw_exhibit("kaiser2016.traces", tmp_path)) == ["kaiser2016.traces"]


@pytest.mark.parametrize("wrong", [places().drop("position"), places().clear()])
def test_a_table_that_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ValueError, match=r"position|no row"):
        draw_traces(wrong)
