"""Rewards against the instruction, as they are drawn."""

import polars as pl
import pytest

from torchalu.report import draw_exhibit
from torchalu.report.returns import draw_returns


def summary(interval=True):
    rows = [
        {"model": model, "actions": actions, "instruction": instruction, "seeds": 3,
         "reward_mean": reward, "optimal_return": 1.0}
        for model, end in (("LSTM", 0.4), ("NAC", 0.9))
        for actions in ("greedy", "sampled")
        for instruction, reward in ((30, end), (8, 0.95))
    ]  # fmt: skip
    width = 0.05 if interval else None
    return pl.DataFrame(rows).with_columns(
        reward_low=pl.col("reward_mean") - width, reward_high=pl.col("reward_mean") + width
    )


def test_each_way_to_act_has_a_panel_with_a_line_an_agent_below_the_best_return():
    figure = draw_returns(summary())
    assert [axes.get_title() for axes in figure.axes] == ["greedy actions", "sampled actions"]
    for axes in figure.axes:
        best, *lines = axes.get_lines()
        assert best.get_ydata().tolist() == [1.0, 1.0]
        assert [line.get_xdata().tolist() for line in lines] == [[8, 30]] * 2
        assert [line.get_ydata().tolist() for line in lines] == [[0.95, 0.4], [0.95, 0.9]]
        band = axes.collections[0].get_paths()[0].get_extents()
        assert (band.y0, band.y1) == pytest.approx((0.35, 1.0))
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["best return there is", "LSTM", "NAC"]


def test_the_range_of_the_training_is_shaded():
    (shade,) = draw_returns(summary(), trained=(5, 12)).axes[0].patches
    box = shade.get_extents().transformed(shade.axes.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((4.5, 12.5))


def test_one_seed_has_no_band():
    figure = draw_returns(summary(interval=False))
    assert len(figure.axes[0].get_lines()) == 3


def test_it_is_drawn_from_the_committed_table(tmp_path):
    summary().write_csv(tmp_path / "grid_world.csv")
    name = "trask2018.grid_world"
    assert list(draw_exhibit(name, tmp_path)) == [name]
    with pytest.raises(FileNotFoundError, match=r"torchalu run trask2018\.grid_world "):
        draw_exhibit("trask2018.grid_world_reach", tmp_path)


@pytest.mark.parametrize("wrong", [summary().drop("reward_low"), summary().clear()])
def test_a_table_that_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ValueError, match=r"reward_low|no row"):
        draw_returns(wrong)
