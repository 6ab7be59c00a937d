"""Figures 4 and 6: small programs and sums, evaluated with larger numbers than trained on."""

from __future__ import annotations

from itertools import product
from typing import Annotated

import tyro

from torchalu.arguments import check_positive, check_positive_integers
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.experiments.trask2018.checks import check_rates, check_sizes
from torchalu.experiments.trask2018.configured import CONFIGURED
from torchalu.experiments.trask2018.program_networks import MODELS
from torchalu.experiments.trask2018.program_summaries import program_tables, search_tables
from torchalu.experiments.trask2018.program_training import (
    ProgramSetting,
    ProgramTask,
    ProgramTraining,
)

Training = Annotated[ProgramTraining, tyro.conf.arg(name="")]

_TEN, _TWO = Seeds(10), Seeds(2, first_seed=1000)
_NUMBERS, _SHORT = ProgramTraining(), ProgramTraining(steps=5000)
_RATE, _OTHER_RATES = 0.01, {"DNC": 0.003}


def figure4(
    seeds: SeedOptions = _TEN,
    *,
    models: tuple[str, ...] = MODELS,
    hidden: int = 64,
    learning_rate: float | None = None,
    registers: int = 4,
    sees_numbers: tuple[bool, ...] = (False, True),
    training: Training = _NUMBERS,
) -> SettingsStudy:
    """Figure 4: programs of if, + and -, trained on two digits, tested on three and four.

    Args:
        seeds: of each network.
        models: names of networks.
        hidden: size of the LSTM, the UGRNN, the DNC's controller.
        learning_rate: of Adam, at the start; by default 0.003 for the DNC and 0.01 for the others.
        registers: of a configured unit.
        sees_numbers: whether the LSTM that configures a unit reads the numbers.
        training: all other numbers.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, values twice.

    Source:
        Trask et al. 2018, section 4.4: 10 runs, a loss of RMSE, and bands of two standard
        deviations. No size, rate, or number of steps is stated. Departures: the
        learning rate falls to 0, and those of `Programs`, `ProgramNetwork` and `Configured`.

    Example:
        >>> len(figure4(Seeds(2), models=("LSTM", "NALU")).chunks())
        6
    """
    check_positive_integers(hidden=hidden, registers=registers)
    if learning_rate is not None:
        check_positive(learning_rate=learning_rate)
    rates = None if learning_rate is None else (learning_rate,)
    settings = _settings("programs", models, (hidden,), rates, (registers,), sees_numbers, training)
    return SettingsStudy("trask2018.figure4", settings, seeds, program_tables("figure4"))


def figure6(
    seeds: SeedOptions = _TEN,
    *,
    models: tuple[str, ...] = MODELS,
    hidden: int = 64,
    learning_rate: float = 0.003,
    registers: int = 4,
    sees_numbers: tuple[bool, ...] = (False,),
    training: Training = _NUMBERS,
) -> SettingsStudy:
    """Figure 6: sums of two numbers, trained on two digits, tested on three and four.

    Args:
        seeds: as in `figure4`.
        models: as in `figure4`.
        hidden: as in `figure4`.
        learning_rate: of Adam, at the start.
        registers: as in `figure4`.
        sees_numbers: as in `figure4`, but only False by default, since a sum needs no choice.
        training: as in `figure4`; the nesting does nothing.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, values twice.

    Source:
        Trask et al. 2018, section 4.4 and appendix E; see `figure4`.

    Example:
        >>> figure6().name
        'trask2018.figure6'
    """
    check_positive_integers(hidden=hidden, registers=registers)
    check_positive(learning_rate=learning_rate)
    settings = _settings(
        "addition", models, (hidden,), (learning_rate,), (registers,), sees_numbers, training
    )
    return SettingsStudy("trask2018.figure6", settings, seeds, program_tables("figure6"))


def figure4_search(
    seeds: SeedOptions = _TWO,
    *,
    models: tuple[str, ...] = MODELS,
    hidden: tuple[int, ...] = (64,),
    learning_rates: tuple[float, ...] = (0.003, 0.01, 0.03),
    registers: tuple[int, ...] = (4,),
    sees_numbers: tuple[bool, ...] = (False, True),
    training: Training = _SHORT,
) -> SettingsStudy:
    """The search of what figure 4 leaves open, by the error on programs of two digits.

    Args:
        seeds: of each cell; others than those of `figure4`.
        models: names of networks.
        hidden: sizes of the LSTM, the UGRNN, the DNC's controller.
        learning_rates: of Adam, at the start.
        registers: of a configured unit; a recurrent network has none.
        sees_numbers: whether the LSTM that configures a unit reads the numbers.
        training: all other numbers.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, values twice.

    Source:
        Trask et al. 2018 states none of these numbers.

    Example:
        >>> len(figure4_search(Seeds(1), models=("LSTM", "NALU"), registers=(1, 4)).chunks())
        15
    """
    check_sizes(hidden=hidden, registers=registers)
    check_rates(learning_rates)
    settings = _settings(
        "programs", models, hidden, learning_rates, registers, sees_numbers, training
    )
    return SettingsStudy("trask2018.figure4_search", settings, seeds, search_tables)


def _settings(
    task: ProgramTask,
    models: tuple[str, ...],
    hidden: tuple[int, ...],
    learning_rates: tuple[float, ...] | None,
    registers: tuple[int, ...],
    sees_numbers: tuple[bool, ...],
    training: ProgramTraining,
) -> list[ProgramSetting]:
    """All cells of all models; a recurrent network has no registers and reads the numbers.

    Without rates each model has the one of `figure4`.
    """
    choose("models", models, MODELS)
    settings = []
    for model in models:
        own = (registers, sees_numbers) if model in CONFIGURED else ((0,), (True,))
        own_rate = (_OTHER_RATES.get(model, _RATE),)
        rates = own_rate if learning_rates is None else learning_rates
        settings += [
            ProgramSetting(task, model, size, rate, count, seen, training)
            for size, rate, count, seen in product(hidden, rates, *own)
        ]
    return settings
