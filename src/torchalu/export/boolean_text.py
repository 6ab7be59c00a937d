"""Boolean formulas as LaTeX and as a Python function."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sympy import And, Not, Or, Symbol, Xor
from sympy.logic import false, true
from sympy.logic.boolalg import Boolean
from sympy.printing.latex import latex

from torchalu.export.identifiers import check_function_name, identifiers
from torchalu.export.text import to_latex

_WORDS: Mapping[Any, str] = {And: " and ", Or: " or ", Xor: " ^ "}


def boolean_to_latex(formula: Boolean, names: Sequence[str]) -> str:
    r"""A Boolean formula in LaTeX's mathematics mode.

    Args:
        formula: made of symbols, And, Or, Xor, Not, true and false.
        names: the names of the inputs.

    Example:
        >>> from sympy.abc import a, b, c
        >>> print(boolean_to_latex((a ^ b) | ~c, ["a", "b", "c"]))
        \neg c \vee \left(a \veebar b\right)
    """
    shown = {Symbol(name): to_latex(Symbol(name)) for name in names}
    return latex(formula, symbol_names=shown)


def boolean_to_python(formulas: Sequence[Boolean], name: str, names: Sequence[str]) -> str:
    """Boolean formulas as a Python function of bits, which imports nothing.

    Args:
        formulas: one for each output.
        name: the function's name.
        names: the names of the inputs, in the order of the arguments.

    Returns:
        The text of a function that returns a bool, or a tuple of them for several formulas.

    Raises:
        ValueError: `name` is not a legal name.

    Example:
        >>> from sympy.abc import a, b, c
        >>> print(boolean_to_python([(a ^ ~b) | (a & c)], "rule", ["a", "b", "c"]))
        def rule(a, b, c):
            \"\"\"Evaluate the formula for bits.
        <BLANKLINE>
            Args:
                a: "a"
                b: "b"
                c: "c"
            \"\"\"
            a, b, c = bool(a), bool(b), bool(c)
            return (a and c) or (a ^ (not b))
        <BLANKLINE>
    """
    check_function_name(name)
    words = identifiers(list(names), taken=[name, "bool"])
    arguments = ", ".join(words.values())
    lines = [f"def {name}({arguments}):", '    """Evaluate the formula for bits.', "", "    Args:"]
    lines += [f"        {word}: {json.dumps(column)}" for column, word in words.items()]
    values = ", ".join(f"bool({word})" for word in words.values())
    lines += ['    """', f"    {arguments} = {values}"]
    texts = [_python(formula, words) for formula in formulas]
    result = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    return "\n".join([*lines, f"    return {result}", ""])


def _python(formula: Any, words: Mapping[str, str]) -> str:
    """The text of a formula."""
    if formula in (true, false):
        return str(bool(formula))
    if isinstance(formula, Symbol):
        return words[formula.name]
    if isinstance(formula, Not):
        return f"not {_operand(formula.args[0], words)}"
    operands = sorted((_operand(part, words) for part in formula.args), key=lambda t: (len(t), t))
    return _WORDS[type(formula)].join(operands)


def _operand(part: Any, words: Mapping[str, str]) -> str:
    """The text of a part inside an operator."""
    text = _python(part, words)
    return text if isinstance(part, Symbol) else f"({text})"
