"""Which activations the paper compares, and what its figures and tables call them."""

from __future__ import annotations

from collections.abc import Sequence

from torchalu.nn import activation, canonical_activation

LABELS = {
    "identity": "Linear layer only",
    "relu": "ReLU",
    "prelu": "PReLU",
    "selu": "SELU",
    "gelu": "GELU",
    "silu": "SiLU",
    "mish": "Mish",
    "tanh": "Tanh",
    "max_out": "Max",
    "max_min_d": "Max, Min (d)",
    "signed_geomean": "SignedGeomean",
    "xnor_il": "XNOR IL",
    "or_il": "OR IL",
    "xnor_nil": "XNOR NIL",
    "or_nil": "OR NIL",
    "nil_or_and_d": "OR, AND NIL (d)",
    "nil_or_xnor_d": "OR, XNOR NIL (d)",
    "nil_or_and_xnor_d": "OR, AND, XNOR NIL (d)",
    "xnor_ail": "XNOR AIL",
    "or_ail": "OR AIL",
    "ail_or_and_d": "OR, AND AIL (d)",
    "ail_or_and_p": "OR, AND AIL (p)",
    "ail_or_xnor_d": "OR, XNOR AIL (d)",
    "ail_or_xnor_p": "OR, XNOR AIL (p)",
    "ail_or_and_xnor_d": "OR, AND, XNOR AIL (d)",
    "ail_or_and_xnor_p": "OR, AND, XNOR AIL (p)",
    "xnor_nail": "XNOR NAIL",
    "or_nail": "OR NAIL",
    "nail_or_and_d": "OR, AND NAIL (d)",
    "nail_or_xnor_d": "OR, XNOR NAIL (d)",
    "nail_or_and_xnor_d": "OR, AND, XNOR NAIL (d)",
}
"""The paper's names, by those that :func:`torchalu.nn.activation` takes."""

BASELINE = "relu"

FIGURE4 = ("relu", "xnor_ail")

FIGURE5 = (
    *("relu", "silu", "prelu", "max_out", "max_min_d", "signed_geomean", "or_ail", "xnor_ail"),
    *("ail_or_and_d", "ail_or_xnor_d", "ail_or_xnor_p"),
    *("ail_or_and_xnor_d", "ail_or_and_xnor_p"),
)

FIGURE6 = tuple(name for name in FIGURE5 if name not in ("prelu", "signed_geomean"))

TABLE1 = tuple(name for name in LABELS if name != "silu" and not name.startswith("ail_"))


def label(name: str) -> str:
    """What the paper calls an activation; its name in plain letters where the paper has none.

    Args:
        name: as :func:`torchalu.nn.activation` takes it.

    Example:
        >>> label("nail_or_xnor_d"), label("hardswish")
        ('OR, XNOR NAIL (d)', 'hardswish')
    """
    return LABELS.get(name, name.replace("_", " "))


def check_activations(names: Sequence[str]) -> tuple[str, ...]:
    """The activations to compare, each by the one name that settings and results know it by.

    Args:
        names: of activations, as :func:`torchalu.nn.activation` takes them.

    Raises:
        ValueError: there are none, one stands there twice, one is unknown, or it cannot do
            without options.

    Example:
        >>> check_activations(["ReLU", "AIL_OR_XNOR_dup"])
        ('relu', 'ail_or_xnor_d')
        >>> check_activations(["relu", "xor_ail"])
        Traceback (most recent call last):
        ValueError: no activation called 'xor_ail'; did you mean 'xnor_ail'?
    """
    if not names:
        raise ValueError("activations is empty; give some, such as relu and xnor_ail")
    known: list[str] = []
    for name in names:
        known.append(canonical_activation(name))
        try:
            activation(name)
        except TypeError as error:
            raise ValueError(
                f"activations holds {name!r}, which needs options; choose others"
            ) from error
        if known[-1] in known[:-1]:
            raise ValueError(f"activations holds {name!r} twice; give each once")
    return tuple(known)
