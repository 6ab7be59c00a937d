"""Parity: its data, what is read off a network, and what figure 4 draws."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from sympy import Symbol
from torch import nn

from torchalu.evaluate import wilson
from torchalu.experiments.lowe2022 import parity_experiments
from torchalu.experiments.lowe2022.networks import mlp
from torchalu.experiments.lowe2022.parity import (
    FOUR_LOGITS,
    bits,
    even,
    even_formula,
)
from torchalu.experiments.lowe2022.parity_experiments import figure4, parity, read_off
from torchalu.nn import XNORAIL

RUNS = parity_experiments._FIGURE4


@pytest.mark.parametrize("inputs", [1, 2, 3, 4, 5])
def test_the_formula_is_the_task(inputs):
    names = [f"x{k}" for k in range(inputs)]
    formula = even_formula(names)
    for signs in itertools.product([-1.0, 1.0], repeat=inputs):
        expected = np.prod(signs) > 0
        assert even(torch.tensor([signs])).item() == expected
        values = {Symbol(name): sign > 0 for name, sign in zip(names, signs, strict=True)}
        assert bool(formula.subs(values)) == expected


def test_four_logits_are_standard_normal_and_half_of_them_even():
    data = FOUR_LOGITS.load()
    assert [len(part.labels) for part in (data.train, data.validation, data.test)] == [
        *(10_000, 1_000, 10_000)
    ]
    inputs, labels = data.train
    assert torch.equal(labels, (inputs.prod(1) > 0).long())
    assert inputs.mean().abs() < 5 / np.sqrt(inputs.numel())
    assert abs(inputs.var() - 1) < 5 * np.sqrt(2 / inputs.numel())
    assert abs(labels.double().mean() - 0.5) < 5 * 0.5 / 100
    assert not torch.equal(inputs, data.test.inputs)


def test_mixed_bits_have_every_count_equally_often_and_held_out_ones_are_fair():
    data = bits(8, "mixed").load()
    fresh = torch.cat([data.batch(step, 1000, seed=0).inputs for step in range(20)])
    assert set(fresh.unique().tolist()) == {-1.0, 1.0}
    counts = np.bincount((fresh > 0).sum(1), minlength=9) / len(fresh)
    assert counts == pytest.approx(np.full(9, 1 / 9), abs=5 * np.sqrt(1 / 9 / 20_000))
    fair = np.bincount((data.test.inputs > 0).sum(1), minlength=9) / 10_000
    binomial = np.array([1, 8, 28, 56, 70, 56, 28, 8, 1]) / 256
    assert fair == pytest.approx(binomial, abs=5 * np.sqrt(0.25 / 10_000))
    again = data.batch(3, 1000, seed=0)
    assert torch.equal(again.inputs, fresh[3000:4000])
    assert torch.equal(again.labels, (again.inputs.prod(1) > 0).long())
    assert not torch.equal(again.inputs, data.batch(3, 1000, seed=1).inputs)


def tree(inputs, sign=1.0):
    """Nested XNORs, each pre-activation one input; the last layer may negate."""
    network = mlp(inputs, [inputs >> k for k in range(inputs.bit_length() - 1)], 1, "xnor_ail")
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.eye_(layer.weight)
            nn.init.zeros_(layer.bias)
    nn.init.constant_(network[-1].weight, sign)
    return network


@pytest.mark.parametrize(("inputs", "method"), [(4, "structure"), (32, "structure")])
def test_nested_xnors_are_read_off_as_the_parity(inputs, method):
    assert sum(isinstance(layer, XNORAIL) for layer in tree(inputs)) == inputs.bit_length() - 1
    found = read_off(tree(inputs), inputs, seed=0)
    assert (found["solved"], found["read"], found["accuracy"]) == (True, True, 1.0)
    assert found["method"] == method
    assert found["formula"] == str(even_formula([f"x{k + 1}" for k in range(inputs)]))


def test_the_opposite_and_another_function_are_not_the_parity():
    opposite = read_off(tree(4, sign=-1.0), 4, seed=0)
    assert (opposite["solved"], opposite["read"], opposite["accuracy"]) == (False, False, 0.0)
    assert opposite["formula"] == "x1 ^ x2 ^ x3 ^ x4"
    first = read_off(nn.Sequential(nn.Linear(4, 1)).requires_grad_(False), 4, seed=0)
    assert not first["read"]
    assert 0 < first["accuracy"] < 1


def test_a_parity_is_read_off_where_a_large_network_is_wrong_on_some_inputs():
    """A tree whose output is forced to true where the first six inputs are true: 1 in 64."""

    class Wrong(nn.Module):
        def __init__(self):
            super().__init__()
            self.tree = tree(32)

        def forward(self, x):
            forced = (x[:, :6] > 0).all(1, keepdim=True)
            return torch.where(forced, 1.0, self.tree(x))

    found = read_off(Wrong(), 32, seed=0)
    assert (found["solved"], found["read"], found["method"]) == (False, True, "parity")
    assert found["accuracy"] == pytest.approx(1 - 1 / 128, abs=5 * np.sqrt(1 / 128 / 100_000))


def test_figure_4_learns_and_draws_the_xnor_of_xnors(tmp_path):
    """Not each seed finds it; seed 2 does, and its weights are sparse, as in the paper."""
    study = figure4(replace(RUNS, seeds=1, first_seed=2, epochs=25), activations=("xnor_ail",))
    (chunk,) = study.chunks()
    runs = study.run(chunk, tmp_path, lambda fraction: None).outcomes
    (run,) = runs.rows(named=True)
    assert run["test_accuracy"] > 0.99
    assert (run["solved"], run["read"], run["method"]) == (True, True, "structure")
    tables = study.summarize(runs)
    assert list(tables) == ["figure4", "figure4_readings", "figure4_networks"]
    drawn = tables["figure4_networks"]
    assert drawn.height == len(run["weights"]) == 28
    first = drawn.filter(pl.col("layer") == 0, pl.col("from").is_not_null())
    matrix = np.zeros((4, 4))
    matrix[first["to"], first["from"]] = first["weight"]
    large = np.abs(matrix) > 0.05 * np.abs(matrix).max()
    assert large.sum() == 4
    assert (large.sum(0) == 1).all()


def test_figure_4_draws_the_seed_that_validates_best():
    rows = [
        {
            "activation": name,
            "seed": seed,
            "parameters": 28,
            "test_accuracy": 0.5,
            "validation_accuracy": accuracy,
            "training_loss": loss,
            "read": accuracy > 0.8,
            "method": "structure",
            "formula": "x1",
            "weights": [float(10 * seed + k) for k in range(size)],
        }
        for name, size in (("xnor_ail", 28), ("relu", 33))
        for seed, (accuracy, loss) in enumerate([(0.7, 0.1), (0.9, 0.3), (0.9, 0.2)])
    ]
    drawn = figure4().summarize(pl.DataFrame(rows))["figure4_networks"]
    assert drawn["seed"].unique().to_list() == [2]
    xnor = drawn.filter(activation="xnor_ail").sort("layer", "to", "from", nulls_last=True)
    weights = xnor.filter(layer=1)["weight"].to_list()  # after 4 x 4 weights and 4 biases
    assert weights == [40.0, 41.0, 44.0, 42.0, 43.0, 45.0]


def test_figure_4_says_how_accurate_the_networks_are_that_are_read_off():
    accuracies = {
        (True, "structure"): [0.99, 1.0],
        (True, "truth table"): [0.7, 0.6, 0.8],
        (False, "truth table"): [0.5],
    }
    rows = [
        {"activation": "xnor_ail", "seed": seed, "parameters": 28, "validation_accuracy": value,
         "test_accuracy": value, "training_loss": 0.1, "read": read, "method": method,
         "formula": "x1", "weights": [0.0] * 28}
        for (read, method), values in accuracies.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip
    table = figure4().summarize(pl.DataFrame(rows))["figure4_readings"]
    assert table["activation"].unique().to_list() == ["XNOR AIL"]
    assert table.select("formula", "method", "seeds").rows() == [
        ("all", None, 6),
        ("parity", "structure", 2),
        ("parity", "truth table", 3),
        ("another", "truth table", 1),
    ]
    half = 4.302653 * 0.1 / 3**0.5  # Student's 97.5% point of two degrees of freedom
    columns = [f"accuracy_{name}" for name in ("mean", "low", "high", "least", "greatest")]
    assert table.select(columns).row(2) == pytest.approx((0.7, 0.7 - half, 0.7 + half, 0.6, 0.8))
    assert table.select(columns).row(3) == (0.5, None, None, 0.5, 0.5)


def test_relu_gets_as_many_parameters_as_the_tree():
    study = parity(sizes=(2, 4, 8, 12, 16, 24, 32))
    sizes = {tuple(s.labels.values()): s.parameters for s in study.settings}
    for inputs in (8, 12, 16, 24, 32):
        for law in ("mixed", "fair"):
            tree_size = sizes["xnor_ail", law, inputs]
            assert sizes["xnor_il", law, inputs] == tree_size
            assert sizes["relu", law, inputs] == pytest.approx(tree_size, rel=0.06)
    linear = [layer for layer in study.settings[-2].network(0) if isinstance(layer, nn.Linear)]
    assert [layer.out_features for layer in linear] == [32, 16, 8, 4, 2, 1]


@pytest.mark.long
def test_a_few_thousand_steps_learn_the_parity_of_eight_mixed_bits(tmp_path):
    runs = replace(parity_experiments._PARITY, seeds=1, epochs=2, learning_rate=0.03)
    study = parity(runs, sizes=(8,), activations=("xnor_ail",), laws=("mixed",))
    (chunk,) = study.chunks()
    outcome = study.run(chunk, tmp_path, lambda fraction: None).outcomes
    assert (outcome["solved"].item(), outcome["read"].item()) == (True, True)


def test_the_summary_counts_with_wilsons_intervals():
    columns = ["activation", "law", "inputs", "seed", "parameters", "accuracy", "solved", "read"]
    rows = [
        dict(zip(columns, (name, law, 8, seed, 9, 0.9, seed < solved, seed < read), strict=True))
        for name, law, solved, read in (("xnor_ail", "mixed", 3, 4), ("relu", "fair", 0, 1))
        for seed in range(5)
    ]
    (table,) = parity().summarize(pl.DataFrame(rows)).values()
    assert table.select("activation", "label", "seeds", "solved", "read").rows() == [
        ("relu", "ReLU, fair bits", 5, 0, 1),
        ("xnor_ail", "XNOR AIL", 5, 3, 4),
    ]
    assert table.select("solved_low", "solved_high").row(1) == wilson(3, 5)
    assert table.select("read_low", "read_high").row(0) == wilson(1, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bits(1, "fair"), "inputs is 1; give 2 or more"),
        (lambda: bits(4, "unfair"), "law is 'unfair'; choose from mixed, fair"),
        (lambda: parity(sizes=()), "sizes is empty"),
        (lambda: parity(laws=("unfair",)), "laws holds 'unfair'; did you mean 'fair'"),
        (lambda: parity(sizes=(1,)), "inputs is 1; give 2 or more"),
        (lambda: figure4(activations=("xnor",)), "no activation called 'xnor'"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
