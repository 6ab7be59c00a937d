"""The panels have the points of the table, where they belong, and text that can be read."""

import numpy as np
import polars as pl
import pytest

from report.pictures import collisions, summary_row
from torchalu.report import draw_rates, draw_sweep

MODELS = ["NAC*,NMU", "NAC*,sigma", "NAC*", "Gated NAU/NMU", "NALU", "NMU"]
RANGES = ["U[-2,-1]", "U[-2,2]", "U[0,1]", "U[0.1,0.2]", "U[1,2]", "U[1.1,1.2]", "U[10,20]"]
SIZES = [4, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300]


def sweep(values, models=("NMU",), **columns):
    rows = [summary_row(model=model, x=value, **columns) for model in models for value in values]
    return pl.DataFrame(rows)


def drawn(axes, label):
    """The line and the ends of the bars of a model."""
    for container in axes.containers:
        if container.get_label() == label:
            line, _, (bars,) = container
            return np.asarray(line.get_xydata()), np.asarray(bars.get_segments())
    raise AssertionError(f"{label} is not drawn")


def test_points_and_intervals_are_those_of_the_table():
    table = pl.DataFrame([
        summary_row(model="NMU", x=2, solved=10, seeds=40, steps=2e6, sparsity=0.1),
        summary_row(model="NMU", x=5, solved=40, seeds=40, steps=3e6, sparsity=0.2),
    ])  # fmt: skip
    success, steps, sparsity = draw_sweep(table, "x", "size", scale="linear").axes
    for axes, values, low, high in (
        (success, [0.25, 1.0], [0.15, 0.9], [0.3, 1.0]),
        (steps, [2e6, 3e6], [1.8e6, 2.7e6], [2.4e6, 3.6e6]),
        (sparsity, [0.1, 0.2], [0.09, 0.18], [0.12, 0.24]),
    ):
        points, bars = drawn(axes, "NMU")
        np.testing.assert_allclose(points, np.transpose([[2, 5], values]))
        np.testing.assert_allclose(bars[:, :, 1], np.transpose([low, high]))


@pytest.mark.parametrize(
    ("counts", "title", "bars"),
    [((1, 1), ", 1 seed", False), ((1, 4), ", 1 to 4 seeds", False), ((1, 5), "", True)],
)
def test_rates_of_few_seeds_have_no_bars_and_tell_so(counts, title, bars):
    rows = [summary_row(model="NMU", x=x, solved=1, seeds=n) for x, n in enumerate(counts, 1)]
    figure = draw_sweep(pl.DataFrame(rows), "x", "size", scale="linear")
    success, steps, _ = figure.axes
    assert success.get_title() == "success rate" + title
    assert (np.ptp(drawn(success, "NMU")[1][:, :, 1], axis=1) > 0).all() == bars
    assert (np.ptp(drawn(steps, "NMU")[1][:, :, 1], axis=1) > 0).all()
    assert collisions(figure) == []


def test_a_model_that_solves_nothing_has_no_step():
    table = pl.concat([sweep([1], solved=0), sweep([2], solved=50)], how="vertical_relaxed")
    success, steps, sparsity = draw_sweep(table, "x", "size", scale="linear").axes
    assert len(drawn(success, "NMU")[0]) == 2
    assert len(drawn(steps, "NMU")[0]) == len(drawn(sparsity, "NMU")[0]) == 1


def test_nothing_solved_at_all():
    figure = draw_sweep(sweep([1, 2, 3], MODELS, solved=0), "x", "size")
    assert collisions(figure) == []


def test_models_stand_beside_each_other_and_nearest_to_their_own_value():
    success = draw_sweep(sweep(range(2, 11), MODELS), "x", "size", scale="linear").axes[0]
    labels = [container.get_label() for container in success.containers]
    x = np.array([drawn(success, label)[0][:, 0] for label in labels])
    assert np.all(np.diff(x, axis=0) > 0.05)
    np.testing.assert_array_equal(np.round(x), np.broadcast_to(np.arange(2, 11), x.shape))
    np.testing.assert_allclose(x.mean(axis=0), np.arange(2, 11))


