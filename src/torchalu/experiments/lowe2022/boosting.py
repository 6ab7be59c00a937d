"""Gradient-boosted trees: what tables are usually learned by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.experiments.lowe2022.data import Samples

BOOSTING = "gradient_boosting"

_STAGE = 10  # iterations from one report to the next


@dataclass(frozen=True)
class Boosting:
    """The numbers of gradient-boosted trees.

    Args:
        iterations: trees for each class, at most; as many are kept as validate best. None of all
            this if 0.
        leaves: of a tree, at most.
        learning_rate: factor of each tree's answer.
        l2: weighs the squares of the leaves' values, which grow without bound on rare classes
            where nothing does.

    Raises:
        ValueError: a number is out of its range.

    Example:
        >>> Boosting().leaves
        127
    """

    iterations: int = 400
    leaves: int = 127
    learning_rate: float = 0.1
    l2: float = 1.0

    def __post_init__(self) -> None:
        if self.iterations < 0 or self.leaves < 2:
            raise ValueError(
                f"iterations is {self.iterations} and leaves {self.leaves}; give 0 or more, and "
                "2 or more"
            )
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is {self.learning_rate}; give a positive number")
        if not self.l2 >= 0:
            raise ValueError(f"l2 is {self.l2}; give 0 or more")


class BoostedTrees(nn.Module):
    """Trees as a module, so that they are measured as networks are.

    Args:
        model: fitted, with `staged_predict_proba`.
        iterations: how many of its trees for each class answer.

    Shape:
        `(batch, features)` to `(batch, classes)`, logarithms of probabilities.
    """

    def __init__(self, model: Any, iterations: int) -> None:
        super().__init__()
        self.model, self.iterations = model, iterations

    def forward(self, input: Float[Tensor, "batch features"]) -> Float[Tensor, "batch classes"]:
        """The logarithms of the classes' probabilities."""
        stages = self.model.staged_predict_proba(input.numpy())
        chances = next(islice(stages, self.iterations - 1, None))
        return torch.from_numpy(np.log(np.maximum(chances, np.finfo(np.float64).tiny)))


def boost(
    samples: Samples,
    validation: Samples,
    numbers: Boosting,
    seed: int,
    report: Callable[[float], None] | None = None,
) -> BoostedTrees:
    """Fit gradient-boosted trees on one core, and keep as many as validate best.

    Args:
        samples: what to learn, with all classes from 0 on.
        validation: what the number of trees is chosen by.
        numbers: of the trees.
        seed: of the sample of rows that bins are chosen by.
        report: takes the fraction that is done; it may raise to end the fit.

    Raises:
        ImportError: scikit-learn is missing, with the extra that brings it.

    Source:
        Ke et al. 2017, LightGBM, as scikit-learn has it. Lowe et al. 2022 have no such baseline
        in their main text.

    Example:
        >>> samples = Samples(torch.arange(100.0)[:, None], (torch.arange(100) > 49).long())
        >>> trees = boost(samples, samples, Boosting(iterations=5), seed=0)
        >>> trees(torch.tensor([[10.0], [90.0]])).argmax(1)
        tensor([0, 1])
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise ImportError(
            "gradient boosting needs scikit-learn, which is not installed; run: "
            "pip install 'torchalu[estimators]'"
        ) from error
    options: dict[str, Any] = {
        "learning_rate": numbers.learning_rate,
        "max_leaf_nodes": numbers.leaves,
        "l2_regularization": numbers.l2,
        "early_stopping": False,
        "warm_start": True,
    }
    model = HistGradientBoostingClassifier(random_state=seed, **options)
    last = numbers.iterations
    with threadpool_limits(1, user_api="openmp"):
        for count in [*range(_STAGE, last, _STAGE), last]:
            model.set_params(max_iter=count)
            model.fit(samples.inputs.numpy(), samples.labels.numpy())
            if report is not None:
                report(count / last)
        stages = model.staged_predict(validation.inputs.numpy())
        right = [int((stage == validation.labels.numpy()).sum()) for stage in stages]
    return BoostedTrees(model, 1 + right.index(max(right)))
