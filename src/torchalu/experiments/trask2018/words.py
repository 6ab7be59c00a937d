"""Table 3, table 11 and figure 3: numbers in words, translated to numbers."""

from __future__ import annotations

from itertools import product
from typing import Annotated

import tyro

from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.experiments.trask2018.checks import check_each, check_rates
from torchalu.experiments.trask2018.word_networks import DEPTHS, HEADS, MODELS
from torchalu.experiments.trask2018.word_summaries import word_tables
from torchalu.experiments.trask2018.word_training import WordSetting, WordTraining

Training = Annotated[WordTraining, tyro.conf.arg(name="")]

_TEN = Seeds(10)
_NUMBERS = WordTraining()


def table3(
    seeds: SeedOptions = _TEN,
    *,
    models: tuple[str, ...] = MODELS,
    layers: tuple[tuple[int, int], ...] = ((32, 32), (16, 16)),
    depths: tuple[int, ...] = (1, 2),
    learning_rates: tuple[float, ...] = (0.01,),
    training: Training = _NUMBERS,
) -> SettingsStudy:
    """Tables 3 and 11, figure 3: numbers in words, by LSTMs with a linear layer or a unit.

    The best of all cells and seeds by validation is shown, as in the paper, beside all seeds of
    the cell whose median validates best. The whole grid of the paper is
    `--learning-rates 0.01 0.001 --steps 300000`.

    Args:
        seeds: initializations of each cell.
        models: names of networks.
        layers: pairs of the embedding's and the LSTM's size.
        depths: layers after the LSTM, where a unit stacks.
        learning_rates: of Adam.
        training: all other numbers.

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, values twice.

    Source:
        Trask et al. 2018, section 4.3 and appendix D: sizes 16 and 32, learning rates 0.01 and
        0.001, 10 initializations, 300,000 steps of Adam on the whole training set. Departures: by
        default 20,000 steps at the rate 0.01; the gradient is clipped; the best step of a run is
        chosen by validation.

    Example:
        >>> len(table3(Seeds(2), models=("LSTM,summed", "LSTM+NALU")).chunks())
        12
    """
    choose("models", models, MODELS)
    check_each("layers", layers, lambda pair: min(pair) > 0, "pairs of positive integers")
    check_each("depths", depths, lambda depth: depth in DEPTHS, f"some of {DEPTHS}")
    check_rates(learning_rates)
    settings = []
    for model, rate in product(models, learning_rates):
        if model not in HEADS:
            settings.append(WordSetting(model, 0, 0, 1, rate, training))
            continue
        deep = depths if HEADS[model].stacks else (1,)
        settings += [
            WordSetting(model, embedding, hidden, depth, rate, training)
            for (embedding, hidden), depth in product(layers, deep)
        ]
    return SettingsStudy("trask2018.table3", settings, seeds, word_tables)


table11 = table3
"""Table 11 has the errors of both LSTMs of table 3."""

figure3 = table3
"""Figure 3 has the answers of a network of table 3 after each word."""
