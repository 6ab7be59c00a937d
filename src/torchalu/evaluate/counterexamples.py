"""A search for strings that a module gets wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import nn

from torchalu.arguments import check_integers_from_zero, check_positive_integers
from torchalu.evaluate.strings import check_strings, string_accuracy
from torchalu.tasks.algorithms import AlgorithmicTask, in_runs, neighbors

_NEIGHBORS = 20
"""Of each start, in a generation."""
_HARDEST = 4
"""Strings of a generation to one of the hardest."""


@dataclass(frozen=True)
class Counterexamples:
    """What a search has found.

    Attributes:
        texts: the wrong strings, each once: known ones, then new ones in the order in which they
            were found.
        tried: how many strings were tried in each generation; the first are new ones.
        wrong: how many of these were wrong.
        hardest: of all strings that were tried, known ones among them, those with the least
            margin, wrong or right, the least first; a quarter of a generation's number.
        margins: of these; see `StringAccuracy`.
    """

    texts: list[str]
    tried: list[int]
    wrong: list[int]
    hardest: list[str]
    margins: list[float]


def find_counterexamples(
    module: nn.Module,
    task: AlgorithmicTask,
    length: int,
    *,
    count: int = 1000,
    generations: int = 8,
    known: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Counterexamples:
    r"""Search for strings of one length that a module gets wrong.

    The first generation are new strings: three quarters as the task draws them, and a quarter that
    consist of runs of equal symbols. Those with the least margin, one in twenty, are starts: for
    each of them a further generation has twenty neighbors, which differ from it in one to four
    symbols, and one of these takes its place where its margin is less.

    .. math:: m(x) = \min_i \bigl( z_{i, t_i} - \max_{s \ne t_i} z_{i, s} \bigr)

    with the logits z of the answer to x and the right symbols t. A string that is nearly wrong has
    wrong ones near it far more often than others do: some generations find wrong strings where as
    many random ones show none.

    Args:
        module: answers strings, as `string_accuracy` takes it.
        task: draws and solves the strings.
        length: of each, as the task counts it.
        count: how many are tried in a generation, at most.
        generations: of neighbors.
        known: strings of the same length that were hard before: so many of these as of new ones,
            at most, may be starts, too.
        rng: where the random numbers come from; always the same if left out.
        progress: called now and then with the number of strings done, and of all at most.

    Raises:
        ValueError: a number is out of its range, `known` holds a text that is no input of the
            task or of another length, or the strings take more memory than is free.

    Source:
        Ours. Goodfellow, Shlens & Szegedy 2015 train on adversarial images, which a gradient
        finds; strings have none, but the truth of each is known.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> class Copy(nn.Module):
        ...     def forward(self, symbols, lengths):
        ...         return nn.functional.one_hot(symbols, 8).float()
        >>> found = find_counterexamples(Copy(), algorithm("copy"), 20, count=100)
        >>> found.texts, sum(found.wrong), len(found.hardest), found.margins[0]
        ([], 0, 25, 1.0)
        >>> found = find_counterexamples(Copy(), algorithm("reverse"), 20, count=100)
        >>> len(found.texts) == sum(found.wrong), found.wrong[0] > 90, found.margins[0]
        (True, True, -1.0)
    """
    check_positive_integers(length=length, count=count)
    check_integers_from_zero(generations=generations)
    for text in known:
        if task.length_of(text) != length:
            raise ValueError(
                f"known holds {text[:40]!r}, which is of length {task.length_of(text)}; give "
                f"strings of length {length}"
            )
    symbols = task.symbols(length)
    check_strings(module, symbols, count, f"length is {length} and count {count}")
    rng = np.random.default_rng(0) if rng is None else rng
    drawn = task.sample(length, count, rng)
    new = [*dict.fromkeys([*drawn[count // 4 :], *in_runs(task, drawn[: count // 4], length, rng)])]
    fresh = {*new}
    old = [text for text in dict.fromkeys(known) if text not in fresh]
    old = [old[at] for at in rng.permutation(len(old))[:count]]
    most = len(old) + count * (generations + 1)
    margins: dict[str, float] = {}

    def measure(texts: list[str]) -> list[str]:
        """Note the margins, and give those that are wrong."""
        before = len(margins)

        def report(done: int, _: int) -> None:
            if progress is not None:
                progress(before + done, most)

        accuracy = string_accuracy(module, task, texts, progress=report)
        least = np.nan_to_num(accuracy.margins, nan=-np.inf).tolist()
        margins.update(zip(texts, least, strict=True))
        return [texts[at] for at in accuracy.failures]

    found = measure(old) if old else []
    failures = measure(new)
    found += failures
    tried, wrong = [len(new)], [len(failures)]
    starts = sorted(margins, key=margins.__getitem__)[: max(1, count // _NEIGHBORS)]
    for _ in range(generations):
        near = [neighbors(task, [start], length, min(count, _NEIGHBORS), rng) for start in starts]
        tries = [text for text in dict.fromkeys(itertools.chain(*near)) if text not in margins]
        if not tries:
            break
        failures = measure(tries)
        found += failures
        tried.append(len(tries))
        wrong.append(len(failures))
        pairs = zip(starts, near, strict=True)
        nearer = [min([start, *texts], key=margins.__getitem__) for start, texts in pairs]
        starts = [*dict.fromkeys(nearer)]
    hardest = sorted(margins, key=margins.__getitem__)[: max(1, count // _HARDEST)]
    return Counterexamples(found, tried, wrong, hardest, [margins[text] for text in hardest])
