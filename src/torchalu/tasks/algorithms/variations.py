"""Inputs made of other inputs of the same length: neighbors, and runs of equal symbols."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, UInt32

from torchalu.tasks.algorithms.laws import spread_switches
from torchalu.tasks.algorithms.task import AlgorithmicTask, rows_to_texts, texts_to_rows

_CHANGES = 4


def neighbors(
    task: AlgorithmicTask,
    texts: Sequence[str],
    length: int,
    count: int,
    rng: np.random.Generator,
) -> list[str]:
    """Inputs that differ from given ones in a few symbols.

    Of each, one to four places are drawn, and get the symbols that a random input has there; half
    of binary digits stay as they are.

    Args:
        task: whose inputs they are.
        texts: of the given length; each serves in turn.
        length: as the task counts it.
        count: how many are made; what is none of the task's inputs of this length is left out.
        rng: where the random numbers come from.

    Returns:
        Each once, and none of those given.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> neighbors(algorithm("badd"), ["1101+0111"], 4, 3, np.random.default_rng(0))
        ['1101+1101', '1101+0101', '1100+1111']
    """
    if not texts or not count:
        return []
    others = texts_to_rows(task.sample(length, count, rng))
    given = texts_to_rows(texts, others.shape[1])[np.arange(count) % len(texts)]
    others = _widened(others, given.shape[1])
    order = rng.random(given.shape).argsort(1)
    changed = order < rng.integers(1, _CHANGES, size=(count, 1), endpoint=True)
    made = _inputs(task, np.where(changed, others, given), length)
    known = set(texts)
    return [text for text in made if text not in known]


def in_runs(
    task: AlgorithmicTask, texts: Sequence[str], length: int, rng: np.random.Generator
) -> list[str]:
    """Inputs whose symbols come in runs of all sizes: a size's logarithm is uniform.

    Each run repeats the symbol that a given input has at its first place. Places at which all
    given inputs have the same symbol, such as an operation's sign, keep it.

    Args:
        task: whose inputs they are.
        texts: of the given length.
        length: as the task counts it.
        rng: where the random numbers come from.

    Returns:
        Each once; what is none of the task's inputs of this length is left out.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> task, rng = algorithm("badd"), np.random.default_rng(2)
        >>> in_runs(task, task.sample(9, 2, rng), 9, rng)
        ['100101100+010000001', '100000100+010000011']
    """
    if not texts:
        return []
    codes = texts_to_rows(texts)
    switches = spread_switches(codes.shape, rng)
    start = np.maximum.accumulate(np.where(switches, np.arange(codes.shape[1]), 0), 1)
    shared = (codes == codes[0]).all(0)
    made = np.where(shared, codes, np.take_along_axis(codes, start, 1))
    return _inputs(task, made, length)


def _inputs(
    task: AlgorithmicTask, codes: UInt32[np.ndarray, "count width"], length: int
) -> list[str]:
    """The texts in the rows that are inputs of the length, each once."""
    return [text for text in dict.fromkeys(rows_to_texts(codes)) if _is_input(task, text, length)]


def _is_input(task: AlgorithmicTask, text: str, length: int) -> bool:
    """Whether a text is an input of the length, and has an answer."""
    try:
        task.solve(text)
        return task.length_of(text) == length
    except ValueError:
        return False


def _widened(codes: Int[np.ndarray, "count width"], width: int) -> Int[np.ndarray, "count width"]:
    """The same with zeros behind."""
    return np.pad(codes, ((0, 0), (0, width - codes.shape[1])))
