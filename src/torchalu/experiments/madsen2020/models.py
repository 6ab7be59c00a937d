"""The models of the simple function task."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from torchalu.experiments.setting import Model, choose, start_dense
from torchalu.nn import NAC, NALU, NAU, NMU, GatedNAUNMU, NACMul

_MODELS = (
    Model(
        "NAC*,NMU",
        lambda n, hidden: [NAU(n, hidden), NACMul(hidden, 1, parametrization="clamped")],
        penalty=10.0,
        penalty_start=1e6,
        penalty_end=2e6,
    ),
    Model(
        "NAC*,sigma",
        lambda n, hidden: [NAC(n, hidden), NACMul(hidden, 1, parametrization="sigmoid")],
        cost=1.3,
    ),
    Model("NAC*", lambda n, hidden: [NAC(n, hidden), NACMul(hidden, 1)], cost=1.3),
    Model("NAC+", lambda n, hidden: [NAC(n, hidden), NAC(hidden, 1)], cost=1.2),
    Model(
        "Gated NAU/NMU",
        lambda n, hidden: [GatedNAUNMU(n, hidden), GatedNAUNMU(hidden, 1)],
        cost=2.0,
        penalty=10.0,
        penalty_start=1e6,
        penalty_end=2e6,
    ),
    Model(
        "Linear",
        lambda n, hidden: [nn.Linear(n, hidden), nn.Linear(hidden, 1)],
        start=start_dense,
    ),
    Model("NALU", lambda n, hidden: [NALU(n, hidden), NALU(hidden, 1)], cost=3.0),
    Model(
        "NAU",
        lambda n, hidden: [NAU(n, hidden), NAU(hidden, 1)],
        penalty=0.01,
        penalty_start=5e3,
        penalty_end=5e4,
    ),
    Model(
        "NMU",
        lambda n, hidden: [NAU(n, hidden), NMU(hidden, 1)],
        penalty=10.0,
        penalty_start=1e6,
        penalty_end=2e6,
    ),
    Model(
        "ReLU",
        lambda n, hidden: [nn.Linear(n, hidden), nn.ReLU(), nn.Linear(hidden, 1)],
        start=start_dense,
    ),
    Model(
        "ReLU6",
        lambda n, hidden: [nn.Linear(n, hidden), nn.ReLU6(), nn.Linear(hidden, 1)],
        start=start_dense,
    ),
)

_BY_NAME = {model.name: model for model in _MODELS}

ALL = tuple(_BY_NAME)
"""The names of the eleven models of table 6, in its order."""

PUBLISHED_BY_SEED = tuple(name for name in ALL if name != "Gated NAU/NMU")
"""The ten of which the outcome of every seed was published."""


def model(name: str) -> Model:
    """A model of the paper's table 4 or of its appendix C.5.

    Args:
        name: one of `ALL`; "NAC*" is the NAC in log space, "NAC+" the plain one.

    Raises:
        ValueError: there is no model of this name.

    Source:
        Madsen & Johansen 2020, table 4. Departures, which follow the authors' program: the first
        layer of "NAC*,NMU" is a NAU; linear layers have biases, which start at 0, and the last
        layer of "ReLU" and "ReLU6" is linear. "Gated NAU/NMU", which table 4 leaves out, has the
        NMU's penalty.

    Example:
        >>> model("NMU").penalty, model("NMU").build(100, 2)[1]
        (10.0, NMU(in_features=2, out_features=1))
    """
    choose("models", [name], ALL)
    return _BY_NAME[name]


def with_penalty(name: str, penalty: float) -> Model:
    """A model of table 4 with another factor of its penalty; the ramp stays.

    Args:
        name: as of `model`.
        penalty: the factor.

    Example:
        >>> with_penalty("NAU", 100.0).penalty_end
        50000.0
    """
    return replace(model(name), penalty=penalty)


def ablation(name: str) -> Model:
    """The NMU model without its clamp, without its penalty, or without both.

    Args:
        name: one of `ABLATIONS`.

    Raises:
        ValueError: there is no such ablation.

    Source:
        Madsen & Johansen 2020, appendix C.3. The penalty min(abs W, abs(1 - abs W)) stays where
        the clamp goes, and draws weights beyond 1 back. "No W clamp" is what it is in the authors'
        program: weights may leave their range, and are clamped in the forward pass alone.

    Example:
        >>> ablation("NMU, no Rsparse").penalty
        0.0
    """
    choose("models", [name], ABLATIONS)
    changed = replace(model("NMU"), name=name)
    if "no Rsparse" in name:
        changed = replace(changed, penalty=0.0)
    if "clamp" in name:
        changed = replace(
            changed,
            build=lambda n, hidden: [
                NAU(n, hidden, clamp="forward"),
                NMU(hidden, 1, clamp="forward"),
            ],
        )
    return changed


ABLATIONS = ("NMU", "NMU, no W clamp", "NMU, no Rsparse", "NMU, no Rsparse, no W-clamp")
"""The models of figure 7, named as there."""
