"""Pictures of ranked activations: what is drawn is what the table says."""

import numpy as np
import polars as pl
import pytest

from torchalu.report.rankings import draw_correlations, draw_ranking

ROWS = [
    {"dataset": dataset, "label": label, "mean": mean, "low": mean - 0.01, "high": mean + 0.02}
    | {"published_accuracy": published, "published_standard_error": 0.001}
    for dataset in ("cifar10", "mnist")
    for label, mean, published in (("ReLU", 0.8, 0.75), ("OR AIL", 0.9, None), ("Tanh", 0.7, 0.77))
]


def points(axes, label):
    (found,) = [one for one in axes.containers if one.get_label().startswith(label)]
    return found


def test_the_best_is_on_top_with_its_interval():
    figure = draw_ranking(pl.DataFrame(ROWS), "dataset", title="Table 1")
    assert [axes.get_title() for axes in figure.axes] == ["cifar10", "mnist"]
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["OR AIL", "ReLU", "Tanh"]
    assert axes.yaxis_inverted()
    line, _, (bars,) = points(axes, "ours")
    np.testing.assert_allclose(line.get_xdata(), [0.9, 0.8, 0.7])
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, [[0.89, 0.92], [0.79, 0.82], [0.69, 0.72]])
    theirs = points(axes, "published")[0].get_xdata()
    np.testing.assert_allclose(theirs, [0.75, 0.77])


def test_what_lies_far_below_is_written_at_the_edge():
    means = [0.975, 0.976, 0.977, 0.978, 0.963, 0.285]
    rows = [
        {"label": str(mean), "mean": mean, "low": mean - 0.001, "high": mean + 0.001}
        | {"published_accuracy": theirs, "published_standard_error": 0.001}
        for mean, theirs in zip(means, [0.81, 0.82, None, 0.83, 0.82, 0.51], strict=True)
    ]
    (axes,) = draw_ranking(pl.DataFrame(rows)).axes
    np.testing.assert_allclose(points(axes, "ours")[0].get_xdata(), [*means[3::-1], 0.963])
    assert sorted(points(axes, "published")[0].get_xdata()) == [0.81, 0.82, 0.82, 0.83]
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [
        ("← 28.5%", 5),
        ("← 51.0%", 5),
    ]
    assert axes.get_xlim()[0] > 0.75


def test_one_seed_has_no_bar_and_what_is_not_published_is_not_drawn():
    table = pl.DataFrame([{"label": "ReLU", "mean": 0.8, "low": None, "high": None}])
    figure = draw_ranking(table)
    (axes,) = figure.axes
    (container,) = axes.containers
    (bars,) = container[2]
    np.testing.assert_allclose(bars.get_segments()[0][:, 0], [0.8, 0.8])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ours, 95% interval"]


def test_correlations_of_each_layer_and_kind():
    table = pl.DataFrame(
        [
            {"label": label, "layer": layer, "kind": kind, "mean": mean}
            | {"q05": mean - 0.4, "q25": mean - 0.2, "q75": mean + 0.1, "q95": mean + 0.3}
            for label, shift in (("ReLU", 0.0), ("XNOR AIL", -0.1))
            for layer in (1, 2)
            for kind, mean in (("paired", shift - 0.1 * layer), ("unpaired", 0.01))
        ]
    )
    figure = draw_correlations(table)
    assert [axes.get_title() for axes in figure.axes] == ["layer 1", "layer 2"]
    axes = figure.axes[1]
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["paired"].get_xdata(), [-0.2, -0.3])
    np.testing.assert_allclose(lines["unpaired"].get_xdata(), [0.01, 0.01])
    thin, thick = (axes.collections[place].get_segments()[0][:, 0] for place in (0, 1))
    np.testing.assert_allclose(thin, [-0.6, 0.1])
    np.testing.assert_allclose(thick, [-0.4, -0.1])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["ReLU", "XNOR AIL"]


def test_a_correlation_that_is_not_there_leaves_a_gap():
    row = {"label": "ReLU", "layer": 1, "kind": "paired"}
    row |= dict.fromkeys(("mean", "q05", "q25", "q75", "q95"))
    (axes,) = draw_correlations(pl.DataFrame([row])).axes
    assert np.isnan(axes.lines[0].get_xdata()).all()


@pytest.mark.parametrize("draw", [draw_ranking, draw_correlations])
def test_tables_that_cannot_be_drawn(draw):
    with pytest.raises(ValueError, match="the table lacks label"):
        draw(pl.DataFrame({"seed": [1]}))
    figure_of = {"label": [], "mean": [], "low": [], "high": [], "layer": [], "kind": []}
    with pytest.raises(ValueError, match=r"lacks|no row"):
        draw(pl.DataFrame(figure_of))


def test_published_bars_are_one_standard_error():
    axes = draw_ranking(pl.DataFrame(ROWS), "dataset").axes[0]
    (bars,) = points(axes, "published")[2]
    ends = [segment[:, 0] for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, [[0.749, 0.751], [0.769, 0.771]])
