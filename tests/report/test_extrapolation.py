"""Errors against the length of the series, as they are drawn."""

import polars as pl
import pytest

from torchalu.report import draw_exhibit
from torchalu.report.extrapolation import draw_extrapolation


def summary():
    rows = [
        {"task": task, "model": model, "length": length, "median_mae": error, "published_mae": None}
        for task in ("count", "sum")
        for model in ("NAC", "LSTM")
        for length, error in ((1000, 8.0), (10, 0.0))
    ]
    table = pl.DataFrame(rows, schema_overrides={"published_mae": pl.Float64})
    return table.with_columns(best_mae=pl.col("median_mae") / 2, worst_mae=pl.lit(float("inf")))


def test_each_task_has_a_panel_and_each_model_a_line_whose_zeros_are_drawn_lowest():
    figure = draw_extrapolation(summary())
    assert [axes.get_title() for axes in figure.axes] == ["count", "sum"]
    for axes in figure.axes:
        lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in lines] == ["NAC", "LSTM"]
        assert [line.get_xdata().tolist() for line in lines] == [[10, 1000]] * 2
        assert [line.get_ydata().tolist() for line in lines] == [[1e-6, 8.0]] * 2
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["NAC", "LSTM"]


def test_published_errors_are_rings():
    table = summary().with_columns(published_mae=pl.lit(2.0))
    (axes, _) = draw_extrapolation(table).axes
    rings = [line for line in axes.get_lines() if line.get_markerfacecolor() == "none"]
    assert [line.get_ydata().tolist() for line in rings] == [[2.0, 2.0]] * 2


def test_what_explodes_leaves_the_picture():
    exploded = (pl.col("model") == "LSTM") & (pl.col("length") == 1000)
    table = summary().with_columns(
        median_mae=pl.when(exploded).then(1e30).otherwise("median_mae"), worst_mae=pl.lit(9.0)
    )
    third = table.filter(model="NAC").with_columns(model=pl.lit("NAU"))
    (axes, _) = draw_extrapolation(pl.concat([table, third])).axes
    assert axes.get_ylim()[1] == pytest.approx(8000.0)
    (axes, _) = draw_extrapolation(third).axes
    assert 8 < axes.get_ylim()[1] < 100


def test_it_is_drawn_from_the_committed_table(tmp_path):
    summary().write_csv(tmp_path / "table2.csv")
    assert list(draw_exhibit("trask2018.table2", tmp_path)) == ["trask2018.table2"]


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="worst_mae"):
        draw_extrapolation(summary().drop("worst_mae"))
