"""The stack RNN of Joulin & Mikolov 2015, whose only memory are stacks that can be differentiated.

With `push`, `pop` and `keep` as probabilities, each stack is the mean of what the three would make
of it.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers
from torchalu.experiments.kaiser2016.answering import AnsweringNetwork

EMPTY = -1.0
_ACTIONS = 3


class StackRNN(AnsweringNetwork):
    r"""Sigmoid units that see the tops of stacks, and push, pop or keep at each step.

    .. math:: h_t = \sigma\Bigl(U x_t + \sum_k P_k s^k_{t-1}[:q]\Bigr), \qquad
              a = \operatorname{softmax}(A_k h_t)

    .. math:: s^k_t[0] = a_1 \sigma(D_k h_t) + a_2 s^k_{t-1}[1] + a_3 s^k_{t-1}[0]

    .. math:: s^k_t[i] = a_1 s^k_{t-1}[i-1] + a_2 s^k_{t-1}[i+1] + a_3 s^k_{t-1}[i]

    with the probabilities a of push, pop and keep for each of the stacks k.

    A string is read from its end, so that the lowest digits come to lie on top of the stacks, as
    in the authors' program, which is given operands with the highest digit first and asked for
    the lowest digit of the sum first.

    Args:
        num_symbols: how many there are, padding counted.
        hidden: units.
        stacks: how many.
        depth: elements of each stack that the units see.
        discrete: in evaluation each stack does the most probable action alone.
        clip: gradients that flow back from one step to the step before, and into the units, are
            cut to this bound.

    Shape:
        - Input: (batch, length) symbols
        - Output: (batch, length, num_symbols) logits

    Raises:
        ValueError: a count that is not positive.

    Source:
        Joulin & Mikolov 2015, section 3 and the addition of section 5.2, with the numbers of their
        program: 100 units, 10 stacks, the two upper elements seen, units that see no units of the
        step before. Departures: backpropagation goes through the whole string, not 50 steps; the
        answer is filled with zeros where theirs ends with a stop symbol.

    Example:
        >>> network = StackRNN(4)
        >>> sum(parameter.numel() for parameter in network.parameters())
        6900
        >>> network(torch.tensor([[1, 3, 2, 0]])).shape
        torch.Size([1, 4, 4])
    """

    def __init__(
        self,
        num_symbols: int,
        hidden: int = 100,
        stacks: int = 10,
        depth: int = 2,
        *,
        discrete: bool = True,
        clip: float = 15.0,
    ) -> None:
        super().__init__(num_symbols)
        check_positive_integers(hidden=hidden, stacks=stacks, depth=depth)
        if not clip > 0:
            raise ValueError(f"clip is {clip}; give a positive number")
        self.stacks, self.depth, self.discrete, self.clip = stacks, depth, discrete, clip
        self.embedding = nn.Embedding(num_symbols + 1, hidden)
        self.top = nn.Linear(stacks * depth, hidden, bias=False)
        self.action = nn.Linear(hidden, _ACTIONS * stacks, bias=False)
        self.value = nn.Linear(hidden, stacks, bias=False)
        self.output = nn.Linear(hidden, num_symbols, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, from a normal law with standard deviation 0.1."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.1)

    def read(
        self, symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"]
    ) -> Float[Tensor, "batch stacks height"]:
        """The stacks after the strings have been read from the end; padding leaves them alone.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
        """
        batch, length = symbols.shape
        # An element this deep after half of the steps cannot come to the top in the other half.
        height = length + self.depth + 1
        stacks = self.output.weight.new_full((batch, self.stacks, height), EMPTY)
        for position in reversed(range(length)):
            _, changed = self.answer(stacks, symbols[:, position])
            stacks = torch.where((position < lengths)[:, None, None], changed, stacks)
        return stacks

    def answer(
        self, state: Float[Tensor, "batch stacks height"], previous: Int64[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch symbols"], Float[Tensor, "batch stacks height"]]:
        """One step, of reading or of writing.

        Args:
            state: the stacks.
            previous: the symbol that is read.
        """
        tops = self._clipped(state[..., : self.depth].flatten(1))
        hidden = self._clipped(torch.sigmoid(self.embedding(previous) + self.top(tops)))
        actions = self.action(hidden).unflatten(-1, (self.stacks, _ACTIONS)).softmax(-1)
        if self.discrete and not self.training:
            actions = nn.functional.one_hot(actions.argmax(-1), _ACTIONS).to(actions.dtype)
        stacks = change_stacks(state, actions, torch.sigmoid(self.value(hidden)))
        return self.output(hidden), self._clipped(stacks)

    def _clipped(self, values: Tensor) -> Tensor:
        """The values themselves, whose gradient is cut to the bound."""
        if values.requires_grad:
            values.register_hook(lambda gradient: gradient.clamp(-self.clip, self.clip))
        return values


def change_stacks(
    stacks: Float[Tensor, "*batch height"],
    actions: Float[Tensor, "*batch 3"],
    values: Float[Tensor, "*batch"],
) -> Float[Tensor, "*batch height"]:
    """Push, pop or keep, each in part; what comes up from below the last element is empty.

    Args:
        stacks: the top first.
        actions: the parts of push, pop and keep, in this order.
        values: what is pushed.

    Source:
        Joulin & Mikolov 2015, equations 3 to 5.

    Example:
        >>> stack = torch.tensor([0.5, 0.25, EMPTY])
        >>> change_stacks(stack, torch.tensor([1.0, 0.0, 0.0]), torch.tensor(0.75))
        tensor([0.7500, 0.5000, 0.2500])
        >>> change_stacks(stack, torch.tensor([0.0, 1.0, 0.0]), torch.tensor(0.75))
        tensor([ 0.2500, -1.0000, -1.0000])
    """
    push, pop, keep = actions[..., None].unbind(-2)
    below = nn.functional.pad(stacks[..., 1:], (0, 1), value=EMPTY)
    above = torch.cat([values[..., None], stacks[..., :-1]], -1)
    return push * above + pop * below + keep * stacks
