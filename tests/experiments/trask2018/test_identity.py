"""Figure 1 and table 5: the autoencoders, the study, and the tables from made-up outcomes."""

import math
from dataclasses import replace

import polars as pl
import pytest
import torch
from scipy import stats
from torch import nn

from torchalu import sweep
from torchalu.evaluate import wilson
from torchalu.experiments.trask2018.arithmetic_models import UNITS
from torchalu.experiments.trask2018.identity import MODELS, IdentityRuns, autoencoder, table5
from torchalu.experiments.trask2018.published_arithmetic import TABLE5
from torchalu.report.identity import draw_identity
from torchalu.train import Stopped

TINY = IdentityRuns(seeds=2, steps=20)


def run(study, folder, report=lambda done: None):
    (chunk,) = study.chunks()
    return study.run(chunk, folder, report)


@pytest.mark.parametrize("model", MODELS)
def test_twenty_steps_of_each_model(model, tmp_path):
    part = run(table5(TINY, models=(model,)), tmp_path)
    rows = part.outcomes
    assert rows["seed"].to_list() == [0, 1]
    assert rows["best_step"].to_list() == [20, 20]
    network = autoencoder(model)
    network.load_state_dict({name: value[1] for name, value in part.weights.items()})
    numbers = torch.arange(-1000.0, 1001.0).unsqueeze(1)
    errors = (network(numbers).double() - numbers.double()).abs()
    assert rows["error"][1] == pytest.approx(errors.mean().item(), rel=1e-5)
    shown = errors[980:1021].flatten().tolist()
    assert rows["errors"][1].to_list() == pytest.approx(shown, rel=1e-4, abs=1e-4)
    assert part.records["validation_loss"][1] == pytest.approx(rows["validation_loss"][1])


def test_networks_have_the_papers_sizes():
    for name in MODELS:
        sizes = [
            (layer.in_features, layer.out_features)
            for layer in autoencoder(name)
            if hasattr(layer, "in_features")
        ]
        assert sizes == [(1, 8), (8, 8), (8, 8), (8, 1)]
    known = {name for name in MODELS if hasattr(nn, name)}
    assert known == {*MODELS} - {"None", *MODELS[15:]}


def test_only_the_last_layer_multiplies():
    kinds = {name: [type(layer).__name__ for layer in autoencoder(name)] for name in MODELS[15:]}
    assert kinds["NMU"] == ["NAU", "NAU", "NAU", "NMU"]
    assert kinds["iNALU"] == ["INALU"] * 4


def test_penalties_of_units_are_part_of_their_training(tmp_path):
    study = table5(replace(TINY, steps=100), models=("NAU",))
    trained = run(study, tmp_path / "with").weights
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(UNITS, "NAU", UNITS["NAU"]._replace(penalty=0.0))
        without = run(study, tmp_path / "without").weights
    name = next(iter(trained))
    assert not torch.equal(trained[name], without[name])


@pytest.mark.usefixtures("every_step_reports")
def test_resume_gives_the_same(tmp_path):
    def stop(done):
        if done > 0:
            raise Stopped("enough")

    study = table5(replace(TINY, steps=30), models=("PReLU",))
    with pytest.raises(Stopped):
        run(study, tmp_path / "broken", stop)
    again, whole = run(study, tmp_path / "broken"), run(study, tmp_path / "whole")
    assert again.records.equals(whole.records)
    assert again.outcomes.equals(whole.outcomes)


def test_what_is_linear_extrapolates_and_what_is_bounded_does_not(tmp_path):
    linear, bounded = (
        run(table5(replace(TINY, steps=500), models=(model,)), tmp_path / model).outcomes
        for model in ("NAU", "Tanh")
    )
    assert min(linear["error"].to_list()) < 0.1
    assert min(bounded["error"].to_list()) > 450
    assert max(bounded["validation_loss"].to_list()) < 0.5


def made_up():
    errors = {"Tanh": (490.0, 494.0, 495.0), "None": (0.1, 0.2, 0.6)}
    return pl.DataFrame(
        [
            {"model": model, "seed": seed, "validation_loss": float(loss), "error": error,
             "errors": [error * abs(number) / 20 for number in range(-20, 21)], "best_step": 9}
            for model, values in errors.items()
            for seed, (loss, error) in enumerate(zip((2, 1, 3), values, strict=True))
        ]
    )  # fmt: skip


