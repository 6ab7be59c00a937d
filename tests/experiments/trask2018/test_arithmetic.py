"""Tables 6 to 9: the data, the studies, and the tables from made-up outcomes."""

import dataclasses
import re
from pathlib import Path

import polars as pl
import pytest
import torch

from torchalu import sweep
from torchalu.engine import train
from torchalu.evaluate import wilson
from torchalu.experiments import get
from torchalu.experiments.trask2018.arithmetic import table6, table8
from torchalu.experiments.trask2018.arithmetic_data import FORMS, STATIC, ArithmeticData
from torchalu.experiments.trask2018.arithmetic_models import (
    RECURRENT_MODELS,
    STATIC_MODELS,
    arithmetic_model,
)
from torchalu.experiments.trask2018.arithmetic_summaries import kept
from torchalu.experiments.trask2018.arithmetic_training import (
    MEASURED,
    ArithmeticRuns,
    is_native,
    learn,
    measure,
    measure_snapped,
    start,
)
from torchalu.experiments.trask2018.published_arithmetic import (
    PUBLISHED,
    TABLE6,
    TABLE7,
    TABLE8,
    TABLE9,
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


def snapped(loss, error):
    """What is measured of a snapped network; nothing, if that is what there is."""
    errors = {f"snapped_{test}_error": error for test in ("interpolation", "extrapolation")}
    return {"snapped_validation_loss": loss, **errors}


def made_up():
    """Two learning rates; at 0.001 the NALU validates better in the median, but seed 2 is lost."""
    rows = []
    for rate, losses, errors in (
        (0.01, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
        (0.001, (0.5, 0.1, None), (50.0, 0.01, None)),
    ):
        for seed, (loss, error) in enumerate(zip(losses, errors, strict=True)):
            rows.append(
                {"model": "NALU", "operation": "mul", "learning_rate": rate, "seed": seed,
                 "validation_loss": loss, "interpolation_error": loss,
                 "extrapolation_error": error, "interpolation_random": 10.0,
                 "extrapolation_random": 100.0, **snapped(None, None), "best_step": 10,
                 "steps": 20, "status": "finished" if error is not None else "nan"}
            )  # fmt: skip
    nmu = [
        {**row, "model": "NMU", "extrapolation_error": 1e-3, "validation_loss": 0.2,
         "status": "finished"}
        for row in rows[:3]
    ]  # fmt: skip
    return pl.DataFrame(rows + nmu)


def test_tables_from_made_up_outcomes():
    tables = table6(TINY, models=("NALU", "NMU"), operations=("mul",)).summarize(made_up())
    assert set(tables) == {"table6", "table7", "table7_picks"}
    beyond = tables["table6"].filter(pl.col("test") == "extrapolation")
    assert beyond["model"].to_list() == ["Random", "NALU", "NMU"]
    nalu = beyond.row(1, named=True)
    assert (nalu["learning_rate"], nalu["best"], nalu["median"]) == (0.001, 0.01, 50.0)
    assert (nalu["published"], nalu["seeds"], nalu["nan"]) == (0.0001, 3, 1)
    assert (beyond["published"][0], beyond["median"][0]) == (3647, 100)
    relative = tables["table7"].filter(pl.col("test") == "extrapolation")
    nalu, nmu = relative.iter_rows(named=True)
    assert nalu["best_relative"] == pytest.approx(0.01)
    assert (nalu["published_relative"], nalu["median_relative"]) == (0.0, 50.0)
    assert (nalu["solved"], nmu["solved"], nmu["published_relative"]) == (1, 3, None)
    assert (nalu["solved_low"], nalu["solved_high"]) == wilson(1, 3)
    (pick,) = tables["table7_picks"].iter_rows(named=True)
    assert (pick["pick"], pick["by"], pick["paper"]) == ("NMU", "median", "NALU")
    assert (pick["solved"], pick["paper_solved"], pick["seeds"]) == (3, 1, 3)
    assert (pick["solved_low"], pick["solved_high"]) == wilson(3, 3)
    assert pick["factor"] == pytest.approx(50 / 1e-3)


def test_a_network_is_kept_snapped_where_that_validates_better():
    """Of three NALUs two are better snapped at 0.01, by which that rate has the lowest median."""
    after = {(0.01, 0): (0.0, 1e-3), (0.01, 1): (4.0, 1e-3), (0.01, 2): (0.02, 0.02)}
    rows = [
        row | snapped(*after.get((row["learning_rate"], row["seed"]), (None, None)))
        for row in made_up().filter(model="NALU").with_columns(extrapolation_error=5.0).to_dicts()
    ]
    rows += [row for row in made_up().to_dicts() if row["model"] == "NMU"]
    outcomes = pl.DataFrame(rows)
    assert kept(outcomes).filter(model="NALU").select(
        "snapped", "validation_loss", "extrapolation_error"
    ).rows() == [
        (True, 0.0, 1e-3), (False, 2.0, 5.0), (True, 0.02, 0.02),
        (False, 0.5, 5.0), (False, 0.1, 5.0), (False, None, 5.0),
    ]  # fmt: skip
    tables = table6(TINY, models=("NALU", "NMU"), operations=("mul",)).summarize(outcomes)
    nalu, nmu = tables["table7"].filter(test="extrapolation").iter_rows(named=True)
    assert (nalu["solved"], nalu["median_relative"]) == (0, 5.0)
    assert (nalu["snapped"], nalu["kept_solved"], nalu["kept_median_relative"]) == (2, 2, 0.02)
    assert (nmu["snapped"], nmu["kept_solved"], nmu["kept_median_relative"]) == (None, None, None)
    (pick,) = tables["table7_picks"].iter_rows(named=True)
    assert (pick["pick"], pick["solved"], pick["snapped"]) == ("NMU", 3, None)
    assert (pick["paper"], pick["paper_solved"], pick["paper_median_relative"]) == ("NALU", 0, 5.0)
    alone = table6(TINY, models=("NALU",), operations=("mul",)).summarize(outcomes[:6])
    (pick,) = alone["table7_picks"].iter_rows(named=True)
    assert (pick["pick"], pick["solved"], pick["snapped"], pick["seeds"]) == ("NALU", 2, 2, 3)
    assert (pick["paper"], pick["paper_solved"]) == ("NALU", 0)
    assert pick["factor"] == pytest.approx(5.0 / 0.02)


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


def test_a_learning_rate_that_loses_most_seeds_is_not_chosen():
    lost = pl.col("learning_rate") == 0.001
    rows = made_up().with_columns(
        validation_loss=pl.when(lost & (pl.col("seed") > 0)).then(None).otherwise("validation_loss")
    )
    table = table6(TINY, models=("NALU",), operations=("mul",)).summarize(rows)["table6"]
    assert table.filter(pl.col("model") == "NALU")["learning_rate"].unique().to_list() == [0.01]


def published(frame, operation, test, model):
    own = (pl.col("operation") == operation) & (pl.col("test") == test)
    return frame.filter(own & (pl.col("model") == model)).row(0)[-1]


@pytest.mark.parametrize(
    ("frame", "operation", "test", "model", "number"),
    [
        (TABLE6, "add", "interpolation", "Random", 8.659),
        (TABLE6, "mul", "extrapolation", "Relu6", 366.6),
        (TABLE6, "div", "interpolation", "NALU", 0.0625),
        (TABLE6, "div", "extrapolation", "NALU", 0.2920),
        (TABLE6, "square", "interpolation", "NAC", 34.09),
        (TABLE6, "root", "extrapolation", "Crelu", 0.0622),
        (TABLE7, "sub", "interpolation", "Relu6", 0.0),
        (TABLE7, "mul", "extrapolation", "NAC", 33.3),
        (TABLE7, "square", "extrapolation", "Tanh", 46.4),
        (TABLE7, "root", "extrapolation", "None", 20.0),
        (TABLE8, "identity", "interpolation", "LSTM", 0.000544),
        (TABLE8, "sub", "extrapolation", "RNN-ReLU", 238771),
        (TABLE8, "root", "interpolation", "NALU", 0.003492),
        (TABLE8, "mul", "extrapolation", "NALU", 47.0244),
        (TABLE9, "div", "extrapolation", "RNN-ReLU", 862.5),
        (TABLE9, "square", "interpolation", "NAC", 2.3),
        (TABLE9, "root", "extrapolation", "RNN-tanh", 95.4),
    ],
)
def test_published_numbers(frame, operation, test, model, number):
    assert published(frame, operation, test, model) == number


def test_relative_published_errors_are_those_of_the_raw_ones():
    """Table 7 is table 6 over its random column, but for cells in which the paper disagrees."""
    table = PUBLISHED["static"]
    random = table.filter(pl.col("model") == "Random").select(
        "operation", "test", pl.col("published").alias("random")
    )
    rows = table.join(random, on=["operation", "test"]).drop_nulls("published_relative")
    ours = 100 * rows["published"] / rows["random"]
    wrong = rows.filter((ours - rows["published_relative"]).abs() > 0.6)
    assert wrong.select("operation", "test", "model").rows() == [
        ("root", "interpolation", "Tanh"),
        ("root", "interpolation", "Sigmoid"),
    ]


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
