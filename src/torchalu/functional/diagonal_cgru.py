"""The cell of the improved Neural GPU: hard nonlinearities and diagonal gates."""

from jaxtyping import Float, Int64
from torch import Tensor

from torchalu.functional._states import check_kernels, check_thirds, length_mask
from torchalu.kernels import recurrence_forms as forms


def hard_sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""A gate that is a straight line between -1 and 1.

    .. math:: \operatorname{clip}(x / 2 + 1 / 2, \; 0, \; 1)

    It is three times as steep as :func:`torch.nn.functional.hardsigmoid`.

    Args:
        x: pre-activations.

    Shape:
        `(*)` to `(*)`.

    Source:
        Freivalds & Liepins 2017, hard nonlinearities.

    Example:
        >>> import torch
        >>> hard_sigmoid(torch.tensor([-2.0, 0.0, 0.5, 1.0]))
        tensor([0.0000, 0.5000, 0.7500, 1.0000])
    """
    return forms.hard_sigmoid(x)


def diagonal_shift(
    state: Float[Tensor, "batch length maps"],
) -> Float[Tensor, "batch length maps"]:
    """Move a third of the maps one place to the right, the next third one to the left.

    The last third stays. Zeros come in at the ends. With it, what an update gate keeps can
    travel.

    Args:
        state: the number of maps is a multiple of 3.

    Shape:
        `(batch, length, maps)` to the same.

    Raises:
        ValueError: the number of maps is no multiple of 3, or `state` has another number of
            dimensions.

    Source:
        Freivalds & Liepins 2017, diagonal gates. Departure from their program: the
        third that stays is the last one, not the first.

    Example:
        >>> import torch
        >>> state = torch.tensor([[[1.0, 1, 1], [2, 2, 2], [3, 3, 3]]])
        >>> diagonal_shift(state)
        tensor([[[0., 2., 1.],
                 [1., 3., 2.],
                 [2., 0., 3.]]])
    """
    check_thirds(state)
    return _state(forms.diagonal_shift(_image(state)))


def diagonal_cgru(
    state: Float[Tensor, "batch length maps"],
    gate_weight: Float[Tensor, "2*maps maps kernel"],
    gate_bias: Float[Tensor, " 2*maps"],
    candidate_weight: Float[Tensor, "maps maps kernel"],
    candidate_bias: Float[Tensor, " maps"],
    *,
    lengths: Int64[Tensor, " batch"] | None = None,
) -> Float[Tensor, "batch length maps"]:
    r"""One step of a diagonal Neural GPU.

    .. math::
        s' = g \odot \operatorname{shift}(s) + (1 - g) \odot
             \operatorname{ht}(U * (r \odot s) + B), \qquad
        r = \operatorname{hs}(U'' * s + B''), \quad g = \operatorname{hs}(U' * s + B')

    hs is :func:`hard_sigmoid`, ht clips to [-1, 1], shift is :func:`diagonal_shift`.

    Args:
        state: s, channels last; the number of maps is a multiple of 3.
        gate_weight: U'' of the reset gate, then U' of the update gate, of an odd size.
        gate_bias: B'', then B'.
        candidate_weight: U.
        candidate_bias: B.
        lengths: the new state is 0 at positions behind the end of a sequence, as the old one
            has to be; all have the whole length if left out.

    Shape:
        `(batch, length, maps)` to the same.

    Raises:
        TypeError: `lengths` are no int64 numbers.
        ValueError: the shapes do not fit, the kernel's size is even, the number of maps is no
            multiple of 3, or a length is not in 0 to n.

    Source:
        Freivalds & Liepins 2017, the unit with diagonal gates. Departure: dropout on the
        candidate is left to :class:`torchalu.nn.DiagonalNeuralGPU`.

    Example:
        >>> import torch
        >>> state = torch.tensor([[[0.5, 0.0, 0.5], [0.0, 0.25, 0.0]]])
        >>> gates = torch.zeros(6, 3, 3), torch.tensor([0.0, 0, 0, 1, 1, 1])
        >>> diagonal_cgru(state, *gates, torch.zeros(3, 3, 3), torch.zeros(3))
        tensor([[[0.0000, 0.2500, 0.5000],
                 [0.5000, 0.0000, 0.0000]]])
    """
    check_thirds(state)
    kernels = gate_weight.unsqueeze(-1), candidate_weight.unsqueeze(-1)
    layer = forms.Layer(kernels[0], gate_bias, kernels[1], candidate_bias)
    wide = state.unsqueeze(2)
    check_kernels(wide, layer)
    mask = None if lengths is None else length_mask(lengths, state)
    return _state(forms.diagonal_cgru(_image(state), layer, mask)[0])


def _image(state: Tensor) -> Tensor:
    """A state of width 1 as an image."""
    return state.transpose(1, 2).unsqueeze(-1)


def _state(image: Tensor) -> Tensor:
    """The image as a state again."""
    return image.squeeze(-1).transpose(1, 2)
