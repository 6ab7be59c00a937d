"""Beyond the paper: one unit alone, on two of its inputs, and what closed form does there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import polars as pl

from torchalu.experiments.madsen2020.closed_form import BASELINES, solve
from torchalu.experiments.madsen2020.unit_criterion import nearly_perfect_unit_loss
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Model, Setting, choose
from torchalu.nn import INALU, NAC, NALU, NAU, NMRU, NMU, NPU, SNMU, GatedNAUNMU, NACMul, RealNPU
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation, SamplingRange
from torchalu.train import Chunk, Part, Report

RANGES: dict[str, tuple[SamplingRange, SamplingRange]] = {
    "U[-20,-10]": ((-20.0, -10.0), (-40.0, -20.0)),
    "U[-2,-1]": ((-2.0, -1.0), (-6.0, -2.0)),
    "U[-1.2,-1.1]": ((-1.2, -1.1), (-6.1, -1.2)),
    "U[-0.2,-0.1]": ((-0.2, -0.1), (-2.0, -0.2)),
    "U[-2,2]": ((-2.0, 2.0), ((-6.0, -2.0), (2.0, 6.0))),
    "U[0.1,0.2]": ((0.1, 0.2), (0.2, 2.0)),
    "U[1,2]": ((1.0, 2.0), (2.0, 6.0)),
    "U[1.1,1.2]": ((1.1, 1.2), (1.2, 6.0)),
    "U[10,20]": ((10.0, 20.0), (20.0, 40.0)),
}
"""The nine ranges: interpolation and extrapolation, by the name of the former."""

_MODELS = (
    Model("NAU", lambda n, _: [NAU(n, 1)], penalty=0.01),
    Model("NMU", lambda n, _: [NMU(n, 1)], penalty=10.0),
    Model("NAC+", lambda n, _: [NAC(n, 1)]),
    Model("NAC*", lambda n, _: [NACMul(n, 1)]),
    Model("NAC*,sigma", lambda n, _: [NACMul(n, 1, parametrization="sigmoid")]),
    Model("NAC*,NMU", lambda n, _: [NACMul(n, 1, parametrization="clamped")], penalty=10.0),
    Model("NALU (shared)", lambda n, _: [NALU(n, 1)]),
    Model("NALU (separate)", lambda n, _: [NALU(n, 1, separate=True)]),
    Model("Gated NAU/NMU", lambda n, _: [GatedNAUNMU(n, 1)], penalty=10.0),
    Model("RealNPU", lambda n, _: [RealNPU(n, 1)], learning_rate=5e-3, penalty=1e-7),
    Model(
        "RealNPU (modified)",
        lambda n, _: [RealNPU(n, 1, modified=True)],
        learning_rate=5e-3,
        penalty=1.0,
    ),
    Model("NPU", lambda n, _: [NPU(n, 1)], learning_rate=5e-3, penalty=1e-7),
    Model("sNMU", lambda n, _: [SNMU(n, 1)], penalty=10.0),
    Model("NMRU", lambda n, _: [NMRU(n, 1)], learning_rate=1e-2, penalty=10.0, clip_norm=1.0),
    Model("iNALU", lambda n, _: [INALU(n, 1)], clip_norm=0.1),
)
UNITS = {model.name: model for model in _MODELS}


@dataclass
class SingleModuleStudy(NativeStudy):
    """Units that are trained, and closed forms in the same table, a chunk for each seed.

    Args:
        baselines: names of closed forms.

    Example:
        >>> [chunk.name for chunk in single_module(Runs(seeds=1), input_sizes=(2,)).chunks()][-1]
        'closedform-seed0'
    """

    baselines: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.configuration = {**self.configuration, "baselines": list(self.baselines)}

    def chunks(self) -> list[Chunk]:
        """The teams, and then the closed forms, seed by seed."""
        closed = [Chunk(f"closedform-seed{seed}", 1e3) for seed in self.runs.seed_numbers]
        return [*super().chunks(), *(closed if self.baselines else [])]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train a team, or solve all tasks of a seed in closed form."""
        if not chunk.name.startswith("closedform"):
            return super().run(chunk, scratch, report)
        seed = int(chunk.name.split("seed")[1])
        tasks = {
            tuple(value for name, value in setting.labels.items() if name != "model"): setting
            for setting in self.settings
        }
        rows = []
        for done, setting in enumerate(tasks.values()):
            for name in self.baselines:
                labels = {**setting.labels, "model": name, "seed": seed}
                rows.append({**labels, **solve(name, setting.task, seed)})
            report((done + 1) / len(tasks))
        outcomes = pl.DataFrame(rows, infer_schema_length=None)
        return Part(pl.DataFrame(), outcomes.with_columns(pl.col("solved_at_step").cast(pl.Int64)))


