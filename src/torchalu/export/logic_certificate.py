"""Check a Boolean formula against a model, input by input, and write down what was checked."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy
import torch
from sympy.logic.boolalg import Boolean
from torch import Tensor

from torchalu.export.arrays import finite, real_array
from torchalu.export.bits import (
    MOST_INPUTS,
    BitModel,
    Threshold,
    all_bits,
    bit_model,
    random_bits,
)
from torchalu.export.boolean import evaluate_boolean
from torchalu.export.truth_table import check_inputs

Inputs = Literal["all", "random", "data"]
Method = Literal["given", "structure", "truth table", "few inputs", "parity"]

_CONFIDENCE = 0.95
_MOST_SHOWN = 5
_READ = {
    "given": "a given formula",
    "structure": "read from the weights",
    "truth table": "read from the truth table",
    "few inputs": "read from the truth table of those that matter",
    "parity": "read as a parity, from queries",
}


@dataclass(frozen=True)
class LogicCertificate:
    """What a check of a Boolean formula against a model found.

    On all inputs it is a proof, for inputs that are bits. On random inputs or on data it bounds
    the share of such inputs on which formula and model differ.

    Args:
        method: where the formula comes from: `"structure"`, `"truth table"`, `"few inputs"`,
            `"parity"`, or `"given"`.
        inputs: which inputs were checked: `"all"`, `"random"` (fair bits) or `"data"`.
        rows: how many.
        agreements: on how many of them formula and model agree, in every output.
        exact: whether they agree on all of them.
        low: the lower end of the 95% interval (Wilson's) of the share of inputs on which they
            agree; the share itself where all inputs were checked.
        high: the upper end, likewise.
        true_share: the share of the model's decisions that are true: a formula that is always
            false agrees as often as this is 0.
        disagreements: the first inputs on which they differ, at most 5, in the order of `names`.
        names: the names of the inputs.
    """

    method: Method
    inputs: Inputs
    rows: int
    agreements: int
    exact: bool
    low: float
    high: float
    true_share: float
    disagreements: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the checked inputs on which formula and model agree."""
        return self.agreements / self.rows

    def to_json(self) -> str:
        """The certificate as JSON, with the fields as keys."""
        return json.dumps(asdict(self), allow_nan=False)

    def __str__(self) -> str:
        checked = {
            "all": f"all {self.rows} inputs",
            "random": f"{self.rows} random inputs",
            "data": f"{self.rows} given inputs",
        }[self.inputs]
        verdict = "exact on" if self.exact else f"not exact: agrees on {self.agreements} of"
        lines = [f"{verdict} {checked}, {_READ[self.method]}"]
        if self.inputs != "all":
            lines.append(
                f"95% interval of the share of such inputs: {self.low:.6f} to {self.high:.6f}"
            )
        if self.disagreements:
            first = zip(self.names, self.disagreements[0], strict=True)
            lines.append("differs at " + ", ".join(f"{name}={bit}" for name, bit in first))
        lines.append(f"the model says true for {self.true_share:.3g} of them")
        return "\n".join(lines)


def certify_logic(
    model: Callable[[Tensor], Any],
    formula: Boolean | Sequence[Boolean],
    names: Sequence[str],
    X: Any = None,
    *,
    encoding: tuple[float, float] | None = None,
    threshold: Threshold | None = None,
    rows: int = 100_000,
    generator: torch.Generator | None = None,
) -> LogicCertificate:
    """Check a Boolean formula against a model's decisions.

    Without data it checks all inputs where there are 20 of them or fewer, and random ones where
    there are more.

    Args:
        model: a module, or a function of a tensor; read in evaluation mode and float64.
        formula: the formula, or one for each output.
        names: the names of the inputs.
        X: inputs to check it on, (rows, inputs), as the model takes them; a number above the
            middle of the encoding counts as true.
        encoding: the numbers that stand for false and true; see
            :func:`torchalu.export.truth_table` for the default.
        threshold: an output above it is true, likewise.
        rows: how many random inputs, where these are taken.
        generator: where they come from; torch's own if left out.

    Returns:
        The certificate.

    Raises:
        TypeError: `model` cannot be called, names are no strings, the formula has an operator
            that is not Boolean, or X holds no real numbers.
        ValueError: the formula has other symbols than `names`, or as many parts as the model
            has not; X has another width, no rows, NaN or infinities; `rows` is not positive; or
            as :func:`torchalu.export.truth_table`.

    Source:
        Ours; the interval is Wilson's (1927).

    Example:
        >>> from sympy.abc import a, b
        >>> print(certify_logic(lambda x: x[:, 0] * x[:, 1], a & b, ["a", "b"]))
        not exact: agrees on 3 of all 4 inputs, a given formula
        differs at a=0, b=0
        the model says true for 0.5 of them
    """
    names = check_inputs(names)
    decider = bit_model(model, names, encoding, threshold)
    formulas = _as_formulas(formula)
    if X is None:
        return certify_bits(decider, formulas, names, rows=rows, generator=generator)
    numbers = finite("X", real_array("X", X, 2))
    if numbers.shape[1] != len(names) or not len(numbers):
        raise ValueError(
            f"X has the shape {numbers.shape}; allowed: at least one row of {len(names)} inputs"
        )
    bits = decider.bits_of(numbers)
    decisions = decider.decide_numbers(numbers)
    return _compare(decisions, formulas, names, bits, "given", "data")


def _as_formulas(formula: Any) -> tuple[Boolean, ...]:
    """One formula or several, as several."""
    several = isinstance(formula, Sequence) and not isinstance(formula, str)
    formulas: tuple[Any, ...] = tuple(formula) if several else (formula,)
    for part in formulas:
        if not isinstance(part, Boolean):
            raise TypeError(
                f"formula is {part!r}, which is {type(part).__name__}; allowed: a Boolean formula "
                "of SymPy, such as a & b for two symbols, or a list of them, one for each output; "
                "sympy.true and sympy.false for a constant"
            )
    return formulas


def certify_bits(
    decider: BitModel,
    formulas: Sequence[Boolean],
    names: tuple[str, ...],
    *,
    method: Method = "given",
    rows: int,
    generator: torch.Generator | None,
) -> LogicCertificate:
    """The certificate on all inputs, or on random ones where there are too many."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError(f"rows is {rows!r}; allowed: a positive integer, such as 100_000")
    everything = len(names) <= MOST_INPUTS
    bits = all_bits(len(names)) if everything else random_bits(rows, len(names), generator)
    inputs: Inputs = "all" if everything else "random"
    return _compare(decider.decide(bits), formulas, names, bits, method, inputs)


def _compare(
    decisions: np.ndarray,
    formulas: Sequence[Boolean],
    names: tuple[str, ...],
    bits: np.ndarray,
    method: Method,
    inputs: Inputs,
) -> LogicCertificate:
    """Count the rows in which formulas and decisions are the same."""
    if decisions.shape[1] != len(formulas):
        raise ValueError(
            f"formula has {len(formulas)} parts and the model {decisions.shape[1]} outputs; "
            "allowed: one formula for each output"
        )
    columns = dict(zip(names, bits.T, strict=True))
    values = np.stack([evaluate_boolean(formula, columns) for formula in formulas], 1)
    agree = (values == decisions).all(1)
    agreements, rows = int(agree.sum()), len(bits)
    low = high = agreements / rows
    if inputs != "all":
        test = scipy.stats.binomtest(agreements, rows)
        low, high = test.proportion_ci(_CONFIDENCE, method="wilson")
    wrong = bits[~agree][:_MOST_SHOWN].astype(int)
    return LogicCertificate(
        method=method,
        inputs=inputs,
        rows=rows,
        agreements=agreements,
        exact=agreements == rows,
        low=float(low),
        high=float(high),
        true_share=float(decisions.mean()),
        disagreements=tuple(tuple(row) for row in wrong.tolist()),
        names=names,
    )