def test_tables_from_made_up_outcomes():
    tables = table5(TINY, models=("Tanh", "None")).summarize(made_up().sort("model"))
    tanh, none = tables["table5"].iter_rows(named=True)
    assert (tanh["model"], tanh["published"], tanh["best"], tanh["median"]) == (
        "Tanh", 493.65, 494.0, 494.0,
    )  # fmt: skip
    assert tanh["mean"] == pytest.approx(493.0)
    assert tanh["percent"] == pytest.approx(98.6)
    half = stats.t.ppf(0.975, 2) * stats.sem([490, 494, 495])
    assert tanh["mean_high"] - tanh["mean"] == pytest.approx(half)
    assert (tanh["solved"], none["solved"], none["seeds"]) == (0, 2, 3)
    assert (none["solved_low"], none["solved_high"]) == wilson(2, 3)
    (pick,) = tables["table5_picks"].rows(named=True)
    assert (pick["pick"], pick["by"], pick["seeds"], pick["paper"]) == ("linear", "median", 3, None)
    figure1 = tables["figure1"]
    assert figure1.height == 2 * 41
    edge = figure1.filter((pl.col("model") == "Tanh") & (pl.col("number") == -20))
    assert edge["error"].item() == pytest.approx(493.0)
    assert figure1.filter(pl.col("number") == 0)["error"].to_list() == [0, 0]
    pytest.importorskip("matplotlib")
    assert [axes.get_title() for axes in draw_identity(figure1).axes] == ["Tanh", "None"]
    empty = pl.lit(None, pl.String)  # as CSV has the intervals of one seed
    one_seed = figure1.with_columns(error_low=empty, error_high=empty)
    assert len(draw_identity(one_seed).axes) == 2


def test_errors_that_are_not_finite_have_no_mean():
    outcomes = made_up().with_columns(
        error=pl.when(pl.col("error") == 495.0).then(math.inf).otherwise("error"),
        errors=pl.when(pl.col("error") == 495.0)
        .then(pl.lit([1.0] * 40 + [math.nan]))
        .otherwise("errors"),
    )
    tables = table5(TINY, models=("Tanh", "None")).summarize(outcomes)
    tanh, none = tables["table5"].iter_rows(named=True)
    assert (tanh["mean"], tanh["mean_low"], tanh["percent"], tanh["median"]) == (
        None, None, None, 494.0,
    )  # fmt: skip
    assert none["mean"] == pytest.approx(0.3)
    edge = tables["figure1"].filter(model="Tanh").filter(pl.col("number").is_in([19, 20]))
    assert edge["error"].to_list() == [pytest.approx((490 + 494) * 19 / 20 / 3 + 1 / 3), None]


def test_published_numbers():
    assert TABLE5["model"].to_list() == list(MODELS[:15])
    rows = dict(TABLE5.iter_rows())
    assert (rows["Hardtanh"], rows["Threshold"], rows["PReLU"]) == (495.47, 432.97, 14.66)
    assert (rows["ReLU"], rows["Softplus"], rows["None"]) == (83.63, 37.60, 0.0001)


@pytest.mark.parametrize(
    ("options", "message"), [({"seeds": 0}, "seeds is 0"), ({"first_seed": -1}, "first_seed is -1")]
)
def test_wrong_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        IdentityRuns(**options)


def test_wrong_words_are_refused():
    with pytest.raises(ValueError, match="did you mean 'ReLU'"):
        table5(models=("Relu",))


def test_panels_with_none_below_say_their_numbers():
    one = pl.DataFrame({"number": [-20, 20], "error": [9.0, 9.0]})
    one = one.with_columns(error_low=pl.col("error"), error_high=pl.col("error"))
    summary = pl.concat([one.with_columns(model=pl.lit(f"model {k}")) for k in range(6)])
    figure = draw_identity(summary)
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes] == (
        [False] * 2 + [True] * 4
    )


@pytest.mark.long
def test_two_minutes_of_the_experiment(tmp_path):
    outcomes = sweep.run(table5(IdentityRuns(seeds=5, steps=2000)), tmp_path)
    means = dict(outcomes.group_by("model").agg(pl.col("error").median()).iter_rows())
    assert means["None"] < 0.01 < means["PReLU"] < means["Tanh"]


def test_what_was_trained_on_is_shaded():
    figure1 = table5(TINY, models=("Tanh", "None")).summarize(made_up())["figure1"]
    for axes in draw_identity(figure1).axes:
        (shade,) = axes.patches
        box = shade.get_extents().transformed(axes.transData.inverted())
        assert (box.x0, box.x1) == pytest.approx((-5, 5))
