"""Networks that are trained side by side do as each would alone."""

import copy
import math

import polars as pl
import pytest
import torch
from torch import nn

from torchalu.experiments.trask2018.arithmetic_models import (
    RECURRENT_MODELS,
    STATIC_MODELS,
    CReLU,
    LastState,
    arithmetic_model,
)
from torchalu.experiments.trask2018.replicas import (
    ClipEach,
    Examples,
    Replicas,
    squared,
    train_replicas,
)
from torchalu.export import snap
from torchalu.nn import NAU, NMU
from torchalu.train import Progress, Stopped, TrainingConfiguration, fit, seeded

SHAPES = {"static": (7,), "recurrent": (4, 7)}
NUMBERS = TrainingConfiguration(
    steps=25, learning_rate=0.02, penalty=0.5, penalty_start=5, penalty_end=10, evaluate_every=10,
    checkpoint_every=4,
)  # fmt: skip


def copies(build, seeds=2):
    made = []
    for seed in range(seeds):
        with seeded(seed):
            made.append(build())
    return made


def examples(seeds=2, tasks=3, rows=16, shape=(3,), seed=0):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.rand(seeds, rows, *shape, generator=generator)
    targets = torch.rand(seeds, tasks, rows, 1, generator=generator)
    return Examples(inputs, targets)


def build():
    return nn.Sequential(NAU(3, 2), NMU(2, 1))


def train(replicas, **options):
    def sample(step):
        return examples(seed=step)

    return train_replicas(replicas, sample, examples(seed=1000), NUMBERS, **options)


@pytest.mark.parametrize(
    ("form", "name"),
    [("static", name) for name in STATIC_MODELS]
    + [("recurrent", name) for name in RECURRENT_MODELS],
)
def test_answers_are_those_of_the_copies(form, name):
    made = copies(lambda: arithmetic_model(form, name).build(7))
    replicas = Replicas(made, tasks=2)
    inputs = examples(shape=SHAPES[form]).inputs
    answers = replicas(inputs)
    assert answers.shape == (2, 2, 16, 1)
    for seed, one in enumerate(made):
        for task in range(2):
            torch.testing.assert_close(answers[seed, task], one(inputs[seed]), rtol=2e-4, atol=1e-6)


def test_training_is_that_of_each_alone():
    """Penalty, clamp and Adam of one replica, against the general loop on it."""
    made = copies(build)
    replicas = Replicas([copy.deepcopy(one) for one in made], tasks=3)
    train(replicas)
    for seed, task in ((0, 1), (1, 2)):
        alone = copy.deepcopy(made[seed])

        def sample(step, _, seed=seed, task=task):
            batch = examples(seed=step)
            return batch.inputs[seed], batch.targets[seed, task]

        def loss(module, batch):
            return nn.functional.mse_loss(module(batch[0]), batch[1])

        fit(alone, sample, loss, NUMBERS)
        for name, value in alone.named_parameters():
            torch.testing.assert_close(replicas.current()[name][seed, task], value)


def test_the_best_parameters_are_kept_for_each():
    replicas = Replicas(copies(build), tasks=3)
    records = train(replicas)
    assert records.columns == [
        "seed_index", "task_index", "step", "training_loss", "validation_loss",
    ]  # fmt: skip
    assert records["step"].unique().sort().to_list() == [10, 20, 25]
    errors = replicas.errors(examples(seed=1000), squared)
    for (seed, task), rows in records.group_by("seed_index", "task_index"):
        best = rows.sort("validation_loss").row(0, named=True)
        assert errors[seed, task].item() == pytest.approx(best["validation_loss"], rel=1e-9)
        assert replicas.best_loss[seed, task].item() == best["validation_loss"]
        assert replicas.best_step[seed, task].item() == best["step"]


def test_each_is_snapped_as_it_is_alone():
    """The current parameters; those of a replica that is not finite are NaN."""
    replicas = Replicas(copies(build), tasks=3)
    train(replicas)
    with torch.no_grad():
        replicas.current()["0.weight"][0, 1, 0, 0] = math.inf
    snapped = replicas.snapped()
    assert snapped is not None
    assert replicas.finite().tolist() == [[True, False, True], [True, True, True]]
    assert all(value[0, 1].isnan().all() for value in snapped.values())
    for seed, task in ((0, 0), (1, 2)):
        alone = build()
        alone.load_state_dict({k: v[seed, task] for k, v in replicas.current().items()})
        snap(alone)
        for name, value in alone.named_parameters():
            assert torch.equal(snapped[name][seed, task], value)


