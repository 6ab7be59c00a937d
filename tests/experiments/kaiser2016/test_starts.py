"""Trained networks in groups, of which the best on validation strings is tested."""

import pytest

from torchalu import sweep
from torchalu.evaluate import string_accuracy
from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.starts import starts
from torchalu.experiments.kaiser2016.stored import stored_networks
from torchalu.experiments.kaiser2016.study import AlgorithmSetting
from torchalu.experiments.kaiser2016.table1 import Table1Study
from torchalu.experiments.seeds import Seeds
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining

TINY = AlgorithmTraining(
    maps=6, bins=(3, 5), batch=8, steps=60, evaluate_every=20, validate_at=(1.0,), noise=0.0,
    validation_strings=4,
)  # fmt: skip
STRINGS = Strings((1, 2), count=40)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder with five seeds."""
    folder = tmp_path_factory.mktemp("starts") / "run"
    setting = AlgorithmSetting(
        {"task": "copy", "model": "improved"}, algorithm("copy"), NeuralGPULearner(TINY), STRINGS
    )
    sweep.run(Table1Study("kaiser2016.table1", [setting], Seeds(5)), folder, workers=1)
    return folder


def test_each_group_has_its_best_on_validation_strings_tested(run, tmp_path):
    study = starts(
        (run,), task="copy", starts=2, validation_length=2, validation_count=200, lengths=(1, 2),
        count=40,
    )  # fmt: skip
    assert [chunk.name for chunk in study.chunks()] == ["group0", "group1"]  # the fifth is left out
    outcomes = sweep.run(study, tmp_path / "starts", workers=1)
    networks = {network.seed: network for network in stored_networks(run, task="copy")}
    right = {}
    for (group,), rows in outcomes.group_by("seed"):
        pair = (2 * group, 2 * group + 1)
        seeds = tuple(map(int, rows["seeds_of_starts"][0].split()))
        counts = dict(zip(seeds, map(int, rows["validation_right"][0].split()), strict=True))
        assert seeds == pair
        right |= counts
        chosen = rows["chosen"][0]
        assert counts[chosen] == max(counts.values())
        tested = networks[chosen].outcomes.select("strings", "length", "right", "count")
        assert rows.select("strings", "length", "right", "count").equals(tested)
    task = algorithm("copy")
    every = [f"{a}{b}" for a in task.alphabet for b in task.alphabet]
    for seed, network in networks.items():
        if seed in right:  # of 200 random strings about as many as of all there are
            share = string_accuracy(network.load(), task, every).rate
            assert abs(right[seed] / 200 - share) < 0.15
    tables = study.summarize(outcomes)
    assert tables["starts"]["groups"].to_list() == [2, 2]
    assert tables["starts_choices"]["seed"].to_list() == [0, 1]


def test_equals_are_told_apart_by_their_loss(run, tmp_path):
    study = starts((run,), task="copy", starts=5, validation_count=1, validation_length=1)
    networks = study.group(0)
    found = [study._validated(network, lambda *_: None) for network in networks]
    best = max(right for right, _ in found)
    losses = [loss if right == best else float("inf") for right, loss in found]
    outcomes = sweep.run(study, tmp_path / "starts", workers=1)
    assert outcomes["chosen"].unique().to_list() == [losses.index(min(losses))]


def test_refuses_more_starts_than_networks(run):
    with pytest.raises(ValueError, match=r"starts is 6; give 1 to 5, as there are networks"):
        starts((run,), task="copy", starts=6)
    with pytest.raises(ValueError, match="validation_count is 0"):
        starts((run,), task="copy", validation_count=0)
