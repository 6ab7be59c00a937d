"""A formula as JSON: a plain tree of operators, names and numbers."""

import json
import re
from typing import Any

import sympy
from mpmath.libmp import prec_to_dps, to_str
from sympy import Expr

from torchalu.export.operators import (
    CONSTANT_NAMES,
    CONSTANTS,
    FUNCTIONS,
    OPERATOR_NAMES,
    walk,
)

_FORMAT = "torchalu formula 1"
_MAX_CHARACTERS = 10_000_000
_MAX_NODES = 100_000
_MAX_DEPTH = 150
_MAX_DIGITS = 1_000
_MAX_PRECISION = 2_000
_MAX_ARGUMENTS = {"pow": 2, "heaviside": 2, "add": None, "mul": None, "max": None, "min": None}
_DECIMAL = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?(e[+-]?[0-9]{1,4})?")


def to_json(expr: Expr) -> str:
    """Write a formula as JSON, from which :func:`from_json` makes the same formula.

    The text is an object with the keys "format" and "expression". A node of the expression is
    one of:

    - `{"operator": "mul", "arguments": [...]}`: add, mul, pow, abs, sign, heaviside (1 above
      0, else 0; its second argument is its value at 0), exp, log, sin, cos, tan, tanh, max, min;
    - `{"symbol": "a"}`;
    - `{"rational": [3, 2]}`: numerator and denominator;
    - `{"float": "0.10000000000000001", "precision": 60}`: the digits, and how many bits they
      stand for;
    - `{"constant": "pi"}`, or e.

    What SymPy assumes of a symbol (that it is positive, say) is not written.

    Args:
        expr: the formula.

    Returns:
        One line of JSON.

    Raises:
        TypeError: `expr` is not a SymPy expression.
        ValueError: a part of the formula is no operator that torchalu writes, or the formula is
            larger than `from_json` reads.

    Example:
        >>> to_json(sympy.Symbol("a") / 2)
        '{"format": "torchalu formula 1", "expression": {"operator": "mul", "arguments":
          [{"rational": [1, 2]}, {"symbol": "a"}]}}'
    """
    nodes: dict[Any, dict[str, Any]] = {}
    sizes: dict[Any, tuple[int, int]] = {}
    for part in walk(expr):
        children = [sizes[child] for child in part.args]
        count = 1 + sum(count for count, _ in children)
        depth = 1 + max((depth for _, depth in children), default=0)
        if count > _MAX_NODES or depth > _MAX_DEPTH:
            raise ValueError(
                f"expr has, written as a tree, more than {_MAX_NODES} nodes or {_MAX_DEPTH} "
                "levels; to_c() and to_python() write shared parts once"
            )
        sizes[part] = count, depth
        nodes[part] = _node(part, [nodes[child] for child in part.args])
    return json.dumps({"format": _FORMAT, "expression": nodes[expr]}, allow_nan=False)


