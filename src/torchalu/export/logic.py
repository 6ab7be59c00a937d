"""Read a model off as logic, in the way that gets furthest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sympy import Symbol
from sympy.logic import false, true
from sympy.logic.boolalg import Boolean
from torch import Tensor, nn

from torchalu.export.bits import (
    MOST_INPUTS,
    BitModel,
    Threshold,
    all_bits,
    bit_model,
    random_bits,
)
from torchalu.export.boolean import evaluate_boolean, formula_length, short_formula, xor
from torchalu.export.boolean_text import boolean_to_latex, boolean_to_python
from torchalu.export.logic_certificate import LogicCertificate, Method, certify_bits
from torchalu.export.logic_structure import StructureError, structure_formulas
from torchalu.export.truth_table import TruthTable, check_inputs

_VOTES = 65
_LEAST_SHARE = 0.75
_PLACES = 2048
_MOST_QUERIES = 200_000
_LEAST_INFLUENCE = 1 / 32  # of the greatest


@dataclass(frozen=True)
class LogicReading:
    """A model read off as logic.

    Args:
        names: the names of the inputs.
        formulas: the formula of each output.
        certificate: how they were found, and how often they agree with the model.
    """

    names: tuple[str, ...]
    formulas: tuple[Boolean, ...]
    certificate: LogicCertificate

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
        return "\n".join([*map(str, self.formulas), str(self.certificate)])


def to_logic(
    model: Callable[[Tensor], Any],
    names: Sequence[str],
    *,
    encoding: tuple[float, float] | None = None,
    threshold: Threshold | None = None,
    rows: int = 100_000,
    generator: torch.Generator | None = None,
) -> LogicReading:
    """Read a model off as Boolean formulas, and check them against it.

    It tries, in this order, and takes the first that agrees with the model on every input that
    is checked:

    1. *Structure*: the weights. Layers of gates are read exactly. In a network of `Linear` and
       logic activations each pre-activation must follow one input or its negation.
    2. *Truth table*, with 20 inputs or fewer: all of them; see
       :func:`torchalu.export.short_formula` for the formula.
    3. *Few inputs*, with more: those whose flip changes the output at one of 2048 random places
       at least are taken to matter (at one of fewer with more than 97 inputs: 200,000 queries in
       all). Where there are 20 of them or fewer, the truth table is theirs, with all others at a
       random place. Where there are more, only those count that matter at least 1/32 as often as
       the one that matters most.
    4. *Parity*, with more than 20, or where the table has no short formula: the model is asked
       whether flipping one input flips its output, at 65 random places for each input. A parity of
       any inputs, negated or not, is found in this way even where the model is wrong on some of
       them.

    What is found is certified on all inputs where there are 20 or fewer, else on random ones. If
    nothing agrees everywhere, the reading that agrees most often is given, and its certificate
    says that it is not exact; below 3/4 there is an error instead, since two parities may then
    be equally near, and a constant that is not exact is no reading at all.

    Args:
        model: a module, or a function of a tensor, from (rows, inputs) to (rows,) or
            (rows, outputs); read in evaluation mode and float64.
        names: the names of the inputs.
        encoding: the numbers that stand for false and true; see
            :func:`torchalu.export.truth_table` for the default.
        threshold: an output above it is true, likewise.
        rows: how many random inputs certify a formula of more than 20 inputs.
        generator: where random inputs come from; torch's own if left out.

    Returns:
        The formulas and their certificate.

    Raises:
        TypeError: `model` cannot be called, or names are no strings.
        ValueError: no way leads to a formula; the message says why for each of them. Or as
            :func:`torchalu.export.truth_table`.

    Source:
        Ours. That flips at random places find a parity is the self-correction of Blum, Luby and
        Rubinfeld (1993).

    Example:
        >>> from torchalu.nn import XNORAIL
        >>> model = nn.Sequential(nn.Linear(4, 4), XNORAIL(), nn.Linear(2, 2), XNORAIL())
        >>> _ = model[0].weight.data.copy_(4 * torch.eye(4) + 0.5)
        >>> _ = model[2].weight.data.copy_(torch.eye(2))
        >>> for layer in (model[0], model[2]):
        ...     _ = layer.bias.data.zero_()
        >>> print(to_logic(model, ["a", "b", "c", "d"]))
        ~(a ^ b ^ c ^ d)
        exact on all 16 inputs, read from the weights
        the model says true for 0.5 of them
    """
    names = check_inputs(names)
    decider = bit_model(model, names, encoding, threshold)
    ways: list[tuple[Method, Callable[[], tuple[Boolean, ...]]]] = [
        ("structure", lambda: _structure(decider, names))
    ]
    if len(names) <= MOST_INPUTS:
        ways.append(("truth table", lambda: _table(decider, names)))
    else:
        ways.append(("few inputs", lambda: _few_inputs(decider, names, generator)))
    ways.append(("parity", lambda: _parities(decider, names, generator)))
    best: LogicReading | None = None
    reasons: list[str] = []
    for method, read in ways:
        try:
            formulas = read()
        except ValueError as error:
            reasons.append(f"{method}: {error}")
            continue
        certificate = certify_bits(
            decider, formulas, names, method=method, rows=rows, generator=generator
        )
        reading = LogicReading(names, formulas, certificate)
        if certificate.exact:
            return reading
        share = f"agrees on {certificate.share:.3g} of the inputs"
        if not any(formula.free_symbols for formula in formulas):
            reasons.append(f"{method}: a constant, which {share}")
            continue
        reasons.append(f"{method}: {share}")
        if best is None or certificate.share > best.certificate.share:
            best = reading
    if best is None or best.certificate.share <= _LEAST_SHARE:
        raise ValueError(
            f"model could not be read off as logic. {'. '.join(reasons)}. A formula that you "
            "expect can be checked by certify_logic()"
        )
    return best


def _structure(decider: BitModel, names: tuple[str, ...]) -> tuple[Boolean, ...]:
    """What the weights spell out, shortened where all inputs can be tried."""
    if not isinstance(decider.predict, nn.Module):
        raise StructureError("model is a function, which has no weights to read")
    formulas = structure_formulas(decider.predict, names, decider)
    if len(names) > MOST_INPUTS:
        return formulas
    columns = dict(zip(names, all_bits(len(names)).T, strict=True))
    return tuple(_shortened(formula, columns) for formula in formulas)


def _shortened(formula: Boolean, columns: dict[str, np.ndarray]) -> Boolean:
    """The formula, or a shorter one with the same values."""
    symbols = [Symbol(name) for name in columns]
    try:
        shorter = short_formula(evaluate_boolean(formula, columns), symbols)
    except ValueError:
        return formula
    return min(formula, shorter, key=formula_length)


def _table(decider: BitModel, names: tuple[str, ...]) -> tuple[Boolean, ...]:
    """A formula of each column of the truth table."""
    return TruthTable(names, decider.decide(all_bits(len(names)))).formulas


def _few_inputs(
    decider: BitModel, names: tuple[str, ...], generator: torch.Generator | None
) -> tuple[Boolean, ...]:
    """A formula of the inputs that matter, from their truth table."""
    count = min(_PLACES, _MOST_QUERIES // len(names))
    places = random_bits(max(count, 1), len(names), generator)
    matter = _most_influential(decider, places)

    def decide(part: np.ndarray) -> np.ndarray:
        rows = np.repeat(places[:1], len(part), 0)
        rows[:, matter] = part
        return decider.decide(rows)

    table = all_bits(len(matter))
    parts = np.split(table, range(_PLACES, len(table), _PLACES))
    decisions = np.concatenate([decide(part) for part in parts])
    return TruthTable(tuple(names[index] for index in matter), decisions).formulas


def _most_influential(decider: BitModel, places: np.ndarray) -> np.ndarray:
    """The inputs whose flip changes an output somewhere, or often, if there are few of them."""
    before = decider.decide(places)
    changes = np.zeros(places.shape[1], int)
    for index in range(len(changes)):
        flipped = places.copy()
        flipped[:, index] ^= True
        changes[index] = (decider.decide(flipped) ^ before).any(1).sum()
    for least in (1, changes.max() * _LEAST_INFLUENCE):
        matter = np.flatnonzero(changes >= least)
        if len(matter) <= MOST_INPUTS:
            return matter
    raise ValueError(f"{len(matter)} inputs matter, more than {MOST_INPUTS}")


def _parities(
    decider: BitModel, names: tuple[str, ...], generator: torch.Generator | None
) -> tuple[Boolean, ...]:
    """The parity that each output is nearest to, if it is near to one."""
    count = len(names)
    places = random_bits(_VOTES, count, generator)
    flipped = places ^ np.eye(count, dtype=bool)[:, None]
    queries = np.concatenate([places, flipped.reshape(-1, count)])
    decisions = decider.decide(queries).reshape(1 + count, _VOTES, -1)
    matters = (decisions[1:] ^ decisions[0]).mean(1) > 0.5
    parity = places.astype(int) @ matters.astype(int) % 2 == 1
    negated = (decisions[0] ^ parity).mean(0) > 0.5
    return tuple(
        xor(true if flip else false, *(Symbol(names[index]) for index in np.flatnonzero(column)))
        for column, flip in zip(matters.T, negated, strict=True)
    )
