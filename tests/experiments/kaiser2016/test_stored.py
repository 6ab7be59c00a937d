"""Networks from a run folder: for the zoo, for ensembles; and the form without a shift."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from torchalu import sweep
from torchalu.evaluate import string_accuracy
from torchalu.experiments.kaiser2016.baselines import LSTMLearner
from torchalu.experiments.kaiser2016.ensemble import chosen_members, ensemble
from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings, measure_strings
from torchalu.experiments.kaiser2016.noise import noise
from torchalu.experiments.kaiser2016.stored import stored_networks
from torchalu.experiments.kaiser2016.study import AlgorithmSetting
from torchalu.experiments.kaiser2016.table1 import Table1Study
from torchalu.experiments.kaiser2016.teaching import Teaching
from torchalu.experiments.kaiser2016.to_zoo import to_zoo
from torchalu.experiments.kaiser2016.unshifted import UnshiftedNeuralGPU, unshifted_step
from torchalu.experiments.seeds import Seeds
from torchalu.kernels.recurrence_forms import Layer
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining
from torchalu.zoo import LearnedAlgorithm

BADD = algorithm("badd")
TINY = AlgorithmTraining(
    maps=6, bins=(5, 7), batch=3, steps=6, evaluate_every=3, validate_at=(1.0,),
    validation_strings=4,
)  # fmt: skip
ORIGINAL = replace(
    AlgorithmTraining.original(BADD), maps=4, bins=(7,), batch=3, steps=4, examples=20,
    evaluate_every=2, validate_at=(1.0,), validation_strings=4,
)  # fmt: skip
STRINGS = Strings((3, 5), count=6, long_count=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with three seeds of each form, and an LSTM that is no matter of the zoo."""
    folder = tmp_path_factory.mktemp("runs") / "table1"
    lstm = LSTMLearner(size=4, layers=1, symbols=5, batch=2, numbers=Teaching(2, evaluate_every=2))
    plain = algorithm("badd", filled=False)
    settings = [
        AlgorithmSetting({"task": "badd", "model": name}, task, learner, STRINGS)
        for name, task, learner in (
            ("improved", BADD, NeuralGPULearner(TINY)),
            ("original", plain, NeuralGPULearner(ORIGINAL)),
            ("lstm_attention", BADD, lstm),
        )
    ]
    sweep.run(Table1Study("kaiser2016.table1", settings, Seeds(3)), folder, workers=1)
    return folder


@pytest.mark.parametrize("model", ["improved", "original"])
def test_stored_networks_measure_as_they_did_when_they_were_trained(run, model):
    networks = stored_networks(run, task="badd", model=model)
    assert sorted(network.seed for network in networks) == [0, 1, 2]
    losses = [network.validation_loss for network in networks]
    assert losses == sorted(losses)
    for network in networks:
        assert network.task.filled == (model == "improved")
        rows = pl.DataFrame(measure_strings(network.load(), network.task, STRINGS))
        assert rows.equals(network.outcomes.select(rows.columns))


def test_the_zoo_gets_the_seed_that_validates_best(run, tmp_path):
    path = to_zoo(run, "badd", tmp_path, command="torchalu run kaiser2016.table1")
    best, *others = stored_networks(run, task="badd", model="improved")
    learned = LearnedAlgorithm.load(path)
    card = learned.card
    assert card.seed == best.seed
    assert card.seeds_tried == 1 + len(others) == 3
    assert card.seeds_generalizing == 0
    assert (card.command, card.form) == ("torchalu run kaiser2016.table1", "DiagonalNeuralGPU")
    assert card.steps in (3, 6)
    state = best.load().state_dict()
    assert all(torch.equal(value, state[k]) for k, value in learned.module.state_dict().items())
    found = {(m.kind, m.length): (m.right, m.count) for m in card.measured}
    rows = best.outcomes.select("strings", "length", "right", "count").rows()
    assert found == {row[:2]: row[2:] for row in rows}
    assert json.loads(path.with_suffix(".json").read_text())["seed"] == best.seed


def test_the_card_tells_long_strings_that_went_wrong(tmp_path):
    strings = Strings((40,), count=6)
    setting = AlgorithmSetting(
        {"task": "badd", "model": "improved"}, BADD, NeuralGPULearner(TINY), strings
    )
    sweep.run(Table1Study("kaiser2016.table1", [setting], Seeds(1)), tmp_path / "run", workers=1)
    learned = LearnedAlgorithm.load(to_zoo(tmp_path / "run", "badd", tmp_path))
    texts = {kind: texts for kind, _, texts in strings.sets(BADD)}
    assert learned.card.failures[0].kind == "random"
    for entry in learned.card.failures:
        wrong = [
            text
            for text, answer in zip(texts[entry.kind], learned.run(texts[entry.kind]), strict=True)
            if answer != BADD.solve(text)
        ]
        assert len(wrong) == entry.count - entry.right
        assert learned.failed_strings(entry) == wrong[:3]