def from_json(text: str) -> Expr:
    """Read a formula that :func:`to_json` wrote.

    The text is data: nothing in it is executed, no operator is known but those that `to_json`
    writes, and nothing is computed, so that a text cannot ask for a power of astronomical size.

    Args:
        text: the JSON text.

    Returns:
        The formula, equal to the one that was written.

    Raises:
        TypeError: `text` is not a string.
        ValueError: it is no JSON, has another format, an unknown operator, a wrong number of
            arguments or a malformed number, or is larger than a formula can be (10 million
            characters, 100,000 nodes, 150 levels, numbers of 1000 digits).

    Example:
        >>> from_json(to_json(sympy.sympify("a**(3/2)")))
        a**(3/2)
        >>> from_json('{"format": "torchalu formula 1", "expression": {"operator": "exec"}}')
        Traceback (most recent call last):
        ...
        ValueError: text has a node with the keys ['operator']; allowed: ...
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}; allowed: a string")
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"text has {len(text)} characters; allowed: {_MAX_CHARACTERS}")
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"text is no JSON that can be read: {error}") from None
    if not isinstance(tree, dict) or set(tree) != {"format", "expression"}:
        raise ValueError('text is no formula; allowed: {"format": ..., "expression": ...}')
    if tree["format"] != _FORMAT:
        raise ValueError(f"text has the format {_shown(tree['format'])}; allowed: {_FORMAT!r}")
    return _Reader().read(tree["expression"], 1)


def _node(part: Expr, arguments: list[dict[str, Any]]) -> dict[str, Any]:
    """The node of one part."""
    if isinstance(part, sympy.Symbol):
        return {"symbol": part.name}
    if part in CONSTANT_NAMES:
        return {"constant": CONSTANT_NAMES[part]}
    if isinstance(part, sympy.Rational):
        pair = [int(part.p), int(part.q)]
        if any(number.bit_length() > 3 * _MAX_DIGITS for number in pair):
            raise ValueError(f"expr has a number of more than {_MAX_DIGITS} digits")
        return {"rational": pair}
    if isinstance(part, sympy.Float):
        precision = int(part._prec)
        if precision > _MAX_PRECISION:
            raise ValueError(f"expr has a float of {precision} bits; allowed: {_MAX_PRECISION}")
        digits = to_str(part._mpf_, prec_to_dps(precision) + 3)
        if not _DECIMAL.fullmatch(digits):
            raise ValueError(f"expr has the float {_shown(digits)}; allowed: 1e-9999 to 1e9999")
        return {"float": digits, "precision": precision}
    return {"operator": OPERATOR_NAMES[type(part)], "arguments": arguments}


class _Reader:
    """Turns nodes into expressions, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def read(self, node: Any, depth: int) -> Expr:
        """The expression of one node."""
        self.count += 1
        if self.count > _MAX_NODES:
            raise ValueError(f"text has more than {_MAX_NODES} nodes; allowed: {_MAX_NODES}")
        if depth > _MAX_DEPTH:
            raise ValueError(f"text has more than {_MAX_DEPTH} levels; allowed: {_MAX_DEPTH}")
        keys = sorted(node) if isinstance(node, dict) else None
        match keys:
            case ["symbol"]:
                return _symbol(node["symbol"])
            case ["rational"]:
                return _rational(node["rational"])
            case ["float", "precision"]:
                return _float(node["float"], node["precision"])
            case ["constant"]:
                return _constant(node["constant"])
            case ["arguments", "operator"]:
                return self._operator(node["operator"], node["arguments"], depth)
        raise ValueError(
            f"text has a node with the keys {_shown(keys)}; allowed: symbol; rational; float and "
            "precision; constant; operator and arguments"
        )

    def _operator(self, name: Any, arguments: Any, depth: int) -> Expr:
        """An operator with its arguments, built without computing anything."""
        if not isinstance(name, str) or name not in FUNCTIONS:
            raise ValueError(
                f"text has the operator {_shown(name)}; allowed: {', '.join(FUNCTIONS)}"
            )
        most = _MAX_ARGUMENTS.get(name, 1)
        least = 2 if most is None else most
        if not isinstance(arguments, list) or not least <= len(arguments) <= (most or _MAX_NODES):
            raise ValueError(
                f"text has the operator {name!r} with the arguments {_shown(arguments)}; allowed: "
                f"a list of {'2 or more' if most is None else most}"
            )
        values = [self.read(argument, depth + 1) for argument in arguments]
        if name == "heaviside" and values[1] != 0:
            raise ValueError(f"text has heaviside with {values[1]} at 0; allowed: 0")
        function: Any = FUNCTIONS[name]
        return function(*values, evaluate=False)


def _symbol(name: Any) -> Expr:
    """A symbol."""
    if not isinstance(name, str):
        raise ValueError(f"text has the symbol {_shown(name)}; allowed: a string")
    return sympy.Symbol(name)


def _rational(pair: Any) -> Expr:
    """A fraction in lowest terms."""
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or any(type(number) is not int for number in pair)
        or pair[1] <= 0
        or any(number.bit_length() > 4 * _MAX_DIGITS for number in pair)
    ):
        raise ValueError(
            f"text has the rational {_shown(pair)}; allowed: [numerator, denominator], whole "
            f"numbers of at most {_MAX_DIGITS} digits, the second one positive"
        )
    return sympy.Rational(*pair)


def _float(digits: Any, precision: Any) -> Expr:
    """A float with its precision."""
    bits_allowed = type(precision) is int and 1 <= precision <= _MAX_PRECISION
    if not isinstance(digits, str) or not _DECIMAL.fullmatch(digits) or not bits_allowed:
        raise ValueError(
            f"text has the float {_shown(digits)} with the precision {_shown(precision)}; allowed: "
            f"a string such as '-1.5e-7', and 1 to {_MAX_PRECISION} bits"
        )
    return sympy.Float(digits, precision=precision)


def _constant(name: Any) -> Expr:
    """A constant with a name."""
    if not isinstance(name, str) or name not in CONSTANTS:
        raise ValueError(f"text has the constant {_shown(name)}; allowed: {', '.join(CONSTANTS)}")
    return CONSTANTS[name]


def _shown(value: Any) -> str:
    """The value for a message, not too long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
