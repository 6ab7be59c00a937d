"""The search finds wrong strings that random ones hardly show, and calls no right one wrong."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.evaluate import find_counterexamples
from torchalu.tasks import algorithm

COPY = algorithm("copy")


class WrongWhere(nn.Module):
    """Copies, but for the first symbol of the strings of which a rule says so."""

    def __init__(self, rule):
        super().__init__()
        self.rule, self.seen = rule, []

    def forward(self, symbols, lengths=None, steps=None):
        answers = symbols.clone()
        wrong = torch.tensor([self.rule(row) for row in (symbols - 1).tolist()])
        answers[wrong, 0] = 3 - answers[wrong, 0]
        self.seen += ["".join(map(str, row)) for row in (symbols - 1).tolist()]
        return nn.functional.one_hot(answers, 3).float()


def rare(row):
    """Ones at ten places, which one in 1024 random strings has."""
    return all(row[3:23:2])


class Graded(nn.Module):
    """Copies, the less surely the more a part of the string is as it says; wrong if all of it is.

    The logit of the first symbol's right answer is ahead by the number of other symbols there, less
    a half.
    """

    def __init__(self, part):
        super().__init__()
        self.part = torch.tensor([int(symbol) + 1 for symbol in part])

    def forward(self, symbols, lengths=None, steps=None):
        logits = 100 * nn.functional.one_hot(symbols, 3).float()
        others = (symbols[:, 3 : 3 + len(self.part)] != self.part).sum(1)
        logits[:, 0] = nn.functional.one_hot(symbols[:, 0], 3) * (others - 0.5)[:, None]
        return logits


def margin(text, part):
    """That of `Graded`."""
    return sum(a != b for a, b in zip(text[3:], part, strict=False)) - 0.5


@pytest.mark.parametrize("seed", range(3))
def test_nearly_wrong_strings_lead_to_wrong_ones(seed):
    """Which one in a million random strings are."""
    part = "01101001100101101001"
    rng = np.random.default_rng(seed)
    random = find_counterexamples(Graded(part), COPY, 60, count=9000, generations=0, rng=rng)
    assert random.texts == []
    found = find_counterexamples(Graded(part), COPY, 60, count=1000, generations=8, rng=rng)
    assert found.texts
    assert all(text[3:].startswith(part) for text in found.texts)
    assert found.margins == [margin(text, part) for text in found.hardest]
    assert found.margins == sorted(found.margins)
    assert found.margins[0] == -0.5
    assert len(found.hardest) == len(set(found.hardest)) == 250
    new = [margin(text, part) for text in COPY.sample(60, 1000, rng)]
    assert found.margins[-1] < np.quantile(new, 0.05)
    assert found.margins.count(-0.5) == min(len(found.texts), 250)


@pytest.mark.parametrize("seed", range(3))
def test_neighbors_of_rare_wrong_strings_are_wrong_often(seed):
    module = WrongWhere(rare)
    found = find_counterexamples(module, COPY, 24, count=4000, rng=np.random.default_rng(seed))
    seen = np.array([rare(list(map(int, text))) for text in module.seen])
    assert len(module.seen) == len(set(module.seen)) == sum(found.tried)
    assert found.texts == [text for text, is_rare in zip(module.seen, seen, strict=True) if is_rare]
    assert found.wrong == [
        int(part.sum()) for part in np.split(seen, np.cumsum(found.tried))[: len(found.tried)]
    ]
    assert 0 < found.wrong[0] < 60
    starts = 4000 / 20
    assert sum(found.wrong[1:]) / sum(found.tried[1:]) > 0.2 * found.wrong[0] / starts


def test_known_strings_are_starts_where_new_ones_are_right():
    def rule(row):
        return all(row[:22])  # one in four million

    known = ["1" * 22 + "00"]
    alone = find_counterexamples(WrongWhere(rule), COPY, 24, count=40)
    assert (alone.texts, sum(alone.wrong)) == ([], 0)
    found = find_counterexamples(WrongWhere(rule), COPY, 24, count=40, known=known)
    assert found.texts
    assert found.texts[0] == known[0]
    assert len(found.texts) == 1 + sum(found.wrong)
    assert all(text.startswith("1" * 22) for text in found.texts)
    assert found.hardest[0] == known[0]
    assert found.margins[:2] == [-1.0, -1.0]


def test_of_many_known_strings_as_many_are_tried_as_of_new_ones():
    module = WrongWhere(lambda row: False)
    known = COPY.sample(24, 300, np.random.default_rng(7))
    found = find_counterexamples(module, COPY, 24, count=40, generations=0, known=known)
    assert module.seen[:40] == [text for text in module.seen if text in {*known}]
    assert len(module.seen) == 40 + found.tried[0]


def test_a_margin_that_is_no_number_is_the_least():
    class Broken(WrongWhere):
        def forward(self, symbols, lengths=None, steps=None):
            logits = super().forward(symbols)
            logits[symbols[:, :3].eq(2).all(1)] = torch.nan
            return logits

    found = find_counterexamples(Broken(rare), COPY, 24, count=200, generations=2)
    assert found.margins[0] == -np.inf
    assert found.hardest[0].startswith("111")


def test_a_quarter_of_the_new_ones_come_in_runs():
    module = WrongWhere(lambda row: False)
    find_counterexamples(module, COPY, 40, count=2000, generations=0)
    switches = [sum(a != b for a, b in itertools.pairwise(text)) for text in module.seen]
    few = np.mean(np.array(switches) < 10)  # of random strings, with 19.5 on average, 0.1%
    assert 0.15 < few <= 0.25  # most runs are short, but some are long


def test_the_same_search_finds_the_same():
    one, two = (find_counterexamples(WrongWhere(rare), COPY, 24, count=500) for _ in range(2))
    other = find_counterexamples(
        WrongWhere(rare), COPY, 24, count=500, rng=np.random.default_rng(1)
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 0}, "length is 0; give a positive integer"),
        ({"count": 0}, "count is 0; give a positive integer"),
        ({"generations": -1}, "generations is -1; give an integer, 0 or more"),
        ({"known": ["01"]}, "known holds '01', which is of length 2; give strings of length 5"),
        ({"known": ["0a1"]}, "symbol 'a' at position 1 is not in the alphabet"),
    ],
)
def test_what_cannot_be_searched_is_named(changes, message):
    numbers = {"length": 5, "count": 10} | changes
    with pytest.raises(ValueError, match=message):
        find_counterexamples(WrongWhere(rare), COPY, numbers.pop("length"), **numbers)
