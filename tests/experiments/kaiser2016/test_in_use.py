"""What networks gain from more steps than they were trained with, and from a rounded state."""

import numpy as np
import polars as pl
import pytest
import torch
from scipy.stats import binomtest

from torchalu import zoo
from torchalu.experiments.kaiser2016.in_use import levels, steps
from torchalu.functional import diagonal_cgru
from torchalu.tasks import encode


def test_strings_that_are_right_after_extra_steps(tmp_path):
    """`duplicate` moves on behind its last step, `copy` stays as it is."""
    study = steps(("duplicate", "copy"), extra_steps=(2, 0), lengths=(6,), count=20)
    parts = [study.run(chunk, tmp_path, lambda done: None) for chunk in study.chunks()]
    outcomes = pl.concat([part.outcomes for part in parts])
    for row in outcomes.iter_rows(named=True):
        learned = zoo.load(row["task"])
        texts = learned.task.sample(6, 20, np.random.default_rng([0x57E95, 6]))
        batch = encode(learned.task, texts)
        taken = batch.lengths + row["extra_steps"]
        with torch.no_grad():
            answers = learned.module(batch.inputs, batch.lengths, taken).argmax(-1)
        assert row["right"] == (answers == batch.targets).all(1).sum().item()
    tables = study.summarize(outcomes)
    assert tables["steps"].to_dicts() == [
        {"task": "copy", "length": 6, "count": 20, "0": 0, "2": 0},
        {"task": "duplicate", "length": 6, "count": 20, "0": 0, "2": 20},
    ]
    table = tables["steps_rates"]
    assert table.select("task", "extra_steps", "wrong").rows() == [
        ("copy", 0, 0), ("copy", 2, 0), ("duplicate", 0, 0), ("duplicate", 2, 20),
    ]  # fmt: skip
    interval = binomtest(20, 20).proportion_ci(method="wilson")
    assert table["low"][0] == pytest.approx(100 * interval.low, rel=1e-9)
    assert (table["percent"][0], table["high"][0]) == (100, 100)


def test_strings_that_are_right_with_a_rounded_state(tmp_path):
    """Answered from states that are rounded by hand after each step."""
    study = levels(("sort",), levels=(0, 1, 2), lengths=(6,), count=20)
    (chunk,) = study.chunks()
    outcomes = study.run(chunk, tmp_path, lambda done: None).outcomes
    learned = zoo.load("sort")
    module = learned.module
    texts = learned.task.sample(6, 20, np.random.default_rng([0x57E95, 6]))
    batch = encode(learned.task, texts)
    for row in outcomes.iter_rows(named=True):
        state = module.embed(batch.inputs, batch.lengths)
        parameters = (
            module.gate_weight, module.gate_bias, module.candidate_weight, module.candidate_bias
        )  # fmt: skip
        for _ in range(int(batch.lengths[0])):
            cut = [value.detach()[0, 0] for value in parameters]
            cut = [value[..., 0] if value.ndim > 2 else value for value in cut]
            if row["levels"]:
                state = (state * row["levels"]).round() / row["levels"]
            state = diagonal_cgru(state[:, :, 0], *cut)[:, :, None]
        if row["levels"]:
            state = (state * row["levels"]).round() / row["levels"]
        logits = state[:, :, 0] @ module.output_weight.T + module.output_bias
        answers = logits.argmax(-1)
        assert row["right"] == (answers == batch.targets).all(1).sum().item()
    assert study.summarize(outcomes)["levels"].columns == [
        "task", "length", "count", "0", "1", "2"
    ]  # fmt: skip


def test_the_configuration_names_the_weights():
    one, other = steps(("copy",)).configuration, steps(("sort",)).configuration
    assert one["weights"].keys() == {"copy"}
    assert {*one["weights"].values()} != {*other["weights"].values()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"checkpoints": ()}, r"checkpoints is \[\].*give one or more"),
        ({"checkpoints": ("copy", "copy")}, r"checkpoints is \['copy', 'copy'\]"),
        ({"checkpoints": ("coyp",)}, "the zoo has no 'coyp', but 'copy'"),
        ({"extra_steps": (0, -1)}, r"extra_steps is \(0, -1\); give numbers from 0 up"),
        ({"extra_steps": (4, 4)}, r"extra_steps is \(4, 4\); give numbers from 0 up, each once"),
        ({"lengths": ()}, r"lengths is \(\); give numbers from 0 up"),
        ({"lengths": (8, 0)}, "length is 0; give a positive integer"),
        ({"count": 0}, "count is 0; give a positive integer"),
    ],
)
def test_what_there_are_no_steps_of(arguments, message):
    with pytest.raises(ValueError, match=message):
        steps(**arguments)
