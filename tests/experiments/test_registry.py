"""Experiments by name."""

import inspect
import typing

import pytest

from torchalu import experiments
from torchalu.experiments import Runs
from torchalu.experiments.registry import get, names

NATIVE = [
    f"madsen2020.{name}"
    for name in (
        *("table1", "table2", "table5", "table6", "single_module"),
        *("noise", "noise_table1", "correlated", "correlated_table1"),
        *(f"figure{number}" for number in (3, 7, 8, 9, 10, 11, 12)),
    )
]


def test_each_table_and_figure_with_results_has_a_name():
    expected = [f"table{k}" for k in (1, 2, 5, 6)]
    expected += [f"figure{k}" for k in (2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15)]
    expected += ["noise", "noise_table1", "correlated", "correlated_table1"]
    expected += ["single_module", "closed_form"]
    logic = ["figure4", "figure5", "figure6", "table1", "bach", "covertype", "parity", "search"]
    strings = ["table1", "algorithms", "decimal", "grid", "ablations", "ensemble", "noise"]
    strings += ["traces", "steps", "levels", "counterexamples", "orders", "starts"]
    first = [f"table{k}" for k in range(1, 12)] + [f"figure{k}" for k in (1, 3, 4, 5, 6)]
    first += ["perception", "grid_world", "grid_world_search"]
    first += [f"{name}_search" for name in ("table2", "table4", "figure4")]
    assert set(names()) == {
        *(f"kaiser2016.{name}" for name in strings),
        *(f"madsen2020.{name}" for name in expected),
        *(f"lowe2022.{name}" for name in logic),
        *(f"trask2018.{name}" for name in first),
    }
    listed = ["Runs", "counterparts", "get", "included", "including", "names"]
    assert experiments.__all__ == listed


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("madsen2020.tabel2", "madsen2020.table2"),
        ("table6", "madsen2020.table6"),
        ("figure33", "madsen2020.figure3"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, nearest):
    with pytest.raises(ValueError, match=rf"nearest name is '{nearest}'"):
        get(wrong)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("table1", "table6"),
        ("table7", "table6"),
        ("table9", "table8"),
        ("table10", "table2"),
        ("table11", "table3"),
        ("figure1", "table5"),
        ("figure3", "table3"),
        ("figure5", "grid_world"),
    ],
)
def test_tables_and_figures_of_the_same_runs_are_one_experiment(name, same):
    assert get(f"trask2018.{name}") is get(f"trask2018.{same}")


@pytest.mark.parametrize("name", names())
def test_every_option_has_a_type_and_a_default(name):
    function = get(name)
    parameters = inspect.signature(function).parameters
    assert set(parameters) <= set(typing.get_type_hints(function))
    assert all(p.default is not p.empty for p in parameters.values())


@pytest.mark.parametrize("name", NATIVE)
def test_defaults_say_when_a_run_ends(name):
    parameters = inspect.signature(get(name)).parameters
    runs = parameters["runs"].default
    assert next(iter(parameters)) == "runs"
    assert (runs.settle, runs.stall, runs.give_up) == (500_000, None, None)


@pytest.mark.parametrize("name", NATIVE)
def test_runs_are_those_of_the_study(name):
    runs = Runs(seeds=3, first_seed=5, steps=1000, settle=None, stall=7, give_up=9, team=2)
    study = get(name)(runs)
    assert study.runs == runs
    steps = {1000, 2000, 3000} if name == "madsen2020.figure8" else {1000}
    assert {setting.steps for setting in study.settings} == steps
    described = dict(study.configuration)
    expected = {"seeds": [5, 7], "settle": None, "stall": 7, "give_up": 9, "team": 2}
    assert {key: described[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ("NUM",)}, "models holds 'NUM'; did you mean 'NMU'"),
        ({"models": ()}, "models is empty; choose from"),
        ({"operations": ("mult",)}, "operations holds 'mult'; did you mean 'mul'"),
    ],
)
def test_unknown_words_are_answered_with_the_nearest(options, message):
    with pytest.raises(ValueError, match=message):
        get("madsen2020.table2")(**options)
