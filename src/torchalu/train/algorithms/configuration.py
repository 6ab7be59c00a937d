"""The numbers by which a Neural GPU is trained, and the recipes of its two forms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

from torchalu.arguments import (
    check_from_zero,
    check_integers_from_zero,
    check_positive,
    check_positive_integers,
    check_shares,
)
from torchalu.tasks.algorithms import AlgorithmicTask, StringFileTask, check_carries
from torchalu.train.configuration import plain

_LENGTHS, _SHORT = tuple(range(2, 42)), tuple(range(2, 22))

_FAR = (1.0, 2.5, 5.0, 10.0, 20.0)

_SUMS = ("badd", "badd3", "badd_unaligned", "bsub", "increment")
_PRODUCTS = ("bmul", "qmul", "dmul")
_MOVES = {"copy": _SHORT, "reverse": _SHORT, "sort": _SHORT, "duplicate": _LENGTHS}

_BELOW_1 = (lambda x: 0 <= x < 1), "a number from 0 up, below 1"
_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "dropout": _BELOW_1,
    "sharpening": ((lambda x: 1 <= x < math.inf), "a factor of 1 or more"),
    "pull_factor": ((lambda x: 1 < x < math.inf), "a finite factor above 1"),
    "plateau_factor": ((lambda x: 0 < x <= 1), "a number above 0, 1 at most"),
    "clip_norm": ((lambda x: x > 0), "a number above 0; infinite for none"),
    "average": _BELOW_1,
}
"""What else is allowed, and how to say it."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmTraining:
    """How a Neural GPU is trained; the defaults are the recipe of the improved form.

    `improved` and `original` give the recipes for a task, and `dataclasses.replace` changes one.

    Args:
        form: "diagonal" for `torchalu.nn.DiagonalNeuralGPU`, "cgru" for `torchalu.nn.NeuralGPU`.
        maps: of the module.
        width: of the module; the form "cgru" only.
        layers: of the module; the form "cgru" only.
        kernel_size: of the module.
        cutoff: whether the gates of the form "cgru" are cut off.
        initial_scale: of the kernels of the form "cgru".
        dropout: of the module.
        noise: of the module, at last; 0 turns `Hardening` off.
        extra_steps: of the module, in evaluations and ever after.
        initial_noise: that from the first step on, until the task is learned.
        ramp: of `Hardening`.
        settle: of `Hardening`.
        wait: of `Hardening`.
        levels: of `Rounding`, and of the module ever after; 0 turns it off, and so does a noise
            of 0.
        sharpening: factor of `Sharpening`; 1 turns it off, and so does a noise of 0.
        counterexamples: strings in a generation of the search of `CounterexampleTraining`; 0 turns
            it off, and so does a noise of 0.
        attempts: at most; with noise, `GiveUp` ends those that fail, but for the last.
        patience: of `GiveUp`.
        parameter_sets: more than 1 relaxes the sharing of parameters, which needs a curriculum.
        pull: of `SharingRelaxation`.
        pull_factor: of `SharingRelaxation`.
        lengths: "bins" for `LengthBins`, "curriculum" for `LengthCurriculum`.
        bins: of `LengthBins`; the last is also the greatest length of the curriculum.
        bins_per_step: of `LengthBins`.
        smaller: of `LengthBins`.
        threshold: of `LengthCurriculum`.
        start: of `LengthCurriculum`.
        every: steps from one look of the curriculum at its error to the next, and those of a
            period of the plateau and of the saturation's weight.
        batch: strings of a bin, or of a step of the curriculum.
        examples: fixed strings of each length; drawn anew at each step if left out.
        long_carries: the share of the training strings that have long carries; tasks without
            carries ignore it, and one with shares of its own keeps those.
        absent_carries: the share of those with runs as long along which no carry comes; tasks
            without such a law, or with shares of their own, ignore it.
        optimizer: "adamax" for `ClippedAdamax`, "adam" for torch's own.
        epsilon: of Adam.
        learning_rate: at first.
        plateau_factor: of `PlateauDecay`; 1 turns it off.
        plateau_rests: whether `PlateauDecay` rests once `Hardening` has begun.
        clip_norm: the gradient's greatest norm; infinite for none.
        gradient_noise: scale of `GradientNoise`; 0 turns it off.
        gradient_noise_law: of `GradientNoise`.
        saturation: greatest weight of `SaturationCost`; 0 turns it off.
        saturation_least: its least weight.
        average: decay of `WeightAverage`; 0 turns it off.
        steps: at most.
        evaluate_every: steps from one evaluation to the next.
        checkpoint_every: steps from one checkpoint to the next.
        validate_at: the lengths of the validation strings, as multiples of the greatest length;
            a task from a file is validated on up to eight of its own, the shortest and the longest
            among these.
        validation_strings: how many of each length.
        long_validation_strings: how many of each length of more than 1000 symbols, if fewer.
        end_after: evaluations in a row with all validation strings right that end the run; 0 turns
            it off.
        seed: of everything that is random.

    Raises:
        ValueError: a number is out of its range, or two do not go together.

    Source:
        Freivalds & Liepins 2017, and the authors' program, for the defaults. Departures: those of
        `LengthBins` and `GradientNoise`; weights are averaged, some of the training strings have
        long carries, and there are `Hardening`, `Rounding`, `Sharpening`, `CounterexampleTraining`
        and `GiveUp`.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> training = AlgorithmTraining.original(algorithm("badd"))
        >>> training.form, training.maps, training.parameter_sets
        ('cgru', 24, 6)
        >>> dataclasses.replace(training, seed=3).seed
        3
    """

    form: Literal["diagonal", "cgru"] = "diagonal"
    maps: int = 96
    width: int = 4
    layers: int = 2
    kernel_size: int = 3
    cutoff: bool = True
    initial_scale: float = 1.8
    dropout: float = 0.1
    noise: float = 0.5
    extra_steps: int = 0
    initial_noise: float = 0.0
    ramp: int = 800
    settle: int = 600
    wait: int = 0
    levels: int = 0
    sharpening: float = 2.0
    counterexamples: int = 0
    attempts: int = 4
    patience: int = 500
    parameter_sets: int = 1
    pull: float = 5e-4
    pull_factor: float = 1.2
    lengths: Literal["bins", "curriculum"] = "bins"
    bins: tuple[int, ...] = _LENGTHS
    bins_per_step: int | None = 9
    smaller: float = 0.0
    threshold: float = 0.15
    start: int = 6
    every: int = 200
    batch: int = 32
    examples: int | None = None
    long_carries: float = 0.25
    absent_carries: float = 0.0
    optimizer: Literal["adamax", "adam"] = "adamax"
    epsilon: float = 1e-4
    learning_rate: float = 0.005
    plateau_factor: float = 0.7
    plateau_rests: bool = False
    clip_norm: float = float("inf")
    gradient_noise: float = 1e-4
    gradient_noise_law: Literal["error", "learning_rate"] = "learning_rate"
    saturation: float = 1e-3
    saturation_least: float = 0.0
    average: float = 0.99
    steps: int = 20_000
    evaluate_every: int = 100
    checkpoint_every: int = 50
    validate_at: tuple[float, ...] = (1.0, 2.5, 5.0, 10.0)
    validation_strings: int = 32
    long_validation_strings: int = 8
    end_after: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        allowed = {
            "form": ("diagonal", "cgru"),
            "lengths": ("bins", "curriculum"),
            "optimizer": ("adamax", "adam"),
            "gradient_noise_law": ("error", "learning_rate"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; give {values[0]!r} or {values[1]!r}"
                )
        counts = (
            "maps",
            "width",
            "layers",
            "kernel_size",
            "parameter_sets",
            "start",
            "batch",
            "every",
            "ramp",
            "settle",
            "attempts",
            "patience",
            "steps",
            "evaluate_every",
            "checkpoint_every",
            "validation_strings",
            "long_validation_strings",
        )
        check_positive_integers(**{name: getattr(self, name) for name in counts})
        for name in ("examples", "bins_per_step"):
            value = getattr(self, name)
            if value is not None:
                check_positive_integers(**{name: value})
        check_carries(self.long_carries, self.absent_carries)
        check_shares(smaller=self.smaller, threshold=self.threshold)
        names = ("extra_steps", "wait", "levels", "counterexamples", "end_after", "seed")
        check_integers_from_zero(**{name: getattr(self, name) for name in names})
        check_positive(initial_scale=self.initial_scale, learning_rate=self.learning_rate)
        names = ("noise", "pull", "epsilon", "gradient_noise", "saturation")
        check_from_zero(**{name: getattr(self, name) for name in names})
        for name, (allowed, meant) in _RANGES.items():
            if not allowed(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)}; give {meant}")
        for name, most in (("initial_noise", "noise"), ("saturation_least", "saturation")):
            if getattr(self, most) and not 0 <= getattr(self, name) <= getattr(self, most):
                raise ValueError(
                    f"{name} is {getattr(self, name)} and {most} {getattr(self, most)}; give a "
                    f"number from 0 to {most}"
                )
        for name in ("bins", "validate_at"):
            if not isinstance(getattr(self, name), list | tuple):
                raise TypeError(f"{name} is {getattr(self, name)!r}; give a tuple of numbers")
        for symbols in self.bins:
            check_positive_integers(bins=symbols)
        if not self.bins or list(self.bins) != sorted({*self.bins}):
            raise ValueError(f"bins is {self.bins}; give symbols in growing order")
        if not self.validate_at or not all(0 < at < math.inf for at in self.validate_at):
            raise ValueError(f"validate_at is {self.validate_at}; give positive multiples")
        if self.parameter_sets > 1 and self.lengths != "curriculum":
            raise ValueError(
                f"parameter_sets is {self.parameter_sets} and lengths {self.lengths!r}; the pull "
                "grows with a curriculum: give lengths='curriculum', or 1 set"
            )
        if self.saturation and self.form != "diagonal":
            raise ValueError(
                f"saturation is {self.saturation} and form {self.form!r}; only the form "
                "'diagonal' has one: give saturation=0"
            )

    @classmethod
    def improved(cls, task: AlgorithmicTask) -> Self:
        """The recipe of the improved form.

        Args:
            task: a task from a file has none of the names below, whatever it is called. Sums of
                bits take fewer maps and more dropout; copying, reversing, sorting and duplicating
                fewer maps, and all but the last strings of 21 symbols at most; more than four
                symbols more maps.

        Source:
            Freivalds & Liepins 2017: AdaMax at 0.01 * 48 / maps; 96 maps and a dropout of 0.1, for
            binary addition 48 and 0.5, for base 4 and decimal 192 maps. Departures: no string runs
            longer than it is, one in twenty of products apart, where they pad strings to nine
            lengths; what differs from binary
            addition by little has its numbers too; copying, reversing, sorting and duplicating
            take 48 maps; sums have noise from the first step on, twice as much at last, and settle
            in 1000 steps, not 600, up to 2000 steps later if validation strings are wrong, and
            their gates stay as they are; what is neither a sum nor one of these settles in 2400,
            and half of its strings have long carries; products bear as much noise as sums, which
            grows in 1200 steps, settle in 1200, up to 400 steps later if validation strings are
            wrong or a search finds wrong ones, at a learning rate that does not fall before, train
            once the noise is whole on the hardest strings of the search, too, take 16 steps more
            once they are trained, for which some strings run longer in training, and their gates
            are sharpened less.

        Example:
            >>> from torchalu.tasks import algorithm
            >>> AlgorithmTraining.improved(algorithm("dmul")).maps
            192
        """
        name = "" if isinstance(task, StringFileTask) else task.name  # a file may have any
        if name in _SUMS:
            return cls(
                maps=48,
                dropout=0.5,
                learning_rate=0.01,
                noise=1.0,
                initial_noise=0.2,
                settle=1000,
                wait=2000,
                levels=2,
                sharpening=1.0,
                attempts=8,
                validate_at=(*_FAR, 40.0),
            )
        if name in _MOVES:
            return cls(maps=48, learning_rate=0.01, bins=_MOVES[name], validate_at=_FAR)
        maps = 96 if len(task.alphabet) <= 4 else 192
        recipe = cls(maps=maps, learning_rate=0.01 * 48 / maps, settle=2400, long_carries=0.5)
        if name in _PRODUCTS:
            return dataclasses.replace(
                recipe,
                noise=1.0,
                extra_steps=16,
                ramp=1200,
                settle=1200,
                wait=400,
                sharpening=1.25,
                counterexamples=1000,
                smaller=0.05,
                plateau_rests=True,
            )
        return recipe

    @classmethod
    def original(cls, task: AlgorithmicTask) -> Self:
        """The recipe of the paper's form.

        Args:
            task: more than three symbols beside the sign take 128 maps.

        Source:
            Kaiser & Sutskever 2016, sections 2, 3.3 and 4; where the paper gives a grid of
            settings, its middle. What it leaves open is from the authors' program. Neither says
            how large the gradient noise is; with 1e-3 its norm is at first 0.4, about that of the
            gradient.

        Example:
            >>> from torchalu.tasks import algorithm
            >>> AlgorithmTraining.original(algorithm("bmul")).dropout
            0.09
        """
        return cls(
            form="cgru",
            maps=24 if len(task.alphabet) <= 4 else 128,
            dropout=0.09,
            noise=0.0,
            attempts=1,
            parameter_sets=6,
            lengths="curriculum",
            examples=10_000,
            long_carries=0.0,
            optimizer="adam",
            learning_rate=1e-3,
            plateau_factor=1.0,
            clip_norm=1.0,
            gradient_noise=1e-3,
            gradient_noise_law="error",
            saturation=0.0,
            saturation_least=0.0,
            average=0.0,
            evaluate_every=200,
            steps=60_000,
            end_after=5,
        )

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON can say them: lists for tuples, text for an infinite number.

        Absent carries are left out where there are none, so that what was trained before they
        could be asked for is still of the same configuration.

        Example:
            >>> AlgorithmTraining().to_json()["clip_norm"]
            'inf'
        """
        fields = dataclasses.asdict(self)
        if not self.absent_carries:
            del fields["absent_carries"]
        return {name: plain(value) for name, value in fields.items()}
