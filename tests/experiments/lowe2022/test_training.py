"""Training of the networks of Lowe et al. 2022, against loops and schedules of torch."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

from clouds import CLOUDS, TINY, setting
from torchalu.experiments.lowe2022.data import ClassificationData, Samples
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters
from torchalu.experiments.lowe2022.one_cycle import one_cycle, one_cycle_adam
from torchalu.experiments.lowe2022.training import (
    ClassificationRuns,
    classification_loss,
    measure,
    train_classifier,
)


@pytest.mark.parametrize("steps", [4, 10, 37, 100])
def test_rates_and_momenta_are_those_of_torchs_one_cycle(steps):
    weight = nn.Parameter(torch.ones(2))
    theirs = torch.optim.Adam([weight], lr=0.3)
    cycle = OneCycleLR(theirs, 0.3, steps)
    ours = one_cycle_adam(steps)([nn.Parameter(torch.ones(2))], lr=0.3)
    factor = one_cycle(steps)
    for step in range(steps):
        (parameter,) = ours.param_groups[0]["params"]
        parameter.grad = weight.grad = torch.ones(2)
        ours.step()
        (group,) = theirs.param_groups
        assert 0.3 * factor(step) == pytest.approx(group["lr"], rel=1e-9)
        assert ours.param_groups[0]["betas"] == pytest.approx(group["betas"], rel=1e-9)
        theirs.step()
        if step < steps - 1:
            cycle.step()


def test_a_trained_network_is_what_torchs_own_loop_gives():
    ours = setting("relu").network(0).double()
    theirs = setting("relu").network(0).double()
    doubled = ClassificationData(CLOUDS.train, CLOUDS.validation, CLOUDS.test, torch.Tensor.double)
    numbers = Hyperparameters(0.05, weight_decay=0.01)
    train_classifier(ours, doubled, numbers, TINY, seed=3)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.05, weight_decay=0.01)
    cycle = OneCycleLR(optimizer, 0.05, 20)
    for epoch in range(2):
        order = np.random.default_rng([3, epoch]).permutation(80)
        for number in range(10):
            rows = order[8 * number : 8 * number + 8]
            x, y = CLOUDS.train.inputs[rows], CLOUDS.train.labels[rows]
            optimizer.zero_grad()
            nn.functional.cross_entropy(theirs(x), y).backward()
            optimizer.step()
            if (epoch, number) != (1, 9):
                cycle.step()
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, theirs.state_dict()[name], rtol=1e-9, atol=1e-12)


def test_an_epoch_goes_once_through_whole_batches_in_an_order_of_its_own():
    samples = Samples(torch.arange(10), torch.arange(10))
    data = ClassificationData(samples, samples, samples)
    epochs = [
        torch.cat([data.batch(3 * epoch + k, 3, seed=0).labels for k in range(3)])
        for epoch in range(3)
    ]
    assert all(len(set(epoch.tolist())) == 9 for epoch in epochs)
    assert len({tuple(epoch.tolist()) for epoch in epochs}) == 3
    assert not torch.equal(data.batch(0, 3, seed=1).labels, epochs[0][:3])
    assert data.epoch_steps(99) == 1
    assert len(data.batch(0, 99, seed=0).labels) == 10
    parts = list(data.batches("train", most=7))
    assert torch.cat([part.labels for part in parts]).tolist() == list(range(7))


def test_loss_and_accuracy_with_one_output_and_with_several():
    logits = torch.tensor([[2.0], [-1.0], [0.5]])
    labels = torch.tensor([1, 0, 0])
    two = torch.cat([torch.zeros(3, 1), logits], 1)
    expected = -torch.log(torch.sigmoid(torch.tensor([2.0, 1.0, -0.5]))).mean()
    assert classification_loss(logits, labels).item() == pytest.approx(expected.item(), rel=1e-6)
    assert classification_loss(two, labels).item() == pytest.approx(expected.item(), rel=1e-6)
    batches = [(logits[:2], labels[:2]), (logits[2:], labels[2:])]
    for inputs in (batches, [(two, labels)]):
        loss, accuracy = measure(nn.Identity(), inputs)
        assert (loss, accuracy) == (pytest.approx(expected.item(), rel=1e-6), pytest.approx(2 / 3))


def test_a_start_follows_from_the_seed_and_not_from_torchs_generator():
    torch.manual_seed(1)
    one = setting("prelu").network(0).state_dict()
    again, other = (setting("prelu").network(seed).state_dict() for seed in (0, 1))
    assert all(torch.equal(value, again[name]) for name, value in one.items())
    assert not torch.equal(one["0.weight"], other["0.weight"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ClassificationRuns(epochs=0), "epochs is 0; give a positive integer"),
        (lambda: ClassificationRuns(first_seed=-1), "first_seed is -1; give an integer, 0 or more"),
        (lambda: Hyperparameters(0.0), "learning_rate is 0.0; give a finite number above 0"),
        (lambda: Hyperparameters(math.inf), "learning_rate is inf; give a finite number above 0"),
        (lambda: Hyperparameters(weight_decay=-1.0), "weight_decay is -1.0; give a finite number"),
        (lambda: one_cycle(3), "steps is 3; one cycle takes 4 at least"),
        (lambda: CLOUDS.batches("dev").__next__(), "part is 'dev'; choose from train"),
    ],
)
def test_wrong_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
