"""Section 3.3 and the improved form's own methods: each left out in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "improved": {
        "full": {},
        "nine_lengths": {
            "bins": (8, 12, 16, 20, 25, 28, 31, 36, 41),
            "bins_per_step": None,
            "smaller": 0.05,
        },
        "no_noise": {"noise": 0.0, "end_after": 5},
        "curriculum": {"lengths": "curriculum", "batch": 288},
        "no_adamax": {"optimizer": "adam"},
        "no_plateau_decay": {"plateau_factor": 1.0},
        "no_sharpening": {"sharpening": 1.0},
        "no_rounding": {"levels": 0},
        "no_counterexamples": {"counterexamples": 0},
        "no_give_up": {"attempts": 1},
        "no_extra_steps": {"extra_steps": 0},
        "no_saturation_cost": {"saturation": 0.0},
        "no_dropout": {"dropout": 0.0},
        "no_shift": {},
        "no_long_carries": {"long_carries": 0.0},
        "no_weight_average": {"average": 0.0},
        "no_gradient_noise": {"gradient_noise": 0.0},
        "fixed_examples": {"examples": 10_000},
    },
    "original": {
        "full": {},
        "no_relaxation": {"parameter_sets": 1},
        "no_curriculum": {"lengths": "bins", "bins_per_step": 1, "parameter_sets": 1},
        "no_cutoff": {"cutoff": False},
        "no_gradient_noise": {"gradient_noise": 0.0},
        "no_dropout": {"dropout": 0.0},
    },
}
"""What is changed in the recipe of each form, by the name of the variant.

Without a curriculum the original form takes a length at random in each step, and one parameter set:
the pull of several grows with a curriculum, so that `no_relaxation` is what to compare it with. The
improved form has none; with one, strings of one length take the place of nine lengths of 32 each.
"""

_SEEDS = Seeds(3)
_ALWAYS = ("full", "no_shift")
"""Variants that leave the recipe as it is: the latter changes the module."""
_NAMES = tuple(dict.fromkeys(name for family in VARIANTS.values() for name in family))


def ablations(
    seeds: SeedOptions = _SEEDS,
    *,
    tasks: tuple[str, ...] = ("bmul",),
    models: tuple[str, ...] = ("improved", "original"),
    variants: tuple[str, ...] = _NAMES,
    lengths: tuple[int, ...] = (20, 25, 100, 200),
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = False,
    steps: int | None = None,
    device: str = "cpu",
) -> AlgorithmStudy:
    """Each method of training left out in turn, of the improved and of the original form.

    Args:
        seeds: of each variant.
        tasks: names of tasks.
        models: "improved", "original".
        variants: keys of `VARIANTS`; a form has those that it knows, and a task those whose method
            is in its recipe.
        lengths: as the tasks count them.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.
        steps: at most, in place of each form's own number.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, variants of which
            none changes anything.

    Source:
        Kaiser & Sutskever 2016, section 3.3, on what each method does; Freivalds & Liepins 2017,
        section 5, on saturation cost and diagonal gates.

    Example:
        >>> study = ablations(Seeds(1), models=("original",))
        >>> [setting.labels["variant"] for setting in study.settings][:2]
        ['full', 'no_relaxation']
    """
    choose("models", models, VARIANTS)
    choose("variants", variants, _NAMES)
    strings = Strings(lengths, count, long_count, adversarial)
    settings = [
        AlgorithmSetting(
            {"task": name, "model": model, "variant": variant},
            algorithm(name, filled=None if model == "improved" else False),
            _learner(name, model, variant, steps, device),
            strings,
        )
        for name in tasks
        for model in models
        for variant in VARIANTS[model]
        if variant in variants and (variant in _ALWAYS or _changes(name, model, variant))
    ]
    if not settings:
        raise ValueError(
            f"variants is {variants}, of which none changes the recipe of {tasks} for {models}; "
            "give others, or other tasks or models"
        )
    return AlgorithmStudy("kaiser2016.ablations", settings, seeds)


def _changes(task: str, model: str, variant: str) -> bool:
    """Whether a variant changes the recipe of a task."""
    recipe = getattr(AlgorithmTraining, model)(algorithm(task))
    return replace(recipe, **VARIANTS[model][variant]) != recipe


def _learner(
    task: str, model: str, variant: str, steps: int | None, device: str
) -> NeuralGPULearner:
    """A form without one of its methods."""
    recipe = getattr(AlgorithmTraining, model)(algorithm(task))
    changes = VARIANTS[model][variant] | ({} if steps is None else {"steps": steps})
    return NeuralGPULearner(replace(recipe, **changes), device, shift=variant != "no_shift")
