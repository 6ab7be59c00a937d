"""The loss surface and the closed forms."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from torchalu.experiments import get
from torchalu.experiments.madsen2020.closed_form import (
    BASELINES,
    OF_SUMS,
    null_vector,
    quadratic,
    solve,
)
from torchalu.experiments.madsen2020.single_module import RANGES
from torchalu.experiments.madsen2020.unit_criterion import nearly_perfect_unit_loss
from torchalu.experiments.seeds import Seeds
from torchalu.tasks import SimpleFunction


def surface(**options):
    study = get("madsen2020.figure2")(**options)
    parts = [study.run(chunk, Path(), lambda _fraction: None) for chunk in study.chunks()]
    outcomes = pl.concat([part.outcomes for part in parts])
    assert outcomes.select(study.keys).is_unique().all()
    return study.summarize(outcomes)["figure2"]


def test_the_loss_surface_in_closed_form():
    table = surface(points=5)
    assert table.height == 3 * 25
    first, second = pl.col("w1").abs() * 2.2, pl.col("w1").abs() * 6.0
    product = ((first + pl.col("eps")) * (second + pl.col("eps"))).pow(pl.col("w2"))
    expected = table.select((product - 2.2 * 6.0).abs())["w1"]
    assert table["loss"].to_list() == pytest.approx(expected.to_list(), rel=1e-9, abs=1e-9)


def test_near_a_weight_of_zero_division_explodes():
    table = surface(points=3)
    worst = table.filter(w1=0.0, w2=-1.0).sort("eps")["loss"].to_list()
    assert worst == pytest.approx([1e14, 100 - 13.2, 13.2 - 1], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"eps": (0.0,)}, "eps is"), ({"eps": ()}, "eps is"), ({"points": 1}, "points is 1")],
)
def test_a_surface_needs_points_and_a_positive_eps(options, message):
    with pytest.raises(ValueError, match=message):
        get("madsen2020.figure2")(**options)


def test_the_nine_ranges_do_not_overlap():
    assert len(RANGES) == 9
    for inside, outside in RANGES.values():
        parts = outside if isinstance(outside[0], tuple) else (outside,)
        assert all(high <= inside[0] or low >= inside[1] for low, high in parts)


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
def test_one_of_the_closed_forms_solves_every_case(operation):
    tasks = {
        tuple(setting.labels.values())[1:]: setting.task
        for setting in get("madsen2020.single_module")(operations=(operation,)).settings
    }
    assert len(tasks) == 2 * 9
    right, wrong = ("(x)", "(log|x|)") if operation in ("add", "sub") else ("(log|x|)", "(x)")
    for task in tasks.values():
        outcome = solve(f"least squares {right}", task, seed=1)
        assert outcome["solved"]
        assert outcome["solved_at_step"] == 0
        assert outcome["sparsity_error"] == 0
        assert not solve(f"least squares {wrong}", task, seed=1)["solved"]
    assert set(BASELINES) == {"least squares (x)", "least squares (log|x|)"}


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("name", [*RANGES, "straddles 0"])
def test_the_criterion_for_one_unit_by_simulation(name, operation):
    outside = RANGES[name][1] if name in RANGES else (-1.0, 3.0)
    task = SimpleFunction(
        operation, in_features=2, subsets=((0,), (1,)), extrapolation_range=outside
    )
    if name == "straddles 0" and operation == "div":
        with pytest.raises(ValueError, match="a division needs one without 0"):
            nearly_perfect_unit_loss(task)
        return
    generator = np.random.default_rng(5)
    parts = outside if isinstance(outside[0], tuple) else (outside, outside)
    sides = [generator.uniform(low, high, (2, 400_000)) for low, high in parts]
    a, b = np.where(generator.random((2, 400_000)) < 0.5, *sides)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[operation]
    worst = np.max(
        [
            np.abs(function(a * (1 + s * 1e-5), b * (1 + t * 1e-5)) - function(a, b))
            for s in (-1, 1)
            for t in (-1, 1)
        ],
        axis=0,
    )
    assert nearly_perfect_unit_loss(task) == pytest.approx(np.mean(worst**2), rel=0.02)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (SimpleFunction("square", in_features=2, subsets=((0,), (1,))), "operation is 'square'"),
        (SimpleFunction("mul"), "subsets is None"),
        (SimpleFunction("mul", in_features=2, subsets=((0,), (0,))), "give two different inputs"),
    ],
)
def test_the_criterion_for_one_unit_needs_two_operands(task, message):
    with pytest.raises(ValueError, match=message):
        nearly_perfect_unit_loss(task)


@pytest.mark.parametrize("operation", ["add", "sub", "div", "root"])
def test_table_6_without_a_network(operation, tmp_path):
    """Sums of 25 of 100 inputs, found from 400 rows without noise."""
    study = get("madsen2020.closed_form")(Seeds(3), operations=(operation,))
    parts = [study.run(chunk, tmp_path, lambda _fraction: None) for chunk in study.chunks()]
    outcomes = pl.concat([part.outcomes for part in parts])
    assert outcomes["extrapolation_loss"].max() < 1e-20
    assert outcomes["extrapolation_loss"].n_unique() == 3
    (row,) = study.summarize(outcomes)["closed_form"].rows(named=True)
    assert (row["operation"], row["model"]) == (operation, OF_SUMS[operation][0])
    assert (row["rows"], row["seeds"], row["solved"]) == (400, 3, 3)


def test_pairs_and_null_vector_find_the_subsets():
    x = np.random.default_rng(3).uniform(1, 2, (200, 12))
    first, second = np.zeros((2, 12))
    first[2:7], second[5:9] = 1, 1
    a, b = x @ first, x @ second
    weight, function = null_vector(x, a / b)
    assert weight.tolist() == [*first, *second]
    rows = np.random.default_rng(4).uniform(2, 6, (5, 12))
    np.testing.assert_allclose(function(rows), (rows @ first) / (rows @ second), rtol=1e-13)
    weight, function = quadratic(x, a * b)
    symmetric = np.outer(first, second) + np.outer(second, first) - np.diag(first * second)
    assert weight.tolist() == symmetric[np.triu_indices(12)].tolist()
    np.testing.assert_allclose(function(rows), (rows @ first) * (rows @ second), rtol=1e-13)


def test_each_seed_of_a_closed_form_has_rows_of_its_own():
    task = SimpleFunction("mul", in_features=2, subsets=((0,), (1,)))
    losses = [solve("least squares (x)", task, seed)["validation_loss"] for seed in (0, 0, 1, 2)]
    assert losses[0] == losses[1]
    assert len(set(losses)) == 3
