"""Several activations side by side."""

from collections.abc import Iterable
from fractions import Fraction
from typing import get_args

from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.functional._groups import Layout
from torchalu.functional.logic_ensemble import Strategy
from torchalu.nn.group_activation import LogicOperator
from torchalu.nn.names import find

OPERATORS = {
    **{f"{operator}_ail": f"{operator}_ail" for operator in ("and", "or", "xnor")},
    **{f"{operator}_il": f"logit_{operator}" for operator in ("and", "or", "xnor")},
    **{name: name for name in ("logit_and", "logit_or", "logit_xnor")},
    **{name: name for name in ("max_out", "min_out", "signed_geomean")},
}
_NORMALIZED = {
    f"{operator}_n{family}": f"{operator}_{family}"
    for operator in ("and", "or", "xnor")
    for family in ("ail", "il")
}
"""The normalized forms, which `normalized` asks for."""
_WITHOUT_NORMALIZED = ("max_out", "min_out", "signed_geomean")


class LogicActivation(LogicOperator):
    r"""Several activations side by side, so that the network may choose.

    .. math:: f(z) = [f_1(z), ..., f_m(z)] \quad \text{or} \quad
        f(z) = [f_1(z^{(1)}), ..., f_m(z^{(m)})]

    `"duplicate"` applies every operator to all groups, `"partition"` each to a share of its own;
    either way the results are concatenated along `dim`, in the order of `operators`.

    Args:
        operators: names of functions, in any case: `"or_ail"`, `"and_ail"`, `"xnor_ail"`, their
            exact forms `"or_il"`, `"and_il"`, `"xnor_il"`, and `"max_out"`, `"min_out"`,
            `"signed_geomean"`.
        strategy: `"duplicate"` or `"partition"`. The shares of a partition are contiguous and
            of the same number of groups.
        k: features in a group.
        dim: the dimension that holds the features.
        layout: which features are a group, `"pairs"` or `"halves"`; see :class:`GroupActivation`.
        normalized: each operator in its normalized form.

    Shape:
        C features along `dim` to m C / k (duplicate) or C / k (partition).

    Units:
        Logits to logits.

    Raises:
        TypeError: `operators` is no list of names; `k` or `dim` is no integer; `normalized` is no
            bool; in `forward`, the input is no tensor, or holds integers.
        ValueError: no operator, or an unknown one; `k` is less than 2; there is no such strategy
            or layout; an operator that has no normalized form is to be normalized; in `forward`,
            the number of features is not a multiple of `features_multiple`, or `k` is too large
            for a normalized form in the dtype of the input.

    Source:
        Lowe et al. 2022, section 3.5; section 3.6 for the normalized form. Any number and order
        of operators, of both kinds.

    Example:
        >>> import torch
        >>> z = torch.tensor([[-1.0, -2.0, 3.0, -4.0]])
        >>> LogicActivation(["OR_AIL", "AND_AIL"])(z)
        tensor([[-1.,  3., -3., -4.]])
        >>> LogicActivation(["OR_AIL", "AND_AIL"], strategy="partition")(z)
        tensor([[-1., -4.]])
    """

    def __init__(
        self,
        operators: Iterable[str],
        *,
        strategy: Strategy = "duplicate",
        k: int = 2,
        dim: int = 1,
        layout: Layout = "pairs",
        normalized: bool = False,
    ) -> None:
        super().__init__(k=k, dim=dim, layout=layout, normalized=normalized)
        if isinstance(operators, str) or not isinstance(operators, Iterable):
            raise TypeError(f"operators is {operators!r}; give a list of names")
        self.operators = tuple(_operator(name) for name in operators)
        if not self.operators:
            raise ValueError(f"operators is empty; give some of {', '.join(OPERATORS)}")
        if strategy not in get_args(Strategy):
            raise ValueError(f"strategy is {strategy!r}; give 'duplicate' or 'partition'")
        self.strategy: Strategy = strategy
        plain = [name for name in self.operators if name in _WITHOUT_NORMALIZED]
        if normalized and plain:
            raise ValueError(
                f"normalized is True, but {plain[0]} has no normalized form: leave out one of both"
            )

    @property
    def features_ratio(self) -> Fraction:
        """Features that come out for each one that goes in."""
        return Fraction(len(self.operators) if self.strategy == "duplicate" else 1, self.k)

    @property
    def features_multiple(self) -> int:
        """The number of features that go in must be a multiple of this."""
        return self.k * (len(self.operators) if self.strategy == "partition" else 1)

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Apply the operators and concatenate."""
        return functional.logic_ensemble(
            input,
            self.operators,
            strategy=self.strategy,
            k=self.k,
            dim=self.dim,
            layout=self.layout,
            normalized=self.normalized,
        )

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{self.operators}, strategy={self.strategy!r}, {super().extra_repr()}"


def _operator(name: str) -> str:
    """The proper name of an operator."""
    known = find(name, {known: known for known in (*OPERATORS, *_NORMALIZED)}, "operator")
    if known in _NORMALIZED:
        raise ValueError(
            f"operators holds {name!r}; give {_NORMALIZED[known]!r}, and normalized=True, which "
            "holds for all operators"
        )
    return OPERATORS[known]
