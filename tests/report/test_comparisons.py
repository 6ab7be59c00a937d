"""Pictures of compared activations: what is drawn is what the table says."""

import numpy as np
import polars as pl
import pytest

from report.pictures import collisions
from torchalu.report.comparisons import draw_accuracies, draw_networks, draw_successes
from torchalu.report.reproduction import draw_exhibit

LABELS = ("ReLU", "SiLU", "OR AIL", "XNOR AIL", "OR, AND, XNOR AIL (d)")


def accuracies():
    return pl.DataFrame(
        [
            {
                "network": network,
                "activation": label,
                "label": label,
                "parameters": 1000 * 4**size,
                "mean": 1 - 0.2 / (1 + place) / 2**size,
                "sd": 0.002 if place else None,
            }
            for network in ("mlp", "cnn")
            for place, label in enumerate(LABELS)
            for size in range(4)
        ]
    )


def test_errors_stand_at_their_parameters_and_zero_at_the_floor():
    table = accuracies().with_columns(
        mean=pl.when(pl.col("label") == "SiLU").then(1.0).otherwise("mean")
    )
    figure = draw_accuracies(table.sample(fraction=1.0, shuffle=True, seed=0), "network")
    assert {axes.get_title() for axes in figure.axes} == {"MLP", "CNN"}
    lines = {container.get_label(): container[0] for container in figure.axes[0].containers}
    assert set(lines) == set(LABELS)
    x, y = lines["OR AIL"].get_data()
    assert list(x) == [1000, 4000, 16_000, 64_000]
    assert y == pytest.approx(0.2 / 3 / 2.0 ** np.arange(4))
    assert list(lines["SiLU"].get_ydata()) == [1e-4] * 4
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == len(LABELS)


def test_an_activation_that_is_in_one_panel_only_is_in_the_legend():
    table = accuracies().filter((pl.col("network") == "mlp") | (pl.col("label") == "ReLU"))
    (legend,) = draw_accuracies(table, "network").legends
    assert {text.get_text() for text in legend.get_texts()} == set(LABELS)


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [((3000, 40_000), ["5,000", "10,000", "20,000"]), ((200, 5_000_000), None)],
)
def test_numbers_below_the_axis_do_not_run_into_each_other(sizes, shown):
    table = pl.DataFrame(
        [
            {"network": "cnn", "label": "ReLU", "parameters": size, "mean": 0.9, "sd": 0.01}
            for size in sizes
        ]
    )
    figure = draw_accuracies(table, "network")
    (axes,) = figure.axes
    assert collisions(figure) == []
    if shown is not None:
        assert [label.get_text() for label in axes.get_xticklabels()] == shown


def test_networks_of_two_depths_are_two_panels():
    table = pl.concat(
        accuracies().filter(network="cnn").with_columns(depth=pl.lit(depth)) for depth in (26, 50)
    )
    figure = draw_accuracies(table, "network", "depth")
    assert [axes.get_title() for axes in figure.axes] == ["CNN, depth 26", "CNN, depth 50"]
    for axes in figure.axes:
        assert all(len(container[0].get_xdata()) == 4 for container in axes.containers)


def successes(labels=LABELS):
    ends = {"rate": 0.5, "low": 0.3, "high": 0.8}
    rates = {f"{name}_{end}": value for name in ("read", "solved") for end, value in ends.items()}
    return pl.DataFrame(
        [
            {"label": label, "inputs": inputs, "accuracy_mean": 0.9, **rates}
            for label in labels
            for inputs in (32, 2, 8)
        ]
    )


def test_successes_have_their_intervals_and_stand_in_order():
    figure = draw_successes(successes(("ReLU",)), "inputs", "bits")
    read, _, accuracy = figure.axes
    line, _, (bars,) = read.containers[0]
    assert list(line.get_xdata()) == [0, 1, 2]
    assert [label.get_text() for label in read.get_xticklabels()] == ["2", "8", "32"]
    (_, low), (_, high) = bars.get_segments()[0]
    assert (low, high) == (pytest.approx(0.3), pytest.approx(0.8))
    assert list(accuracy.containers[0][0].get_ydata()) == [0.9] * 3


