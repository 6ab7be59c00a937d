"""Whole strings right against their length, as they are drawn."""

import numpy as np
import polars as pl
import pytest

from torchalu.report import draw_exhibit
from torchalu.report.lengths import draw_lengths


def summary(tasks=("badd", "bmul"), models=("improved", "stack_rnn")):
    rows = [
        {"task": task, "model": model, "length": length, "rate": rate}
        for task in tasks
        for model in models
        for length, rate in ((2000, 0.5), (20, 1.0))
    ]
    return pl.DataFrame(rows).with_columns(
        rate_low=pl.col("rate") - 0.1, rate_high=(pl.col("rate") + 0.1).clip(upper_bound=1.0)
    )


def test_each_task_has_a_panel_and_each_model_a_line():
    figure = draw_lengths(summary())
    assert [axes.get_title() for axes in figure.axes] == ["badd", "bmul"]
    for axes in figure.axes:
        lines = [container.lines[0] for container in axes.containers]
        assert [line.get_xdata().tolist() for line in lines] == [[20, 2000]] * 2
        assert [line.get_ydata().tolist() for line in lines] == [[1.0, 0.5]] * 2
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["20", "2000"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["improved", "stack rnn"]


def test_a_length_too_near_to_the_one_before_has_a_tick_without_a_number():
    near = summary(("badd",)).with_columns(length=pl.col("length").replace(2000, 25))
    rows = [summary(("badd",)), near, near.with_columns(length=pl.col("length") * 8)]
    (axes,) = draw_lengths(pl.concat(rows).unique()).axes
    assert axes.get_xticks().tolist() == [20, 25, 160, 200, 2000]
    texts = [tick.get_text() for tick in axes.get_xticklabels()]
    assert texts == ["20", "", "160", "", "2000"]


def test_a_single_model_needs_no_legend_and_many_tasks_several_rows():
    figure = draw_lengths(summary(tuple("abcd"), ("improved",)))
    assert len(figure.axes) == 4
    assert not figure.legends


def test_it_is_drawn_from_the_committed_table(tmp_path):
    summary().write_csv(tmp_path / "table1_lengths.csv")
    name = "kaiser2016.table1_lengths"
    assert list(draw_exhibit(name, tmp_path)) == [name]
    with pytest.raises(FileNotFoundError, match=r"torchalu run kaiser2016\.algorithms"):
        draw_exhibit("kaiser2016.algorithms_learning", tmp_path)


@pytest.mark.parametrize("wrong", [summary().drop("rate_low"), summary().clear()])
def test_a_table_that_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ValueError, match=r"rate_low|no row"):
        draw_lengths(wrong)


def test_no_logarithm_of_a_length_that_is_zero():
    with pytest.raises(ValueError, match="length has 0; allowed: 1 or more"):
        draw_lengths(summary().with_columns(length=pl.col("length") - 20))


def test_bars_are_the_intervals():
    container, _ = draw_lengths(summary()).axes[0].containers
    ends = [segment[:, 1] for segment in container[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[0.9, 1.0], [0.4, 0.6]])