def single_module(
    runs: RunOptions = Runs(seeds=25, steps=50_000, team=44),
    *,
    operations: tuple[Operation, ...] = ("add", "sub", "mul", "div"),
    models: tuple[str, ...] = (*UNITS, *BASELINES),
    input_sizes: tuple[int, ...] = (2, 10),
    ranges: tuple[str, ...] = tuple(RANGES),
) -> SingleModuleStudy:
    """One unit alone, on the first two of its inputs; beyond the paper.

    Penalties rise from 0.4 to 0.7 of the steps.

    Args:
        runs: which seeds, and when a run ends.
        operations: of the task.
        models: names of units, and of closed forms.
        input_sizes: numbers of inputs.
        ranges: interpolation ranges, by name.

    Raises:
        ValueError: a count that is not positive, a name that is unknown, no unit.

    Source:
        The single-module task of Mistry et al. 2022. Solved is what is better than operands that
        are off by a part 1e-5; see `unit_criterion`. RealNPU and NPU: learning rate 5e-3 as in
        Heim et al. 2020, whose L1 weight of up to 1e-7 is here the penalty's. NMRU: 1e-2 and a
        gradient of norm 1 at most, as in Mistry et al. 2022. iNALU: 0.1 at most, as in Schloer et
        al. 2020, without their penalty and new starts. Else the learning rate is 1e-3. Of the
        penalties, 0.01 for sums and 10 for products are those of Madsen & Johansen 2020; that of
        the modified RealNPU, 1, is ours.

    Example:
        >>> len(single_module().settings)
        1080
    """
    choose("operations", operations, get_args(Operation))
    choose("models", models, (*UNITS, *BASELINES))
    choose("ranges", ranges, RANGES)
    units = [_with_ramp(UNITS[name], runs.steps) for name in models if name in UNITS]
    if not units:
        raise ValueError(f"models names no unit; give at least one of {', '.join(UNITS)}")
    settings = [
        Setting(
            unit,
            _task(operation, size, name),
            runs.steps,
            _labels(unit, operation, size, name),
            hidden_size=1,
            criterion=nearly_perfect_unit_loss,
        )
        for size in input_sizes
        for name in ranges
        for operation in operations
        for unit in units
    ]
    return SingleModuleStudy(
        "madsen2020.single_module",
        settings,
        runs,
        baselines=[name for name in models if name in BASELINES],
    )


def _with_ramp(unit: Model, steps: int) -> Model:
    return replace(unit, penalty_start=0.4 * steps, penalty_end=0.7 * steps)


def _task(operation: Operation, size: int, name: str) -> SimpleFunction:
    inside, outside = RANGES[name]
    return SimpleFunction(
        operation,
        in_features=size,
        subsets=((0,), (1,)),
        interpolation_range=inside,
        extrapolation_range=outside,
    )


def _labels(unit: Model, operation: Operation, size: int, name: str) -> dict[str, str | int]:
    return {
        "model": unit.name,
        "operation": operation,
        "in_features": size,
        "interpolation_range": name,
    }
