"""Figure 9 and table 5: where the gate of a NALU settles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

import polars as pl
import torch
from torch import nn
from torch.nn.functional import linear

from torchalu.engine import sample_batch
from torchalu.experiments.madsen2020.models import model
from torchalu.experiments.madsen2020.published import PUBLISHED
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Model, Setting, choose
from torchalu.nn import NAC, NALU, NAU, GatedNAUNMU
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation

ROWS = 10_000
"""Rows that the mean gate is taken over."""

_MODELS = (
    replace(
        model("Gated NAU/NMU"),
        build=lambda n, hidden: [NAU(n, hidden), GatedNAUNMU(hidden, 1)],
        cost=1.2,
    ),
    Model(
        "NALU (separate)",
        lambda n, hidden: [NAC(n, hidden), NALU(hidden, 1, separate=True)],
        cost=1.5,
    ),
    Model("NALU (shared)", lambda n, hidden: [NAC(n, hidden), NALU(hidden, 1)], cost=1.5),
)
GATED = {model.name: model for model in _MODELS}


@dataclass
class GateStudy(NativeStudy):
    """A study whose outcomes hold the gate of each run, and whose summary is table 5.

    Example:
        >>> figure9().keys
        ('model', 'operation', 'seed')
    """

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Table 5; figure 9 counts the gates in the outcomes themselves."""
        (table,) = super().summarize(outcomes).values()
        return {"table5": table}


def figure9(
    runs: RunOptions = Runs(),
    *,
    operations: tuple[Operation, ...] = ("mul", "add"),
    models: tuple[str, ...] = tuple(GATED),
) -> GateStudy:
    """Figure 9 and table 5: an adding layer, then one layer with a gate.

    Args:
        runs: which seeds, and when a run ends.
        operations: of the task.
        models: "Gated NAU/NMU", "NALU (separate)", "NALU (shared)".

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, appendix C.5. Departure: the gate is the mean over 10,000 rows at
        the best step; the authors' program has the mean over the training batch of that step.

    Example:
        >>> [setting.model.name for setting in figure9(operations=("mul",)).settings]
        ['Gated NAU/NMU', 'NALU (separate)', 'NALU (shared)']
    """
    choose("operations", operations, get_args(Operation))
    choose("models", models, GATED)
    settings = [
        Setting(
            GATED[name],
            SimpleFunction(operation),
            runs.steps,
            {"model": name, "operation": operation},
        )
        for operation in operations
        for name in models
    ]
    return GateStudy("madsen2020.figure9", settings, runs, PUBLISHED["table5"], observe=mean_gate)


table5 = figure9
"""Table 5 summarizes the runs whose gates figure 9 shows."""


@torch.no_grad()
def mean_gate(setting: Setting, seed: int, module: nn.Sequential) -> Mapping[str, float]:
    r"""The mean gate of the last layer, over inputs of the interpolation range.

    .. math:: \bar g = \mathrm{mean}\,\sigma(G z)

    Args:
        setting: what was trained.
        seed: its seed.
        module: the model at its best step.

    Returns:
        The column `gate`: 1 where the model adds, 0 where it multiplies.

    Example:
        >>> stack = nn.Sequential(NAU(100, 2), GatedNAUNMU(2, 1))
        >>> _ = nn.init.zeros_(stack[1].gate_weight)
        >>> mean_gate(figure9().settings[0], 0, stack)
        {'gate': 0.5}
    """
    dtype = next(module.parameters()).dtype
    x, _ = sample_batch(
        setting.task, seed=0, replica=seed, step=setting.steps, batch_size=ROWS, dtype=dtype
    )
    gate_weight = module[-1].gate_weight
    assert isinstance(gate_weight, torch.Tensor)
    return {"gate": torch.sigmoid(linear(module[:-1](x), gate_weight)).mean().item()}
