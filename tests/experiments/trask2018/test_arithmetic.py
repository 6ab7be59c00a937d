"""Tables 6 to 9: the data, the training and the studies."""

import dataclasses
import re
from pathlib import Path

import polars as pl
import pytest
import torch

from torchalu import sweep
from torchalu.engine import train
from torchalu.experiments import get
from torchalu.experiments.trask2018.arithmetic import table6, table8
from torchalu.experiments.trask2018.arithmetic_data import FORMS, STATIC, ArithmeticData
from torchalu.experiments.trask2018.arithmetic_models import (
    RECURRENT_MODELS,
    STATIC_MODELS,
    arithmetic_model,
)
from torchalu.experiments.trask2018.arithmetic_training import (
    MEASURED,
    ArithmeticRuns,
    is_native,
    learn,
    measure,
    measure_snapped,
    start,
)
from torchalu.export import snap
from torchalu.tasks import RecurrentFunction
from torchalu.train import Stopped

TINY = ArithmeticRuns(
    seeds=2, steps=20, learning_rates=(0.01,), batch_size=8, evaluate_every=10, rows=6
)
NATIVE = {"ReLU", "Relu6", "None", "NAC", "NALU", "NAU", "NMU", "Gated NAU/NMU", "RealNPU"}
NATIVE |= {"iNALU", "NMRU"}


def only(study):
    (chunk,) = study.chunks()
    return chunk


def test_a_native_run_that_diverges_is_recorded_as_such(tmp_path):
    """The trainer keeps the last finite parameters, so that these do not show it."""
    runs = ArithmeticRuns(seeds=1, first_seed=17, steps=200, learning_rates=(0.01,))
    study = table6(runs, models=("NALU", "NAU"), operations=("add",))
    parts = [study.run(chunk, tmp_path, lambda _: None) for chunk in study.chunks()]
    outcomes = pl.concat([part.outcomes for part in parts])
    assert outcomes.select("model", "status").rows() == [("NALU", "nan"), ("NAU", "finished")]
    assert outcomes["steps"][0] < outcomes["steps"][1] == 200


@pytest.mark.parametrize("name", FORMS)
def test_targets_are_those_of_the_tasks(name):
    form = FORMS[name]
    data = ArithmeticData(form, form.operations, [3, 8], batch_size=5, rows=4)
    inputs, targets = data.batch(7)
    assert targets.shape == (2, len(form.operations), 5, 1)
    for index, seed in enumerate((3, 8)):
        for place, operation in enumerate(form.operations):
            if name == "static":
                task = data.function(index, operation)
                expected = task.target(inputs[index].double(), *task.subsets_of(0, 0))
            else:
                task = RecurrentFunction(operation, seed=seed)
                assert torch.equal(inputs[index], task.batch(7, 5).inputs)
                expected = task.target(inputs[index].double())
            torch.testing.assert_close(targets[index, place], expected.float())


def test_static_extrapolation_is_beyond_training():
    data = ArithmeticData(STATIC, ("identity",), [0, 1], batch_size=500, rows=500)
    trained = data.batch(0)
    for index, task in enumerate(data.tasks):
        (start_, end), _ = task.summed_sections
        greatest = 0.2 * (end - start_)
        assert trained.targets[index].max() < greatest
        assert data.extrapolation(index).targets.min() > greatest


@pytest.mark.parametrize("name", FORMS)
def test_no_row_is_in_two_parts(name):
    data = ArithmeticData(FORMS[name], ("add",), [0, 1], batch_size=6, rows=6)
    parts = [data.batch(0), data.batch(1), data.validation(), data.interpolation()]
    rows = [tuple(row.flatten().tolist()) for part in parts for row in part.inputs.flatten(0, 1)]
    assert len(set(rows)) == len(rows) == 48


def test_the_native_trainer_has_what_it_knows():
    models = [arithmetic_model("static", name) for name in STATIC_MODELS]
    assert {m.name for m in models if is_native(m.build(100), STATIC)} == NATIVE


