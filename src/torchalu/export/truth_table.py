"""The decisions of a model for all values of its inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sympy import Symbol
from sympy.logic.boolalg import Boolean
from torch import Tensor

from torchalu.export.bits import MOST_INPUTS, Threshold, all_bits, bit_model
from torchalu.export.boolean import short_formula
from torchalu.export.boolean_text import boolean_to_latex, boolean_to_python
from torchalu.export.sympy import check_names

_MOST_LINES = 64


@dataclass(frozen=True, eq=False)
class TruthTable:
    """The truth table of one or more functions of bits; printed, it is a table.

    Args:
        names: the names of the n inputs.
        values: the outputs, (2^n, outputs), in the order in which the inputs count in binary,
            the first of them the highest.
    """

    names: tuple[str, ...]
    values: np.ndarray

    @cached_property
    def formulas(self) -> tuple[Boolean, ...]:
        """A short formula of each output; see :func:`torchalu.export.short_formula`.

        Raises:
            ValueError: a function has no formula that anybody would read.
        """
        symbols = [Symbol(name) for name in self.names]
        return tuple(short_formula(column, symbols) for column in self.values.T)

    def formula(self) -> Boolean | list[Boolean]:
        """The formula, or a list of formulas if there are several outputs."""
        return self.formulas[0] if len(self.formulas) == 1 else list(self.formulas)

    def to_latex(self) -> str | list[str]:
        """The formula in LaTeX's mathematics mode, or a list if there are several outputs."""
        texts = [boolean_to_latex(formula, self.names) for formula in self.formulas]
        return texts[0] if len(texts) == 1 else texts

    def to_python(self, name: str = "formula") -> str:
        """The formula as a Python function of bits.

        Args:
            name: the function's name.

        Raises:
            ValueError: `name` is not a legal name.
        """
        return boolean_to_python(self.formulas, name, self.names)

    def __str__(self) -> str:
        outputs = self.values.shape[1]
        head = [*self.names, *([f"y{index}" for index in range(outputs)] if outputs > 1 else "y")]
        rows = np.concatenate([all_bits(len(self.names)), self.values], 1)[:_MOST_LINES]
        lines = [_line(head, head, len(self.names))]
        lines += [_line(head, row.astype(int).astype(str), len(self.names)) for row in rows]
        hidden = len(self.values) - len(rows)
        return "\n".join([*lines, f"{hidden} more rows"] if hidden else lines)


def truth_table(
    model: Callable[[Tensor], Any],
    names: Sequence[str],
    *,
    encoding: tuple[float, float] | None = None,
    threshold: Threshold | None = None,
) -> TruthTable:
    """Try all values of a model's inputs, and write down what it decides.

    The model may be anything that maps (rows, inputs) to (rows,) or (rows, outputs). It is read
    in evaluation mode and float64, and stays as it is.

    Args:
        model: a module, or a function of a tensor.
        names: the names of the inputs, 1 to 20 of them.
        encoding: the numbers that stand for a false and a true input; by default 0 and 1 where
            the model begins with :class:`torchalu.nn.LogicGates`, else -1 and 1.
        threshold: an output above it is true; "argmax": the greatest output alone is, the first
            of equals, so that there is a formula for each label of a classifier. By default
            "argmax" where the model ends with :class:`torchalu.nn.GroupSum`, 1/2 where it ends
            with :class:`torchalu.nn.LogicGates` or a `Sigmoid`, else 0, as for logits.

    Returns:
        The table.

    Raises:
        TypeError: `model` cannot be called, or names are no strings.
        ValueError: there are no names, more than 20, or two that are equal; `encoding` is not
            ascending; `threshold` is neither finite nor "argmax", or that with one output;
            `encoding` or `threshold` is left out, and the layer that would decide is of another
            class with gates inside, or counts gates in one group; or the model returns NaN or
            another shape.

    Source:
        Ours.

    Example:
        >>> table = truth_table(lambda x: x[:, 0] * x[:, 1], ["a", "b"])
        >>> print(table)
        a b | y
        0 0 | 1
        0 1 | 0
        1 0 | 0
        1 1 | 1
        >>> table.formula()
        ~(a ^ b)
    """
    names = check_inputs(names)
    if len(names) > MOST_INPUTS:
        raise ValueError(
            f"names has {len(names)} entries, which is 2**{len(names)} rows; allowed: at most "
            f"{MOST_INPUTS}; use to_logic(), which also reads larger models"
        )
    decisions = bit_model(model, names, encoding, threshold).decide(all_bits(len(names)))
    return TruthTable(names, decisions)


def check_inputs(names: Sequence[str]) -> tuple[str, ...]:
    """The names, checked to be strings that differ, and to be there."""
    names = check_names(names)
    if not names:
        raise ValueError("names is empty; allowed: one name for each input")
    return names


def _line(head: Sequence[str], cells: Sequence[str], inputs: int) -> str:
    """A line of the table: a bar between inputs and outputs."""
    aligned = [cell.rjust(len(name)) for name, cell in zip(head, cells, strict=True)]
    return " ".join([*aligned[:inputs], "|", *aligned[inputs:]])
