"""Networks that read digits and accumulate them, and their start."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from digit_bars import bars
from torchalu import nn
from torchalu.experiments.trask2018.digit_data import TRAIN_LENGTHS
from torchalu.experiments.trask2018.digit_models import (
    ADDING_MODELS,
    ADDING_UNITS,
    MODELS,
    MULTIPLYING_UNITS,
    keep_state_,
)
from torchalu.experiments.trask2018.digit_networks import (
    CellAccumulator,
    DigitFeatures,
    SeriesNetwork,
    UnitAccumulator,
)
from torchalu.experiments.trask2018.digit_training import SeriesTraining
from torchalu.tasks import SequentialMNIST

PAIRS = [
    *(("count", name) for name in ADDING_MODELS),
    *(("sum", name) for name in ADDING_UNITS),
    *(("product", name) for name in MULTIPLYING_UNITS),
]
SLOW = {("count", "NALU"), ("count", "iNALU"), ("sum", "iNALU")}
"""They overfit too, in many more steps; both units overfit with the product all the same."""

TINY = SeriesTraining(epochs=4, settle_epochs=2, evaluate_every=2, batch_size=2, hidden_size=4)


def test_the_features_are_those_of_the_example():
    network = DigitFeatures(dropout=False)
    weights = list(network.parameters())
    assert [p.numel() for p in weights] == [250, 10, 5000, 20, 16_000, 50, 500, 10]
    x = torch.randn(3, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    y = functional.relu(functional.max_pool2d(functional.conv2d(x, *weights[:2]), 2))
    y = functional.relu(functional.max_pool2d(functional.conv2d(y, *weights[2:4]), 2))
    y = functional.relu(functional.linear(y.reshape(-1, 320), *weights[4:6]))
    y = functional.linear(y, *weights[6:])
    torch.testing.assert_close(network(x), y, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network(x[None, :2])[0], y[:2], rtol=1e-4, atol=1e-5)


def test_each_output_is_what_it_is_called():
    images = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    for output, total in (("softmax", lambda y: y), ("log_softmax", torch.exp)):
        sums = total(DigitFeatures(output, dropout=False)(images)).sum(-1)
        torch.testing.assert_close(sums, torch.ones(4))
    assert isinstance(DigitFeatures(dropout=True).layers[4], torch.nn.Dropout2d)


def test_a_unit_runs_over_features_and_state_and_a_cell_has_a_read_out():
    features = torch.rand(2, 3, 10, generator=torch.Generator().manual_seed(0))
    accumulator = UnitAccumulator(nn.NAU, 1, 0.5)
    weight = torch.linspace(-1, 1, 11)
    accumulator.unit.load_state_dict({"weight": weight[None]})
    state = np.full(2, 0.5)
    for step in features.unbind(1):
        state = step.numpy() @ weight[:10].numpy() + weight[10].item() * state
    np.testing.assert_allclose(accumulator(features)[:, 0].detach(), state, rtol=1e-5)
    cell = CellAccumulator(torch.nn.LSTM, 4, 10)
    expected = cell.read_out(cell.rnn(features)[1][0][0])
    torch.testing.assert_close(cell(features), expected)


@pytest.mark.parametrize("operation", ["count", "sum", "product"])
def test_a_cell_starts_at_the_mean_of_what_it_is_to_answer(operation):
    length = {"count": 10, "sum": 10, "product": 2}[operation]
    digits = range(1, 10) if operation == "product" else range(10)
    mean = np.mean(digits)
    expected = {"count": length / 10, "sum": length * mean, "product": mean**length}[operation]
    cell = MODELS["GRU"].accumulator(operation, 4)
    assert cell.read_out.bias.tolist() == [expected] * (10 if operation == "count" else 1)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("operation", ["count", "product"])
def test_every_model_answers_and_learns_in_all_its_parameters(operation, name):
    network = TINY.network(operation, name, seed=0)
    batch = SequentialMNIST(operation, 2, bars("train")).batch(0, 4)
    assert network(batch.images).shape == batch.final.shape
    network.loss(batch).backward()
    assert all(p.grad is not None for p in network.parameters())
    again = TINY.network(operation, name, seed=0)
    assert all(a.equal(b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize(("operation", "name"), PAIRS)
def test_the_first_gradient_of_every_unit_is_finite_on_series_to_train_on(operation, name):
    """That of a NALU whose features start near 0 is not, and then nothing is trained."""
    length = TRAIN_LENGTHS[operation]
    for seed in range(5):
        network = SeriesTraining().network(operation, name, seed)
        network.loss(SequentialMNIST(operation, length, bars("train")).batch(0, 6)).backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in network.parameters()])
        assert norm.isfinite(), seed


def test_features_start_around_their_mean():
    torch.manual_seed(0)
    plain = DigitFeatures(dropout=False)
    torch.manual_seed(0)
    shifted = DigitFeatures(dropout=False, mean=1.0)
    images = torch.randn(4, 1, 28, 28)
    torch.testing.assert_close(shifted(images), 1 + plain(images))


def test_the_loss_is_the_error_at_the_end_with_r_z_over_all_steps():
    batch = SequentialMNIST("sum", 3, bars("train")).batch(0, 4)
    network = SeriesNetwork(DigitFeatures(dropout=False), UnitAccumulator(nn.NAU, 1, 0.0), 2.0)
    plain = functional.mse_loss(network(batch.images), batch.targets[:, -1])
    features = network.features(batch.images)
    states, _ = network.accumulator.rnn(features)
    before = torch.cat((torch.zeros(4, 1, 1), states[:, :-1]), 1)
    mean = torch.cat((features, before), -1).mean((0, 1))
    weight = network.accumulator.unit.effective_weight()
    penalty = ((1 - weight.abs()) * mean.square()).mean()
    assert network.loss(batch).item() == pytest.approx((plain + 2 * penalty).item(), rel=1e-5)
    network.input_penalty = 0.0
    assert network.loss(batch).item() == pytest.approx(plain.item(), rel=1e-6)


@pytest.mark.parametrize("unit", [nn.NAC, nn.NAU, nn.NALU, nn.INALU, nn.GatedNAUNMU])
def test_a_state_that_is_kept_has_the_identity_as_its_weight(unit):
    made = unit(12, 2)
    keep_state_(made)
    state = made.effective_weight()[:, 10:].detach()
    torch.testing.assert_close(state, state[0, 0] * torch.eye(2))
    assert state[0, 0] == 1


def test_a_state_that_is_kept_is_not_divided_by():
    unit = nn.NMRU(12, 2)
    keep_state_(unit)
    assert torch.equal(unit.effective_weight()[:, 10:], torch.eye(2))
    assert not unit.effective_reciprocal_weight().any()


@pytest.mark.parametrize("unit", [nn.NALU, nn.GatedNAUNMU])
def test_a_gate_that_is_kept_starts_without_the_state(unit):
    made = unit(12, 2)
    keep_state_(made)
    gate = next(value for name, value in made.named_parameters() if "gate" in name)
    assert not gate[:, 10:].any()
    assert gate[:, :10].all()


def test_a_state_that_is_kept_holds_for_a_thousand_steps():
    weight = nn.NAC(11, 1)
    keep_state_(weight)
    assert weight.effective_weight()[0, 10].item() ** 1000 == 1


@pytest.mark.parametrize(
    ("unit", "kept"),
    [
        *((unit, 1.0) for unit in (nn.NAC, nn.NAU, nn.NMU, nn.NMRU, nn.NACMul)),
        *((unit, 0.5) for unit in (nn.GatedNAUNMU, nn.INALU)),
        (lambda *sizes: nn.RealNPU(*sizes, modified=True), 0.5),
    ],
)
def test_what_is_left_of_a_state_is_as_the_page_says(unit, kept):
    torch.manual_seed(0)
    made = unit(11, 1)
    keep_state_(made)
    neutral = 1.0 if isinstance(made, nn.NMU | nn.NMRU | nn.NACMul | nn.RealNPU) else 0.0
    state = torch.tensor([[neutral] * 10 + [40.0]])
    assert made(state).item() / 40 == pytest.approx(kept, abs=0.1)


def test_r_z_is_of_a_single_answer():
    factors = {
        (operation, name): SeriesTraining(penalty=0.5).network(operation, name, 0).input_penalty
        for operation, name in (
            ("sum", "NAU"),
            ("product", "NMU"),
            ("count", "NAU"),
            ("sum", "NAC"),
        )
    }
    assert list(factors.values()) == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("operation", "name"),
    [pytest.param(*pair, marks=pytest.mark.long if pair in SLOW else ()) for pair in PAIRS],
)
def test_every_model_overfits_one_batch_of_series_to_train_on(operation, name):
    batch = SequentialMNIST(operation, TRAIN_LENGTHS[operation], bars("train"), seed=1).batch(0, 4)
    network = SeriesTraining().network(operation, name, seed=1)
    network.input_penalty = 0.0
    optimizer = torch.optim.Adam(network.parameters(), 3e-3, fused=True)
    bound = 0.02 * batch.final.var(0, correction=0).mean().item()
    for _ in range(1000):
        loss = network.loss(batch)
        if loss.item() < bound:
            break
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), MODELS[name].clip_norm)
        optimizer.step()
    assert loss.item() < bound