@pytest.mark.parametrize(
    ("make", "model"),
    [(table6, name) for name in STATIC_MODELS] + [(table8, name) for name in RECURRENT_MODELS],
)
def test_twenty_steps_of_each_model(make, model, monkeypatch, tmp_path):
    short = dataclasses.replace(FORMS["recurrent"], extrapolation_length=30)
    monkeypatch.setattr("torchalu.experiments.trask2018.arithmetic.RECURRENT", short)
    study = make(TINY, models=(model,))
    part = study.run(only(study), tmp_path, lambda done: None)
    count = 2 * len(study.operations)
    assert part.outcomes.height == count
    assert part.outcomes.select(study.keys).is_unique().all()
    assert part.outcomes["steps"].unique().to_list() == [20]
    assert part.records["step"].unique().sort().to_list() == [10, 20]
    best = part.records.group_by("operation", "seed").agg(pl.col("validation_loss").min())
    joined = part.outcomes.join(best, on=["operation", "seed"])
    assert joined["validation_loss"].to_list() == pytest.approx(
        joined["validation_loss_right"].to_list(), rel=1e-6
    )
    assert all(value.shape[:2] == (2, count // 2) for value in part.weights.values())


@pytest.mark.parametrize("model", ["NAU", "Crelu"])
def test_sums_are_learned(model):
    """Natively and batched: a sum of two inputs, beyond the range of training."""
    form = dataclasses.replace(
        STATIC, in_features=2, sampling_range=(0.0, 1.0), extrapolation_range=(1.0, 2.0)
    )
    runs = ArithmeticRuns(seeds=3, steps=600, evaluate_every=100, rows=50)
    data = ArithmeticData(form, ("add",), range(3), 32, 50)
    network = arithmetic_model("static", model)
    replicas, _ = learn(network, data, range(3), 0.02, runs)
    untrained = measure(start(network, form, range(3), 1), data)["extrapolation_error"]
    assert (measure(replicas, data)["extrapolation_error"] < 1e-3 * untrained).any()


def test_a_seed_is_what_it_is_alone(tmp_path):
    """Sections, inputs, start and the random network follow from the seed; so does the result."""
    both = table6(TINY, models=("Tanh",))
    runs = dataclasses.replace(TINY, seeds=1, first_seed=1)
    second = table6(runs, models=("Tanh",))
    one = both.run(only(both), tmp_path / "a", lambda done: None).outcomes
    two = second.run(only(second), tmp_path / "b", lambda done: None).outcomes
    mine = one.filter(pl.col("seed") == 1)
    for name in ("validation_loss", "extrapolation_error", "interpolation_random"):
        assert mine[name].to_list() == pytest.approx(two[name].to_list(), rel=1e-4)


@pytest.mark.parametrize(("make", "model"), [(table6, "Tanh"), (table6, "NMU"), (table8, "GRU")])
@pytest.mark.usefixtures("every_step_reports")
def test_resume_gives_the_same(make, model, tmp_path):
    def stop(done):
        if done > 0:
            raise Stopped("enough")

    study = make(TINY, models=(model,), operations=("mul", "sub"))
    with pytest.raises(Stopped):
        study.run(only(study), tmp_path / "broken", stop)
    again = study.run(only(study), tmp_path / "broken", lambda done: None)
    whole = study.run(only(study), tmp_path / "whole", lambda done: None)
    assert again.records.equals(whole.records)
    assert again.outcomes.equals(whole.outcomes)
    assert all(torch.equal(again.weights[name], value) for name, value in whole.weights.items())


@pytest.mark.parametrize("name", FORMS)
def test_snapped_errors_are_those_of_the_snapped_networks(name):
    """Each network alone, snapped and run on the rows that it is tested on."""
    form = dataclasses.replace(FORMS[name], extrapolation_length=1 if name == "static" else 20)
    data = ArithmeticData(form, ("add", "mul"), [3, 8], batch_size=8, rows=6)
    model = arithmetic_model(name, "NMU")
    replicas, _ = learn(model, data, [3, 8], 0.01, TINY)
    found = measure_snapped(replicas, data)
    assert list(found) == [f"snapped_{each}" for each in MEASURED]
    for seed in range(2):
        tests = (data.validation(), data.interpolation(), data.extrapolation(seed))
        for task in range(2):
            one = model.build(form.in_features)
            one.load_state_dict({k: v[seed, task] for k, v in replicas.current().items()})
            snap(one)
            for rows, errors in zip(tests, found.values(), strict=True):
                place = seed if len(rows.inputs) > 1 else 0
                off = one(rows.inputs[place]).double() - rows.targets[place, task].double()
                assert errors[seed, task].item() == pytest.approx(off.square().mean().item(), 1e-4)


def test_networks_without_units_are_not_snapped():
    data = ArithmeticData(STATIC, ("add",), [0, 1], batch_size=8, rows=6)
    network = start(arithmetic_model("static", "Tanh"), STATIC, [0, 1], 1)
    for errors in measure_snapped(network, data).values():
        assert errors.shape == (2, 1)
        assert errors.isnan().all()


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (table6, {"models": ("NUM",)}, "did you mean 'NMU'"),
        (table6, {"models": ()}, "models is empty"),
        (table6, {"operations": ("identity",)}, "operations holds 'identity'"),
        (table8, {"models": ("Tanh",)}, "models holds 'Tanh'"),
    ],
)
def test_wrong_words_are_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"first_seed": -1}, "first_seed is -1"),
        ({"learning_rates": ()}, "learning_rates is"),
        ({"learning_rates": (0.1, 0.1)}, "each once"),
    ],
)
def test_wrong_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ArithmeticRuns(**options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("table6", {"models": ("NMU", "Tanh", "NMRU"), "operations": ("mul",)}),
        ("table8", {"models": ("NMU", "LSTM", "NALU"), "operations": ("mul",)}),
    ],
)
def test_two_minutes_of_an_experiment(name, options, tmp_path):
    runs = ArithmeticRuns(seeds=3, steps=1500, learning_rates=(0.01,), evaluate_every=250)
    study = get(f"trask2018.{name}")(runs, **options)
    outcomes = sweep.run(study, Path(tmp_path))
    assert outcomes.height == 9
    better = outcomes["interpolation_error"] < outcomes["interpolation_random"]
    assert better.sum() >= 7


