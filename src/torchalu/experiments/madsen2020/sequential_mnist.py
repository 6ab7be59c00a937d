"""Figures 4, 13, 14 and 15: sums and products of sequences of handwritten digits."""

from __future__ import annotations

from typing import Annotated

import tyro

from torchalu.experiments.madsen2020.sequential_networks import MODELS
from torchalu.experiments.madsen2020.sequential_study import SequentialStudy
from torchalu.experiments.madsen2020.sequential_training import SequentialTraining

Training = Annotated[SequentialTraining, tyro.conf.arg(name="")]

_PRODUCT = SequentialTraining(train_length=2, test_lengths=tuple(range(1, 21)))
_SUM = SequentialTraining(train_length=10, test_lengths=(1, 10, *range(100, 1001, 100)))


def figure4(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = MODELS["product"],
    training: Training = _PRODUCT,
    reference_seeds: int = 10,
) -> SequentialStudy:
    """Figures 4 and 15: products of sequences of digits, learned from sequences of two.

    In figure 15 the NMU and NAC*,NMU do without R_z; all other runs are those of figure 4.

    Args:
        seeds: how many; the paper names no number, the runs of its program were 10.
        first_seed: the number of the first.
        models: names of models, as in the figures.
        training: lengths, epochs, and the numbers of the training.
        reference_seeds: runs of the reference, whose errors settle the threshold of success. The
            fewer, the laxer it is: with ten runs it lies 0.9 standard deviations above the mean,
            with three 4.0.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, section 4.2 and appendix D.4; the numbers from the authors' program.

    Example:
        >>> len(figure4(seeds=10).chunks())
        90
    """
    return SequentialStudy(
        "figure4", "product", models, seeds, training, first_seed, reference_seeds
    )


def figure13(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = MODELS["sum"],
    training: Training = _SUM,
    reference_seeds: int = 10,
) -> SequentialStudy:
    """Figures 13 and 14: sums of sequences of digits, learned from sequences of ten.

    In figure 14 the NAU does without R_z; all other runs are those of figure 13.

    Args:
        seeds: how many; the paper names no number, the runs of its program were 10.
        first_seed: the number of the first.
        models: names of models, as in the figures.
        training: as in `figure4`.
        reference_seeds: as in `figure4`.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, appendices D.2 and D.3; the numbers from the authors' program.

    Example:
        >>> figure13(models=("NAU",)).keys
        ('model', 'length', 'seed')
    """
    return SequentialStudy("figure13", "sum", models, seeds, training, first_seed, reference_seeds)


figure14 = figure13
"""Figure 14 has the runs of figure 13, but for the NAU with R_z."""

figure15 = figure4
"""Figure 15 has the runs of figure 4, but for those of NMU and NAC*,NMU with R_z."""
