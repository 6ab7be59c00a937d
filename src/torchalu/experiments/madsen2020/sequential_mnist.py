"""Figures 4, 13, 14 and 15: sums and products of sequences of handwritten digits."""

from __future__ import annotations

from typing import Annotated

import tyro

from torchalu.experiments.madsen2020.sequential_study import SequentialStudy
from torchalu.experiments.madsen2020.sequential_training import SequentialTraining

Training = Annotated[SequentialTraining, tyro.conf.arg(name="")]

_BASELINES = {
    "product": ("NAC*,sigma", "NAC*", "LSTM", "NALU"),
    "sum": ("NAC+,Rz", "NAC+", "LSTM", "NALU"),
}
_PRODUCT = SequentialTraining(train_length=2, test_lengths=tuple(range(1, 21)))
_SUM = SequentialTraining(train_length=10, test_lengths=(1, 10, *range(100, 1001, 100)))


def figure4(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = ("NAC*,NMU", *_BASELINES["product"], "NMU"),
    training: Training = _PRODUCT,
    reference_seeds: int | None = None,
) -> SequentialStudy:
    """Figure 4: products of sequences of digits, learned from sequences of two.

    Args:
        seeds: how many; the paper has 10.
        first_seed: the number of the first.
        models: names of models, as in the figure; those of figure 15 may be among them, so that
            one run gives both figures.
        training: lengths, epochs, and the numbers of the training.
        reference_seeds: runs of the reference, whose errors settle the threshold of success; as
            many as `seeds` if left out, but at least 3.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, section 4.2; the numbers from the authors' program.

    Example:
        >>> len(figure4(seeds=10).chunks())
        70
    """
    return SequentialStudy(
        "figure4", "product", models, seeds, training, first_seed, reference_seeds
    )


def figure13(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = (*_BASELINES["sum"], "NAU"),
    training: Training = _SUM,
    reference_seeds: int | None = None,
) -> SequentialStudy:
    """Figure 13: sums of sequences of digits, learned from sequences of ten.

    Args:
        seeds: how many; the paper has 10.
        first_seed: the number of the first.
        models: names of models, as in the figure; "NAU, no Rz", of figure 14, may be among them.
        training: as in `figure4`.
        reference_seeds: as in `figure4`.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, appendix D.2; the numbers from the authors' program.

    Example:
        >>> figure13(models=("NAU",)).keys
        ('model', 'length', 'seed')
    """
    return SequentialStudy("figure13", "sum", models, seeds, training, first_seed, reference_seeds)


def figure14(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = (*_BASELINES["sum"], "NAU, no Rz"),
    training: Training = _SUM,
    reference_seeds: int | None = None,
) -> SequentialStudy:
    """Figure 14: figure 13, where the NAU does without R_z; NAC+,Rz keeps it.

    Args:
        seeds: how many; the paper has 10.
        first_seed: the number of the first.
        models: names of models; all but the NAU are the same runs as in figure 13.
        training: as in `figure4`.
        reference_seeds: as in `figure4`.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, appendix D.3.

    Example:
        >>> figure14().models
        ('NAC+,Rz', 'NAC+', 'LSTM', 'NALU', 'NAU, no Rz')
    """
    return SequentialStudy("figure14", "sum", models, seeds, training, first_seed, reference_seeds)


def figure15(
    *,
    seeds: int = 3,
    first_seed: int = 0,
    models: tuple[str, ...] = ("NAC*,NMU, no Rz", *_BASELINES["product"], "NMU, no Rz"),
    training: Training = _PRODUCT,
    reference_seeds: int | None = None,
) -> SequentialStudy:
    """Figure 15: figure 4, where NMU and NAC*,NMU do without R_z.

    Args:
        seeds: how many; the paper has 10.
        first_seed: the number of the first.
        models: names of models; all but those two are the same runs as in figure 4.
        training: as in `figure4`.
        reference_seeds: as in `figure4`.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, appendix D.4.

    Example:
        >>> figure15().models
        ('NAC*,NMU, no Rz', 'NAC*,sigma', 'NAC*', 'LSTM', 'NALU', 'NMU, no Rz')
    """
    return SequentialStudy(
        "figure15", "product", models, seeds, training, first_seed, reference_seeds
    )