def network(label="XNOR AIL", shapes=((4, 4), (2, 2), (1, 1))):
    """Weight 1 where a neuron has the number of its source, -0.1 elsewhere; biases of 100."""
    return [
        {
            "label": label,
            "accuracy": 0.999,
            "layer": layer,
            "from": source,
            "to": target,
            "weight": 100.0 if source is None else 1.0 if source == target else -0.1,
        }
        for layer, (inputs, outputs) in enumerate(shapes)
        for target in range(outputs)
        for source in (*range(inputs), None)
    ]


def test_lines_are_as_wide_as_weights_and_colored_by_their_sign():
    (axes,) = draw_networks(pl.DataFrame(network())).axes
    assert (axes.get_title(), axes.get_xlabel()) == ("XNOR AIL: 99.9%", "")
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    widths = {(line.get_color(), round(line.get_linewidth(), 6)) for line in solid}
    assert len(solid) == 16 + 4 + 1
    positive, negative = "#E66100", "#0072B2"
    assert widths == {(positive, 5.0), (negative, 0.5)}
    straight = [line for line in solid if line.get_linewidth() == 5.0]
    assert all(line.get_ydata()[0] == line.get_ydata()[1] for line in straight)


def test_dotted_lines_join_the_pairs_that_the_activation_takes():
    (axes,) = draw_networks(pl.DataFrame(network())).axes
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    ends = sorted((line.get_xdata()[0], *line.get_ydata()) for line in dotted)
    assert ends == [
        *((1, -1.5, -0.5), (1, -0.5, -0.5), (1, 0.5, 0.5), (1, 1.5, 0.5)),
        *((3, -0.5, 0.0), (3, 0.5, 0.0)),
    ]


def test_each_exhibit_is_drawn_from_its_file_without_collisions(tmp_path):
    accuracies().write_csv(tmp_path / "figure5.csv")
    successes().write_csv(tmp_path / "parity.csv")
    rows = network() + network("ReLU", ((4, 4), (4, 2), (2, 1)))
    pl.DataFrame(rows).write_csv(tmp_path / "figure4_networks.csv")
    pl.DataFrame({"label": ["ReLU"]}).write_csv(tmp_path / "search.csv")
    drawn = {}
    for name in ("figure4", "figure5", "parity", "search"):
        drawn |= draw_exhibit(f"lowe2022.{name}", tmp_path)
    assert list(drawn) == ["lowe2022.figure4", "lowe2022.figure5", "lowe2022.parity"]
    assert {name: collisions(figure) for name, figure in drawn.items()} == {
        name: [] for name in drawn
    }


@pytest.mark.parametrize(
    "draw",
    [
        lambda table: draw_accuracies(table, "network"),
        lambda table: draw_successes(table, "inputs", "bits"),
        draw_networks,
    ],
)
def test_a_table_without_a_column_is_named(draw):
    with pytest.raises(ValueError, match="the table lacks"):
        draw(pl.DataFrame({"label": ["ReLU"]}))


def test_bars_are_standard_deviations_and_what_has_no_parameters_is_a_line():
    rows = [("ReLU", 1000, 0.9, 0.02), ("gradient boosting", None, 0.97, 0.001)]
    columns = ["label", "parameters", "mean", "sd"]
    table = pl.DataFrame(rows, columns, orient="row").with_columns(network=pl.lit("mlp"))
    (axes,) = draw_accuracies(table, "network").axes
    (container,) = axes.containers
    (bar,) = container[2][0].get_segments()
    assert bar[:, 1].tolist() == pytest.approx([0.08, 0.12])
    (level,) = [line for line in axes.lines if line.get_label() == "gradient boosting"]
    assert list(level.get_ydata()) == pytest.approx([0.03, 0.03])
