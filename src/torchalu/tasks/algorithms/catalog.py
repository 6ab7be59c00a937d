"""The tasks by name."""

from __future__ import annotations

import difflib
import operator
from dataclasses import replace

from torchalu.tasks.algorithms import kinds, laws, sequences
from torchalu.tasks.algorithms.arithmetic import Arithmetic, Comparison, UnalignedSum
from torchalu.tasks.algorithms.digits import DIGITS
from torchalu.tasks.algorithms.expression import Expression
from torchalu.tasks.algorithms.search import Search
from torchalu.tasks.algorithms.sequences import SequenceTask
from torchalu.tasks.algorithms.shift import Shift
from torchalu.tasks.algorithms.task import AlgorithmicTask, CarryTask

_BASES = {2: "binary", 4: "base-4", 10: "decimal"}


def add(*numbers: int) -> int:
    """The sum of whole numbers."""
    return sum(numbers)


def increment(number: int) -> int:
    """The next whole number."""
    return number + 1


def compare(first: int, second: int) -> int:
    """1 if the first number is the greater one, 0 if they are equal, else -1."""
    return (first > second) - (first < second)


def _sum(name: str, base: int, example: str, operands: int = 2) -> Arithmetic:
    """A sum of numbers of the same length."""
    count = {2: "two", 3: "three"}[operands]
    return Arithmetic(
        name=name,
        title=f"the sum of {count} {_BASES[base]} numbers of the same length",
        alphabet=DIGITS[:base] + "+",
        example=example,
        size=(operands, operands - 1),
        operation=add,
        sign="+",
        base=base,
        operands=operands,
        answer_size=(1, operands - 1),
        carry_law=laws.carry_in_sum_law,
        absence_law=laws.no_carry_in_sum_law if operands == 2 else None,
        kinds=kinds.sum_kinds,
        commutative=True,
    )


def _product(name: str, base: int, example: str) -> Arithmetic:
    """A product of two numbers of the same length."""
    return Arithmetic(
        name=name,
        title=f"the product of two {_BASES[base]} numbers of the same length",
        alphabet=DIGITS[:base] + "*",
        example=example,
        size=(2, 1),
        operation=operator.mul,
        sign="*",
        base=base,
        operands=2,
        answer_size=(2, 0),
        carry_law=laws.carry_in_product_law,
        kinds=kinds.product_kinds,
        commutative=True,
    )


_TASKS: tuple[AlgorithmicTask, ...] = (
    _sum("badd", 2, "1101+0111"),
    _product("bmul", 2, "0110*0101"),
    SequenceTask(
        name="copy",
        title="the sequence of bits itself",
        alphabet="01",
        example="0011",
        size=(1, 0),
        function=sequences.copy,
    ),
    SequenceTask(
        name="reverse",
        title="the sequence of bits from its end to its beginning",
        alphabet="01",
        example="0011",
        size=(1, 0),
        function=sequences.reverse,
    ),
    SequenceTask(
        name="duplicate",
        title="the sequence of bits twice",
        alphabet="01",
        example="0011",
        size=(2, 0),
        function=sequences.duplicate,
    ),
    SequenceTask(
        name="sort",
        title="the bits of a sequence in order",
        alphabet="01",
        example="10110010",
        size=(1, 0),
        function=sequences.sort,
    ),
    Arithmetic(
        name="increment",
        title="a binary number and 1",
        alphabet="01",
        example="1101",
        size=(1, 1),
        operation=increment,
        sign="",
        base=2,
        operands=1,
        answer_size=(1, 1),
        carry_law=laws.carry_from_one_law,
        kinds=kinds.increment_kinds,
    ),
    Shift(
        name="shift",
        title="a binary number times 2 for each '<'",
        alphabet="01<",
        example="1101<<",
        size=(2, 0),
    ),
    _sum("dadd", 10, "7190+5821"),
    _product("dmul", 10, "21*43"),
    _sum("qadd", 4, "3021+1332"),
    _product("qmul", 4, "312*203"),
    Arithmetic(
        name="bsub",
        title="the difference of two binary numbers of the same length",
        alphabet="01-",
        example="1101-0111",
        size=(2, 1),
        operation=operator.sub,
        sign="-",
        base=2,
        operands=2,
        answer_size=(1, 1),
        carry_law=laws.borrow_law,
        kinds=kinds.difference_kinds,
    ),
    Comparison(
        name="compare",
        title="which of two binary numbers of the same length is greater",
        alphabet="01?<=>",
        example="1101?0111",
        size=(2, 1),
        operation=compare,
        sign="?",
        base=2,
        operands=2,
        answer_size=(0, 1),
        carry_law=laws.agreeing_law,
        kinds=kinds.comparison_kinds,
    ),
    _sum("badd3", 2, "1101+0111+1011", operands=3),
    UnalignedSum(
        name="badd_unaligned",
        title="the sum of two binary numbers of any lengths",
        alphabet="01+",
        example="1101+11",
        size=(2, 1),
        operation=add,
        sign="+",
        base=2,
        operands=2,
        answer_size=(1, 1),
        carry_law=laws.carry_in_sum_law,
        kinds=kinds.sum_kinds,
        commutative=True,
    ),
    Expression(
        name="expression",
        title="two to four binary numbers of the same length with + and * between them",
        alphabet="01+*",
        example="10+01*11",
        size=(4, 3),
    ),
    Search(
        name="search",
        title="the places at which a pattern of bits begins in a sequence",
        alphabet="01?",
        example="0110110?11",
        size=(2, 1),
    ),
)
_BY_NAME = {task.name: task for task in _TASKS}