def test_the_zoo_gets_the_best_of_several_runs(run, tmp_path):
    setting = AlgorithmSetting(
        {"task": "badd", "model": "improved"}, BADD, NeuralGPULearner(TINY), STRINGS
    )
    more, other = tmp_path / "more", tmp_path / "other"
    sweep.run(Table1Study("kaiser2016.table1", [setting], Seeds(1, first_seed=3)), more, workers=1)
    longer = replace(setting, learner=NeuralGPULearner(replace(TINY, steps=7)))
    sweep.run(Table1Study("kaiser2016.table1", [longer], Seeds(1, first_seed=4)), other, workers=1)
    both = [*stored_networks(run, task="badd", model="improved"), *stored_networks(more)]
    study = ensemble((run, more), tasks=("badd",), sizes=(4,))
    assert set(study.configuration["networks"]["badd"]) == {network.name for network in both}
    card = LearnedAlgorithm.load(to_zoo([run, more], "badd", tmp_path)).card
    assert card.seeds_tried == 4
    assert card.seed == min(both, key=lambda network: network.validation_loss).seed
    for wrong, message in (
        ([run, other], "was trained or tested with other settings than"),
        ([more, more], "run holds seed 3 twice"),
        ([], "run is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            to_zoo(wrong, "badd", tmp_path)
    with pytest.raises(ValueError, match="run holds seed 3 twice"):
        ensemble((more, more), tasks=("badd",), sizes=(1,))


def test_a_paper_form_goes_to_the_zoo_with_its_answers(run, tmp_path):
    learned = LearnedAlgorithm.load(to_zoo(run, "badd", tmp_path, model="original"))
    assert learned.task.filled is False
    assert learned.card.form == "NeuralGPU"


def test_an_ensemble_of_one_is_that_network_and_of_more_their_mean(run, tmp_path):
    study = ensemble((run,), tasks=("badd",), sizes=(1, 2), draws=2, lengths=(3, 5), count=6)
    names = [chunk.name for chunk in study.chunks()]
    assert names == ["badd-1-draw0", "badd-1-draw1", "badd-2-draw0", "badd-2-draw1"]
    outcomes = sweep.run(study, tmp_path / "ensemble", workers=1)
    best, second, _ = stored_networks(run, task="badd", model="improved")
    first = outcomes.filter(members=1, seed=0)
    columns = ["strings", "length", "right", "count"]
    assert first.select(columns).equals(best.outcomes.select(columns))
    pair = outcomes.filter(members=2, seed=0)
    assert pair["networks"][0] == f"{best.name} {second.name}"
    symbols = torch.tensor([[1, 2, 3, 2, 1]])
    from torchalu.evaluate import OutputEnsemble

    both = OutputEnsemble([best.load(), second.load()])(symbols).exp()
    mean = sum(network.load()(symbols).softmax(-1) for network in (best, second)) / 2
    torch.testing.assert_close(both, mean)
    tables = study.summarize(outcomes)
    assert list(tables) == ["ensemble", "ensemble_adversarial"]
    assert tables["ensemble"]["seeds"].to_list() == [2, 2, 2, 2]
    assert tables["ensemble"]["chosen_seed"].to_list() == [0, 0, 0, 0]


def test_a_mixture_takes_networks_of_different_trainings_in_the_order_of_their_folders(
    run, tmp_path
):
    strings = {"lengths": (3,), "count": 6, "adversarial": False}
    learner = NeuralGPULearner(replace(TINY, learning_rate=0.02))
    labels = {"task": "badd", "model": "improved"}
    setting = AlgorithmSetting(labels, BADD, learner, Strings(**strings))
    study = Table1Study("kaiser2016.table1", [setting], Seeds(1))
    sweep.run(study, tmp_path / "other", workers=1)
    folders = tmp_path / "other", run
    with pytest.raises(ValueError, match="trained or tested with other settings"):
        ensemble(folders, tasks=("badd",), sizes=(2,), **strings)
    mixed = ensemble(folders, tasks=("badd",), mixed=True, sizes=(4,), draws=1, **strings)
    names = [network.name for network in stored_networks(run, task="badd", model="improved")]
    expected = ["other/badd-improved-seed0", *(f"{run.name}/{name}" for name in names)]
    assert [network.name for network in mixed.networks["badd"]] == expected
    outcomes = sweep.run(mixed, tmp_path / "ensemble", workers=1)
    assert outcomes["networks"].unique().to_list() == [" ".join(expected)]
    (tmp_path / "copies").symlink_to(run)
    with pytest.raises(ValueError, match="have the same weights; give each once"):
        ensemble((run, tmp_path / "copies"), tasks=("badd",), mixed=True, sizes=(2,), **strings)
    with pytest.raises(ValueError, match="give one or more folders with names of their own"):
        ensemble((run, run), tasks=("badd",), mixed=True, sizes=(2,), **strings)


def test_members_are_drawn_once_each():
    members = chosen_members(5, 3, 10)
    assert len(set(members)) == len(members) == math.comb(5, 3)
    assert members[0] == (0, 1, 2)
    assert all(len(set(one)) == 3 and max(one) < 5 for one in members)
    assert chosen_members(5, 3, 4) == members[:4]


def test_a_changed_part_is_refused(run, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (weights,) = copy.glob("parts/badd-improved-seed1.safetensors")
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"seed1\.safetensors is not what was written"):
        stored_networks(copy, task="badd")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: stored_networks(run / "parts"), "is no run folder of"),
        (
            lambda run: stored_networks(run, task="bmul"),
            "holds no Neural GPU with {'task': 'bmul'}",
        ),
        (lambda run: stored_networks(run, model="lstm_attention"), "holds no Neural GPU"),
        (
            lambda run: ensemble((run,), tasks=("badd",), sizes=(4,)),
            r"sizes is \(4,\); give 1 to 3",
        ),
        (lambda run: ensemble((run,), tasks=("badd",), sizes=(1,), draws=0), "draws is 0"),
    ],
)
def test_what_is_not_there_is_named(run, call, message):
    with pytest.raises(ValueError, match=message):
        call(run)


