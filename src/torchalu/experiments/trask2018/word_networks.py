"""The networks that read a number in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from torchalu.experiments.setting import choose
from torchalu.nn import INALU, NAC, NALU, NAU, NMU, GatedNAUNMU, RealNPU
from torchalu.tasks import WORD_VOCABULARY

Words = Int64[Tensor, "phrases longest"]
Answers = Float[Tensor, "phrases longest"]
State = Literal["last", "summed"]

_SCALE = 10.0
"""Of what a word adds, so that steps of an optimizer reach 90."""


@dataclass(frozen=True)
class Head:
    """What follows the LSTM.

    Args:
        unit: makes a layer from the numbers of its inputs and outputs.
        state: whether it is given the LSTM's last state or the sum of all.
        stacks: whether it may have a hidden layer of the LSTM's size.
    """

    unit: Callable[[int, int], nn.Module]
    state: State = "last"
    stacks: bool = True


HEADS: Mapping[str, Head] = MappingProxyType(
    {
        "LSTM,last": Head(nn.Linear, stacks=False),
        "LSTM,summed": Head(nn.Linear, "summed", stacks=False),
        "LSTM+NAC": Head(NAC),
        "LSTM+NALU": Head(NALU),
        "LSTM+NAU": Head(NAU),
        "LSTM+GatedNAUNMU": Head(GatedNAUNMU),
        "LSTM+INALU": Head(INALU),
        "LSTM+RealNPU": Head(partial(RealNPU, modified=True)),
    }
)
"""The networks with an LSTM, by name."""

DEPTHS = (1, 2)
"""Layers after the LSTM that are possible where the head stacks."""

OVER_WORDS = "NMU+NAU"
"""The name of the network without an LSTM."""

SNAPPED = f"{OVER_WORDS},snapped"
"""The same network, snapped after its training."""

MODELS = (*HEADS, OVER_WORDS, SNAPPED)
"""All networks by name: the paper's four, then those with later units."""


