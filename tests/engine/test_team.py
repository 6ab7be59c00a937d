"""Settings trained side by side: each as if alone, each ended by its own rule."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats
from torch import nn

from torchalu.engine import Run, TrainingInterrupted, sample_batch, train, train_together
from torchalu.nn import NAC, NALU, NAU, NMU, NACMul, RealNPU
from torchalu.tasks import SimpleFunction, Table

SIZES = {"in_features": 12, "subset_ratio": 0.25, "evaluation_rows": 300}
OPTIONS = {"steps": 200, "seed": 3, "evaluate_every": 50, "replicas": [1, 4]}


def settings():
    """Layers that read shared logarithms and layers that do not, on several tasks."""
    return [
        Run([NAU(12, 2), NMU(2, 1)], SimpleFunction("mul", **SIZES), penalty=1.0, penalty_end=100),
        Run([NALU(12, 2), NALU(2, 1)], SimpleFunction("add", **SIZES)),
        Run([NACMul(12, 2, eps=0.1), NAC(2, 1)], SimpleFunction("mul", **SIZES, noise=0.1)),
        Run([NALU(12, 2), NAU(2, 1)], SimpleFunction("sub", **SIZES), learning_rate=0.01),
        Run([RealNPU(12, 2), NAU(2, 1)], SimpleFunction("div", **SIZES)),
        Run(
            [nn.Linear(12, 2), nn.ReLU(), nn.Linear(2, 1)],
            SimpleFunction("root", subsets=((0, 5), (1,)), **SIZES),
        ),
    ]


def alone(run, **options):
    names = ("learning_rate", "penalty", "penalty_end")
    return train(run.stack, run.task, **{n: getattr(run, n) for n in names}, **options)


def same(first, second):
    assert torch.equal(first.state.parameters, second.state.parameters)
    assert torch.equal(first.state.best_parameters, second.state.best_parameters)
    assert first.records.equals(second.records)


def test_each_is_as_if_alone():
    runs = settings()
    for run, result in zip(runs, train_together(runs, **OPTIONS), strict=True):
        same(result, alone(run, **OPTIONS))


@pytest.mark.parametrize("in_features", [2, 9, 17, 33, 100])
def test_how_many_read_the_inputs_together_changes_no_bit(in_features):
    """Sums are formed some at a time, over some inputs at a time; the last ones are fewer."""
    task = SimpleFunction("mul", in_features=in_features, subsets=((0,), (1,)), evaluation_rows=64)
    runs = [Run([NAU(in_features, size), NMU(size, 1)], task) for size in (1, 2, 3, 5, 2)]
    options = {"steps": 50, "evaluate_every": 25}
    for run, result in zip(runs, train_together(runs, **options), strict=True):
        same(result, alone(run, **options))


def test_one_that_diverges_leaves_the_others_as_they_are():
    diverging = Run(
        [nn.Linear(12, 2), nn.Linear(2, 1)], SimpleFunction("mul", **SIZES), learning_rate=1e30
    )
    runs = settings()
    results = train_together([*runs[:2], diverging, *runs[2:]], **OPTIONS)
    assert results.pop(2).status == ["nan", "nan"]
    for run, result in zip(runs, results, strict=True):
        same(result, alone(run, **OPTIONS))


def test_resumed_equals_uninterrupted():
    whole = train_together(settings(), **OPTIONS)
    half = train_together(settings(), **(OPTIONS | {"steps": 100}))
    for first, second in zip(
        train_together(settings(), resume=half, **OPTIONS), whole, strict=True
    ):
        same(first, second)


def test_poll_stops_and_the_rest_resumes():
    long = OPTIONS | {"steps": 10**9, "evaluate_every": 10**8}
    with pytest.raises(TrainingInterrupted) as caught:
        train_together(settings(), poll=lambda _: False, **long)
    stopped = caught.value.result
    steps = {int(step) for result in stopped for step in result.steps}
    assert len(stopped) == 6
    assert max(steps) < 10**9
    target = max(steps) + 10
    plain = {"steps": target, "seed": 3, "evaluate_every": 10**8}
    # Each replica stands at its own step; each pair goes on to the same as without a stop.
    same_steps = [result.steps.tolist() for result in stopped]
    assert all(steps == same_steps[0] for steps in same_steps)
    rest = train_together(settings(), resume=stopped, replicas=[1, 4], **plain)
    whole = train_together(settings(), replicas=[1, 4], **plain)
    for first, second in zip(rest, whole, strict=True):
        assert torch.equal(first.state.parameters, second.state.parameters)


def test_a_table_is_shared_as_well():
    generator = np.random.default_rng(0)
    x = generator.uniform(1, 2, (40, 3))
    table = Table(x, x[:, 0] * x[:, 1])
    runs = [Run([NAU(3, 2), NMU(2, 1)], table), Run([NALU(3, 1)], table)]
    for run, result in zip(runs, train_together(runs, **OPTIONS), strict=True):
        same(result, alone(run, **OPTIONS))


def ends_at(records, goal, settle, stall, ramp_end):
    """The rule of `settle` and `stall`, written out over the records of a run to the end."""
    best, solved, reference, improved = np.inf, False, np.inf, 0
    for row in records.iter_rows(named=True):
        validation = row["validation_loss"]
        if validation < best:
            best, solved = validation, row["extrapolation_loss"] < goal
        if validation < 0.99 * reference:
            reference, improved = validation, row["step"]
        if row["step"] - max(improved, ramp_end) >= (settle if solved else stall):
            return row["step"]
    return records["step"].max()


@pytest.mark.parametrize(("settle", "stall"), [(1000, 3000), (2000, 500)])
def test_a_run_ends_when_nothing_improves(settle, stall):
    task = SimpleFunction("sub", in_features=3, subsets=((0,), (1,)), evaluation_rows=64)
    both = {"penalty": 0.1, "penalty_start": 500, "penalty_end": 2500, "learning_rate": 0.01}

    def runs(**end):
        return [
            Run([NAU(3, 1)], task, goal=1e-8, **both, **end),
            Run([NMU(3, 1)], task, goal=1e-8, **both, **end),  # cannot be solved
        ]

    options = {"steps": 8000, "evaluate_every": 100, "replicas": 3, "seed": 1}
    ended = train_together(runs(settle=settle, stall=stall), **options)
    whole = train_together(runs(), **options)
    for early, full in zip(ended, whole, strict=True):
        for replica in range(3):
            records = full.records.filter(replica=replica)
            expected = ends_at(records, 1e-8, settle, stall, 2500)
            assert early.steps[replica] == expected
            mine = early.records.filter(replica=replica)
            assert mine.equals(records.filter(pl.col("step") <= expected))
    assert ended[0].status == ["stopped"] * 3
    assert max(ended[0].steps) < 8000  # the rule was put to work


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (SimpleFunction("add", in_features=11, subset_ratio=0.25), "in_features = 11"),
        (SimpleFunction("add", **SIZES, interpolation_range=(0.0, 1.0)), "interpolation_range"),
        (SimpleFunction("add", **SIZES, correlation=0.5), "correlation = 0.5"),
    ],
)
def test_runs_that_cannot_share_inputs(other, message):
    runs = [*settings(), Run([NAU(other.in_features, 1)], other)]
    with pytest.raises(ValueError, match=message):
        train_together(runs, **OPTIONS)


def test_bad_input():
    with pytest.raises(ValueError, match="runs is empty"):
        train_together([], **OPTIONS)
    for change in ({"settle": 0}, {"stall": -1}, {"stop_patience": 0}):
        ((name, value),) = change.items()
        with pytest.raises(ValueError, match=f"{name} is {value}"):
            train_together([replace(settings()[0], **change)], **OPTIONS)
    done = train_together(settings()[:1], **OPTIONS)
    with pytest.raises(ValueError, match="resume holds 1 results"):
        train_together(settings(), resume=done, **OPTIONS)


def test_noise_is_normal_and_relative_and_spares_the_test_rows():
    clean = SimpleFunction("mul", **SIZES)
    noisy = SimpleFunction("mul", **SIZES, noise=0.01)
    errors = []
    for step in range(40):
        options = {"seed": 2, "replica": 5, "step": step, "dtype": torch.float64}
        (x, exact), (same_x, y) = sample_batch(clean, **options), sample_batch(noisy, **options)
        assert torch.equal(x, same_x)
        errors.append(((y / exact - 1) / 0.01).flatten())
    assert stats.kstest(torch.cat(errors).numpy(), "norm").pvalue > 0.01
    records = [
        train([NAU(12, 1)], task, steps=1, learning_rate=0.0, seed=2).records
        for task in (clean, noisy)
    ]
    assert records[0]["extrapolation_loss"].equals(records[1]["extrapolation_loss"])
    assert not records[0]["validation_loss"].equals(records[1]["validation_loss"])


def test_noise_reaches_the_training():
    """Plain least squares on the very batches of `sample_batch`, in PyTorch."""
    task = SimpleFunction("add", **SIZES, noise=0.2, correlation=0.3)
    start = torch.full((1, 12), 0.1, dtype=torch.float64)
    options = {"steps": 30, "replicas": [2], "seed": 5, "dtype": torch.float64}
    actual = train([NAU(12, 1)], task, initial={"0.weight": start}, **options)
    weight = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([weight], lr=1e-3)
    for step in range(30):
        x, y = sample_batch(task, seed=5, replica=2, step=step, dtype=torch.float64)
        optimizer.zero_grad()
        nn.functional.mse_loss(x @ weight.T, y).backward()
        optimizer.step()
    torch.testing.assert_close(
        actual.parameters["0.weight"][0], weight.detach(), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("correlation", [0.2, 0.5, 0.9])
def test_inputs_are_correlated_within_their_range(correlation):
    task = SimpleFunction("mul", **SIZES, correlation=correlation)
    x = torch.cat([sample_batch(task, seed=0, replica=0, step=k)[0] for k in range(200)]).numpy()
    assert x.min() >= 1
    assert x.max() <= 2
    found = np.corrcoef(x.T)[~np.eye(12, dtype=bool)]
    # The standard error of a correlation on 25,600 rows is below 0.0065.
    assert np.abs(found - correlation).max() < 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": -0.1}, "noise is -0.1"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"correlation": 1.0}, "correlation is 1.0"),
        (
            {"correlation": 0.5, "extrapolation_range": ((-6.0, -2.0), (2.0, 6.0))},
            "two-sided range",
        ),
    ],
)
def test_bad_noise(change, message):
    with pytest.raises(ValueError, match=message):
        SimpleFunction("mul", **SIZES, **change)


def test_runs_whose_tasks_are_of_different_kinds():
    one, other = (Table(np.eye(3), np.arange(3.0), ("a", "b", "c"), "y") for _ in range(2))
    function = Run([NAU(3, 1)], SimpleFunction("add", in_features=3, subset_ratio=0.4))
    for runs, message in (
        ([function, Run([NAU(3, 1)], one)], "task = a Table, but runs.0. has a SimpleFunction"),
        ([Run([NAU(3, 1)], one), function], "task = a SimpleFunction, but runs.0. has a Table"),
        ([Run([NAU(3, 1)], one), Run([NAU(3, 1)], other)], "task = another one, but runs.0. has a"),
    ):
        with pytest.raises(ValueError, match=message):
            train_together(runs, steps=10)