def test_a_folder_of_another_paper_is_refused(tmp_path):
    stored = {"study": "lowe2022.figure5", "configuration": {"settings": {}}}
    (tmp_path / "configuration.json").write_text(json.dumps(stored))
    with pytest.raises(ValueError, match="is no run folder of `torchalu run kaiser2016"):
        stored_networks(tmp_path)


def test_an_unshifted_step_is_the_formula_index_by_index():
    rng = np.random.default_rng(0)
    maps, length = 3, 5
    image = rng.uniform(-1, 1, (1, maps, length, 1))
    gate = rng.normal(size=(2 * maps, maps, 3, 1))
    candidate = rng.normal(size=(maps, maps, 3, 1))
    biases = rng.normal(size=2 * maps), rng.normal(size=maps)
    mask = np.array([1, 1, 1, 1, 0.0])
    image *= mask[:, None]
    parts = (torch.from_numpy(part) for part in (gate, biases[0], candidate, biases[1]))
    found, saturated = unshifted_step(
        torch.from_numpy(image), Layer(*parts), torch.from_numpy(mask.reshape(1, 1, 5, 1))
    )

    def convolved(kernel, bias, values, i, x):
        total = bias[i]
        for c in range(maps):
            for u in (-1, 0, 1):
                if 0 <= x + u < length:
                    total += kernel[i, c, u + 1, 0] * values[c, x + u]
        return total

    state, beyond = image[0, :, :, 0], 0.0
    a = [[convolved(gate, biases[0], state, i, x) for x in range(length)] for i in range(2 * maps)]
    hard = [[min(max(0.5 * value + 0.5, 0.0), 1.0) for value in row] for row in a]
    reset = np.array(hard[:maps]) * state
    for i in range(maps):
        for x in range(length):
            d = convolved(candidate, biases[1], reset, i, x)
            g = hard[maps + i][x]
            new = (g * state[i, x] + (1 - g) * min(max(d, -1.0), 1.0)) * mask[x]
            assert found[0, i, x, 0].item() == pytest.approx(new, abs=1e-12)
            for value in (a[i][x], a[maps + i][x], d):
                beyond += mask[x] * max(abs(value) - 0.9, 0.0)
    assert saturated.item() == pytest.approx(beyond, abs=1e-10)


def test_unshifted_and_diagonal_forms_differ_in_the_shift_alone():
    """With gates closed there is no memory, and the two are the same; else they are not."""
    symbols = torch.tensor([[1, 2, 3, 1], [2, 1, 0, 0]])
    diagonal = DiagonalNeuralGPU(4, maps=6, dropout=0.3).double()
    unshifted = UnshiftedNeuralGPU(**diagonal.configuration()).double()
    for closed in (False, True):
        if closed:
            with torch.no_grad():
                diagonal.gate_weight[..., 6:, :, :, :] = 0
                diagonal.gate_bias[..., 6:] = -2
        unshifted.load_state_dict(diagonal.state_dict())
        first, second = (module.unroll(symbols, seed=5) for module in (diagonal, unshifted))
        assert torch.allclose(first.logits, second.logits, atol=1e-10) == closed
        assert torch.allclose(first.saturation, second.saturation, atol=1e-10) == closed


