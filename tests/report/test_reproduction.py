"""Each table and figure of the paper is drawn from the file that its experiment writes."""

import polars as pl
import pytest

from report.pictures import collisions, summary_row
from torchalu.experiments import get, names
from torchalu.report import EXHIBITS, draw_exhibit, read_exhibit
from torchalu.report.reproduction import command, overlap, with_published_rates

MODELS = ("NAC*", "NALU", "NMU")


def test_every_experiment_has_an_exhibit_and_every_exhibit_an_experiment():
    made_by = [command(name, "here").split()[2] for name in EXHIBITS]
    assert set(made_by) <= set(names())
    assert {get(name) for name in names()} == {get(name) for name in made_by}


@pytest.mark.parametrize(
    ("solved", "low", "high"),
    [(98, 0.93, 0.99), (31, 0.23, 0.41), (100, 0.96, 1.0), (14, 0.09, 0.22)],
)
def test_published_intervals_are_those_that_the_paper_prints(solved, low, high):
    """Table 2: 98% +1% -5%, 31% +10% -8%, 100% +0% -4%, 14% +8% -5%."""
    row = with_published_rates(pl.DataFrame({"published_solved": [solved]})).row(0, named=True)
    assert row["published_rate"] == solved / 100
    assert (round(row["published_low"], 2), round(row["published_high"], 2)) == (low, high)


def test_intervals_overlap_if_they_have_a_value_in_common():
    apart = {"solved_low": 0.1, "solved_high": 0.2, "published_low": 0.3, "published_high": 0.4}
    assert overlap(apart) is False
    assert overlap(apart | {"solved_high": 0.3}) is True
    assert overlap(apart | {"solved_low": 0.35, "solved_high": 0.9}) is True
    assert overlap(apart | {"solved_low": 0.0, "solved_high": 1.0}) is True
    assert overlap(apart | {"published_low": None, "published_high": None}) is None


def varied(name, values, **defaults):
    """The rows of one panel, sorted as a file has them: as text."""
    return [
        summary_row(varied=name, model=model, operation="mul", **(defaults | {name: value}))
        for model in MODELS
        for value in sorted(values, key=str)
    ]


def write(folder, name, rows):
    pl.DataFrame(rows, infer_schema_length=None).write_csv(folder / f"{name}.csv")


def test_a_figure_for_each_quantity_that_is_varied(tmp_path):
    defaults = {"hidden_size": 2, "interpolation_range": "U[1,2]"}
    ranges = ["U[1,2]", "U[-2,2]", "U[10,20]", "U[-2,-1]", "U[0.1,0.2]"]
    rows = varied("hidden_size", range(2, 11), **defaults)
    write(tmp_path, "figure3", rows + varied("interpolation_range", ranges, **defaults))
    figures = draw_exhibit("figure3", tmp_path)
    assert list(figures) == ["figure3-hidden_size", "figure3-interpolation_range"]
    sizes, range_ = (figure.axes for figure in figures.values())
    assert [axes.get_xlabel() for axes in (sizes[1], range_[1])] == [
        "hidden size",
        "interpolation range",
    ]
    line = sizes[0].containers[0][0]
    assert list(line.get_xdata().round()) == list(range(2, 11))
    ticks = [label.get_text() for label in range_[0].get_xticklabels()]
    assert ticks == ["U[-2,-1]", "U[-2,2]", "U[0.1,0.2]", "U[1,2]", "U[10,20]"]


def test_penalties_stand_at_equal_steps_and_lengths_at_their_own_place(tmp_path):
    write(tmp_path, "figure12", varied("penalty", [0.0, 0.01, 0.1, 1.0, 10.0, 100.0]))
    (figure,) = draw_exhibit("figure12", tmp_path).values()
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ticks == ["0", "0.01", "0.1", "1", "10", "100"]
    rows = [summary_row(model="NMU", length=length) for length in (10, 1, 1000)]
    write(tmp_path, "figure13", rows)
    (figure,) = draw_exhibit("figure13", tmp_path).values()
    assert figure.axes[0].containers[0][0].get_xdata().tolist() == [1, 10, 1000]


def test_rates_gates_surfaces_and_counts(tmp_path):
    rows = [
        summary_row(model=model, operation=operation) | {"published_solved": 40}
        for model in MODELS
        for operation in ("add", "div", "mul", "root", "square", "sub")
    ]
    write(tmp_path, "table6", rows)
    runs = [
        {"model": "NALU (shared)", "operation": "mul", "seed": seed, "solved": True, "gate": 0.1}
        for seed in range(3)
    ]
    write(tmp_path, "figure9_seeds", runs)
    points = [{"eps": 0.1, "w1": a, "w2": b, "loss": 1 + a + b} for a in (0, 1) for b in (0, 1)]
    write(tmp_path, "figure2", points)
    cells = [
        summary_row(model=model, operation="mul", in_features=size, interpolation_range=name)
        for model in MODELS
        for size in (2, 10)
        for name in ("U[1,2]", "U[-2,2]")
    ]
    write(tmp_path, "single_module", cells)
    drawn = {}
    for name in ("table6", "figure9", "figure2", "single_module"):
        drawn |= draw_exhibit(name, tmp_path)
    assert list(drawn) == ["table6", "figure9", "figure2", "single_module-2", "single_module-10"]
    assert {name: collisions(figure) for name, figure in drawn.items()} == {
        name: [] for name in drawn
    }
    bars = drawn["figure9"].axes[0].containers[0]
    assert sum(bar.get_height() for bar in bars) == 3


def test_what_has_not_been_run_is_said_with_the_command(tmp_path):
    command = r"torchalu run madsen2020.figure9 --results"
    for name in ("figure9", "table5"):
        with pytest.raises(FileNotFoundError, match=command):
            read_exhibit(name, tmp_path)


def test_a_file_without_a_column_is_named(tmp_path):
    write(tmp_path, "table1", [{"model": "NMU", "operation": "mul"}])
    with pytest.raises(ValueError, match="lacks solved_rate"):
        draw_exhibit("table1", tmp_path)
