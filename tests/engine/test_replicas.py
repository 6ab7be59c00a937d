"""What a replica's result depends on: its seed and its number, and nothing else."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from torchalu import _core
from torchalu.engine import (
    Run,
    TrainingInterrupted,
    instruction_sets,
    select_instruction_set,
    train,
    train_together,
)
from torchalu.nn import NAU, NMU, NACMul
from torchalu.tasks import SimpleFunction, Table

TASK = SimpleFunction("mul", in_features=12, subset_ratio=0.25, evaluation_rows=500)
OPTIONS = {"steps": 300, "seed": 9, "evaluate_every": 100, "penalty": 1.0, "penalty_end": 200}


def stack():
    return [NAU(12, 2), NMU(2, 1)]


def test_neighbors_and_threads_do_not_matter():
    many = train(stack(), TASK, replicas=7, threads=2, **OPTIONS)
    few = train(stack(), TASK, replicas=[5, 2], threads=1, **OPTIONS)
    for name, value in few.parameters.items():
        assert torch.equal(value[0], many.parameters[name][5])
        assert torch.equal(value[1], many.parameters[name][2])
    assert few.records.filter(replica=5).equals(many.records.filter(replica=5))


def test_replicas_and_seeds_differ():
    result = train(stack(), TASK, replicas=2, **OPTIONS)
    other = train(stack(), TASK, replicas=1, **(OPTIONS | {"seed": 10}))
    weight = result.parameters["0.weight"]
    assert not torch.equal(weight[0], weight[1])
    assert not torch.equal(weight[0], other.parameters["0.weight"][0])


@pytest.mark.parametrize("first", [100, 137])
def test_resumed_equals_uninterrupted(first):
    whole = train(stack(), TASK, replicas=3, **OPTIONS)
    half = train(stack(), TASK, replicas=3, **(OPTIONS | {"steps": first}))
    rest = train(stack(), TASK, replicas=3, resume=half, **OPTIONS)
    for name, value in whole.parameters.items():
        assert torch.equal(rest.parameters[name], value)
    assert np.array_equal(half.steps, [first] * 3)  # the given result is not changed
    assert rest.status == ["finished"] * 3


@pytest.mark.usefixtures("interruptible")
def test_interrupt_keeps_the_state_and_resumes_to_the_same():
    long = OPTIONS | {"steps": 10**10, "evaluate_every": 10**9}
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(TrainingInterrupted) as caught:
        train(stack(), TASK, replicas=2, threads=1, **long)
    timer.join()
    stopped = caught.value.result
    assert stopped.status == ["running", "running"]
    assert 0 < stopped.steps[0] < 10**10
    assert stopped.steps[1] == 0
    goal = long | {"steps": int(stopped.steps[0]) + 100}
    rest = train(stack(), TASK, replicas=2, resume=stopped, **goal)
    whole = train(stack(), TASK, replicas=2, **goal)
    for name, value in whole.parameters.items():
        assert torch.equal(rest.parameters[name], value)


def test_those_that_were_done_when_it_was_interrupted_stay_as_they_are():
    run, steps = Run(stack(), TASK), 200_000
    options = {"replicas": 4, "threads": 1, "steps": steps, "evaluate_every": 50_000}
    with pytest.raises(TrainingInterrupted) as caught:
        train_together([run], poll=lambda done: done < steps, **options)
    (stopped,) = caught.value.result
    assert stopped.status[0] == "finished"
    assert "running" in stopped.status
    (rest,) = train_together([run], resume=[stopped], **options)
    assert (rest.status, rest.steps.tolist()) == (["finished"] * 4, [steps] * 4)
    (whole,) = train_together([run], **options)
    assert all(torch.equal(rest.parameters[k], v) for k, v in whole.parameters.items())


def test_steps_are_those_of_both_parts():
    done = train(stack(), TASK, replicas=2, **OPTIONS)
    again = train(stack(), TASK, replicas=2, resume=done, **OPTIONS)
    assert all(torch.equal(again.parameters[k], v) for k, v in done.parameters.items())
    with pytest.raises(
        ValueError, match="steps is 200, but replica 0 of resume stands at step 300"
    ):
        train(stack(), TASK, replicas=2, resume=done, **(OPTIONS | {"steps": 200}))


def test_nan_ends_one_replica_and_touches_no_other():
    initial = {
        "0.weight": torch.full((3, 1, 2), 0.1),
        "1.weight": torch.tensor([0.5, 3e38, 0.7]).reshape(3, 1, 1),
    }
    table = Table([[1.0, 2.0], [3.0, 4.0], [2.0, 5.0]], [1.0, 2.0, 3.0])
    layers = [nn.Linear(2, 1, bias=False), nn.Linear(1, 1, bias=False)]
    broken = train(layers, table, replicas=3, steps=50, initial=initial)
    assert broken.status == ["finished", "nan", "finished"]
    assert broken.steps.tolist() == [50, 0, 50]
    assert broken.records.filter(replica=1).height == 1
    assert torch.isinf(torch.tensor(broken.records.filter(replica=1)["training_loss"][0]))
    healthy = train(
        layers, table, replicas=[2], steps=50, initial={k: v[2:] for k, v in initial.items()}
    )
    assert torch.equal(healthy.parameters["0.weight"][0], broken.parameters["0.weight"][2])


def test_stops_when_the_goal_is_met_and_only_then():
    table = Table([[1.0, 2.0], [3.0, 4.0], [2.0, 5.0]], [3.0, 7.0, 7.0])
    result = train(
        [NAU(2, 1)], table, replicas=4, steps=100_000, learning_rate=0.01, evaluate_every=50,
        stop_below=1e-9, stop_patience=2,
    )  # fmt: skip
    assert result.status == ["stopped"] * 4
    for replica in range(4):
        losses = result.records.filter(replica=replica)["validation_loss"].to_list()
        assert max(losses[-2:]) <= 1e-9
        assert all(max(pair) > 1e-9 for pair in itertools.pairwise(losses[:-1]))
    assert result.module(0)[0].weight.detach().numpy() == pytest.approx(1, abs=1e-3)


def test_best_parameters_are_those_of_the_lowest_validation_loss():
    result = train(stack(), TASK, replicas=3, **(OPTIONS | {"learning_rate": 0.3}))
    lowest = result.records.group_by("replica").agg(low=("validation_loss")).sort("replica")
    for replica in range(3):
        losses = lowest["low"][replica]
        assert result.validation_loss[replica] == losses.min()
    assert any(
        not torch.equal(result.best_parameters["0.weight"][r], result.parameters["0.weight"][r])
        for r in range(3)
    )


@pytest.mark.parametrize("isa", instruction_sets())
def test_batches_are_the_same_on_every_instruction_set(isa):
    drawn = []
    for name in ("baseline", isa):
        select_instruction_set(name)
        x = torch.empty(5, 48)
        _core.sample(3, 1, 0, 77, (0.0, 1.0, 0.0, 1.0, False), x)
        drawn.append(x)
    select_instruction_set(instruction_sets()[-1])
    assert torch.equal(*drawn)


def test_uniform_numbers_pass_tests_of_distribution_and_independence():
    x = torch.empty(64, 128)
    batches = []
    for step in range(200):
        _core.sample(3, 1, 0, step, (0.0, 1.0, 0.0, 1.0, False), x)
        batches.append(x.clone().numpy())
    u = np.stack(batches)  # step, feature, row
    assert u.min() >= 0
    assert u.max() < 1
    assert stats.kstest(u.ravel()[:200_000], "uniform").pvalue > 1e-3
    assert u.var() == pytest.approx(1 / 12, rel=2e-3)
    centered = u - 0.5
    for axis in range(3):  # neighbors in step, feature and row are uncorrelated
        a = np.moveaxis(centered, axis, 0)
        correlation = 12 * np.mean(a[1:] * a[:-1])
        assert abs(correlation) < 5 / np.sqrt(a[1:].size)


def test_two_sided_range_takes_each_side_half_of_the_time():
    x = torch.empty(100, 128)
    _core.sample(3, 1, 0, 0, (-6.0, -2.0, 2.0, 6.0, True), x)
    values = x.numpy().ravel()
    assert np.all((np.abs(values) >= 2) & (np.abs(values) <= 6))
    assert stats.binomtest(int((values > 0).sum()), values.size).pvalue > 1e-3


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"steps": 0}, ValueError, "steps is 0"),
        ({"steps": 2.5}, TypeError, "steps is 2.5"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"seed": 1.5}, TypeError, "seed is 1.5; give an integer, 0 or more"),
        ({"threads": 0}, ValueError, "threads is 0; give a positive"),
        ({"threads": 1.5}, TypeError, "threads is 1.5"),
        ({"betas": 0.9}, ValueError, "betas is 0.9; give two numbers"),
        ({"betas": (2, 2)}, ValueError, "betas is (2, 2)"),
        ({"adam_eps": -1.0}, ValueError, "adam_eps is -1.0"),
        ({"replicas": 2.5}, ValueError, "replicas is 2.5"),
        ({"dtype": torch.float16}, TypeError, "torch.float16"),
        ({"replicas": 0}, ValueError, "replicas is 0"),
        ({"learning_rate": [1e-3] * 5}, ValueError, "learning_rate has the shape"),
        ({"learning_rate": -1.0}, ValueError, "not negative"),
        ({"penalty_start": 10, "penalty_end": 5}, ValueError, "penalty_end is not greater"),
        ({"stack": [NAU(3, 1)]}, ValueError, "stack[0] takes 3"),
        ({"stack": [NAU(12, 2)]}, ValueError, "out_features = 2"),
        ({"stack": [NAU(12, 2), NMU(3, 1)]}, ValueError, "gives 2"),
        ({"stack": [nn.Tanh()]}, TypeError, "stack[0] is a Tanh"),
        ({"stack": []}, ValueError, "stack is empty"),
        ({"task": "mul"}, TypeError, "task is a str"),
        ({"initial": {"0.weight": torch.zeros(2, 12)}}, ValueError, "initial names"),
        ({"validation": Table([[1.0], [2.0]], [1.0, 2.0])}, ValueError, "draws its own"),
    ],
)
def test_bad_arguments(change, error, words):
    call = {"stack": stack(), "task": TASK, **OPTIONS} | change
    with pytest.raises(error) as caught:
        train(**call)
    assert words in str(caught.value)


def test_replicas_may_be_counted_by_numpy():
    assert len(train(stack(), TASK, **OPTIONS | {"replicas": np.int64(2), "steps": 1})) == 2
    assert len(train(stack(), TASK, **OPTIONS | {"replicas": np.array([3, 5]), "steps": 1})) == 2


def test_resume_of_another_run_is_refused():
    result = train(stack(), TASK, replicas=2, **OPTIONS)
    with pytest.raises(ValueError, match="resume comes from another"):
        train(stack(), TASK, replicas=2, resume=result, **(OPTIONS | {"seed": 1}))


def test_module_of_a_replica_computes_what_was_trained():
    layers = [NAU(12, 2), NACMul(2, 1, eps=1e-3)]
    result = train(layers, TASK, replicas=2, **OPTIONS)
    module = result.module(1, best=False)
    assert module[1].eps == 1e-3
    assert torch.equal(module[0].weight, result.parameters["0.weight"][1])
    with pytest.raises(IndexError, match="replica is 2"):
        result.module(2)


def test_other_python_threads_run_meanwhile():
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    ticks_before = len(ticks)
    train(stack(), TASK, threads=1, steps=100_000, evaluate_every=100_000)
    ticked = len(ticks) - ticks_before
    done.set()
    thread.join()
    assert ticked > 5  # a thread that held the lock would leave none
