"""Studies of classifiers: their chunks and what is made of the outcomes."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from clouds import CLOUDS, TINY, setting
from torchalu import sweep
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.study import (
    ClassificationStudy,
    best_of,
)
from torchalu.train import Stopped


@pytest.mark.usefixtures("every_step_reports")
def test_a_chunk_gives_a_row_and_goes_on_where_it_was_stopped(tmp_path):
    study = ClassificationStudy("lowe2022.clouds", [setting("relu"), setting("or_ail")], TINY)
    assert [chunk.name for chunk in study.chunks()] == [
        *("relu-4-seed0", "or_ail-4-seed0", "relu-4-seed1", "or_ail-4-seed1"),
    ]
    chunk = study.chunks()[1]
    fractions = []
    whole = study.run(chunk, tmp_path / "whole", fractions.append)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    (row,) = whole.outcomes.rows(named=True)
    assert (row["activation"], row["width"], row["seed"], row["steps"]) == ("or_ail", 4, 0, 20)
    assert row["parameters"] == 5 * 4 + 3 * 2
    assert row["status"] == "finished"
    assert (row["epochs"], row["batch_size"]) == (TINY.epochs, TINY.batch_size)
    hyperparameters = study.settings[1].hyperparameters
    assert row["learning_rate"] == hyperparameters.learning_rate
    assert row["weight_decay"] == hyperparameters.weight_decay
    assert row["test_accuracy"] > 0.9
    assert whole.records["step"].to_list() == [10, 20]
    assert whole.records["validation_accuracy"][-1] == row["validation_accuracy"]

    def stop(fraction):
        raise Stopped

    with pytest.raises(Stopped):
        study.run(chunk, tmp_path / "broken", stop)
    broken = study.run(chunk, tmp_path / "broken", lambda fraction: None)
    assert broken.outcomes.equals(whole.outcomes)
    assert broken.records.equals(whole.records)


@pytest.mark.long
def test_chunks_side_by_side_give_what_each_gives_alone(tmp_path):
    names = ("relu", "xnor_ail")
    study = ClassificationStudy("lowe2022.clouds", [setting(name) for name in names], TINY)
    together = sweep.run(study, tmp_path / "together", workers=2)
    alone = [
        study.run(chunk, tmp_path / chunk.name, lambda fraction: None).outcomes
        for chunk in study.chunks()
    ]
    assert together.equals(pl.concat(alone))


def outcomes(**accuracies):
    """Runs of two widths; the wider has the given test accuracies and validates better."""
    return pl.DataFrame(
        [
            {
                "activation": name,
                "width": width,
                "seed": seed,
                "parameters": 10 * width,
                "test_accuracy": value - 0.1 * (width == 4),
                "validation_accuracy": value - 0.1 * (width == 4),
            }
            for name, values in accuracies.items()
            for seed, value in enumerate(values)
            for width in (4, 8)
        ]
    )


@pytest.mark.parametrize("name", ["epochs", "batch_size"])
@pytest.mark.parametrize("more", [{}, {"dataset": "clouds"}])
def test_trainings_of_other_length_are_not_compared(name, more):
    labels = {**setting("relu").labels, **more}
    of = [replace(setting("relu"), labels=labels)]
    study = ClassificationStudy("lowe2022.clouds", of, TINY, varied="width")
    rows = outcomes(relu=[0.5, 0.5, 0.6], or_ail=[0.6, 0.7, 0.8]).with_columns(
        pl.lit(20).alias(name), *(pl.lit(value).alias(key) for key, value in more.items())
    )
    study.summarize(rows)
    of_or = pl.when(activation="or_ail")
    study.summarize(
        rows.with_columns(of_or.then(pl.lit(None, pl.Int64)).otherwise(name).alias(name))
    )
    longer = rows.with_columns(of_or.then(40).otherwise(name).alias(name))
    with pytest.raises(ValueError, match=f"{name} is 20 and 40 of networks .* name another folder"):
        study.summarize(longer)
    if more:
        other = longer.with_columns(
            of_or.then(pl.lit("noise")).otherwise("dataset").alias("dataset")
        )
        study.summarize(other)


def test_a_summary_compares_at_each_width_and_at_the_best():
    study = ClassificationStudy("lowe2022.clouds", [setting("relu")], TINY, varied="width")
    runs = outcomes(relu=[0.90, 0.91, 0.92], or_ail=[0.97, 0.98, 0.99], xnor_ail=[0.5, 0.6, 0.7])
    tables = study.summarize(runs)
    assert list(tables) == ["clouds", "clouds_best"]
    every, best = tables.values()
    assert set(every.select("width", "activation", "n").rows()) == {
        (width, name, 3) for width in (4, 8) for name in ("relu", "or_ail", "xnor_ail")
    }
    assert best.select("activation", "label", "n", "width", "parameters", "marks").rows() == [
        ("relu", "ReLU", 3, 8, 80, ""),
        ("or_ail", "OR AIL", 3, 8, 80, "best above"),
        ("xnor_ail", "XNOR AIL", 3, 8, 80, "below"),
    ]
    assert best["mean"].to_list() == pytest.approx([0.91, 0.98, 0.6])


def test_the_best_width_is_chosen_by_validation_not_by_test():
    runs = outcomes(relu=[0.9]).with_columns(validation_accuracy=pl.lit(1.0) / pl.col("width"))
    assert best_of(runs, ["activation"], "width")["width"].to_list() == [4]


def test_without_the_baseline_there_is_no_test_against_it():
    study = ClassificationStudy("lowe2022.clouds", [setting("or_ail")], TINY)
    (table,) = study.summarize(outcomes(or_ail=[0.9, 0.8], max_out=[0.9, 0.7])).values()
    assert table["p_baseline"].null_count() == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ClassificationStudy("a.b", [], TINY), "settings is empty; give at least one"),
        (
            lambda: ClassificationStudy("a.b", [setting("relu")] * 2, TINY),
            "settings holds relu-4 twice; give each once",
        ),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_network_is_judged_by_test_samples_and_without_dropout(tmp_path):
    """A rate near 0 leaves it as bad as it starts, so that the parts differ in what is right."""

    def build():
        return nn.Sequential(
            nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2)
        )

    trained = []
    slow = replace(
        setting("relu"), build=build, hyperparameters=Hyperparameters(1e-9),
        observe=lambda setting, seed, network: trained.append(network) or {},
    )  # fmt: skip
    study = ClassificationStudy("lowe2022.clouds", [slow], replace(TINY, seeds=1))
    (chunk,) = study.chunks()
    part = study.run(chunk, tmp_path, lambda fraction: None)
    (row,) = part.outcomes.rows(named=True)
    (network,) = trained
    assert not network.training
    right, loss = {}, {}
    for name in ("train", "validation", "test"):
        points, labels = getattr(CLOUDS, name)
        with torch.no_grad():
            logits = network(points.float()).double().numpy()
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        right[name] = (logits.argmax(1) == labels.numpy()).mean()
        loss[name] = -logs[np.arange(len(logs)), labels.numpy()].mean()
    assert len({*right.values()}) == 3
    assert row["test_accuracy"] == pytest.approx(right["test"])
    assert row["validation_accuracy"] == pytest.approx(right["validation"])
    assert row["training_loss"] == pytest.approx(loss["train"], rel=1e-6)
    assert part.records["validation_loss"][-1] == pytest.approx(loss["validation"], rel=1e-6)
    assert part.records["validation_accuracy"][-1] == pytest.approx(right["validation"])


def test_of_widths_that_validate_equally_well_the_smaller_one_is_best():
    rows = {"activation": ["relu"] * 3, "width": [16, 8, 32], "validation_accuracy": [0.9] * 3}
    assert best_of(pl.DataFrame(rows), ["activation"], "width")["width"].to_list() == [8]
