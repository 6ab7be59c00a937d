"""Texts as symbol numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int64

from torchalu.tasks.algorithms.task import AlgorithmicTask

if TYPE_CHECKING:
    from torch import Tensor

BLANK = "␀"


class SymbolBatch(NamedTuple):
    """Inputs and answers as symbol numbers.

    Attributes:
        inputs: the numbers of the inputs' symbols, then 0.
        targets: the same of the answers; filled with the first symbol up to the string's own
            length where the task says so. None if they were not asked for.
        lengths: n of each string, which its input and answer both fit in.
    """

    inputs: Int64[Tensor, "batch length"]
    targets: Int64[Tensor, "batch length"] | None
    lengths: Int64[Tensor, " batch"]


def encode(
    task: AlgorithmicTask, texts: Sequence[str], *, length: int | None = None, targets: bool = True
) -> SymbolBatch:
    """Inputs of a task, and their answers, as symbol numbers.

    Args:
        task: whose alphabet and truth are used.
        texts: the inputs; they may be of different lengths.
        length: pad to so many symbols; by default to as many as the longest string needs.
        targets: whether the answers are worked out.

    Raises:
        ValueError: no texts; one that is no input of the task; a length too small for one.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> batch = encode(algorithm("badd"), ["11+10", "1+1"])
        >>> batch.inputs
        tensor([[2, 2, 3, 2, 1],
                [2, 3, 2, 0, 0]])
        >>> batch.targets
        tensor([[1, 1, 2, 1, 1],
                [1, 2, 1, 0, 0]])
        >>> batch.lengths
        tensor([5, 3])
    """
    import torch

    if isinstance(texts, str) or not len(texts):
        raise ValueError(f"texts is {texts!r}; give a list of at least one input")
    needed = [task.symbols(task.length_of(text)) for text in texts]
    width = max(needed) if length is None else length
    if width < max(needed):
        longest = int(np.argmax(needed))
        raise ValueError(
            f"length is {length}, and text number {longest} needs {needed[longest]} symbols; "
            f"give at least {max(needed)}, or None"
        )
    solved = None
    if targets:
        answers = [task.solve(text) for text in texts]
        if task.filled:
            zero = task.alphabet[0]
            answers = [answer.ljust(n, zero) for answer, n in zip(answers, needed, strict=True)]
        solved = torch.from_numpy(_numbers(answers, task.alphabet, width))
    inputs = torch.from_numpy(_numbers(texts, task.alphabet, width))
    return SymbolBatch(inputs, solved, torch.tensor(needed))


def decode(task: AlgorithmicTask, row: Int64[Tensor, " n"] | Sequence[int]) -> str:
    """The answer in a row of symbol numbers, as `solve` would write it.

    Padding at the end is left out, and so are the zeros that fill the answers of some tasks, as
    far as there is nothing else among them: a wrong symbol beyond the answer stays to be seen.

    Args:
        task: whose alphabet is used.
        row: the n symbols of a string, without those that pad it to the length of a batch.

    Returns:
        The answer; `␀` stands for padding between other symbols.

    Raises:
        ValueError: a number that is none of a symbol.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> decode(algorithm("badd"), [1, 1, 2, 1, 1])
        '001'
        >>> decode(algorithm("badd"), [1, 1, 2, 1, 2])
        '00101'
    """
    symbols = BLANK + task.alphabet
    numbers = row if isinstance(row, Sequence) else row.tolist()
    if not all(0 <= number < len(symbols) for number in numbers):
        wrong = next(number for number in numbers if not 0 <= number < len(symbols))
        raise ValueError(
            f"row has the number {wrong}; task {task.name!r} has the numbers 0 to "
            f"{len(symbols) - 1}: 0 for padding, then {task.alphabet!r}"
        )
    text = "".join([symbols[number] for number in numbers]).rstrip(BLANK)
    length = task.lengths(len(numbers))
    if task.filled and length:
        answer = text[: task.answer_symbols(length)]
        if not text[len(answer) :].strip(task.alphabet[0]):
            return answer
    return text


def _numbers(texts: Sequence[str], alphabet: str, width: int) -> Int64[np.ndarray, "texts width"]:
    """Rows of symbol numbers, padded with 0."""
    table = np.zeros(max(map(ord, alphabet)) + 1, np.int64)
    table[[ord(symbol) for symbol in alphabet]] = range(1, len(alphabet) + 1)
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    sizes = np.array([len(text) for text in texts])
    rows = np.zeros((len(texts), width), np.int64)
    rows[np.arange(width) < sizes[:, None]] = table[codes]
    return rows
