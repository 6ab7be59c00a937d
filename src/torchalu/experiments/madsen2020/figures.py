"""The figures of the simple function task in which one quantity is varied at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torchalu.experiments.madsen2020 import models as paper
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Label, Model, Setting, choose
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import SamplingRange

RANGES: dict[str, tuple[SamplingRange, SamplingRange]] = {
    "U[-2,-1]": ((-2.0, -1.0), (-6.0, -2.0)),
    "U[-2,2]": ((-2.0, 2.0), ((-6.0, -2.0), (2.0, 6.0))),
    "U[0,1]": ((0.0, 1.0), (1.0, 5.0)),
    "U[0.1,0.2]": ((0.1, 0.2), (0.2, 2.0)),
    "U[1.1,1.2]": ((1.1, 1.2), (1.2, 6.0)),
    "U[1,2]": ((1.0, 2.0), (2.0, 6.0)),
    "U[10,20]": ((10.0, 20.0), (20.0, 40.0)),
}
"""Interpolation and extrapolation range of figure 3, by the name of the former."""

HIDDEN_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10)
INPUT_SIZES = (4, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300)
OVERLAPS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
SUBSET_RATIOS = (0.05, 0.1, 0.25, 0.5)
MULTIPLYING = ("NAC*,NMU", "NAC*,sigma", "NAC*", "NALU", "NMU")


def figure3(
    runs: RunOptions = Runs(seeds=50),
    *,
    models: tuple[str, ...] = MULTIPLYING,
    hidden_sizes: tuple[int, ...] = HIDDEN_SIZES,
    ranges: tuple[str, ...] = tuple(RANGES),
) -> NativeStudy:
    """Figure 3: multiplication with other hidden sizes, and with other ranges of the inputs.

    Args:
        runs: which seeds, and when a run ends.
        models: names of models, as in table 6.
        hidden_sizes: sizes of the hidden layer.
        ranges: interpolation ranges, by name.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> len(figure3().settings)
        75
    """
    choose("models", models, paper.ALL)
    choose("ranges", ranges, RANGES)
    defaults = {"hidden_size": 2, "interpolation_range": "U[1,2]"}
    settings = []
    for point in _points(defaults, {"hidden_size": hidden_sizes, "interpolation_range": ranges}):
        inside, outside = RANGES[str(point["interpolation_range"])]
        task = SimpleFunction("mul", interpolation_range=inside, extrapolation_range=outside)
        settings += _each([paper.model(name) for name in models], task, runs.steps, point)
    return one_at_a_time("figure3", settings, defaults, runs)


def figure7(
    runs: RunOptions = Runs(seeds=50),
    *,
    models: tuple[str, ...] = paper.ABLATIONS,
    hidden_sizes: tuple[int, ...] = HIDDEN_SIZES,
) -> NativeStudy:
    """Figure 7: the NMU without its penalty, without its clamp, and without both.

    Args:
        runs: which seeds, and when a run ends.
        models: names of the NMU and of its ablations.
        hidden_sizes: sizes of the hidden layer.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> len(figure7().settings)
        36
    """
    choose("models", models, paper.ABLATIONS)
    defaults = {"hidden_size": 2}
    settings = []
    for point in _points(defaults, {"hidden_size": hidden_sizes}):
        chosen = [paper.ablation(name) for name in models]
        settings += _each(chosen, SimpleFunction("mul"), runs.steps, point)
    return one_at_a_time("figure7", settings, defaults, runs)


def figure8(
    runs: RunOptions = Runs(seeds=50),
    *,
    models: tuple[str, ...] = (*MULTIPLYING, "Gated NAU/NMU"),
    input_sizes: tuple[int, ...] = INPUT_SIZES,
    overlap_ratios: tuple[float, ...] = OVERLAPS,
    subset_ratios: tuple[float, ...] = SUBSET_RATIOS,
) -> NativeStudy:
    """Figure 8: multiplication with other sizes of the input, overlaps and sizes of the subsets.

    Args:
        runs: which seeds, and when a run ends.
        models: names of models, as in table 6.
        input_sizes: numbers of inputs; above 100 of them a run has twice the `steps`, above 200
            three times, as in the authors' program.
        overlap_ratios: lengths of the overlap, as a part of a subset.
        subset_ratios: lengths of a subset, as a part of the inputs.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> max(setting.steps for setting in figure8().settings)
        15000000
    """
    choose("models", models, paper.ALL)
    defaults = {"in_features": 100, "overlap_ratio": 0.5, "subset_ratio": 0.25}
    varied = {
        "in_features": input_sizes,
        "overlap_ratio": overlap_ratios,
        "subset_ratio": subset_ratios,
    }
    settings = []
    for point in _points(defaults, varied):
        task = SimpleFunction(
            "mul",
            in_features=int(point["in_features"]),
            overlap_ratio=float(point["overlap_ratio"]),
            subset_ratio=float(point["subset_ratio"]),
        )
        longer = 1 + (task.in_features > 100) + (task.in_features > 200)
        settings += _each([paper.model(name) for name in models], task, longer * runs.steps, point)
    return one_at_a_time("figure8", settings, defaults, runs)


def _points(
    defaults: Mapping[str, Label], varied: Mapping[str, Iterable[Label]]
) -> list[dict[str, Label]]:
    """The points where all but one quantity have their default, each once."""
    points = [{**defaults, name: value} for name, values in varied.items() for value in values]
    return [point for k, point in enumerate(points) if point not in points[:k]]


def _each(
    models: Sequence[Model], task: SimpleFunction, steps: int, point: Mapping[str, Label]
) -> list[Setting]:
    hidden_size = int(point.get("hidden_size", 2))
    return [
        Setting(
            model,
            task,
            steps,
            {"model": model.name, "operation": task.operation, **point},
            hidden_size,
        )
        for model in models
    ]


def one_at_a_time(
    name: str,
    settings: Sequence[Setting],
    defaults: Mapping[str, Label],
    runs: Runs,
) -> NativeStudy:
    """A study of the paper's settings, one quantity of which is varied at a time.

    Args:
        name: of the figure.
        settings: each has the quantities among its labels.
        defaults: the value of each quantity where another is varied.
        runs: as of `NativeStudy`.

    Example:
        >>> settings = figure7().settings
        >>> one_at_a_time("figure7", settings, {"hidden_size": 2}, Runs()).name
        'madsen2020.figure7'
    """
    return NativeStudy(f"madsen2020.{name}", settings, runs, defaults=defaults)
