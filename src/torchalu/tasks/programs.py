"""Small programs of if, + and -, and what they evaluate to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int64

if TYPE_CHECKING:
    from torch import Tensor

ProgramOperation = Literal["add", "sub", "if"]
Program = tuple[str | int, ...]
"""The symbols of a program; an integer is one symbol, however large."""

PROGRAM_SYMBOLS = ("<padding>", "<number>", "(", ")", "+", "-", "<", ">", "if", "else")
"""The symbols by their index; 0 fills up short programs, 1 stands for every number."""

_INDEX = {symbol: index for index, symbol in enumerate(PROGRAM_SYMBOLS)}
_OPERANDS = 4
_LARGEST = 2**24  # up to here float32 holds each integer


class ProgramBatch(NamedTuple):
    """Programs as sequences, and what they evaluate to.

    Attributes:
        symbols: indices into `PROGRAM_SYMBOLS`, 0 after the end of a program.
        values: the number where there is one, 0 elsewhere.
        lengths: symbols in each program.
        targets: what the programs evaluate to.
    """

    symbols: Int64[Tensor, "programs longest"]
    values: Float[Tensor, "programs longest"]
    lengths: Int64[Tensor, " programs"]
    targets: Float[Tensor, "programs 1"]


@dataclass(frozen=True)
class Programs:
    """Programs of nested operations on random integers.

    A program is one expression:

    .. code-block:: text

        expression := number | (expression + expression) | (expression - expression)
                    | (expression if expression < expression else expression)
                    | (expression if expression > expression else expression)

    It is built from within: an operation on fresh numbers, then another of which one operand,
    at a random place, is the expression so far and the others are fresh numbers, and so on. It
    reads as Python.

    Args:
        operations: of which each one is drawn with equal chance: "add", "sub", "if"; ("add",)
            with one operation is the addition of two integers.
        nesting: how many operations a program has: (least, most), drawn uniformly.
        number_range: numbers are drawn uniformly from low, ..., high - 1.
        seed: settles the programs.

    Raises:
        ValueError: no operation or an unknown one, bounds that are not in order or not positive,
            or numbers so large that float32 does not hold their sums.

    Source:
        Trask et al. 2018, section 4.4 and appendix E: two-digit integers of [0, 100) to train on,
        integers of three and four digits to test on, each passed as one value. The generator is
        that of Zaremba & Sutskever 2014, section 3, with their if, + and - alone; their authors'
        program settles how operations nest. Departures: (1) how many operations the programs
        have is not stated: 1 to 3 here; (2) there is no `print` around a program, since it would
        be the same each time.

    Example:
        >>> for program in Programs(nesting=(2, 2), seed=3).sample(0, 3):
        ...     print(*program, "is", evaluate_program(program))
        ( 88 + ( 45 if 3 > 11 else 39 ) ) is 127
        ( 75 + ( 66 + 58 ) ) is 199
        ( 93 if 86 < ( 31 + 64 ) else 0 ) is 93
        >>> Programs(("add",), nesting=(1, 1)).batch(0, 2).symbols
        tensor([[2, 1, 4, 1, 3],
                [2, 1, 4, 1, 3]])
    """

    operations: tuple[ProgramOperation, ...] = ("add", "sub", "if")
    nesting: tuple[int, int] = (1, 3)
    number_range: tuple[int, int] = (0, 100)
    seed: int = 0

    def __post_init__(self) -> None:
        allowed = get_args(ProgramOperation)
        wrong = [name for name in self.operations if name not in allowed]
        if wrong or not self.operations:
            raise ValueError(
                f"operations is {self.operations!r}; give some of {', '.join(allowed)}"
            )
        least, most = self.nesting
        if not 1 <= least <= most:
            raise ValueError(f"nesting is {self.nesting}; give (least, most), 1 <= least <= most")
        low, high = self.number_range
        reach = _LARGEST // (most + 1)
        if not (-reach <= low < high <= reach):
            raise ValueError(
                f"number_range is {self.number_range}; give integers low < high, not beyond "
                f"{reach}, so that float32 holds the sum of {most + 1} of them"
            )
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give 0 or more")

    def sample(self, step: int, batch_size: int = 128) -> list[Program]:
        """The programs of a training step, which follow from the seed and the arguments alone.

        Args:
            step: the number of the step, from 0.
            batch_size: programs in it.

        Raises:
            ValueError: `step` is negative or `batch_size` not positive.
        """
        if step < 0 or batch_size < 1:
            raise ValueError(
                f"step is {step} and batch_size {batch_size}; give 0 or more, and 1 or more"
            )
        random = np.random.default_rng([self.seed, step])
        least, most = self.nesting
        depths = random.integers(least, most, batch_size, endpoint=True).tolist()
        shape = batch_size, most
        operations = random.integers(len(self.operations), size=shape).tolist()
        signs = random.integers(2, size=shape).tolist()
        places = random.integers(2 * _OPERANDS, size=shape).tolist()
        numbers = random.integers(*self.number_range, size=(*shape, _OPERANDS)).tolist()
        programs: list[Program] = []
        for row, depth in enumerate(depths):
            program: Program = ()
            for level in range(depth):
                operands: list[Program] = [(number,) for number in numbers[row][level]]
                operation = self.operations[operations[row][level]]
                if program:
                    operands[places[row][level] % (4 if operation == "if" else 2)] = program
                program = _build(operation, operands, "<>"[signs[row][level]])
            programs.append(program)
        return programs

    def batch(self, step: int, batch_size: int = 128) -> ProgramBatch:
        """The batch of a training step.

        Args:
            step: the number of the step, from 0.
            batch_size: programs in it.

        Raises:
            ValueError: `step` is negative or `batch_size` not positive.
        """
        return encode_programs(self.sample(step, batch_size))


def encode_programs(programs: Sequence[Program]) -> ProgramBatch:
    """Programs as tensors.

    Args:
        programs: sequences of symbols and integers.

    Raises:
        ValueError: there is no program, one of them cannot be evaluated, or an integer in it or its
            value is beyond 2^24, to where float32 holds every one.

    Example:
        >>> batch = encode_programs([("(", 12, "-", 30, ")"), (7,)])
        >>> batch.symbols.tolist()
        [[2, 1, 5, 1, 3], [1, 0, 0, 0, 0]]
        >>> batch.values.tolist()
        [[0.0, 12.0, 0.0, 30.0, 0.0], [7.0, 0.0, 0.0, 0.0, 0.0]]
        >>> batch.lengths.tolist(), batch.targets.tolist()
        ([5, 1], [[-18.0], [7.0]])
    """
    import torch

    if not programs:
        raise ValueError("programs is empty; give one or more")
    targets = [evaluate_program(program) for program in programs]
    for index, (program, target) in enumerate(zip(programs, targets, strict=True)):
        wide = [
            one for one in (*program, target) if not isinstance(one, str) and abs(one) > _LARGEST
        ]
        if wide:
            raise ValueError(
                f"programs[{index}] has or comes to {wide[0]}; allowed: integers up to {_LARGEST} "
                "in magnitude, which float32 holds; give smaller ones"
            )
    lengths = [len(program) for program in programs]
    symbols = np.zeros((len(programs), max(lengths)), np.int64)
    values = np.zeros(symbols.shape, np.float32)
    for row, program in enumerate(programs):
        symbols[row, : len(program)] = [
            _INDEX[one] if isinstance(one, str) else 1 for one in program
        ]
        values[row, : len(program)] = [0 if isinstance(one, str) else one for one in program]
    return ProgramBatch(
        torch.from_numpy(symbols),
        torch.from_numpy(values),
        torch.tensor(lengths),
        torch.tensor(targets, dtype=torch.float32).unsqueeze(1),
    )


def evaluate_program(program: Program) -> int:
    """What a program comes to.

    Args:
        program: its symbols and integers; see `Programs` for the grammar.

    Raises:
        ValueError: the symbols are no program.

    Example:
        >>> evaluate_program(("(", 1, "if", 5, "<", "(", 2, "+", 4, ")", "else", 0, ")"))
        1
    """
    frames: list[list[str | int]] = [[]]
    for symbol in program:
        if symbol == "(":
            frames.append([])
        elif symbol == ")" and len(frames) > 1:
            value = _reduce(frames.pop(), program)
            frames[-1].append(value)
        else:
            frames[-1].append(symbol)
    match frames:
        case [[int(value)]]:
            return value
    raise _no_program(program)


def _reduce(frame: list[str | int], program: Program) -> int:
    """The value of what stands between two brackets."""
    match frame:
        case [int(a), "+", int(b)]:
            return a + b
        case [int(a), "-", int(b)]:
            return a - b
        case [int(yes), "if", int(a), "<", int(b), "else", int(no)]:
            return yes if a < b else no
        case [int(yes), "if", int(a), ">", int(b), "else", int(no)]:
            return yes if a > b else no
    raise _no_program(program)


def _build(operation: ProgramOperation, operands: Sequence[Program], comparison: str) -> Program:
    """An operation on expressions, in brackets."""
    a, b, c, d = operands
    match operation:
        case "add":
            return "(", *a, "+", *b, ")"
        case "sub":
            return "(", *a, "-", *b, ")"
        case "if":
            return "(", *c, "if", *a, comparison, *b, "else", *d, ")"


def _no_program(program: Program) -> ValueError:
    text = " ".join(str(symbol) for symbol in program)
    return ValueError(f"program is {text!r}; see Programs for what a program is made of")
