"""Several functions of groups side by side."""

from collections.abc import Sequence
from typing import Literal, get_args

from jaxtyping import Float
from torch import Tensor

from torchalu import kernels
from torchalu.functional._groups import Layout, reduce_groups

Strategy = Literal["duplicate", "partition"]
_WITHOUT_NORMALIZED = ("max_out", "min_out", "signed_geomean")


def logic_ensemble(
    input: Float[Tensor, "..."],
    operators: Sequence[str],
    *,
    strategy: Strategy = "duplicate",
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""Apply several functions of groups and concatenate what they give along `dim`.

    .. math:: f(z) = [f_1(z), ..., f_m(z)] \quad \text{or} \quad
        f(z) = [f_1(z^{(1)}), ..., f_m(z^{(m)})]

    `"duplicate"` applies every function to all groups, `"partition"` each to a share of its own;
    the shares are contiguous and of the same number of groups. Input and output are read and
    written once.

    Args:
        input: features along `dim`. Half precision is computed in float32.
        operators: names of functions, such as `("or_ail", "logit_xnor", "max_out")`.
        strategy: `"duplicate"` or `"partition"`.
        k: features in a group.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: each function in its normalized form; see :func:`logic_moments`.

    Shape:
        C features along `dim` to m C / k (duplicate) or C / k (partition).

    Raises:
        TypeError: `input` is no tensor, or holds integers; `operators` is a string; `k` or `dim`
            is no integer; `normalized` is no bool.
        ValueError: no function, or one of another name; no such strategy or layout; a function
            that has no normalized form is to be normalized; `k` is less than 2; `input` has no
            such dimension; the number of features is not a multiple of k (duplicate) or m k
            (partition).

    Source:
        Lowe et al. 2022, section 3.5; section 3.6 for the normalized form. Departure: any
        number and order of functions.

    Example:
        >>> import torch
        >>> z = torch.tensor([[-1.0, -2.0, 3.0, -4.0]])
        >>> logic_ensemble(z, ("or_ail", "and_ail"))
        tensor([[-1.,  3., -3., -4.]])
        >>> logic_ensemble(z, ("or_ail", "and_ail"), strategy="partition")
        tensor([[-1., -4.]])
    """
    if not isinstance(operators, str):
        operators = tuple(operators)
    _check(operators, strategy, normalized)
    return reduce_groups(
        input,
        operators,
        k=k,
        dim=dim,
        layout=layout,
        normalized=normalized,
        partition=strategy == "partition",
    )


def _check(operators: Sequence[str], strategy: str, normalized: bool) -> None:
    """Refuse names that there are not."""
    if isinstance(operators, str):
        raise TypeError(f"operators is {operators!r}; give a list of names")
    known = ", ".join(kernels.FUNCTIONS)
    if not operators:
        raise ValueError(f"operators is empty; give some of {known}")
    if strategy not in get_args(Strategy):
        raise ValueError(f"strategy is {strategy!r}; give 'duplicate' or 'partition'")
    for name in operators:
        if name not in kernels.FUNCTIONS:
            raise ValueError(f"operators holds {name!r}; choose from {known}")
        if normalized and name in _WITHOUT_NORMALIZED:
            raise ValueError(
                f"normalized is True, but {name} has no normalized form: leave out one of both"
            )
