"""Activations by the names that papers and tables give them."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch import nn

from torchalu.functional.logic_ensemble import Strategy
from torchalu.nn.ail import ANDAIL, ORAIL, XNORAIL
from torchalu.nn.extrema import MaxOut, MinOut
from torchalu.nn.features import ELEMENTWISE
from torchalu.nn.il import ANDIL, ORIL, XNORIL
from torchalu.nn.logic_activation import LogicActivation
from torchalu.nn.names import find
from torchalu.nn.signed_geomean import SignedGeomean

Maker = Callable[..., nn.Module]

_FAMILIES = ("il", "nil", "ail", "nail")
_STRATEGIES: dict[str, Strategy] = {"d": "duplicate", "p": "partition"}
_ENDINGS = {"d": ("dup", "duplicate"), "p": ("part", "partition")}  # pytorch-logit-logic's first
_SINGLE = {
    "ail": {"or": ORAIL, "and": ANDAIL, "xnor": XNORAIL},
    "il": {"or": ORIL, "and": ANDIL, "xnor": XNORIL},
}


def activation(name: str, **options: Any) -> nn.Module:
    """An activation by its name, torch's own among them.

    One operator of Lowe et al. 2022 is called `"or_ail"`, an ensemble
    `"nail_or_and_xnor_d"`: the family, the operators in any order, and d for duplicate or p for
    partition, which may be written out; as in the paper's tables, `"{OR, AND, XNOR NAIL (d)}"`, the
    family may stand behind the operators. The families are `il` (exact), `ail` (approximate), `nil`
    and `nail` (their normalized forms). Upper and lower case, spaces and signs such as `-`, `_`,
    braces and commas make no difference. Functions of :mod:`torchalu.functional`, such as
    `"logit_or"`, are known by their names as well, and so are those of the package
    pytorch-logit-logic, such as `"nail_or_xnor_dup"`, but for partitions into shares of a fixed
    size and clamped means.

    Args:
        name: one of :func:`activation_names`.
        options: what the constructor is given: `k=3`, `dim=-1`, `negative_slope=0.2`.

    Raises:
        TypeError: the constructor does not take these options.
        ValueError: there is no such name; the error gives the nearest one.

    Example:
        >>> activation("nail_or_xnor_d")
        LogicActivation(('or_ail', 'xnor_ail'), strategy='duplicate', k=2, dim=1, layout='pairs',
                        normalized=True)
        >>> activation("Leaky-ReLU", negative_slope=0.2)
        LeakyReLU(negative_slope=0.2)
        >>> activation("xor_ail")
        Traceback (most recent call last):
        ValueError: no activation called 'xor_ail'; did you mean 'xnor_ail'?
    """
    return _MAKERS[canonical_activation(name)](**options)


def canonical_activation(name: str) -> str:
    """The one name, of those that :func:`activation_names` lists, that a spelling stands for.

    Args:
        name: any name that :func:`activation` takes.

    Raises:
        ValueError: there is no such name; the error gives the nearest one.

    Example:
        >>> canonical_activation("NAIL OR XNOR dup"), canonical_activation("Swish")
        ('nail_or_xnor_d', 'silu')
        >>> canonical_activation("logit_or")
        'or_il'
    """
    return find(name, _SPELLINGS, "activation")


def activation_names() -> tuple[str, ...]:
    """The names of all activations; :func:`activation` knows them in other spellings as well.

    Example:
        >>> names = activation_names()
        >>> [name for name in names if name.startswith("nail_or_xnor")]
        ['nail_or_xnor_d', 'nail_or_xnor_p', 'nail_or_xnor_and_d', 'nail_or_xnor_and_p']
    """
    return tuple(_MAKERS)


def _ensembles(family: str) -> Iterator[tuple[str, Maker]]:
    """Each choice and order of two or three operators of a family."""
    base = family.removeprefix("n")
    for count in (2, 3):
        for operators in itertools.permutations(_SINGLE[base], count):
            names = [f"{operator}_{base}" for operator in operators]
            for letter, strategy in _STRATEGIES.items():
                yield (
                    f"{family}_{'_'.join(operators)}_{letter}",
                    partial(LogicActivation, names, strategy=strategy, normalized=family != base),
                )


def _makers() -> Iterator[tuple[str, Maker]]:
    """Each name with what makes its module."""
    yield from ELEMENTWISE.items()
    yield "glu", partial(nn.GLU, dim=1)
    yield from {"max_out": MaxOut, "min_out": MinOut, "signed_geomean": SignedGeomean}.items()
    for base, classes in _SINGLE.items():
        yield from ((f"{operator}_{base}", unit) for operator, unit in classes.items())
        yield from (
            (f"{operator}_n{base}", partial(unit, normalized=True))
            for operator, unit in classes.items()
        )
    for letter, strategy in _STRATEGIES.items():
        for pair in itertools.permutations(("max", "min")):
            names = [f"{extremum}_out" for extremum in pair]
            yield f"{'_'.join(pair)}_{letter}", partial(LogicActivation, names, strategy=strategy)
    for family in _FAMILIES:
        yield from _ensembles(family)


def _aliases() -> Iterator[tuple[str, str]]:
    """Names in use elsewhere, each with the one it stands for."""
    yield from {"max": "max_out", "min": "min_out", "swish": "silu"}.items()
    yield from ((f"logit_{operator}", f"{operator}_il") for operator in _SINGLE["il"])
    for name in _MAKERS:
        *operators, last = name.split("_")
        if last in _FAMILIES:
            yield f"{last}_{'_'.join(operators)}", name
        elif last in _STRATEGIES:
            orders = [operators]
            if operators[0] in _FAMILIES:
                orders.append([*operators[1:], operators[0]])
            for order, ending in itertools.product(orders, (last, *_ENDINGS[last])):
                yield f"{'_'.join(order)}_{ending}", name


_MAKERS = dict(_makers())
_SPELLINGS = {name: name for name in _MAKERS} | dict(_aliases())
