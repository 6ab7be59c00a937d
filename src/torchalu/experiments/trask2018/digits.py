"""Tables 2 and 10: digits counted and added up; the search of settings; perception to formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import get_args

import polars as pl

from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.experiments.trask2018.checks import check_rates, check_sizes, check_unused
from torchalu.experiments.trask2018.digit_data import TEST_LENGTHS
from torchalu.experiments.trask2018.digit_models import (
    ADDING_MODELS,
    ADDING_UNITS,
    MODELS,
    MULTIPLYING_UNITS,
)
from torchalu.experiments.trask2018.digit_networks import Output
from torchalu.experiments.trask2018.digit_study import SeriesSetting
from torchalu.experiments.trask2018.digit_summaries import (
    as_printed,
    errors_by_length,
    laws,
    ranked,
    settled,
    which_to_pick,
)
from torchalu.experiments.trask2018.digit_training import SeriesOptions, SeriesTraining
from torchalu.tasks import SequenceOperation

_OPERATIONS: dict[str, SequenceOperation] = {"count": "count", "sum": "sum", "product": "product"}
_TRAINING, _SEEDS = SeriesTraining(), Seeds()
_SHORT, _TWO = SeriesTraining(epochs=20, settle_epochs=0), Seeds(2)
_SEARCHED: tuple[str, ...] = (
    "task",
    "model",
    "output",
    "dropout",
    "keep_state",
    "learning_rate",
    "hidden_size",
)
_INSTEAD = {**{name: f"{name}s" for name in _SEARCHED[2:]}, "settle_epochs": None}
"""What a search takes in place of numbers of its training; without tests nothing settles."""


def table2(
    training: SeriesOptions = _TRAINING,
    seeds: SeedOptions = _SEEDS,
    *,
    tasks: tuple[str, ...] = ("count", "sum"),
    models: tuple[str, ...] = ADDING_MODELS,
) -> SettingsStudy:
    """Tables 2 and 10: series of ten digits counted and added up, tested on up to 1000.

    Args:
        training: epochs, batch size and so on.
        seeds: how many, and the first.
        tasks: "count", "sum".
        models: names of models.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Trask et al. 2018, section 4.2 and appendix C. Departures: see the page of the digits.

    Example:
        >>> study = table2(tasks=("sum",), models=("NAC", "NAU"))
        >>> [chunk.name for chunk in study.chunks()][:2]
        ['sum-NAC-seed0', 'sum-NAU-seed0']
    """
    choose("tasks", tasks, ("count", "sum"))
    choose("models", models, MODELS)
    settings = _settings([(task, model) for task in tasks for model in models], training)
    return SettingsStudy("trask2018.table2", settings, seeds, partial(_tables, "table2"))


def perception(
    training: SeriesOptions = _TRAINING,
    seeds: SeedOptions = _SEEDS,
    *,
    tasks: tuple[str, ...] = ("product",),
    adding_units: tuple[str, ...] = ADDING_UNITS,
    multiplying_units: tuple[str, ...] = MULTIPLYING_UNITS,
) -> SettingsStudy:
    """From perception to formula: the snapped law behind products of two images.

    Laws of sums and counts come with table 2, from the same networks.

    Args:
        training: epochs, batch size and so on.
        seeds: how many, and the first.
        tasks: "sum", "product", "count".
        adding_units: names of units that sums and counts are learned with.
        multiplying_units: names of units that products are learned with.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, a model that is no
            unit.

    Source:
        The task: Trask et al. 2018, section 4.2; laws and products are ours.

    Example:
        >>> study = perception(tasks=("product",), multiplying_units=("NMU",))
        >>> study.settings[0].describe()["train_length"]
        2
    """
    choose("tasks", tasks, _OPERATIONS)
    units = [name for name, model in MODELS.items() if model.is_unit]
    choose("adding_units", adding_units, units)
    choose("multiplying_units", multiplying_units, units)
    pairs = [
        (task, model)
        for task in tasks
        for model in (multiplying_units if task == "product" else adding_units)
    ]
    settings = _settings(pairs, training)
    return SettingsStudy("trask2018.perception", settings, seeds, partial(_tables, "perception"))


def table2_search(
    training: SeriesOptions = _SHORT,
    seeds: SeedOptions = _TWO,
    *,
    tasks: tuple[str, ...] = ("count", "sum"),
    models: tuple[str, ...] = ("LSTM", "NAC", "NALU"),
    outputs: tuple[Output, ...] = ("linear", "log_softmax"),
    dropouts: tuple[bool, ...] = (False, True),
    keep_states: tuple[bool, ...] = (True, False),
    learning_rates: tuple[float, ...] = (1e-3, 1e-2),
    hidden_sizes: tuple[int, ...] = (32,),
) -> SettingsStudy:
    """The search of what table 2 leaves open, on validation digits alone.

    Args:
        training: epochs and what is not searched; what is searched is refused there.
        seeds: how many, and the first.
        tasks: "count", "sum", "product".
        models: names of models.
        outputs: of the convolutional network.
        dropouts: whether it has its dropouts.
        keep_states: whether units start so that they keep their state, if they can.
        learning_rates: of Adam.
        hidden_sizes: of networks that are no units; units have the first alone, as other networks
            have the first of `keep_states`.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Trask et al. 2018 states none of these numbers. No test image is looked at.

    Example:
        >>> len(table2_search(tasks=("sum",), models=("NAC",)).settings)
        16
    """
    choose("tasks", tasks, _OPERATIONS)
    choose("models", models, MODELS)
    choose("outputs", outputs, get_args(Output))
    check_unused(training, _SHORT, _INSTEAD)
    check_rates(learning_rates)
    check_sizes(hidden_sizes=hidden_sizes)
    settings = []
    for task, model in product(tasks, models):
        is_unit = MODELS[model].is_unit
        starts, sizes = (
            (keep_states, hidden_sizes[:1]) if is_unit else (keep_states[:1], hidden_sizes)
        )
        for values in product(outputs, dropouts, starts, learning_rates, sizes):
            changed = replace(training, **dict(zip(_SEARCHED[2:], values, strict=True)))
            labels = dict(zip(_SEARCHED, (task, model, *values), strict=True))
            settings.append(SeriesSetting(labels, _OPERATIONS[task], model, changed))
    return SettingsStudy("trask2018.table2_search", settings, seeds, _search_tables)


table10 = table2
"""Table 10 has the mean square errors of the networks of table 2."""


def _settings(pairs: Sequence[tuple[str, str]], training: SeriesTraining) -> list[SeriesSetting]:
    """A setting for each task and model."""
    return [
        SeriesSetting(
            {"task": task, "model": model},
            _OPERATIONS[task],
            model,
            training,
            TEST_LENGTHS[_OPERATIONS[task]],
        )
        for task, model in pairs
    ]


def _tables(short: str, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The summaries: all cells, each task as the paper prints it, and the laws."""
    cells = errors_by_length(outcomes)
    law = laws(outcomes)
    take = which_to_pick(cells, errors_by_length(settled(outcomes)))
    if short == "perception":
        return {short: law, f"{short}_errors": cells, f"{short}_picks": take}
    tables = {short: cells, f"{short}_laws": law, f"{short}_picks": take}
    for task in cells["task"].unique(maintain_order=True):
        tables[f"{short}_{task}"] = as_printed(cells, task, "mae")
        tables[f"table10_{task}"] = as_printed(cells, task, "mse")
    return tables


def _search_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The settings in their order."""
    return {"table2_search": ranked(outcomes, _SEARCHED, ["task", "model"])}
