"""The loss of a nearly perfect solution, against a simulation of that solution."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from torchalu.evaluate import nearly_perfect_loss, noise_loss, threshold
from torchalu.tasks import SimpleFunction, intervals
from torchalu.tasks.simple_function import Operation

PUBLISHED: dict[Operation, float] = {
    "mul": 0.160010658743333,
    "add": 1.47861742158438e-5,
    "sub": 1.38437045113029e-8,
}

FOUR = {"in_features": 4, "subsets": ([0, 1], [0, 1, 2, 3]), "extrapolation_range": (0.0, 4.0)}
TASKS = [
    *(SimpleFunction(operation) for operation in ("mul", "add", "sub", "div", "square", "root")),
    SimpleFunction("mul", **FOUR),
    SimpleFunction("mul", in_features=20, extrapolation_range=((-6.0, -2.0), (2.0, 6.0))),
    SimpleFunction("square", in_features=8, extrapolation_range=((-3.0, -2.0), (1.0, 6.0))),
    SimpleFunction("add", in_features=20, overlap_ratio=0.0, extrapolation_range=(-6.0, -2.0)),
    SimpleFunction("sub", in_features=20, overlap_ratio=0.75, extrapolation_range=(1.1, 1.2)),
    SimpleFunction(
        "div", in_features=2, subsets=((0,), (1,)), extrapolation_range=((-6, -2), (2, 6))
    ),
    SimpleFunction("mul", in_features=12, extrapolation_range=(2.0, 6.0), correlation=0.5),
    SimpleFunction("div", in_features=12, extrapolation_range=(2.0, 6.0), correlation=0.9),
    SimpleFunction(
        "mul", in_features=5, subsets=((0, 0, 1), (2, 3)), extrapolation_range=(-1.0, 2.0)
    ),
]


def rows_of(task, rows, seed):
    """Inputs of the extrapolation range, and the exact targets."""
    generator = np.random.default_rng(seed)
    sides = [
        generator.uniform(*side, (rows, task.in_features))
        for side in intervals(task.extrapolation_range)
    ]
    x = np.where(generator.random((rows, task.in_features)) < 0.5, sides[0], sides[-1])
    if task.correlation:
        ((low, high),) = intervals(task.extrapolation_range)
        common = generator.uniform(low, high, (rows, 1))
        share = np.sqrt(task.correlation) / (
            np.sqrt(task.correlation) + np.sqrt(1 - task.correlation)
        )
        x = share * common + (1 - share) * x
        assert np.corrcoef(x[:, 0], x[:, 1])[0, 1] == pytest.approx(task.correlation, abs=0.02)
    subsets = task.subsets_of(7, 3)
    return x, subsets, task.target(torch.from_numpy(x), *subsets)[:, 0].numpy()


def simulated(task, eps, rows, seed):
    """Equation 16 as it stands: two weight matrices and the second layer on their hidden units."""
    x, subsets, target = rows_of(task, rows, seed)
    weight = np.zeros((2, task.in_features))
    for row, subset in zip(weight, subsets, strict=True):
        np.add.at(row, subset, 1)
    z1, z2 = (x @ np.where(weight > 0, weight - eps, eps).T).T
    output = {
        "mul": z1 * z2,
        "add": z1 + z2,
        "sub": z1 - z2,
        "div": z1 / z2,
        "square": z1 * z1,
        "root": np.sqrt(np.abs(z1)),
    }[task.operation]
    error = (output - target) ** 2
    return error.mean(), error.std() / np.sqrt(rows)


@pytest.mark.parametrize("task", TASKS, ids=lambda t: f"{t.operation}-{t.extrapolation_range}")
@pytest.mark.parametrize("eps", [1e-5, 1e-2])
def test_is_that_of_the_solution_it_describes(task, eps):
    mean, deviation = simulated(task, eps, 50_000, seed=1)
    own = 2e-3 if task.operation in ("div", "root") else 1e-9
    assert nearly_perfect_loss(task, eps=eps) == pytest.approx(mean, abs=5 * deviation + own * mean)


@pytest.mark.parametrize("task", TASKS, ids=lambda t: f"{t.operation}-{t.extrapolation_range}")
def test_noise_loss_is_the_error_of_targets_with_that_noise(task):
    _, _, target = rows_of(task, 50_000, seed=2)
    error = (0.3 * target * np.random.default_rng(5).standard_normal(len(target))) ** 2
    deviation = error.std() / np.sqrt(len(error))
    own = 2e-3 if task.operation == "div" else 1e-9
    assert noise_loss(replace(task, noise=0.3)) == pytest.approx(
        error.mean(), abs=5 * deviation + own * error.mean()
    )


def test_noise_loss_of_a_product_of_two_numbers():
    pair = {"in_features": 2, "subsets": ((0,), (1,)), "noise": 0.1}
    square = (6**3 - 2**3) / (3 * 4)  # of one number, in the mean
    product, root = (SimpleFunction(operation, **pair) for operation in ("mul", "root"))
    assert noise_loss(product) == pytest.approx(0.01 * square**2, rel=1e-12)
    assert noise_loss(root) == pytest.approx(0.01 * 4, rel=1e-12)
    assert noise_loss(SimpleFunction("div", **pair), rows=1000, seed=1) == pytest.approx(
        0.01 * square / 12, rel=0.2
    )
    with pytest.raises(ValueError, match="noise of 0"):
        noise_loss(replace(product, noise=0.0))
    with pytest.raises(ValueError, match="rows is 0"):
        noise_loss(product, rows=0)
    with pytest.raises(ValueError, match="may be negative"):
        noise_loss(replace(root, extrapolation_range=(-6.0, -2.0)))


def test_closed_forms_of_sums():
    width, mean = (6 - 2) ** 2 / 12, 4
    both, one, neither = 12, 26, 62
    add = 1e-10 * (4 * (both + neither) * width + (2 * (neither - both) * mean) ** 2)
    assert nearly_perfect_loss(SimpleFunction("add")) == pytest.approx(add, rel=1e-12)
    assert nearly_perfect_loss(SimpleFunction("sub")) == pytest.approx(
        4e-10 * one * width, rel=1e-12
    )


def test_published_thresholds():
    """They are simulations with 26 of 100 inputs in each subset, 13 of them in both."""
    wide = (tuple(range(26)), tuple(range(13, 39)))
    for operation, published in PUBLISHED.items():
        assert threshold(SimpleFunction(operation)) == published
        exact = nearly_perfect_loss(SimpleFunction(operation, subsets=wide))
        assert published == pytest.approx(exact, rel=3e-3)
        assert nearly_perfect_loss(SimpleFunction(operation)) > published


def test_thresholds_of_other_tasks_are_computed():
    for task in (SimpleFunction("square"), SimpleFunction("mul", in_features=60), TASKS[6]):
        assert threshold(task) == nearly_perfect_loss(task)
    same = SimpleFunction("mul", interpolation_range=(0.0, 1.0), evaluation_rows=5, noise=0.01)
    assert threshold(same) == threshold(SimpleFunction("mul"))
    listed = SimpleFunction("mul", extrapolation_range=[2.0, 6.0])  # pyright: ignore[reportArgumentType]
    assert threshold(listed) == threshold(SimpleFunction("mul"))
    assert nearly_perfect_loss(listed) == nearly_perfect_loss(SimpleFunction("mul"))
    assert threshold(SimpleFunction("mul", correlation=0.5)) > 0.17


@pytest.mark.parametrize("operation", ["mul", "div"])
def test_does_not_depend_on_where_the_subsets_lie(operation):
    losses = [
        nearly_perfect_loss(
            SimpleFunction(
                operation,
                in_features=20,
                subsets=(tuple(range(o, o + 5)), tuple(range(o + 3, o + 8))),
            )
        )
        for o in (0, 11)
    ]
    drawn = nearly_perfect_loss(SimpleFunction(operation, in_features=20))
    assert losses == pytest.approx([drawn, drawn], rel=1e-9 if operation == "mul" else 5e-3)


def test_is_quick_and_repeatable():
    start = time.perf_counter()
    loss = nearly_perfect_loss(SimpleFunction("root"), seed=3)
    assert time.perf_counter() - start < 5
    start = time.perf_counter()
    assert (
        nearly_perfect_loss(SimpleFunction("root", interpolation_range=(1.0, 2.0)), seed=3) == loss
    )
    assert time.perf_counter() - start < 0.1
    assert nearly_perfect_loss(SimpleFunction("root"), seed=4) == pytest.approx(loss, rel=2e-3)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            SimpleFunction("div", extrapolation_range=((-6.0, -2.0), (2.0, 6.0))),
            "second sum may be 0",
        ),
        (SimpleFunction("div", extrapolation_range=(-1.0, 2.0)), "second sum may be 0"),
        (SimpleFunction("root", extrapolation_range=(-6.0, -2.0)), "first sum may be negative"),
    ],
)
def test_refuses_what_has_no_loss(task, message):
    with pytest.raises(ValueError, match=message):
        threshold(task)


@pytest.mark.parametrize("arguments", [{"eps": 0.0}, {"eps": float("nan")}, {"rows": 0}])
def test_arguments(arguments):
    name = next(iter(arguments))
    with pytest.raises(ValueError, match=f"{name} is .*; give a positive"):
        nearly_perfect_loss(SimpleFunction("mul"), **arguments)


@pytest.mark.parametrize(
    ("changes", "apart", "width"),
    [
        ({"extrapolation_range": (2.0, 4.0)}, 26, 2),
        ({"overlap_ratio": 0.0}, 50, 4),
        ({"subset_ratio": 0.5}, 50, 4),
    ],
)
def test_a_published_threshold_is_of_the_papers_setting_alone(changes, apart, width):
    """To a difference an input contributes that one sum alone has: 2 eps of its deviation."""
    task = SimpleFunction("sub", **changes)
    assert threshold(task) == pytest.approx(4e-10 * apart * width**2 / 12, rel=1e-12)


def test_the_seed_settles_the_simulation():
    root, exact = SimpleFunction("root"), nearly_perfect_loss(SimpleFunction("root"))
    losses = [nearly_perfect_loss(root, rows=1000, seed=seed) for seed in range(3)]
    assert losses == pytest.approx([exact] * 3, rel=0.2)
    assert len(set(losses)) == 3


def test_a_range_that_begins_at_0_suits_a_root_and_no_quotient():
    pair = {"in_features": 2, "subsets": ((0,), (1,)), "extrapolation_range": (0.0, 4.0)}
    with pytest.raises(ValueError, match="second sum may be 0"):
        nearly_perfect_loss(SimpleFunction("div", **pair))
    root = SimpleFunction("root", noise=0.1, **pair)
    assert noise_loss(root) == pytest.approx(0.01 * 2, rel=1e-12)  # the mean of U[0, 4] is 2
