"""A search for strings that a module gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import nn

from torchalu.arguments import check_integers_from_zero, check_positive_integers
from torchalu.evaluate.strings import check_strings, string_accuracy
from torchalu.tasks.algorithms import AlgorithmicTask, in_runs, neighbors


@dataclass(frozen=True)
class Counterexamples:
    """What a search has found.

    Attributes:
        texts: the wrong strings, each once, in the order in which they were found.
        tried: how many strings were tried in each generation; the first are new ones.
        wrong: how many of these were wrong.
    """

    texts: list[str]
    tried: list[int]
    wrong: list[int]


def find_counterexamples(
    module: nn.Module,
    task: AlgorithmicTask,
    length: int,
    *,
    count: int = 4000,
    generations: int = 2,
    known: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Counterexamples:
    """Search for strings of one length that a module gets wrong.

    The first generation are new strings: three quarters as the task draws them, and a quarter that
    consist of runs of equal symbols. Each further one are neighbors of the strings that were wrong
    in the one before it, in one to four symbols. Neighbors of a wrong string
    are wrong far more often than others: a few generations find hundreds where random strings show
    one, or none.

    Args:
        module: answers strings, as `string_accuracy` takes it.
        task: draws and solves the strings.
        length: of each, as the task counts it.
        count: how many are tried in a generation, at most.
        generations: of neighbors.
        known: strings that were wrong once, of the same length. Where a generation finds none, the
            next are neighbors of these.
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
        >>> found.texts, found.wrong
        ([], [0])
        >>> found = find_counterexamples(Copy(), algorithm("reverse"), 20, count=100)
        >>> len(found.texts) == sum(found.wrong), found.wrong[0] > 90
        (True, True)
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
    made = [*drawn[count // 4 :], *in_runs(task, drawn[: count // 4], length, rng)]
    seen: set[str] = set()
    found: list[str] = []
    tried, wrong, texts = [], [], []

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(sum(tried) + done, count * (generations + 1))

    for generation in range(generations + 1):
        if generation:
            parents = texts or [*known]
            rng.shuffle(parents)
            made = neighbors(task, parents, length, count, rng)
        tries = [text for text in dict.fromkeys(made) if text not in seen]
        if not tries:
            break
        texts = [tries[at] for at in string_accuracy(module, task, tries, progress=report).failures]
        seen.update(tries)
        found += texts
        tried.append(len(tries))
        wrong.append(len(texts))
    return Counterexamples(found, tried, wrong)
