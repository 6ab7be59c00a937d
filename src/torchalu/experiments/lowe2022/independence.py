"""Whether the features before an activation are correlated, within its pairs and beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.evaluate import holm, t_interval, t_test
from torchalu.experiments.lowe2022.activations import label

KINDS = ("paired", "unpaired")
"""Neighbors that an activation of two takes together, and all other pairs of features."""

_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
_MEASURES = ("mean", "mean_absolute", *_QUANTILES)


@torch.no_grad()
def preactivations(
    network: nn.Sequential, inputs: Iterable[Float[Tensor, "batch features"]]
) -> list[Float[Tensor, "rows hidden"]]:
    """What the linear layers of an MLP, but the last one, give to its activations.

    Args:
        network: in evaluation mode.
        inputs: batches.

    Example:
        >>> network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> [features.shape for features in preactivations(network, [torch.zeros(5, 3)])]
        [torch.Size([5, 4])]
    """
    seen = [list(_before_activations(network, batch)) for batch in inputs]
    return [torch.cat(features) for features in zip(*seen, strict=True)]


def correlations(features: Float[Tensor, "rows features"]) -> dict[str, np.ndarray]:
    r"""Pearson's correlations of neighbors, and of all other features, two by two.

    .. math:: r_{ij} = \frac{\sum (x_i - \bar x_i)(x_j - \bar x_j)}
        {\sqrt{\sum (x_i - \bar x_i)^2 \sum (x_j - \bar x_j)^2}}

    Args:
        features: before an activation. The first two are neighbors, the next two, and so on; one
            that is the same in all rows has no correlations and is left out.

    Returns:
        Correlations by kind: "paired" and "unpaired".

    Source:
        Lowe et al. 2022, section 4.2; appendix A.14, which has the details, was not at hand.

    Example:
        >>> features = torch.tensor([[1.0, -1.0, 1.0], [2.0, -2.0, -2.0], [3.0, -3.0, 1.0]])
        >>> found = correlations(features)
        >>> found["paired"], len(found["unpaired"])
        (array([-1.]), 2)
    """
    values = features.double().numpy()
    centered = values - values.mean(0)
    sizes = np.linalg.norm(centered, axis=0)
    varies = sizes > 1e-9 * (np.abs(values).max(0) + np.finfo(float).tiny)
    scaled = centered / np.where(varies, sizes, 1.0)
    matrix = scaled.T @ scaled
    first, second = np.triu_indices(values.shape[1], 1)
    paired = (first % 2 == 0) & (second == first + 1)
    known = varies[first] & varies[second]
    both = matrix[first, second]
    return {"paired": both[paired & known], "unpaired": both[~paired & known]}


def independence(layers: Sequence[Float[Tensor, "rows features"]]) -> dict[str, float | None]:
    """How the correlations of each layer are distributed, as columns of an outcome.

    Args:
        layers: features before each activation.

    Returns:
        Numbers under names such as "layer1_paired_mean"; null where there is no correlation.

    Example:
        >>> rows = torch.tensor([[1.0, -1.0], [2.0, -2.0]])
        >>> round(independence([rows])["layer1_paired_mean"] or 0.0, 6)
        -1.0
    """
    return {
        f"layer{number}_{kind}_{name}": value
        for number, features in enumerate(layers, 1)
        for kind, found in correlations(features).items()
        for name, value in _measures(found).items()
    }


def summarize_independence(outcomes: pl.DataFrame, layers: int) -> pl.DataFrame:
    """The correlations of each activation and layer over its seeds.

    Args:
        outcomes: with the columns of `independence`.
        layers: how many.

    Returns:
        A row an activation, layer and kind: the mean over seeds of each measure, with Student's
        interval of the mean correlation, and for paired features the p-value of a mean equal to
        that of unpaired ones, by Welch's test over seeds, corrected by Holm's method.
    """
    rows, tests = [], []
    for (name,), runs in outcomes.group_by(["activation"], maintain_order=True):
        for layer in range(1, layers + 1):
            means = {kind: _column(runs, layer, kind, "mean") for kind in KINDS}
            tests.append(t_test(means["paired"], means["unpaired"]))
            for kind in KINDS:
                mean, low, high = t_interval(means[kind], bounds=(-1, 1))
                row = {"activation": name, "label": label(str(name)), "layer": layer}
                row |= {"kind": kind, "n": means[kind].size}
                row |= {"mean": mean, "low": low, "high": high}
                others = [measure for measure in _MEASURES if measure != "mean"]
                found = {measure: _column(runs, layer, kind, measure) for measure in others}
                row |= {one: float(v.mean()) if v.size else None for one, v in found.items()}
                rows.append(row)
    corrected = [p for test in holm(tests) for p in (test, None)]
    columns = pl.Series("p_paired", corrected, pl.Float64)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(columns)


def _before_activations(
    network: nn.Sequential, inputs: Float[Tensor, "batch features"]
) -> Iterator[Float[Tensor, "batch hidden"]]:
    """What each linear layer but the last one gives."""
    for layer in list(network)[:-1]:
        inputs = layer(inputs)
        if isinstance(layer, nn.Linear):
            yield inputs


def _column(runs: pl.DataFrame, layer: int, kind: str, measure: str) -> np.ndarray:
    """One measure of all seeds that have it."""
    return runs[f"layer{layer}_{kind}_{measure}"].drop_nulls().cast(pl.Float64).to_numpy()


def _measures(values: np.ndarray) -> dict[str, float | None]:
    """How correlations are distributed."""
    if not values.size:
        return dict.fromkeys(_MEASURES)
    means = values.mean(), np.abs(values).mean()
    numbers = (*means, *np.quantile(values, list(_QUANTILES.values())))
    return dict(zip(_MEASURES, map(float, numbers), strict=True))
