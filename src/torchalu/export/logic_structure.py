"""The Boolean formula that a model's weights spell out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sympy import And, Not, Or, Symbol
from sympy.logic import false, true
from sympy.logic.boolalg import Boolean
from torch import Tensor, nn

from torchalu.export.bits import BitModel, leaves
from torchalu.export.boolean import xor
from torchalu.export.logic_groups import moments, operations
from torchalu.nn import GroupActivation, LogicGates

_NEAR = 1e-6
_LONGEST = 100_000
_DEEPEST = 100


class StructureError(ValueError):
    """The weights of a model spell out no formula; the message says which, and what to do."""


@dataclass(frozen=True)
class Signals:
    """What goes from layer to layer: affine combinations of truth values that count as -1 and 1.

    Args:
        formulas: the truth values.
        weight: (features, formulas).
        bias: (features,).
    """

    formulas: tuple[Any, ...]
    weight: np.ndarray
    bias: np.ndarray


def structure_formulas(
    model: nn.Module, names: Sequence[str], decider: BitModel
) -> tuple[Boolean, ...]:
    """A formula for each output, from the weights.

    Each pre-activation must follow one input, or its negation: that weight must be larger than
    the others of its row and the bias together, so that they cannot outvote it.

    Args:
        model: layers of `torch.nn` and :mod:`torchalu.nn` in a `Sequential`.
        names: the names of the inputs.
        decider: how the inputs are encoded, and where an output becomes true.

    Returns:
        The formulas. They are exact for a model of gates; otherwise they are what the weights
        suggest, to be certified.

    Raises:
        StructureError: a layer is of a class that is not known, a pre-activation follows no
            single input, or a formula has more than 100,000 symbols or 100 operators inside each
            other, which nobody could print or run.
    """
    if decider.threshold == "argmax":
        raise StructureError("the label is a comparison of outputs, which no weight spells out")
    half, middle = (decider.high - decider.low) / 2, (decider.high + decider.low) / 2
    count = len(names)
    symbols = tuple(Symbol(name) for name in names)
    signals = Signals(symbols, half * np.eye(count), np.full(count, middle))
    layers = list(leaves(model))
    sizes: dict[Any, tuple[int, int]] = {}
    for index, layer in enumerate(layers):
        where = f"layer {index} ({type(layer).__name__})"
        signals = pass_layer(layer, signals, where)
        _check_sizes(signals.formulas, sizes, where)
    return tuple(formula for formula, _ in _literals(signals, decider.threshold, "the output"))


@singledispatch
def pass_layer(layer: nn.Module, signals: Signals, where: str) -> Signals:  # noqa: ARG001
    """The signals behind a layer."""
    raise StructureError(
        f"{where} is no layer whose logic can be read from its weights; allowed: Linear, "
        "BatchNorm1d, Sigmoid, logic activations and LogicGates in a Sequential"
    )


@pass_layer.register(nn.Identity)
@pass_layer.register(nn.Dropout)
@pass_layer.register(nn.Flatten)
def _(layer: nn.Module, signals: Signals, where: str) -> Signals:  # noqa: ARG001
    return signals


@pass_layer.register
def _(layer: nn.Linear, signals: Signals, where: str) -> Signals:
    weight = _numbers(layer.weight)
    if weight.shape[1] != len(signals.bias):
        raise StructureError(f"{where} takes {weight.shape[1]} features, not {len(signals.bias)}")
    bias = 0.0 if layer.bias is None else _numbers(layer.bias)
    return _distinct(signals.formulas, weight @ signals.weight, weight @ signals.bias + bias)


@pass_layer.register
def _(layer: nn.BatchNorm1d, signals: Signals, where: str) -> Signals:
    if layer.running_mean is None or layer.running_var is None:
        raise StructureError(f"{where} keeps no running mean")
    factor = 1 / np.sqrt(_numbers(layer.running_var) + layer.eps)
    shift = -_numbers(layer.running_mean) * factor
    if layer.affine:
        factor = factor * _numbers(layer.weight)
        shift = shift * _numbers(layer.weight) + _numbers(layer.bias)
    weight = factor[:, None] * signals.weight
    return Signals(signals.formulas, weight, factor * signals.bias + shift)


@pass_layer.register
def _(layer: nn.Sigmoid, signals: Signals, where: str) -> Signals:  # noqa: ARG001
    return _bits([formula for formula, _ in _literals(signals, 0.0, where)])


@pass_layer.register
def _(layer: LogicGates, signals: Signals, where: str) -> Signals:
    largest = np.abs(signals.weight).max(1)
    as_bits = np.abs(signals.bias - 0.5) < _NEAR
    if not (as_bits & (np.abs(largest - 0.5) < _NEAR)).all():
        raise StructureError(
            f"{where} takes bits as 0 and 1, and is given other numbers; encode the inputs by "
            "encoding=(0, 1), or put a Sigmoid before it"
        )
    inputs = [formula for formula, _ in _literals(signals, 0.5, where)]
    first, second = layer.connections.tolist()
    wired = zip(layer.gates().tolist(), first, second, strict=True)
    return _bits([gate_formula(gate, inputs[i], inputs[j]) for gate, i, j in wired])


@pass_layer.register
def _(layer: GroupActivation, signals: Signals, where: str) -> Signals:
    formulas, scales, shifts = [], [], []
    try:
        groups = operations(layer, _literals(signals, 0.0, where))
    except TypeError as error:
        raise StructureError(f"{where}: {error}") from error
    for name, operands in groups:
        mean, deviation = moments(layer, name)
        formulas.append(_OPERATORS[name](*(formula for formula, _ in operands)))
        scales.append(min(scale for _, scale in operands) / deviation)
        shifts.append(-mean / deviation)
    return _distinct(formulas, np.diag(scales), np.array(shifts))


def gate_formula(gate: int, a: Any, b: Any) -> Any:
    """The formula of one of the 16 gates.

    Example:
        >>> from sympy.abc import a, b
        >>> gate_formula(6, a, b), gate_formula(11, a, b)
        (a ^ b, a | ~b)
    """
    low, high = (
        {0: false, 1: b, 2: Not(b), 3: true}[pair] for pair in (gate >> 2, gate & 3)
    )  # the gate where a is false, and where it is true
    if low == high:
        return low
    if low == false or high == true:
        return And(a, high) if low == false else Or(a, low)
    if low == true or high == false:
        return Or(Not(a), high) if low == true else And(Not(a), low)
    return xor(a, low)


def _xnor(*operands: Any) -> Any:
    """True where an even number of operands is false."""
    return Not(xor(*(Not(operand) for operand in operands)))


_OPERATORS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("and_ail", "logit_and", "min_out"), And),
    **dict.fromkeys(("or_ail", "logit_or", "max_out"), Or),
    **dict.fromkeys(("xnor_ail", "logit_xnor", "signed_geomean"), _xnor),
}


def _literals(signals: Signals, threshold: float, where: str) -> list[tuple[Any, float]]:
    """For each feature the truth value that it follows, and how far it lies from the threshold."""
    found: list[tuple[Any, float]] = []
    for row, (weight, constant) in enumerate(
        zip(signals.weight, signals.bias - threshold, strict=True)
    ):
        sizes = np.abs(weight)
        leader = int(sizes.argmax()) if len(sizes) else -1
        largest = float(sizes[leader]) if len(sizes) else 0.0
        others = float(sizes.sum()) - largest
        if largest > others + abs(constant):
            formula = signals.formulas[leader]
            found.append((formula if weight[leader] > 0 else Not(formula), largest))
        elif abs(constant) > largest + others:
            found.append((true if constant > 0 else false, abs(float(constant))))
        else:
            raise StructureError(
                f"{where}, feature {row}: it follows no single input: the largest weight is "
                f"{largest:.3g}, the others and the bias add up to {others + abs(constant):.3g}; "
                "allowed: a weight above that sum, as in a network trained to be sparse"
            )
    return found


def _check_sizes(formulas: Sequence[Any], known: dict[Any, tuple[int, int]], where: str) -> None:
    """Refuse formulas that are too large; `known` holds the sizes of parts seen before."""

    def size(part: Any) -> tuple[int, int]:
        if part not in known:
            lengths, depths = (
                zip(*map(size, part.args), strict=True) if part.args else ((1,), (-1,))
            )
            known[part] = sum(lengths), max(depths) + 1
        return known[part]

    for formula in formulas:
        length, depth = size(formula)
        if length > _LONGEST or depth > _DEEPEST:
            raise StructureError(
                f"{where}: a formula has {length} symbols, and {depth} operators inside each "
                f"other; allowed: {_LONGEST} and {_DEEPEST}; read fewer layers"
            )


def _distinct(formulas: Sequence[Any], weight: np.ndarray, bias: np.ndarray) -> Signals:
    """The same signals, with each truth value once, no negations and no constants."""
    columns: dict[Any, np.ndarray] = {}
    for formula, column in zip(formulas, weight.T, strict=True):
        if formula in (true, false):
            bias = bias + (column if formula == true else -column)
            continue
        negated = isinstance(formula, Not)
        plain: Any = formula.args[0] if negated else formula
        columns[plain] = columns.get(plain, 0.0) + (-column if negated else column)
    stacked = np.stack(list(columns.values()), 1) if columns else np.zeros((len(bias), 0))
    return Signals(tuple(columns), stacked, bias)


def _bits(formulas: Sequence[Any]) -> Signals:
    """Truth values as 0 and 1."""
    count = len(formulas)
    return Signals(tuple(formulas), np.eye(count) / 2, np.full(count, 0.5))


def _numbers(tensor: Tensor) -> np.ndarray:
    """A tensor as an array of float64."""
    return tensor.detach().double().cpu().numpy()