class WordNetwork(nn.Module):
    """An embedding of words, an LSTM, and a layer that answers with a number.

    Args:
        model: one of `HEADS`.
        embedding: numbers of a word.
        hidden: units of the LSTM.
        depth: layers after it, 1, or 2 where the head stacks; the first has `hidden` outputs.

    Shape:
        `(phrases, longest)` to `(phrases, longest)`, the answer after each word.

    Raises:
        ValueError: there is no such model, or it has no such depth.

    Source:
        Trask et al. 2018, section 4.3 and appendix D; units on the last state: the authors' reply
        to later researchers. Departure: with one layer on the last state, none of whose numbers is
        above 1, a NAC cannot reach 1000, nor the published error; two layers are tried as well.

    Example:
        >>> network = WordNetwork("LSTM+NALU", 16, 8)
        >>> network(torch.tensor([[4, 29, 30, 11], [7, 0, 0, 0]])).shape
        torch.Size([2, 4])
    """

    def __init__(self, model: str, embedding: int, hidden: int, depth: int = 1) -> None:
        super().__init__()
        choose("model", [model], HEADS)
        head = HEADS[model]
        allowed = DEPTHS if head.stacks else (1,)
        if depth not in allowed:
            raise ValueError(f"depth is {depth}; {model} has one of {allowed}")
        self.summed = head.state == "summed"
        self.embedding = nn.Embedding(len(WORD_VOCABULARY), embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        sizes = [hidden] * depth + [1]
        layers = [head.unit(*pair) for pair in pairwise(sizes)]
        self.head = nn.Sequential(*layers)

    def forward(self, tokens: Words) -> Answers:
        """The answer after each word."""
        states = self.lstm(self.embedding(tokens))[0]
        if self.summed:
            states = states.cumsum(1)
        return self.head(states).squeeze(-1)


class WordArithmetic(nn.Module):
    r"""Each word multiplies the number so far, and adds to it.

    .. math:: s_t = \mathrm{NAU}([a_{w_t}, \mathrm{NMU}([\exp \phi_{w_t}, s_{t-1}])]), \qquad
              s_0 = 0

    There is no hidden state but the number, so that what is learned is two numbers a word: the
    rule by which it is read.

    Shape:
        `(phrases, longest)` to `(phrases, longest)`, the answer after each word.

    Initialization:
        The addends a from N(0, 1), the factors 1; the units as ever, the NAU's weights positive.

    Example:
        >>> WordArithmetic()(torch.tensor([[4, 29, 30, 11]])).shape
        torch.Size([1, 4])
    """

    def __init__(self) -> None:
        super().__init__()
        self.addends = nn.Parameter(torch.randn(len(WORD_VOCABULARY)) / _SCALE)
        self.factors = nn.Parameter(torch.zeros(len(WORD_VOCABULARY)))
        self.times, self.plus = NMU(2, 1), NAU(2, 1)
        with torch.no_grad():
            self.plus.weight.abs_()

    @classmethod
    def of(
        cls, factors: Float[Tensor, " words"], addends: Float[Tensor, " words"]
    ) -> WordArithmetic:
        """The network in which each word does just this.

        Args:
            factors: by which each word multiplies, 0 or more.
            addends: what it adds then.

        Example:
            >>> words = torch.ones(len(WORD_VOCABULARY))
            >>> WordArithmetic.of(2 * words, 3 * words)(torch.tensor([[4, 29]])).tolist()
            [[3.0, 9.0]]
        """
        network = cls()
        with torch.no_grad():
            network.addends.copy_(addends / _SCALE)
            network.factors.copy_(factors.log())
            for unit in (network.times, network.plus):
                unit.weight.fill_(1.0)
        return network

    def rules(self) -> tuple[Float[Tensor, " words"], Float[Tensor, " words"]]:
        r"""By what each word multiplies the number so far, and what it adds then.

        .. math:: f_w = p_2 g_w v_2, \quad b_w = p_1 a_w + p_2 g_w (1 - v_2), \quad
                  g_w = v_1 \exp \phi_w + 1 - v_1

        with the weights v of the NMU and p of the NAU.
        """
        v, p = self.times.weight.clamp(0, 1)[0], self.plus.weight.clamp(-1, 1)[0]
        scaled = p[1] * (v[0] * self.factors.exp() + 1 - v[0])
        return scaled * v[1], p[0] * _SCALE * self.addends + scaled * (1 - v[1])

    def forward(self, tokens: Words) -> Answers:
        """The answer after each word."""
        addends, factors = _SCALE * self.addends[tokens], self.factors[tokens].exp()
        state = addends.new_zeros(len(tokens), 1)
        states = []
        for addend, factor in zip(addends.T.unsqueeze(-1), factors.T.unsqueeze(-1), strict=True):
            product = self.times(torch.cat((factor, state), -1))
            state = self.plus(torch.cat((addend, product), -1))
            states.append(state)
        return torch.cat(states, -1)


def word_network(model: str, embedding: int, hidden: int, depth: int) -> nn.Module:
    """A network by its name; one without an LSTM has no sizes.

    Args:
        model: one of `MODELS`.
        embedding: numbers of a word.
        hidden: units of the LSTM.
        depth: layers after it.

    Raises:
        ValueError: there is no such model, or it has no such depth.
    """
    choose("model", [model], MODELS)
    if model not in HEADS:
        return WordArithmetic()
    return WordNetwork(model, embedding, hidden, depth)


def last_answers(answers: Answers, lengths: Int64[Tensor, " phrases"]) -> Float[Tensor, " phrases"]:
    """The answer after the last word of each phrase.

    Args:
        answers: after each word.
        lengths: words in each phrase.

    Example:
        >>> last_answers(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([2, 1])).tolist()
        [2.0, 3.0]
    """
    return answers.gather(1, lengths.unsqueeze(1) - 1).squeeze(1)
