"""The paper's tables again, with noisy training targets; beyond the paper."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from torchalu.engine import Result
from torchalu.evaluate import noise_loss
from torchalu.experiments.madsen2020 import models as paper
from torchalu.experiments.madsen2020.tables import compared, overlapping_sums
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Setting
from torchalu.tasks.simple_function import Operation


@dataclass
class NoiseStudy(NativeStudy):
    r"""A study whose outcomes hold the error outside the training range, in units of the noise.

    .. math:: \sqrt{\frac{\mathrm{E}[(y - t)^2]}{\sigma^2 \, \mathrm{E}[t^2]}}

    A run is solved where this `error_to_noise`, at the lowest validation loss, is below 1: the
    model is then nearer to the truth, where it has never been, than one measurement is.

    Example:
        >>> study = noise(models=("NMU",), operations=("mul",))
        >>> study.settings[0].goal == noise_loss(study.settings[0].task)
        True
    """

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Success by model and operation, with the median of `error_to_noise` over all seeds."""
        labels = [key for key in self.keys if key != "seed"]
        error = pl.col("error_to_noise").fill_nan(None)
        medians = outcomes.group_by(labels).agg(error.median().alias("error_to_noise_median"))
        return {
            name: table.join(medians, on=labels, how="left", maintain_order="left")
            for name, table in super().summarize(outcomes).items()
        }

    def _outcome(self, setting: Setting, seed: int, result: Result) -> pl.DataFrame:
        error = (pl.col("extrapolation_loss") / setting.goal).sqrt()
        return super()._outcome(setting, seed, result).with_columns(error_to_noise=error)


def noise(
    runs: RunOptions = Runs(seeds=50),
    *,
    noise: float = 0.01,
    operations: tuple[Operation, ...] = ("mul", "add", "sub", "div", "square", "root"),
    models: tuple[str, ...] = paper.ALL,
) -> NoiseStudy:
    """Tables 2 and 6 again, with noisy training targets; beyond the paper.

    Args:
        runs: which seeds, and when a run ends.
        noise: standard deviation of the targets' relative error.
        operations: "add", "sub", "mul", "div", "square", "root".
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown, no noise.

    Source:
        Beyond the paper, with a criterion of its own: `torchalu.evaluate.noise_loss`.

    Example:
        >>> noise().settings[0].task.noise
        0.01
    """
    _check(noise, "table6")
    settings = compared(operations, models, runs.steps, noise=noise, criterion=noise_loss)
    return NoiseStudy("madsen2020.noise", settings, runs)


def noise_table1(
    runs: RunOptions = Runs(steps=200_000),
    *,
    noise: float = 0.01,
    models: tuple[str, ...] = ("NAC*", "NALU", "NMU"),
) -> NoiseStudy:
    """Table 1 again, with noisy training targets; beyond the paper.

    Args:
        runs: which seeds, and when a run ends.
        noise: standard deviation of the targets' relative error.
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown, no noise.

    Source:
        Beyond the paper, with the criterion of `noise`.

    Example:
        >>> [setting.task.noise for setting in noise_table1().settings]
        [0.01, 0.01, 0.01]
    """
    _check(noise, "table1")
    settings = overlapping_sums(models, runs.steps, noise=noise, criterion=noise_loss)
    return NoiseStudy("madsen2020.noise_table1", settings, runs)


def _check(noise: float, without: str) -> None:
    if not noise > 0:
        raise ValueError(
            f"noise is {noise}; give a positive number, or take {without}, which has no noise"
        )
