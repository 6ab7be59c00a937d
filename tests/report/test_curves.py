"""Curves of matching digits with their bands."""

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PolyCollection

from torchalu.report.curves import draw_curves


def summary():
    rows = [
        {"model": model, "sees_numbers": model == "LSTM", "digits": digits, "step": step,
         "mean": mean, "low": mean - 0.1, "high": mean + 0.1}
        for digits in (4, 2)
        for model, mean in (("LSTM", 0.3), ("NALU", 0.8))
        for step in (2000, 1000)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_a_panel_for_each_number_of_digits_with_lines_and_bands():
    panels = draw_curves(summary(), title="sums").axes
    assert [axes.get_title() for axes in panels] == ["2 digits", "4 digits"]
    for axes in panels:
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert list(lines) == ["LSTM", "NALU"]
        assert np.asarray(lines["NALU"].get_xdata()).tolist() == [1000, 2000]
        assert np.asarray(lines["NALU"].get_ydata()).tolist() == [0.8, 0.8]
        bands = [band for band in axes.collections if isinstance(band, PolyCollection)]
        extents = [band.get_paths()[0].get_extents() for band in bands]
        assert [(e.y0, e.y1) for e in extents] == [
            (pytest.approx(0.2), pytest.approx(0.4)),
            (pytest.approx(0.7), pytest.approx(0.9)),
        ]


def test_models_with_and_without_the_numbers_have_a_row_each():
    seeing = summary().filter(model="NALU").with_columns(sees_numbers=True, mean=pl.lit(0.1))
    panels = draw_curves(pl.concat((summary(), seeing))).axes
    assert [axes.get_title() for axes in panels] == ["2 digits", "4 digits", "", ""]
    assert [axes.get_ylabel() for axes in panels if axes.get_ylabel()] == [
        "matching digits,\nsymbols are read",
        "matching digits,\nnumbers are read, too",
    ]
    means = [
        {line.get_label(): set(np.asarray(line.get_ydata())) for line in axes.get_lines()}
        for axes in panels
    ]
    assert means == [{"LSTM": {0.3}, "NALU": {0.8}}] * 2 + [{"LSTM": {0.3}, "NALU": {0.1}}] * 2


def test_a_summary_without_a_column_is_refused():
    with pytest.raises(ValueError, match="the table lacks high"):
        draw_curves(summary().drop("high"))
