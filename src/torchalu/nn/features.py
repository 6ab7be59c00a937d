"""How many features an activation takes and gives, to size the layers around it."""

from fractions import Fraction
from numbers import Integral

from torch import nn

ELEMENTWISE: dict[str, type[nn.Module]] = {
    "celu": nn.CELU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "hardshrink": nn.Hardshrink,
    "hardsigmoid": nn.Hardsigmoid,
    "hardswish": nn.Hardswish,
    "hardtanh": nn.Hardtanh,
    "identity": nn.Identity,
    "leaky_relu": nn.LeakyReLU,
    "log_sigmoid": nn.LogSigmoid,
    "mish": nn.Mish,
    "prelu": nn.PReLU,
    "relu": nn.ReLU,
    "relu6": nn.ReLU6,
    "rrelu": nn.RReLU,
    "selu": nn.SELU,
    "sigmoid": nn.Sigmoid,
    "silu": nn.SiLU,
    "softplus": nn.Softplus,
    "softshrink": nn.Softshrink,
    "softsign": nn.Softsign,
    "tanh": nn.Tanh,
    "tanhshrink": nn.Tanhshrink,
    "threshold": nn.Threshold,
}


def features_ratio(activation: nn.Module) -> Fraction:
    """Features that come out of an activation for each one that goes in.

    Args:
        activation: one of this library or of torch's own, or any module with an attribute
            `features_ratio`, and `features_multiple` where that is not its denominator.

    Raises:
        TypeError: nothing is known about this module.

    Example:
        >>> from torchalu.nn import LogicActivation
        >>> features_ratio(LogicActivation(["or_ail", "and_ail", "xnor_ail"]))
        Fraction(3, 2)
        >>> features_ratio(nn.ReLU())
        Fraction(1, 1)
    """
    if not isinstance(activation, nn.Module):
        raise TypeError(f"activation is {activation!r}; give a module, such as nn.ReLU()")
    own = getattr(activation, "features_ratio", None)
    if own is not None:
        return Fraction(own)
    if isinstance(activation, nn.GLU):
        return Fraction(1, 2)
    if isinstance(activation, tuple(ELEMENTWISE.values())):
        return Fraction(1)
    raise TypeError(
        f"how many features {type(activation).__name__} gives is not known: give it an attribute "
        "features_ratio, the features that come out for each one that goes in"
    )


def features_multiple(activation: nn.Module) -> int:
    """What the number of features that go into an activation must be a multiple of.

    Args:
        activation: as :func:`features_ratio` takes it.

    Raises:
        TypeError: nothing is known about this module.

    Example:
        >>> from torchalu.nn import LogicActivation
        >>> features_multiple(LogicActivation(["or_ail", "xnor_ail"], strategy="partition"))
        4
    """
    own = getattr(activation, "features_multiple", None)
    return features_ratio(activation).denominator if own is None else int(own)


def out_features_for(activation: nn.Module, in_features: int) -> int:
    """How many features come out when this many go in.

    Args:
        activation: as :func:`features_ratio` takes it.
        in_features: features that go in.

    Raises:
        TypeError: nothing is known about this module; `in_features` is no integer.
        ValueError: the activation does not take this number; the error gives the nearest ones.

    Example:
        >>> from torchalu.nn import ORAIL
        >>> out_features_for(ORAIL(), 650)
        325
    """
    _check("in_features", in_features, "takes", features_multiple(activation), activation)
    return int(int(in_features) * features_ratio(activation))


def in_features_for(activation: nn.Module, out_features: int) -> int:
    """How many features must go in for this many to come out.

    Args:
        activation: as :func:`features_ratio` takes it.
        out_features: features that come out.

    Raises:
        TypeError: nothing is known about this module; `out_features` is no integer.
        ValueError: the activation does not give this number; the error gives the nearest ones.

    Example:
        >>> from torchalu.nn import LogicActivation
        >>> activation = LogicActivation(["or_ail", "and_ail", "xnor_ail"])
        >>> nn.Linear(784, in_features_for(activation, 300))
        Linear(in_features=784, out_features=200, bias=True)
    """
    ratio = features_ratio(activation)
    least = int(features_multiple(activation) * ratio)
    _check("out_features", out_features, "gives", least, activation)
    return int(int(out_features) / ratio)


def _check(name: str, value: int, verb: str, multiple: int, activation: nn.Module) -> None:
    """Refuse a number of features that is no integer or no multiple."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}; give an integer")
    if value < 0 or value % multiple:
        below = max(value // multiple, 0) * multiple
        raise ValueError(
            f"{name} is {value}; {activation} {verb} multiples of {multiple}, such as "
            f"{below or multiple} or {below + multiple if below else 2 * multiple}"
        )