def test_levels_and_states_without_a_shift():
    generator = torch.Generator().manual_seed(0)
    module = UnshiftedNeuralGPU(4, maps=6, levels=2, dropout=0.0, generator=generator).double()
    symbols = torch.tensor([[1, 2, 3, 1, 2]])
    state = module.eval().unroll(symbols).state
    assert (2 * state).frac().eq(0).all()
    states = list(module.train().states(symbols))
    assert len(states) == 6
    assert module.training
    for _ in module.states(symbols):
        assert torch.is_grad_enabled(), "gradients are off in the steps alone"
    torch.testing.assert_close(states[-1], state, rtol=0, atol=0)
    torch.testing.assert_close(states[0], module.embed(symbols, torch.tensor([5])))
    with pytest.raises(ValueError, match="parameter_sets is 2; this form takes 1"):
        UnshiftedNeuralGPU(4, maps=6, parameter_sets=2)


def test_a_network_is_loaded_with_the_levels_that_it_was_measured_with(tmp_path):
    """A run that ends before its noise is whole is not rounded, whatever its training asks for."""
    training = replace(TINY, noise=0.3, levels=2, sharpening=1.0)
    setting = AlgorithmSetting(
        {"task": "badd", "model": "improved"}, BADD, NeuralGPULearner(training), STRINGS
    )
    sweep.run(Table1Study("kaiser2016.table1", [setting], Seeds(1)), tmp_path / "r", workers=1)
    (network,) = stored_networks(tmp_path / "r", task="badd")
    assert network.outcomes["levels"].to_list() == [0] * network.outcomes.height
    module = network.load()
    assert module.levels == 0
    rows = pl.DataFrame(measure_strings(module, network.task, STRINGS))
    assert rows["right"].to_list() == network.outcomes["right"].to_list()
    assert rows["digits"].to_list() == network.outcomes["digits"].to_list()


def test_padding_changes_nothing_without_a_shift():
    module = UnshiftedNeuralGPU(4, maps=6).double().eval()
    long, short = torch.tensor([[1, 2, 3, 1, 2], [2, 1, 0, 0, 0]]), torch.tensor([[2, 1]])
    steps = torch.tensor([5, 2])
    together = module(long, steps=steps)[1, :2]
    torch.testing.assert_close(together, module(short)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", ["improved", "original"])
def test_noise_of_amplitude_0_changes_nothing(run, model, tmp_path):
    study = noise(run, model=model, amplitudes=(0.0,), length=1, count=40)
    outcomes = sweep.run(study, tmp_path, workers=1)
    texts = BADD.sample(1, 40, np.random.default_rng([9_000_002, 1]))
    for network in stored_networks(run, task="badd", model=model):
        row = outcomes.filter(seed=network.seed).row(0, named=True)
        assert row["right"] == string_accuracy(network.load(), network.task, texts).right
        far = network.outcomes.filter(strings="random", length=5)
        assert (row["far_right"], row["far_count"]) == far.select("right", "count").row(0)


def test_the_noise_borne_in_percent_by_amplitude(run):
    labels = {"task": "badd", "model": "improved", "trained": 0.5, "levels": 2, "settle": 600}
    far = {"length": 9, "far_length": 99, "far_right": 3, "far_count": 4}
    rows = [
        labels | far | {"seed": seed, "noise": amplitude, "right": right, "count": 8}
        for seed, amplitude, right in ((1, 1.0, 2), (1, 0.5, 8), (0, 0.5, 4), (0, 1.0, 0))
    ]
    (table,) = noise(run).summarize(pl.DataFrame(rows)).values()
    assert table.select("seed", "0.5", "1.0", "far_length", "far").rows() == [
        (0, 50.0, 0.0, 99, 75.0),
        (1, 100.0, 25.0, 99, 75.0),
    ]


def test_noise_that_there_is_not(run):
    with pytest.raises(ValueError, match=r"amplitudes is \(\); give numbers from 0 up"):
        noise(run, amplitudes=())
    with pytest.raises(ValueError, match=r"amplitudes is \(-1.0,\); give numbers from 0 up"):
        noise(run, amplitudes=(-1.0,))
    with pytest.raises(ValueError, match="length is 0; give a positive integer"):
        noise(run, length=0)