def test_the_native_trainer_gets_the_seeds_inputs_its_start_and_the_ramped_penalty():
    """The penalty of 10 sets in at a fifth of 20 steps, and is whole at two fifths."""
    data = ArithmeticData(STATIC, ("mul",), [4], batch_size=8, rows=6)
    model = arithmetic_model("static", "NMU")
    replicas, records = learn(model, data, [4], 0.01, TINY)
    begin = start(model, STATIC, [4], 1).current()
    alone = train(
        list(model.build(100).children()), data.function(0, "mul"), steps=20, replicas=[4],
        batch_size=8, evaluate_every=10, learning_rate=0.01, penalty=10.0, penalty_start=4,
        penalty_end=8, initial={name: value[0, 0] for name, value in begin.items()}, threads=1,
    )  # fmt: skip
    assert records["training_loss"].to_list() == alone.records["training_loss"].to_list()
    for name, value in alone.parameters.items():
        assert torch.equal(replicas.current()[name][0, 0], value[0])


def test_all_models_are_relative_to_the_same_untrained_network(tmp_path):
    columns = ["interpolation_random", "extrapolation_random"]
    found = []
    for model in ("Tanh", "NAC"):
        study = table6(TINY, models=(model,), operations=("add", "mul"))
        found.append(study.run(only(study), tmp_path / model, lambda _: None).outcomes)
    assert found[0].select(columns).equals(found[1].select(columns))
    data = ArithmeticData(STATIC, ("add", "mul"), range(2), 8, 6)
    network = start(arithmetic_model("static", "None"), STATIC, range(2), 2)
    inputs, targets = data.interpolation()
    with torch.no_grad():
        errors = (network(inputs).double() - targets.double()).square().mean((2, 3))
    assert found[0][columns[0]].to_list() == pytest.approx(errors.flatten().tolist(), rel=1e-5)