def algorithm_names() -> tuple[str, ...]:
    """The names of all tasks."""
    return tuple(_BY_NAME)


def algorithm(
    name: str,
    *,
    filled: bool | None = None,
    long_carries: float = 0.0,
    absent_carries: float = 0.0,
) -> AlgorithmicTask:
    """A task on strings.

    Args:
        name: one of `algorithm_names()`.
        filled: whether training targets are filled with zeros to their whole length; False is
            the paper's form, in which the rest is padding. By default, as the task has it.
        long_carries: the share of the samples that have long carries; the others are uniform.
        absent_carries: the share of those with runs as long along which a carry would go, but
            none comes; of sums of two operands of the same length.

    Raises:
        TypeError: the name is no string, or `filled` neither True, False nor None.
        ValueError: an unknown name, with the nearest one; a share outside of [0, 1], or one of
            long or absent carries for a task that has none.

    Source:
        Kaiser & Sutskever 2016, sections 3.1 and 3.2: badd, bmul, copy, reverse, duplicate and
        sort, with their alphabets and lengths. Departures: unless `filled` is False, answers to
        arithmetic are filled with zeros to the length of the sequence, as in Freivalds & Liepins
        2017; `long_carries` and `absent_carries`.

    Example:
        >>> algorithm("badd").solve("1101+0111")
        '10011'
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}; give the name of a task, such as 'badd'")
    if not isinstance(filled, bool | None):
        raise TypeError(f"filled is {filled!r}; give True, False or None")
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)[0]
        raise ValueError(
            f"no task called {name!r}; did you mean {near!r}? There are: {', '.join(_BY_NAME)}"
        )
    task = _BY_NAME[name]
    if filled is not None:
        if filled and not task.filled:
            raise ValueError(
                f"filled is True, and the answers of {name!r} are no numbers; leave it out"
            )
        task = replace(task, filled=filled)
    shares = {"long_carries": long_carries, "absent_carries": absent_carries}
    given = {option: share for option, share in shares.items() if share}
    if not given:
        return task
    for option, share in given.items():
        able = [one.name for one in _TASKS if _can_have(one, option)]
        if name not in able:
            what = option.replace("_", " ")
            raise ValueError(
                f"{option} is {share} and {name!r} has no {what}; {', '.join(able)} have"
            )
    return replace(task, **given)


def _can_have(task: AlgorithmicTask, option: str) -> bool:
    """Whether a task has a law for long or absent carries."""
    if option == "absent_carries":
        return isinstance(task, Arithmetic) and task.absence_law is not None
    return isinstance(task, CarryTask)
