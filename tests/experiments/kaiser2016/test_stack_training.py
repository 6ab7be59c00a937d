"""How a stack RNN is taught: longer strings each epoch, and a rate that is halved."""

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.experiments.kaiser2016.stack_training import HalvedRate, LongerEachEpoch
from torchalu.tasks import algorithm
from torchalu.train import Progress

BADD = algorithm("badd")


def test_the_lengths_of_a_stack_rnn_grow_with_the_epochs():
    plan = LongerEachEpoch(BADD, epoch=10, most=41, batch=400)
    rng = np.random.default_rng(0)
    for steps, most in ((0, 1), (39, 2), (40, 3), (10_000, 20)):
        plan.steps = steps
        (group,) = plan.draw(rng)
        assert set(group.lengths) == set(range(1, most + 1))
        assert group.symbols == 2 * most + 1
    with pytest.raises(ValueError, match="badd has no strings of at most 2 symbols"):
        LongerEachEpoch(BADD, most=2)


def test_the_rate_is_halved_and_the_best_parameters_come_back():
    module = nn.Linear(1, 1)
    progress = Progress(module, torch.optim.SGD(module.parameters(), 0.1), [], 0)
    hook = HalvedRate(patience=100, least=0.3)

    def evaluate(step, weight, entropy):
        progress.step = step
        nn.init.constant_(module.weight, weight)
        hook.after_evaluation(progress, {"entropy": entropy})
        return module.weight.item(), hook.factor, progress.ended

    assert evaluate(10, 1.0, 0.9) == (1.0, 1.0, False)
    assert evaluate(20, 2.0, 1.0) == (2.0, 1.0, False)  # early, and nothing works yet
    assert evaluate(30, 3.0, 0.2) == (3.0, 1.0, False)
    assert evaluate(40, 4.0, 0.5) == (3.0, 1.0, False)  # it worked, so it comes back
    assert evaluate(110, 5.0, 0.5) == (3.0, 0.5, False)
    assert evaluate(120, 6.0, 0.1) == (6.0, 0.5, False)
    assert evaluate(130, 7.0, 0.4) == (6.0, 0.25, True)
