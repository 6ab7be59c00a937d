"""Several modules that answer together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn


class OutputEnsemble(nn.Module):
    r"""Averages the answers of several modules: the mean of their probabilities.

    .. math:: \ell_{kc} = \log \frac{1}{M} \sum_{m=1}^{M} \operatorname{softmax}(\ell^{(m)}_k)_c

    Args:
        modules: map symbols and lengths to logits of the same number of symbols.

    Shape:
        `(batch, length)` to `(batch, length, symbols)`, as each module's.

    Raises:
        ValueError: no module is given.

    Source:
        Kaiser & Sutskever 2016, section 4: "averaging their outputs". The paper does not say
        whether logits or probabilities; the mean of probabilities keeps one model that is very
        sure and wrong from outvoting the others.

    Example:
        >>> class Sure(nn.Module):
        ...     def __init__(self, symbol):
        ...         super().__init__()
        ...         self.symbol = symbol
        ...     def forward(self, symbols, lengths=None, steps=None):
        ...         answer = torch.full_like(symbols, self.symbol)
        ...         return 200.0 * nn.functional.one_hot(answer, 3)
        >>> ensemble = OutputEnsemble([Sure(1), Sure(2), Sure(2)])
        >>> ensemble(torch.zeros(1, 1, dtype=torch.long)).exp().flatten().tolist()
        [0.0, 0.33333..., 0.66666...]
    """

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        if not modules:
            raise ValueError("modules is empty; give at least one")
        self.members = nn.ModuleList(modules)

    def forward(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        steps: Int64[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch length symbols"]:
        """Answer with logits."""
        answers = [member(symbols, lengths, steps).log_softmax(-1) for member in self.members]
        return torch.stack(answers).logsumexp(0) - math.log(len(answers))

    def configuration(self) -> dict[str, Any]:
        """The largest of the members' settings, for estimates of memory."""
        settings: dict[str, Any] = {}
        for member in self.members:
            for name, value in getattr(member, "configuration", dict)().items():
                settings[name] = max(value, settings.get(name, value))
        return settings
