"""A formula's values on a table."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy
import torch
from sympy import Basic, Expr

from torchalu.export.arrays import real_array
from torchalu.export.operators import half_turns, walk
from torchalu.export.sympy import check_names
from torchalu.functional._log_space import cos_pi

_FUNCTIONS: Mapping[type[Basic], Callable[..., np.ndarray]] = {
    sympy.Add: lambda *terms: reduce(np.add, terms),
    sympy.Mul: lambda *factors: reduce(np.multiply, factors),
    sympy.Pow: np.power,
    sympy.Abs: np.abs,
    sympy.sign: np.sign,
    sympy.Heaviside: np.heaviside,
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.tanh: np.tanh,
    sympy.Max: lambda *values: reduce(np.maximum, values),
    sympy.Min: lambda *values: reduce(np.minimum, values),
}


def evaluate(expr: Expr, X: Any, names: Sequence[str]) -> np.ndarray:
    """Evaluate a formula at every row of a table, in float64.

    It walks through the formula, and compiles nothing: it suits :func:`certify`, and an object
    that is to be pickled.

    Args:
        expr: the formula.
        X: the table, (rows, features).
        names: the names of the columns.

    Returns:
        The values, (rows,); NaN or an infinity where the formula has no finite real value.

    Raises:
        TypeError: `expr` is not a SymPy expression, or X holds no real numbers.
        ValueError: a symbol is not among the names, the names are not as many as the columns,
            or a part of the formula is no operator that torchalu writes.

    Example:
        >>> evaluate(sympy.sympify("a*b + 1"), [[1, 2], [3, 4]], ["a", "b"])
        array([ 3., 13.])
    """
    table = real_array("X", X, 2).astype(np.float64)
    names = check_names(names)
    if table.shape[1] != len(names):
        raise ValueError(
            f"X has the shape {table.shape}, with {len(names)} names; allowed: (rows, {len(names)})"
        )
    columns = dict(zip(names, table.T, strict=True))
    values: dict[Basic, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for part in walk(expr):
            if isinstance(part, sympy.Symbol):
                if part.name not in columns:
                    raise ValueError(
                        f"expr has the symbol {part.name!r}; allowed: the names {list(names)!r}"
                    )
                values[part] = columns[part.name]
            elif (factors := half_turns(part)) is not None:
                turns = np.asarray(reduce(np.multiply, (values[one] for one in factors)))
                values[part] = cos_pi(torch.from_numpy(turns)).numpy()
            elif part.args:
                values[part] = _FUNCTIONS[type(part)](*(values[child] for child in part.args))
            else:
                values[part] = np.asarray(float(part))
    return np.broadcast_to(values[expr], (len(table),)).copy()
