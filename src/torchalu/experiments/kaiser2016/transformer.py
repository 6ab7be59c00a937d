"""A small Transformer whose positions are the places of digits in their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from torchalu.arguments import check_positive_integers
from torchalu.experiments.kaiser2016.answering import AnsweringNetwork, checked_lengths
from torchalu.experiments.kaiser2016.places import places_in_numbers, waves


class Cache(NamedTuple):
    """What the steps before have left.

    Attributes:
        keys: of each layer, for all steps to come.
        values: likewise.
        mask: which steps there are to attend to.
        step: how many there have been, padding among them.
        first: the step that started the answer.
    """

    keys: list[Float[Tensor, "batch heads steps size"]]
    values: list[Float[Tensor, "batch heads steps size"]]
    mask: Bool[Tensor, "batch 1 1 steps"]
    step: int
    first: int


class AbacusTransformer(AnsweringNetwork):
    r"""A decoder-only Transformer with abacus embeddings.

    Each digit carries, beside its own embedding, that of its place in its number: 1 for the first
    digit, 2 for the second, and so on, in each operand and in the answer. Digits of equal weight
    thus share a position, and attention has but to look for its own. In training all places of a
    string are moved on by one random offset, so that high places are learned from short strings;
    behind the last place comes the first, so that none is seen more rarely than others. What
    starts the answer has the place before the first, without which nothing tells where numbers
    begin. There are no other positions, and the embeddings are added again before each layer.

    .. math:: x_i = E[s_i] + P[p_i + o]

    with the place p of each symbol s in its number; outside of numbers p + o is 0.

    Args:
        num_symbols: how many there are, padding counted.
        separators: the symbols that stand between numbers, such as that of "+".
        size: of the embeddings.
        layers: blocks of attention and perceptron.
        heads: of the attention.
        positions: how many places there are embeddings of. Digits beyond share the last, so that
            longer strings cannot come out right.

    Shape:
        - Input: (batch, length) symbols
        - Output: (batch, length, num_symbols) logits

    Raises:
        ValueError: a count that is not positive, a size that is no multiple of the heads, or a
            separator that is no symbol.

    Source:
        McLeish et al. 2024, abacus embeddings with input injection and no embeddings of absolute
        positions. Departures: each string has an offset of its own, where theirs is one for a
        batch, and goes around; the embeddings of places start as waves, not at random; LayerNorm
        before attention and perceptron, GELU. The start of the answer has no place there.

    Example:
        >>> network = AbacusTransformer(4, separators=(3,), size=32, layers=2)
        >>> network(torch.tensor([[1, 3, 2, 0]])).shape
        torch.Size([1, 4, 4])
    """

    def __init__(
        self,
        num_symbols: int,
        separators: Sequence[int] = (),
        size: int = 128,
        layers: int = 4,
        heads: int = 4,
        positions: int = 512,
    ) -> None:
        super().__init__(num_symbols)
        check_positive_integers(layers=layers, heads=heads, positions=positions)
        if size < 1 or size % heads:
            raise ValueError(f"size is {size}; give a positive multiple of the {heads} heads")
        if not all(0 < symbol < num_symbols for symbol in separators):
            raise ValueError(
                f"separators is {tuple(separators)}; give symbols from 1 to {num_symbols - 1}"
            )
        self.embedding = nn.Embedding(num_symbols + 1, size)
        self.place = nn.Embedding(positions + 1, size)
        self.blocks = nn.ModuleList(_Block(size, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(size)
        self.output = nn.Linear(size, num_symbols)
        self.separators: Tensor
        self.register_buffer("separators", torch.tensor(separators, dtype=torch.int64))
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        with torch.no_grad():
            self.place.weight[0] = 0
            self.place.weight[1:] = waves(positions, size) * (2 / size) ** 0.5

    @property
    def positions(self) -> int:
        """How many places there are embeddings of."""
        return self.place.num_embeddings - 1

    def forward(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"] | None = None,
        targets: Int64[Tensor, "batch length"] | None = None,
        offsets: Int64[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Logits of as many answer symbols as there are input symbols.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings; up to the last symbol that is not 0 if left out.
            targets: the true answers, all steps of which are then taken at once.
            offsets: how far the places of each string are moved on; for training, with targets.

        Raises:
            ValueError: no symbols, symbols or lengths out of range, or offsets without targets.
        """
        if targets is None:
            if offsets is not None:
                raise ValueError("offsets are for training; give them with targets alone")
            return super().forward(symbols, lengths)
        lengths = checked_lengths(symbols, lengths, self.num_symbols)
        length = symbols.shape[1]
        answered = torch.cat([symbols.new_full((len(symbols), 1), self.num_symbols), targets], 1)
        tokens = torch.cat([symbols, answered[:, :-1]], 1)
        steps = torch.arange(2 * length, device=symbols.device)
        written = self._places_written(steps[:length])
        places = torch.cat(
            [places_in_numbers(symbols, self.separators), written.expand_as(symbols)], 1
        )
        if offsets is not None:
            moved = (places.clamp(max=self.positions) - 1 + offsets[:, None]) % self.positions + 1
            places = torch.where(places > 0, moved, 0)
        there = (steps < lengths[:, None]) | (steps >= length)
        mask = there[:, None, None] & (steps <= steps[:, None])
        embedded = self._embed(tokens, places)
        states = embedded
        for index, block in enumerate(self.blocks):
            states = block(states + embedded if index else states, mask)
        return self.output(self.norm(states[:, length:]))

    def taught(
        self,
        symbols: Int64[Tensor, "batch length"],
        lengths: Int64[Tensor, " batch"],
        targets: Int64[Tensor, "batch length"],
        seed: int,
    ) -> Float[Tensor, "batch length num_symbols"]:
        """Logits for a step of training, with a random offset for each string.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
            targets: the true answers.
            seed: of the offsets.
        """
        generator = torch.Generator().manual_seed(seed)
        offsets = torch.randint(self.positions, lengths.shape, generator=generator)
        return self(symbols, lengths, targets, offsets.to(symbols.device))

    def read(
        self, symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"]
    ) -> Cache:
        """Keys and values of the strings.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
        """
        batch, length = symbols.shape
        places = places_in_numbers(symbols, self.separators)
        steps = torch.arange(2 * length, device=symbols.device)
        mask = ((steps < lengths[:, None]) | (steps >= length))[:, None, None]
        cache = self._empty(batch, length, mask)
        self._advance(cache, symbols, places)
        return cache._replace(step=length)

    def answer(
        self, state: Cache, previous: Int64[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch symbols"], Cache]:
        """One step of the answer.

        Args:
            state: what `read` or the step before gave.
            previous: the symbol of the step before, `num_symbols` at first.
        """
        places = self._places_written(torch.full_like(previous, state.step - state.first))
        states = self._advance(state, previous[:, None], places[:, None])
        return self.output(self.norm(states[:, 0])), state._replace(step=state.step + 1)

    def _empty(self, batch: int, length: int, mask: Tensor) -> Cache:
        """A cache with room for all steps."""
        weight = self.output.weight
        keys, values = (
            [weight.new_zeros(block.shape(batch, 2 * length)) for block in self._blocks()]
            for _ in range(2)
        )
        return Cache(keys, values, mask, step=0, first=length)

    def _advance(self, cache: Cache, tokens: Tensor, places: Tensor) -> Tensor:
        """Take steps, whose keys and values are written into the cache."""
        begin, end = cache.step, cache.step + tokens.shape[1]
        steps = torch.arange(end, device=tokens.device)
        mask = cache.mask[..., :end] & (steps <= steps[begin:, None])
        states = embedded = self._embed(tokens, places)
        for index, block in enumerate(self._blocks()):
            memory = cache.keys[index], cache.values[index]
            states = block(states + embedded if index else states, mask, memory, begin)
        return states

    def _places_written(self, steps: Tensor) -> Tensor:
        """Places of the symbols of an answer; that which starts it is behind the last place."""
        return torch.where(steps > 0, steps, self.positions)

    def _embed(self, tokens: Tensor, places: Tensor) -> Tensor:
        """Embeddings of symbols at places."""
        return self.embedding(tokens) + self.place(places.clamp(max=self.positions))

    def _blocks(self) -> list[_Block]:
        return [block for block in self.blocks if isinstance(block, _Block)]


class _Block(nn.Module):
    """Attention, then a perceptron, each added to what it reads."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_size = heads, size // heads
        self.before_attention, self.before_perceptron = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = nn.Linear(size, 3 * size, bias=False)
        self.joined = nn.Linear(size, size, bias=False)
        self.perceptron = nn.Sequential(
            nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size)
        )

    def shape(self, batch: int, steps: int) -> tuple[int, int, int, int]:
        """Of keys and of values."""
        return batch, self.heads, steps, self.head_size

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        memory: tuple[Tensor, Tensor] | None = None,
        begin: int = 0,
    ) -> Tensor:
        """Attend to the steps of these states, or to a memory into which they are written."""
        projected = self.attention(self.before_attention(states))
        queries, keys, values = projected.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if memory is not None:
            end = begin + states.shape[1]
            for kept, new in zip(memory, (keys, values), strict=True):
                kept[:, :, begin:end] = new
            keys, values = (kept[:, :, :end] for kept in memory)
        attended = scaled_dot_product_attention(queries, keys, values, mask)
        states = states + self.joined(attended.transpose(1, 2).flatten(2))
        return states + self.perceptron(self.before_perceptron(states))
