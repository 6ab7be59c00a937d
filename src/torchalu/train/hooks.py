"""Hooks: what a method of training may change about a step of `fit`, and what it must keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from torchalu.train.configuration import plain


class Measured(NamedTuple):
    """A loss with other measures of the same batch, for hooks to use.

    Attributes:
        loss: a scalar with a gradient.
        measures: numbers by name, each a tensor of one element; those with a gradient may be added
            to the loss.
    """

    loss: Tensor
    measures: Mapping[str, Tensor]


@dataclass
class Progress:
    """What hooks see of a run, the same object at each call.

    Attributes:
        module: in training.
        optimizer: that trains it.
        parameters: those that it trains.
        seed: of the run.
        step: optimizer steps taken.
        learning_rate: of the step that is being taken.
        loss: of its batch, before penalties and hooks.
        measures: the other measures of its batch.
        ended: whether a hook has ended the run.
        best_loss: the lowest validation loss so far. A hook that changes what is evaluated sets it
            to infinity, so that what was the best before counts no more.
    """

    module: nn.Module
    optimizer: torch.optim.Optimizer
    parameters: Sequence[nn.Parameter]
    seed: int
    step: int = 0
    learning_rate: float = 0.0
    loss: float = 0.0
    measures: Mapping[str, Tensor] = field(default_factory=dict)
    ended: bool = False
    best_loss: float = math.inf

    def end(self) -> None:
        """End the run after this step, with the status "ended"."""
        self.ended = True


class Hook:
    """A method of training that `fit` carries out; each part does nothing unless it is overridden.

    A step goes: `before_step`, forward, `add_to_loss`, backward, clipping, `change_gradients`,
    the optimizer, `after_step`; then, where it is time to, an evaluation within `evaluating`, and
    `after_evaluation`. Hooks are called in the order in which they are given. Random numbers of a
    hook are to follow from `Progress.seed` and `Progress.step` alone, and all else that changes
    from step to step is to be named in `kept`, so that a run that is broken off goes on as if it
    had not been.

    Attributes:
        kept: names of the attributes that a checkpoint keeps: finite numbers, None, tensors, and
            dictionaries from names to tensors.
        fixed: names of those that a checkpoint must agree in, or else it is of another run.

    Example:
        >>> from torchalu.train import TrainingConfiguration, fit
        >>> class Halve(Hook):
        ...     kept = ("factor",)
        ...     factor = 1.0
        ...     def learning_rate_factor(self, step):
        ...         return self.factor
        ...     def after_step(self, progress):
        ...         if progress.step == 2:
        ...             self.factor = 0.5
        >>> weight = nn.Linear(1, 1, bias=False)
        >>> nn.init.zeros_(weight.weight).item()
        0.0
        >>> result = fit(
        ...     weight,
        ...     lambda step, generator: torch.ones(1, 1),
        ...     lambda module, batch: -module(batch).sum(),
        ...     TrainingConfiguration(steps=3, learning_rate=1.0),
        ...     optimizer=torch.optim.SGD,
        ...     hooks=[Halve()],
        ... )
        >>> weight.weight.item()
        2.5
    """

    kept: ClassVar[tuple[str, ...]] = ()
    fixed: ClassVar[tuple[str, ...]] = ()

    def settings(self) -> dict[str, Any]:
        """What a checkpoint must agree in, as JSON can say it; it is of another run otherwise.

        By default the attributes that `fixed` names.
        """
        return {name: plain(getattr(self, name)) for name in self.fixed}

    def begin(self, progress: Progress) -> None:
        """Called once, before the first step of a run or of what is left of it."""

    def learning_rate_factor(self, step: int) -> float:  # noqa: ARG002
        """By which the learning rate of a step is multiplied, beside the schedule."""
        return 1.0

    def before_step(self, progress: Progress) -> None:
        """Called before the forward pass of a step."""

    def add_to_loss(self, progress: Progress, loss: Tensor) -> Tensor:  # noqa: ARG002
        """The loss that is differentiated instead of `loss`."""
        return loss

    def change_gradients(self, progress: Progress) -> None:
        """Called between clipping and the optimizer's step."""

    def after_step(self, progress: Progress) -> None:
        """Called after the optimizer's step, with the step counted."""

    def evaluating(self, progress: Progress) -> AbstractContextManager[None]:  # noqa: ARG002
        """Within it the module is evaluated, and copied where it is the best so far."""
        return nullcontext()

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """Called with the row of the records that an evaluation makes."""

    def columns(self) -> Mapping[str, float]:
        """More columns of the records, the same names each time."""
        return {}

    def state(self) -> dict[str, Any]:
        """What the attributes in `kept` are now."""
        return {name: getattr(self, name) for name in self.kept}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Set the attributes in `kept` to what they were."""
        for name in self.kept:
            setattr(self, name, state[name])


def hook_names(hooks: Sequence[Hook]) -> list[str]:
    """The name of each hook in a checkpoint: its class, numbered where there are several."""
    names: list[str] = []
    for hook in hooks:
        name = type(hook).__name__
        number = sum(other.partition(".")[0] == name for other in names)
        names.append(f"{name}.{number}" if number else name)
    return names
