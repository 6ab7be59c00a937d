"""The memory of a differentiable neural computer: where it writes, and where it reads."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

_EPS = 1e-6


class Memory(NamedTuple):
    """A memory and its history.

    Attributes:
        content: M, a row a place.
        usage: u, how far each place is in use.
        written: w^w, where it was written to last.
        precedence: p, how far each place was the last one written to.
        links: L, how far place i was written to right after place j.
        read: w^r, where each head read last.
    """

    content: Float[Tensor, "batch rows width"]
    usage: Float[Tensor, "batch rows"]
    written: Float[Tensor, "batch rows"]
    precedence: Float[Tensor, "batch rows"]
    links: Float[Tensor, "batch rows rows"]
    read: Float[Tensor, "batch heads rows"]


class Wishes(NamedTuple):
    """What the controller asks of the memory at a step.

    Attributes:
        read_keys: what each head looks for.
        read_strengths: how sharply, 1 at least.
        write_key: what the writing head looks for.
        write_strength: how sharply.
        erase: of each number of a place, from 0 to 1.
        vector: what is written.
        free: whether the place that a head has read becomes free.
        allocation_gate: write to a free place (1) or by content (0).
        write_gate: whether to write at all.
        modes: of each head, backward, by content and forward; they sum to 1.
    """

    read_keys: Float[Tensor, "batch heads width"]
    read_strengths: Float[Tensor, "batch heads"]
    write_key: Float[Tensor, "batch 1 width"]
    write_strength: Float[Tensor, "batch 1"]
    erase: Float[Tensor, "batch width"]
    vector: Float[Tensor, "batch width"]
    free: Float[Tensor, "batch heads"]
    allocation_gate: Float[Tensor, "batch 1"]
    write_gate: Float[Tensor, "batch 1"]
    modes: Float[Tensor, "batch heads 3"]


def content_weighting(
    content: Float[Tensor, "batch rows width"],
    keys: Float[Tensor, "batch heads width"],
    strengths: Float[Tensor, "batch heads"],
) -> Float[Tensor, "batch heads rows"]:
    r"""Places by what they hold.

    .. math:: C(M, k, \beta)_i = \mathrm{softmax}_i \, \beta \frac{k \cdot M_i}{|k| |M_i|}

    Args:
        content: M.
        keys: k.
        strengths: beta.

    Source:
        Graves et al. 2016, methods, content-based addressing. Departure: magnitudes are
        :math:`\sqrt{|k|^2 + 10^{-6}}`, so that an empty place has a cosine and a gradient.
    """
    products = keys @ content.transpose(1, 2)
    cosines = products / (_norm(keys).unsqueeze(-1) * _norm(content).unsqueeze(1))
    return (strengths.unsqueeze(-1) * cosines).softmax(-1)


def allocation(usage: Float[Tensor, "batch rows"]) -> Float[Tensor, "batch rows"]:
    r"""The place that is used least, the first of equals.

    .. math:: a_{\phi_j} = (1 - u_{\phi_j}) \prod_{i < j} u_{\phi_i}, \qquad
              u_{\phi_1} \le u_{\phi_2} \le \ldots

    Args:
        usage: u.

    Source:
        Graves et al. 2016, methods, dynamic memory allocation.

    Example:
        >>> allocation(torch.tensor([[0.5, 0.0, 1.0]]))
        tensor([[0., 1., 0.]])
    """
    used, order = torch.sort(usage, dim=-1, stable=True)
    before = torch.cat((torch.ones_like(used[:, :1]), used[:, :-1]), -1).cumprod(-1)
    return torch.zeros_like(usage).scatter(-1, order, (1 - used) * before)


def write(wishes: Wishes, memory: Memory) -> Memory:
    r"""Free places, choose one, write to it, and link it to the one before.

    .. math:: \psi = \prod_h (1 - f_h w^{r,h}), \qquad
              u' = (u + w^w - u \odot w^w) \odot \psi

    .. math:: w^{w\prime} = g_w (g_a a(u') + (1 - g_a) C(M, k, \beta)), \qquad
              M' = M \odot (1 - w^{w\prime} e^T) + w^{w\prime} v^T

    .. math:: L'_{ij} = (1 - w_i - w_j) L_{ij} + w_i p_j, \quad L'_{ii} = 0, \qquad
              p' = \Bigl(1 - \sum_i w_i\Bigr) p + w, \quad w = w^{w\prime}

    Args:
        wishes: of the controller.
        memory: before the step.

    Source:
        Graves et al. 2016, methods, dynamic memory allocation and temporal memory linkage.
    """
    kept = (1 - wishes.free.unsqueeze(-1) * memory.read).prod(1)
    usage = (memory.usage + memory.written - memory.usage * memory.written) * kept
    found = content_weighting(memory.content, wishes.write_key, wishes.write_strength).squeeze(1)
    gate = wishes.allocation_gate
    places = wishes.write_gate * (gate * allocation(usage) + (1 - gate) * found)
    row, column = places.unsqueeze(-1), places.unsqueeze(-2)
    content = memory.content * (1 - row * wishes.erase.unsqueeze(1))
    links = (1 - row - column) * memory.links + row * memory.precedence.unsqueeze(1)
    diagonal = torch.eye(places.shape[-1], dtype=torch.bool, device=places.device)
    return Memory(
        content=content + row * wishes.vector.unsqueeze(1),
        usage=usage,
        written=places,
        precedence=(1 - places.sum(-1, keepdim=True)) * memory.precedence + places,
        links=links.masked_fill(diagonal, 0.0),
        read=memory.read,
    )


def read(wishes: Wishes, memory: Memory) -> Memory:
    r"""Where each head reads now.

    .. math:: w^{r\prime} = \pi_1 L^T w^r + \pi_2 C(M, k, \beta) + \pi_3 L w^r

    Args:
        wishes: of the controller.
        memory: written to.

    Source:
        Graves et al. 2016, methods, temporal memory linkage and read weighting.
    """
    backward, forward = memory.read @ memory.links, memory.read @ memory.links.transpose(1, 2)
    found = content_weighting(memory.content, wishes.read_keys, wishes.read_strengths)
    modes = wishes.modes.unsqueeze(2).unbind(-1)
    read = backward * modes[0] + found * modes[1] + forward * modes[2]
    return memory._replace(read=read)


def _norm(vectors: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch"]:
    """The magnitude, which has a gradient at 0."""
    return (vectors.square().sum(-1) + _EPS).sqrt()