def test_there_is_nothing_to_snap_without_units():
    assert Replicas(copies(lambda: nn.Sequential(nn.Linear(3, 1), nn.Tanh()))).snapped() is None


def test_one_that_diverges_leaves_the_others_as_they_are():
    def start(broken):
        replicas = Replicas(copies(build), tasks=3)
        if broken:
            with torch.no_grad():
                replicas.current()["0.weight"][0, 1] = math.nan
        return replicas

    whole, broken = start(broken=False), start(broken=True)
    clean, records = train(whole), train(broken)
    lost = (pl.col("seed_index") == 0) & (pl.col("task_index") == 1)
    assert records.filter(~lost).equals(clean.filter(~lost))
    assert records.filter(lost)["validation_loss"].is_nan().all()
    assert broken.best_loss.isinf().nonzero().tolist() == [[0, 1]]
    assert broken.best_step[0, 1] == 0
    others = torch.ones(2, 3, dtype=torch.bool)
    others[0, 1] = False
    for name, value in whole.current().items():
        assert torch.equal(broken.current()[name][others], value[others])


@pytest.mark.usefixtures("every_step_reports")
def test_a_run_that_is_broken_off_ends_with_the_same_numbers(tmp_path):
    def stop(done):
        if done > 0.3:
            raise Stopped("enough")

    expected = Replicas(copies(build), tasks=3)
    records = train(expected)
    with pytest.raises(Stopped):
        train(Replicas(copies(build), tasks=3), folder=tmp_path, report=stop)
    resumed = Replicas(copies(build), tasks=3)
    assert train(resumed, folder=tmp_path).equals(records)
    for name, value in expected.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value)


def test_each_gradient_is_clipped_to_its_own_norm():
    replicas = Replicas(copies(build), tasks=2)
    parameters = list(replicas.parameters())
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
        parameter.grad[1] = 1e-3
    progress = Progress(replicas, torch.optim.SGD(parameters), parameters, seed=0)
    ClipEach(0.5).change_gradients(progress)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = torch.cat([gradient.flatten(2) for gradient in gradients], -1)
    torch.testing.assert_close(flat[0].norm(dim=-1), torch.full((2,), 0.5))
    torch.testing.assert_close(flat[1], torch.full_like(flat[1], 1e-3))


@pytest.mark.parametrize(
    ("kind", "layer"),
    [
        ("LSTM", nn.LSTM),
        ("GRU", nn.GRU),
        ("RNN-tanh", nn.RNN),
        ("RNN-ReLU", lambda *sizes, **options: nn.RNN(*sizes, nonlinearity="relu", **options)),
    ],
)
def test_written_out_layers_are_those_of_torch(kind, layer):
    with seeded(0):
        written, theirs = LastState(kind, 5, 3), layer(5, 3, batch_first=True)
        inputs = torch.randn(6, 9, 5)
    theirs.load_state_dict(
        {f"{name}_l0": value for name, value in written.cell.state_dict().items()}
    )
    torch.testing.assert_close(written(inputs), theirs(inputs)[0][:, -1])


def test_crelu_has_both_parts():
    inputs = torch.tensor([[1.0, -2.0]])
    assert CReLU()(inputs).tolist() == [[1.0, 0.0, 0.0, 2.0]]


@pytest.mark.parametrize(
    ("form", "name"),
    [("static", name) for name in STATIC_MODELS]
    + [("recurrent", name) for name in RECURRENT_MODELS],
)
def test_every_model_overfits_one_batch(form, name):
    """Of three starts two at least leave less than a twentieth of the targets' variance."""
    model = arithmetic_model(form, name)
    replicas = Replicas(copies(lambda: model.build(7), seeds=3))
    inputs = examples(seeds=3, tasks=1, rows=4, shape=SHAPES[form]).inputs
    totals = inputs if form == "static" else inputs.sum(2) / 10
    targets = totals[..., :3].sum(2)[:, None, :, None]
    batch = Examples(inputs, targets)
    steps = 300 if name in ("NAC", "RNN-ReLU") else 150
    numbers = TrainingConfiguration(steps=steps, learning_rate=0.05, evaluate_every=10)
    train_replicas(replicas, lambda _: batch, batch, numbers, clip_norm=model.clip_norm)
    variances = targets.double().var(2, correction=0).squeeze(-1)
    assert (replicas.best_loss < 0.05 * variances).sum() >= 2
