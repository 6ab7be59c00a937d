"""Read a model off as a formula."""

from collections.abc import Collection, Sequence

import sympy
from sympy import Expr
from torch import nn

from torchalu.export.module_numbers import check_holds_numbers
from torchalu.export.operators import apply, walk
from torchalu.export.units import expressions


def to_sympy(
    module: nn.Module,
    names: Sequence[str],
    *,
    keep_eps: bool = True,
    positive: Collection[str] = (),
) -> Expr | list[Expr]:
    """Read a model off as a formula.

    Every unit of :mod:`torchalu.nn` is understood, and `Linear`, `ReLU`, `ReLU6`, `Identity` and
    `Sequential` of `torch.nn`; :func:`torchalu.export.unit_expressions` takes on others. The
    formula says what the module computes, whether its weights are snapped or not:

    - A weight that is a multiple of 1/2 is an exact rational; another one is a float of 17
      digits, which holds the weight's value exactly.
    - `NACMul` and `NALU` show \\|x\\| where their logarithm takes the magnitude: the sign that
      they lose is missing in the formula too.
    - `RealNPU`, `NPU` and `NMRU` show `Heaviside(-x, 0)`, which is 1 for x < 0 and else 0, where
      their equation has [x < 0]. With whole powers it is a sign in front; with others it stands
      in a cosine, as in the unit, which makes the root of a negative number 0.
    - `INALU` shows `sign(x)`, and `Max` and `Min` where it clips.
    - The `eps` of these units stays in the formula as the decimal number that it was written
      as, exactly, so that the formula equals the module for all inputs.

    For the formula that the module approximates, say `keep_eps=False`: it treats `eps` as 0, so
    that a product of powers is written as one, and the module is off by about eps / \\|x\\| for
    each factor; an `INALU` is then written without its clips. It is undefined where a factor with
    a negative power, or a logarithm, meets 0.

    Where the module's product would exceed the largest number of its dtype it stops there; the
    formula does not.

    Args:
        module: a unit or a stack of units.
        names: the names of the inputs, in order; any strings, all different. Each becomes the
            `sympy.Symbol` of this name, without assumptions, so that
            `formula.subs("a", 2)` works.
        keep_eps: keep the small number that units add to a magnitude before a logarithm.
        positive: names of inputs that are known to be above 0; their magnitudes and signs are
            simplified. The formula then equals the module for such inputs only.

    Returns:
        An expression, or a list of expressions if the module has several outputs.

    Raises:
        TypeError: the module, or one inside, is of a class that nobody has registered, has
            another `forward` than its class or a forward hook; or names are no strings.
        ValueError: names are not unique, not as many as the module's inputs, `positive` has a
            name that is not among them, or a weight is not finite or on the device `meta`.

    Source:
        The equations in :mod:`torchalu.functional`. For powers of negative numbers that are not
        whole: Heim et al. 2020, the RealNPU, whose cosine couples all inputs that have one.

    Example:
        >>> import torch
        >>> from torchalu.nn import NACMul, NAU, NMU
        >>> model = nn.Sequential(NAU(3, 2), NMU(2, 1))
        >>> _ = model[0].weight.data.copy_(torch.tensor([[1, 1, 0], [0, 1, -1]]))
        >>> _ = model[1].weight.data.fill_(1)
        >>> to_sympy(model, ["a", "b", "c"])
        (a + b)*(b - c)

        >>> unit = NACMul(2, 1, parametrization="clamped")
        >>> _ = unit.weight.data.fill_(1)
        >>> to_sympy(unit, ["a", "b"])
        (Abs(a) + 1/10000000)*(Abs(b) + 1/10000000)
        >>> to_sympy(unit, ["a", "b"], keep_eps=False)
        Abs(a)*Abs(b)
        >>> to_sympy(unit, ["a", "b"], keep_eps=False, positive=["a", "b"])
        a*b
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module is {type(module).__name__}; allowed: a torch.nn.Module")
    check_holds_numbers("module", module)
    names = check_names(names)
    unknown = [name for name in positive if name not in names]
    if isinstance(positive, str) or unknown:
        raise ValueError(f"positive is {positive!r}; allowed: some of the names {list(names)!r}")
    symbols = [
        sympy.Symbol(name, positive=True) if name in positive else sympy.Symbol(name, real=True)
        for name in names
    ]
    outputs = [
        _without_assumptions(output) for output in expressions(module, symbols, keep_eps=keep_eps)
    ]
    return outputs[0] if len(outputs) == 1 else outputs


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, checked to be strings that differ."""
    if isinstance(names, str):
        raise TypeError(f"names is {names!r}; allowed: a list of strings, such as {[names]!r}")
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"names[{index}] is {name!r}; allowed: a string")
        if name in names[:index]:
            raise ValueError(f"names has {name!r} twice; give every input a name of its own")
    return tuple(names)


def _without_assumptions(expr: Expr) -> Expr:
    """The formula with plain symbols, which are those that a user writes."""
    plain: dict[Expr, Expr] = {}
    for part in walk(expr):
        if isinstance(part, sympy.Symbol):
            plain[part] = sympy.Symbol(part.name)
        elif part.args:
            arguments = [plain[child] for child in part.args]  # pyright: ignore[reportArgumentType]
            simple = isinstance(part, (sympy.Add, sympy.Mul, sympy.Pow))
            plain[part] = part.func(*arguments) if simple else apply(part.func, *arguments)
        else:
            plain[part] = part
    return plain[expr]
