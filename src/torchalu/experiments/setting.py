"""What is trained in an experiment: a model, its training, and a task."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.engine import Run
from torchalu.evaluate import threshold
from torchalu.tasks import SimpleFunction
from torchalu.train import JSON

Label: TypeAlias = str | int | float
Criterion: TypeAlias = Callable[[SimpleFunction], float]


@dataclass(frozen=True)
class Model:
    """A stack of layers under a name, and how it is trained.

    Args:
        name: as in the paper's tables.
        build: makes the layers from the number of inputs and the size of the hidden layer.
        learning_rate: of Adam.
        penalty: factor of the units' own penalty.
        penalty_start: step at which the penalty sets in.
        penalty_end: step from which on it is whole.
        clip_norm: bound of the gradient's norm over all parameters.
        start: fills the layers' parameters anew, where the trainer's own start is not wanted.
        cost: of a step, relative to that of an NMU; for the progress bar and estimates alone.

    Example:
        >>> from torchalu.nn import NAU, NMU
        >>> model = Model("NMU", lambda n, hidden: [NAU(n, hidden), NMU(hidden, 1)], penalty=10.0)
        >>> model.build(4, 2)
        [NAU(in_features=4, out_features=2), NMU(in_features=2, out_features=1)]
    """

    name: str
    build: Callable[[int, int], list[nn.Module]]
    learning_rate: float = 1e-3
    penalty: float = 0.0
    penalty_start: float = 0.0
    penalty_end: float = 1.0
    clip_norm: float = math.inf
    start: Callable[[Iterable[nn.Module], torch.Generator], None] | None = None
    cost: float = 1.0


@dataclass(frozen=True)
class Setting:
    """A model on a task for a number of steps.

    Args:
        model: what is trained.
        task: on what.
        steps: for how long at most.
        labels: the columns that tell this setting's results apart, the model's name among them.
        hidden_size: size of the model's hidden layer.
        criterion: gives the extrapolation loss below which a task is solved.

    Example:
        >>> from torchalu.nn import NAU
        >>> model = Model("NAU", lambda n, hidden: [NAU(n, hidden), NAU(hidden, 1)])
        >>> setting = Setting(model, SimpleFunction("add"), 1000, {"model": "NAU"})
        >>> setting.run(seed=0).stack
        [NAU(in_features=100, out_features=2), NAU(in_features=2, out_features=1)]
    """

    model: Model
    task: SimpleFunction
    steps: int
    labels: Mapping[str, Label] = field(default_factory=dict)
    hidden_size: int = 2
    criterion: Criterion = threshold

    def run(self, seed: int) -> Run:
        """The setting for the engine, with the start of one seed."""
        model = self.model
        return Run(
            self._build(),
            self.task,
            learning_rate=model.learning_rate,
            penalty=model.penalty,
            penalty_start=model.penalty_start,
            penalty_end=model.penalty_end,
            clip_norm=model.clip_norm,
            goal=self.goal,
            initial=self.initial(seed),
        )

    @property
    def goal(self) -> float:
        """The extrapolation loss below which the setting is solved."""
        return self.criterion(self.task)

    def initial(self, seed: int) -> dict[str, Tensor] | None:
        """The initial parameters of one seed, with a leading dimension of 1 for the replica.

        They are a function of the model's sizes and the seed alone. None: the trainer draws them.
        """
        if self.model.start is None:
            return None
        word = np.random.SeedSequence([0, seed]).generate_state(1, np.uint64)[0]
        stack = nn.Sequential(*self._build()).to(torch.float64)
        self.model.start(stack, torch.Generator().manual_seed(int(word) >> 1))
        return {name: value.detach()[None] for name, value in stack.named_parameters()}

    @property
    def inputs(self) -> tuple[object, ...]:
        """What settings agree in that can be trained on the same inputs."""
        task = asdict(self.task)
        for name in ("operation", "subset_ratio", "overlap_ratio", "subsets", "noise"):
            task.pop(name, None)
        return self.steps, *task.values()

    @property
    def cost(self) -> float:
        """Expected cost of a seed, in steps of an NMU model with 100 inputs and hidden size 2."""
        size = (self.task.in_features * self.hidden_size + 100) / 300
        return self.steps * self.model.cost * size

    def describe(self) -> dict[str, JSON]:
        """All of it, for the configuration of a study."""
        model: dict[str, JSON] = {
            key: value
            for key, value in vars(self.model).items()
            if isinstance(value, str | int | float) and key != "cost" and value != math.inf
        }
        model["layers"] = [repr(layer) for layer in self._build()]
        task = {key: value for key, value in asdict(self.task).items() if value is not None}
        return {
            "labels": dict(self.labels),
            "model": model,
            "task": task,
            "steps": self.steps,
        }

    def _build(self) -> list[nn.Module]:
        return self.model.build(self.task.in_features, self.hidden_size)


def start_dense(layers: Iterable[nn.Module], generator: torch.Generator) -> None:
    r"""Start linear layers as in the paper's program: Glorot's or He's law, and no bias.

    .. math:: W \sim U(-r, r), \qquad r = \sqrt{\tfrac{6}{in + out}}, \quad \text{or }
              \sqrt{\tfrac{6}{in}} \text{ before a ReLU}

    Args:
        layers: linear layers and activations, in order.
        generator: where the random numbers come from.

    Source:
        The program of Madsen & Johansen 2020; the paper does not say.

    Example:
        >>> layer = nn.Linear(3, 1)
        >>> start_dense([layer], torch.Generator().manual_seed(0))
        >>> layer.bias.item()
        0.0
    """
    modules = list(layers)
    for layer, after in zip(modules, [*modules[1:], None], strict=True):
        if not isinstance(layer, nn.Linear):
            continue
        if isinstance(after, nn.ReLU | nn.ReLU6):
            bound = math.sqrt(6 / layer.in_features)
        else:
            bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        nn.init.zeros_(layer.bias)


def choose(name: str, chosen: Iterable[str], allowed: Iterable[str]) -> None:
    """Check that each chosen word is an allowed one.

    Args:
        name: of the argument, for the message.
        chosen: the words.
        allowed: all that may be chosen.

    Raises:
        ValueError: nothing is chosen, a word is chosen twice, or one is unknown; the message holds
            the nearest one.

    Example:
        >>> choose("models", ["NUM"], ["NAU", "NMU", "NALU"])
        Traceback (most recent call last):
        ...
        ValueError: models holds 'NUM'; did you mean 'NMU'? Allowed are NAU, NMU, NALU
    """
    words, known = list(chosen), list(allowed)
    if not words:
        raise ValueError(f"{name} is empty; choose from {', '.join(known)}")
    for word in words:
        if word not in known:
            in_lower = {each.lower(): each for each in known}
            near = in_lower[get_close_matches(word.lower(), in_lower, n=1, cutoff=0.0)[0]]
            raise ValueError(
                f"{name} holds {word!r}; did you mean {near!r}? Allowed are {', '.join(known)}"
            )
        if words.count(word) > 1:
            raise ValueError(f"{name} holds {word!r} twice; give each once")


def check_positive(name: str, values: Iterable[float]) -> None:
    """Check that there are numbers, and that each is positive.

    Args:
        name: of the argument, for the message.
        values: the numbers.

    Raises:
        ValueError: there is none, or one is not positive.

    Example:
        >>> check_positive("widths", [64, 0])
        Traceback (most recent call last):
        ...
        ValueError: widths holds 0; give positive numbers
    """
    numbers = list(values)
    if not numbers:
        raise ValueError(f"{name} is empty; give positive numbers")
    for number in numbers:
        if not number > 0:
            raise ValueError(f"{name} holds {number}; give positive numbers")
