"""Update gates that stay open or shut once a Neural GPU has learned to bear noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torchalu.nn import NeuralGPUBase
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.hooks import Hook, Progress


class Sharpening(Hook):
    r"""Evaluates, and keeps as the best, a Neural GPU with steeper update gates.

    .. math:: \theta_g \leftarrow \kappa \, \theta_g

    from the step on at which the noise of `hardening` is whole. What is trained stays as it is. An
    update gate that is not quite open where a cell should keep its number lets that drift with
    each signal that passes by, in strings of the training lengths too little to matter. Steeper,
    it is open. What has learned to bear noise on its gates hardly needs their slopes. The reset
    gates stay: steeper ones mend nothing, and cost products some of their strings.

    Give it behind `WeightAverage`, so that the average is what is sharpened.

    Args:
        hardening: which says when.
        factor: kappa.

    Raises:
        ValueError: a factor below 1.

    Source:
        Ours; see :meth:`torchalu.nn.DiagonalNeuralGPU.sharpen_update_gates_`.

    Example:
        >>> Sharpening(Hardening(0.5, ramp=1000, settle=1000), factor=2.0).factor
        2.0
    """

    fixed = ("factor",)

    def __init__(self, hardening: Hardening, factor: float = 2.0) -> None:
        if not factor >= 1:
            raise ValueError(f"factor is {factor}; give 1 or more")
        self.hardening, self.factor = hardening, factor

    @contextmanager
    def evaluating(self, progress: Progress) -> Iterator[None]:
        """Put steeper update gates in the place of the gates."""
        began, ramp = self.hardening.began, self.hardening.ramp
        if began < 0 or progress.step < began + ramp:
            yield
            return
        module = progress.module
        assert isinstance(module, NeuralGPUBase)
        gates = module.gate_weight, module.gate_bias
        trained = [parameter.detach().clone() for parameter in gates]
        module.sharpen_update_gates_(self.factor)
        try:
            yield
        finally:
            with torch.no_grad():
                for parameter, values in zip(gates, trained, strict=True):
                    parameter.copy_(values)