def test_each_model_has_a_color_and_a_marker_of_its_own():
    models = [*MODELS, "another", "and one more"]
    lines = [c[0] for c in draw_sweep(sweep([1, 2], models), "x", "size").axes[0].containers]
    assert len({line.get_color() for line in lines}) == len(models)
    assert len({line.get_marker() for line in lines}) == len(models)


def test_steps_are_logarithmic_only_if_they_span_much():
    near = pl.concat([sweep([1], steps=1e6), sweep([2], steps=4e6)])
    far = pl.concat([sweep([1], steps=5e3), sweep([2], steps=4e6)])
    scales = [draw_sweep(table, "x", "size").axes[1].get_yscale() for table in (near, far)]
    assert scales == ["linear", "log"]


@pytest.mark.parametrize(
    ("values", "models", "scale"),
    [
        (range(2, 11), MODELS, "linear"),
        (RANGES, MODELS, "even"),
        (SIZES, MODELS, "linear"),
        ([0.0, 0.01, 0.1, 1.0, 10.0, 100.0], ["NAU"], "even"),
        ([1, 10, 100, 1000], ["NAU", "LSTM"], "log"),
        ([7], ["NAU"], "even"),
    ],
)
def test_no_text_lies_on_another(values, models, scale):
    figure = draw_sweep(sweep(values, models), "x", "what is varied", scale=scale, title="Title")
    assert collisions(figure) == []


def test_missing_column_and_empty_table():
    with pytest.raises(ValueError, match=r"lacks y; it has model, x, .*torchalu run"):
        draw_sweep(sweep([1]), "y", "size")
    with pytest.raises(ValueError, match="no row"):
        draw_sweep(sweep([1]).clear(), "x", "size")


def rates(operations, models):
    published = {"published_rate": 0.8, "published_low": 0.7, "published_high": 0.9}
    rows = [
        summary_row(model=model, operation=operation, solved=k) | published
        for operation in operations
        for k, model in enumerate(models)
    ]
    return pl.DataFrame(rows)


def test_rates_of_each_model_stand_on_its_line_beside_the_published_ones():
    axes = draw_rates(rates(["mul"], ["NMU", "NAU", "NALU"])).axes[0]
    ours, theirs = (np.asarray(container[0].get_xydata()) for container in axes.containers)
    np.testing.assert_allclose(ours[:, 0], [0, 0.02, 0.04])
    np.testing.assert_allclose(theirs[:, 0], 0.8)
    np.testing.assert_array_equal(ours[:, 1].round(), [0, 1, 2])
    np.testing.assert_array_equal(theirs[:, 1].round(), [0, 1, 2])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["NMU", "NAU", "NALU"]


def test_what_was_not_published_is_left_out():
    table = rates(["mul"], ["NMU", "NAU"]).with_columns(
        pl.when(pl.col("model") == "NMU").then(pl.col("^published_.*$"))
    )
    theirs = draw_rates(table).axes[0].containers[1][0]
    assert len(theirs.get_xydata()) == 1
    nothing = table.with_columns(pl.col("^published_.*$") * float("nan")).fill_nan(None)
    axes = draw_rates(nothing).axes[0]
    assert [container.get_label() for container in axes.containers] == ["ours"]


def test_nothing_solved_is_said():
    texts = [axes.texts for axes in draw_sweep(sweep([1, 2], solved=0), "x", "size").axes]
    assert [len(each) for each in texts] == [0, 1, 1]
    assert texts[1][0].get_text() == "no seed solved it"


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_operations_in_order_and_readable(count):
    operations = ["square", "sub", "mul", "div", "add", "root"][:count]
    figure = draw_rates(rates(operations, [*MODELS, "NAC+", "Linear", "NAU", "ReLU", "ReLU6"]))
    titles = [axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert titles == [sign for sign in ("+", "−", "×", "÷", "z²", "√z") if sign in titles]
    assert len(titles) == count
    assert collisions(figure) == []
