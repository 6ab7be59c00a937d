"""All activations that reduce groups, once, each with its equation and its names."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from torchalu import nn


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def logit(p):
    return math.log(p / (1 - p))


def and_ail(z):
    return sum(x for x in z if x < 0) if min(z) < 0 else min(z)


def or_ail(z):
    return sum(x for x in z if x > 0) if max(z) > 0 else max(z)


def xnor_ail(z):
    return math.copysign(1, math.prod(z)) * min(abs(x) for x in z)


def logit_and(z):
    return logit(math.prod(map(sigmoid, z)))


def logit_or(z):
    return logit(1 - math.prod(sigmoid(-x) for x in z))


def logit_xnor(z):
    """The logit of an even number of events that do not happen, one event at a time."""
    even = 1.0
    for x in z:
        even = even * sigmoid(x) + (1 - even) * sigmoid(-x)
    return logit(even)


def signed_geomean(z):
    product = math.prod(z)
    return math.copysign(abs(product) ** (1 / len(z)), product)


@dataclass(frozen=True)
class Case:
    """An activation, its equation for one group, and two of the names that people give it."""

    unit: type[nn.GroupActivation]
    equation: Callable[[list[float]], float]
    names: tuple[str, str]
    normalized: bool | None = None  # None: there is no such form

    def make(self, **options) -> nn.GroupActivation:
        """The activation, in the form that this case is about."""
        form = {} if self.normalized is None else {"normalized": self.normalized}
        return self.unit(**options, **form)

    def __str__(self) -> str:
        return self.names[0]


ACTIVATIONS = (
    Case(nn.ANDAIL, and_ail, ("and_ail", "AIL-AND"), False),
    Case(nn.ORAIL, or_ail, ("or_ail", "ORAIL"), False),
    Case(nn.XNORAIL, xnor_ail, ("xnor_ail", "XNOR AIL"), False),
    Case(nn.ANDAIL, and_ail, ("and_nail", "nail_and"), True),
    Case(nn.ORAIL, or_ail, ("or_nail", "nail_or"), True),
    Case(nn.XNORAIL, xnor_ail, ("xnor_nail", "nail_xnor"), True),
    Case(nn.ANDIL, logit_and, ("and_il", "il_and"), False),
    Case(nn.ORIL, logit_or, ("or_il", "IL OR"), False),
    Case(nn.XNORIL, logit_xnor, ("xnor_il", "XNOR_IL"), False),
    Case(nn.ANDIL, logit_and, ("and_nil", "nil_and"), True),
    Case(nn.ORIL, logit_or, ("or_nil", "NIL-or"), True),
    Case(nn.XNORIL, logit_xnor, ("xnor_nil", "nil_xnor"), True),
    Case(nn.MaxOut, max, ("max_out", "Max")),
    Case(nn.MinOut, min, ("min_out", "MinOut")),
    Case(nn.SignedGeomean, signed_geomean, ("signed_geomean", "signedgeomean")),
)


def logits(*shape, seed=0, dtype=torch.float64):
    """Standard normal numbers."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
