"""The strings of a step and their loss, against loops over strings and symbols."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.tasks import algorithm, decode
from torchalu.train.algorithms import LengthBins, TrainingStrings, string_loss

BADD = algorithm("badd")


def strings(task=BADD, seed=0, **options):
    return TrainingStrings(task, LengthBins(task, bins=(5, 9), batch=8), seed, **options)


def texts(task, group):
    """The inputs, without padding."""
    symbols = "\0" + task.alphabet
    return ["".join(symbols[n] for n in row if n) for row in group.inputs.tolist()]


class Table(nn.Module):
    """Logits that depend on symbol and place, and a saturation that depends on the length."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.scores = nn.Parameter(torch.randn(9, 4, 4, generator=generator, dtype=torch.float64))
        self.seeds = []

    def unroll(self, symbols, lengths, *, seed):
        self.seeds.append(seed)
        places = torch.arange(symbols.shape[1])
        return SimpleNamespace(
            logits=self.scores[places, symbols], saturation=lengths.double() ** 3
        )


class Plain(Table):
    unroll = None

    def forward(self, symbols, lengths):
        return self.scores[torch.arange(symbols.shape[1]), symbols]


def test_they_follow_from_seed_and_step_alone():
    first, second = strings(), strings()
    first(0)
    for one, other in zip(first(7), second(7), strict=True):
        assert one.seed == other.seed
        assert all(torch.equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))
    seeds = {group.seed for step in range(5) for group in first(step)}
    assert len(seeds) == 10
    assert not torch.equal(strings(seed=1)(7)[1].inputs, second(7)[1].inputs)
    assert not torch.equal(second(8)[1].inputs, second(7)[1].inputs)


def test_targets_are_the_truth():
    for group in strings()(3):
        assert group.inputs.shape == group.targets.shape == (8, group.inputs.shape[1])
        for text, row, n in zip(
            texts(BADD, group), group.targets, group.lengths.tolist(), strict=True
        ):
            assert n == len(text)
            assert decode(BADD, row[:n]) == BADD.solve(text)
            assert not row[n:].any()


def test_fixed_strings_are_drawn_again_and_again():
    def seen(examples):
        given = strings(algorithm("copy"), examples=examples)
        return {t for step in range(60) for t in texts(given.task, given(step)[1]) if len(t) == 9}

    assert len(seen(3)) == 3
    assert len(seen(None)) > 50


def test_the_loss_is_that_of_a_loop_over_symbols():
    module, groups = Table(), strings()(0)
    result = string_loss(module, groups)
    losses, wrong_strings, wrong_digits, digits = [], 0, 0, 0
    scores = module.scores.detach().numpy()
    for group in groups:
        terms = []
        for inputs, targets, n in zip(
            group.inputs.tolist(), group.targets.tolist(), group.lengths.tolist(), strict=True
        ):
            mistakes = 0
            for place in range(n):
                row = scores[place, inputs[place]]
                terms.append(np.log(np.exp(row).sum()) - row[targets[place]])
                mistakes += row.argmax() != targets[place]
            wrong_strings += mistakes > 0
            wrong_digits += mistakes
            digits += n
        losses.append(np.mean(terms))
    assert result.loss.item() == pytest.approx(np.mean(losses), rel=1e-12)
    assert result.measures["string_error"].item() == pytest.approx(wrong_strings / 16)
    assert result.measures["digit_error"].item() == pytest.approx(wrong_digits / digits)
    saturation = [(g.lengths.double() ** 3).sum() / (g.inputs.shape[1] ** 2 * 8) for g in groups]
    assert result.measures["saturation"].item() == pytest.approx(np.mean(saturation))
    assert module.seeds == [group.seed for group in groups]


def test_padding_has_no_part_in_loss_and_gradient():
    module, group = Table(), strings()(0)[1]
    short = group.lengths < 9
    assert short.any()
    longest = int(group.lengths[short].max())
    padded = group._replace(
        inputs=group.inputs[short], targets=group.targets[short], lengths=group.lengths[short]
    )
    cut = padded._replace(inputs=padded.inputs[:, :longest], targets=padded.targets[:, :longest])
    gradients = []
    for one in (padded, cut):
        value = string_loss(module, [one]).loss
        gradients.append(torch.autograd.grad(value, module.scores)[0])
    assert torch.equal(*gradients)
    assert not gradients[0][longest:].any()


def test_a_module_without_unroll_gives_logits():
    groups = strings()(0)
    plain, table = string_loss(Plain(), groups), string_loss(Table(), groups)
    assert torch.equal(plain.loss, table.loss)
    assert "saturation" not in plain.measures


def test_fixed_strings_are_those_of_the_seed():
    def seen(seed):
        given = strings(algorithm("copy"), seed, examples=3)
        return {t for step in range(60) for t in texts(given.task, given(step)[1]) if len(t) == 9}

    first, again, other = (seen(seed) for seed in (0, 0, 1))
    assert first == again
    assert not first & other  # of 512 strings three each
