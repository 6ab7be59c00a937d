"""Tables 6 and 7, static arithmetic; tables 8 and 9, recurrent arithmetic; table 1 of them."""

from __future__ import annotations

from torchalu.experiments.trask2018.arithmetic_data import RECURRENT, STATIC
from torchalu.experiments.trask2018.arithmetic_models import RECURRENT_MODELS, STATIC_MODELS
from torchalu.experiments.trask2018.arithmetic_study import ArithmeticStudy
from torchalu.experiments.trask2018.arithmetic_training import ArithmeticOptions, ArithmeticRuns
from torchalu.tasks.recurrent_function import RecurrentOperation
from torchalu.tasks.simple_function import Operation

_STATIC = ArithmeticRuns()
_RECURRENT = ArithmeticRuns(seeds=10, steps=30_000, together=10)


def table6(
    runs: ArithmeticOptions = _STATIC,
    *,
    models: tuple[str, ...] = STATIC_MODELS,
    operations: tuple[Operation, ...] = ("add", "sub", "mul", "div", "square", "root"),
) -> ArithmeticStudy:
    """Tables 6 and 7, and the left half of table 1: operations on two sums of 100 inputs.

    Args:
        runs: seeds, steps and learning rates.
        models: names of models, as in table 6, or of later units.
        operations: "add", "sub", "mul", "div", "square", "root".

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Trask et al. 2018, section 4.1 and appendix B. Departures: see
        `docs/trask2018/arithmetic.md`.

    Example:
        >>> len(table6().chunks())
        34
    """
    return ArithmeticStudy(STATIC, models, operations, runs)


def table8(
    runs: ArithmeticOptions = _RECURRENT,
    *,
    models: tuple[str, ...] = RECURRENT_MODELS,
    operations: tuple[RecurrentOperation, ...] = RECURRENT.operations,
) -> ArithmeticStudy:
    """Tables 8 and 9, and the right half of table 1: operations on two sums over time.

    Args:
        runs: seeds, steps and learning rates.
        models: names of models, as in table 8, or of later units.
        operations: those of table 6, and "identity".

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Trask et al. 2018, section 4.1 and appendix B. Departures: see
        `docs/trask2018/arithmetic.md`.

    Example:
        >>> table8(operations=("identity",)).name
        'trask2018.table8'
    """
    return ArithmeticStudy(RECURRENT, models, operations, runs)


table1 = table6
"""Table 1 has columns of tables 7 and 9: this gives its left half, `table8` its right half."""

table7 = table6
"""Table 7 has the errors of table 6, in percent of a random start's."""

table9 = table8
"""Table 9 has the errors of table 8, in percent of a random start's."""
