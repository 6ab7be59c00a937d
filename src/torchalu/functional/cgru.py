"""Convolutional gated recurrent unit of the Neural GPU."""

from jaxtyping import Float, Int64
from torch import Tensor

from torchalu.functional._states import check_kernels, length_mask
from torchalu.kernels import recurrence_forms as forms


def gate_cutoff(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""A sigmoid that reaches 0 and 1, so that a gate can be wholly closed or open.

    .. math:: \operatorname{clip}(1.2 \, \sigma(x) - 0.1, \; 0, \; 1)

    Args:
        x: pre-activations.

    Shape:
        `(*)` to `(*)`.

    Source:
        Kaiser & Sutskever 2016, section 3.3, "Gate cutoff".

    Example:
        >>> import torch
        >>> gate_cutoff(torch.tensor([-3.0, 0.0, 1.0, 3.0]))
        tensor([0.0000, 0.5000, 0.7773, 1.0000])
    """
    return forms.gate_cutoff(x)


def cgru(
    state: Float[Tensor, "batch length width maps"],
    gate_weight: Float[Tensor, "2*maps maps kernel_length kernel_width"],
    gate_bias: Float[Tensor, " 2*maps"],
    candidate_weight: Float[Tensor, "maps maps kernel_length kernel_width"],
    candidate_bias: Float[Tensor, " maps"],
    *,
    lengths: Int64[Tensor, " batch"] | None = None,
    cutoff: bool = True,
) -> Float[Tensor, "batch length width maps"]:
    r"""One layer of one step of a Neural GPU.

    .. math::
        s' = u \odot s + (1 - u) \odot \tanh(U * (r \odot s) + B), \qquad
        r = g(U'' * s + B''), \quad u = g(U' * s + B')

    g is :func:`gate_cutoff` or the sigmoid, `*` a cross-correlation over length and width with
    zeros around the state.

    Args:
        state: s, channels last.
        gate_weight: U'' of the reset gate, then U' of the update gate, of odd sizes.
        gate_bias: B'', then B'.
        candidate_weight: U.
        candidate_bias: B.
        lengths: the new state is 0 at positions behind the end of a sequence, as the old one
            has to be; all have the whole length if left out.
        cutoff: whether the gates are cut off.

    Shape:
        `(batch, length, width, maps)` to the same.

    Raises:
        TypeError: `lengths` are no int64 numbers.
        ValueError: the shapes do not fit, a kernel's size is even, or a length is not in 0 to n.

    Source:
        Kaiser & Sutskever 2016, section 2 for the unit, section 3.3 for the cutoff. Departure,
        which follows the authors' program: the mask.

    Example:
        >>> import torch
        >>> state = torch.tensor([0.5, 0.25]).reshape(1, 2, 1, 1)
        >>> gates = torch.zeros(2, 1, 3, 1), torch.tensor([0.0, 9.0])
        >>> kernel = torch.zeros(1, 1, 3, 1), torch.zeros(1)
        >>> cgru(state, *gates, *kernel).flatten()  # an open update gate keeps the state
        tensor([0.5000, 0.2500])
    """
    layer = forms.Layer(gate_weight, gate_bias, candidate_weight, candidate_bias)
    check_kernels(state, layer)
    mask = None if lengths is None else length_mask(lengths, state)
    return forms.cgru(state.permute(0, 3, 1, 2), layer, mask, cutoff=cutoff).permute(0, 2, 3, 1)
