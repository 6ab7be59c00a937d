"""Relaxed two-input logic gates."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from torchalu.arguments import check_positive_integers
from torchalu.functional._arguments import check_alike, check_floating
from torchalu.functional._log_space import full_precision
from torchalu.kernels.tracing import is_vmapped

GateMode = Literal["soft", "hard", "gumbel_soft", "gumbel_hard"]

GATE_NAMES = (
    "False",
    "a and b",
    "a and not b",
    "a",
    "not a and b",
    "b",
    "a xor b",
    "a or b",
    "not (a or b)",
    "not (a xor b)",
    "not b",
    "a or not b",
    "not a",
    "not a or b",
    "not (a and b)",
    "True",
)
"""The 16 gates. A gate's number, in binary, is its column of the truth table: its values at
(a, b) = (0, 0), (0, 1), (1, 0), (1, 1), from the highest bit to the lowest."""


def gate_probabilities(
    weight: Float[Tensor, "*gates 16"], *, mode: GateMode = "soft", temperature: float = 1.0
) -> Float[Tensor, "*gates 16"]:
    r"""How much of each of the 16 gates there is, from learned numbers.

    .. math:: p = \operatorname{softmax}\bigl((\theta + g) / \tau\bigr), \qquad
              g_k = -\log(-\log u_k), \quad u_k \sim U(0, 1)

    `"soft"` leaves out the noise g. `"hard"` takes the likeliest gate alone, whose probability
    is then exactly 1; the gradient is that of the soft form (straight-through).
    `"gumbel_soft"` and `"gumbel_hard"` are the same with the noise, which makes the hard form
    a sample: gate k is taken with probability softmax(theta)_k.

    Args:
        weight: theta.
        mode: `"soft"`, `"hard"`, `"gumbel_soft"` or `"gumbel_hard"`.
        temperature: tau; a low one makes the soft form hard.

    Shape:
        `(*, 16)` to `(*, 16)`.

    Raises:
        TypeError: `weight` holds integers.
        ValueError: the last dimension of `weight` is not 16, `temperature` is not positive, or
            there is no such mode.

    Source:
        Petersen et al. 2022, section 3, for the soft form; Yousefi et al. 2025 for the noise
        with the straight-through gradient. The noise comes from torch's own generator.

    Example:
        >>> weight = torch.zeros(16)
        >>> weight[6] = 5
        >>> gate_probabilities(weight)[6]
        tensor(0.9082)
        >>> gate_probabilities(weight, mode="hard")[6]
        tensor(1.)
    """
    check_floating(weight.dtype, "weight")
    if weight.ndim == 0 or weight.shape[-1] != 16:
        raise ValueError(f"weight has shape {tuple(weight.shape)}; give 16 numbers a gate: (*, 16)")
    check_mode(mode, temperature)
    logits = weight.to(torch.promote_types(weight.dtype, torch.float32))
    if mode.startswith("gumbel"):
        logits = logits - _exponential_like(logits).log()
    if temperature == 1:
        soft = torch.softmax(logits, -1)
    else:  # the largest is 0, which no temperature makes infinite
        below = logits - logits.detach().amax(-1, keepdim=True)
        soft = torch.softmax(below / max(temperature, torch.finfo(logits.dtype).tiny), -1)
    if mode.endswith("soft"):
        return soft.to(weight.dtype)
    likeliest = logits.argmax(-1, keepdim=True)
    hard = torch.zeros_like(soft).scatter(-1, likeliest, 1.0)
    return (hard + (soft - soft.detach())).to(weight.dtype)


def _exponential_like(logits: Tensor) -> Tensor:
    """Exponentially distributed numbers; under `torch.func.vmap` by an operation that it maps."""
    if torch.compiler.is_compiling() or not is_vmapped():
        return torch.empty_like(logits).exponential_()
    uniform = torch.rand_like(logits)
    return (-torch.log1p(-uniform)).clamp_min(torch.finfo(logits.dtype).tiny)


def gate_coefficients(probabilities: Float[Tensor, "*gates 16"]) -> Float[Tensor, "*gates 4"]:
    r"""A mixture of the 16 gates as a polynomial in its two inputs.

    .. math:: \sum_k p_k f_k(a, b) = c_0 + c_1 a + c_2 b + c_3 a b

    Each gate is such a polynomial, so that 4 numbers stand for 16. For a single gate they are
    whole numbers.

    Args:
        probabilities: p, in the order of :data:`GATE_NAMES`.

    Shape:
        `(*, 16)` to `(*, 4)`.

    Raises:
        ValueError: the last dimension of `probabilities` is not 16.

    Source:
        Petersen et al. 2022, table 1, whose gates are written out here as polynomials.

    Example:
        >>> gate_coefficients(torch.eye(16)[6])  # a xor b = a + b - 2 a b
        tensor([ 0.,  1.,  1., -2.])
    """
    if probabilities.ndim == 0 or probabilities.shape[-1] != 16:
        shape = tuple(probabilities.shape)
        raise ValueError(f"probabilities has shape {shape}; give 16 numbers a gate: (*, 16)")
    bits = probabilities.unflatten(-1, (2, 2, 2, 2))
    at_00, at_01, at_10, at_11 = (bits.select(dim, 1).sum((-1, -2, -3)) for dim in range(-4, 0))
    return torch.stack([at_00, at_10 - at_00, at_01 - at_00, (at_11 - at_10) - (at_01 - at_00)], -1)


@full_precision
def logic_gates(
    input: Float[Tensor, "*batch in"],
    probabilities: Float[Tensor, "out 16"],
    connections: Int[Tensor, "2 out"],
) -> Float[Tensor, "*batch out"]:
    r"""Pass pairs of inputs through mixtures of the 16 two-input gates.

    .. math:: z_o = \sum_{k=0}^{15} p_{ok} f_k(a_o, b_o), \qquad
              a_o = x_{i_o}, \quad b_o = x_{j_o}

    The gates are those of independent events: a and b is a b, a or b is a + b - a b. On inputs
    of 0 and 1, and with all probability on one gate, the result is exactly 0 or 1. No tensor
    (\*, out, 16) is made: see :func:`gate_coefficients`.

    Args:
        input: probabilities, or bits as 0 and 1.
        probabilities: p, in the order of :data:`GATE_NAMES`.
        connections: for each output the indices i and j of its two inputs.

    Shape:
        `(*, in)`, `(out, 16)` and `(2, out)` to `(*, out)`.

    Raises:
        TypeError: `input` holds integers, `connections` does not, or `input` and `probabilities`
            differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Petersen et al. 2022, section 3 and table 1, whose order of the gates is kept.
        Departure: half precision is computed in float32.

    Example:
        >>> x = torch.tensor([[0.0, 1.0, 1.0], [0.5, 0.5, 1.0]])
        >>> xor_then_nand = torch.eye(16)[[6, 14]]
        >>> logic_gates(x, xor_then_nand, torch.tensor([[0, 1], [1, 2]]))
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
    """
    _check(input, probabilities, connections)
    a, b = (input.index_select(-1, index) for index in connections.unbind(0))
    c0, c1, c2, c3 = gate_coefficients(probabilities).unbind(-1)
    return (c0 + c2 * b) + a * (c1 + c3 * b)


@full_precision
def group_sum(
    input: Float[Tensor, "*batch in"], num_groups: int, temperature: float = 1.0
) -> Float[Tensor, "*batch groups"]:
    r"""Count the gates that are true, one count for each group of adjacent ones.

    .. math:: y_g = \frac{1}{\tau} \sum_{i = g n}^{(g + 1) n - 1} x_i, \qquad n = \text{in} / G

    Args:
        input: probabilities, or bits as 0 and 1.
        num_groups: G, such as the number of classes.
        temperature: tau.

    Shape:
        `(*, in)` to `(*, num_groups)`.

    Raises:
        TypeError: `num_groups` is no integer.
        ValueError: the last dimension of `input` is no multiple of `num_groups`, or `num_groups`
            or `temperature` is not positive.

    Source:
        Petersen et al. 2022, section 3. Departures: no offset, which a softmax does not see;
        half precision is computed in float32.

    Example:
        >>> group_sum(torch.tensor([1.0, 1.0, 0.0, 0.0, 1.0, 0.0]), 2)
        tensor([2., 1.])
    """
    check_mode("soft", temperature)
    check_positive_integers(num_groups=num_groups)
    if input.ndim == 0 or input.shape[-1] % num_groups:
        raise ValueError(
            f"input has shape {tuple(input.shape)} and num_groups is {num_groups}: the last "
            f"dimension of input must be a multiple of num_groups, such as {num_groups * 8}"
        )
    return input.unflatten(-1, (num_groups, -1)).sum(-1) / temperature


def check_mode(mode: str, temperature: float) -> None:
    """Refuse an unknown mode, and a temperature that is not positive.

    Args:
        mode: one of :data:`GateMode`.
        temperature: a positive number.

    Raises:
        ValueError: there is no such mode, or `temperature` is not positive and finite.
    """
    if mode not in get_args(GateMode):
        raise ValueError(f"mode is {mode!r}; give one of {', '.join(get_args(GateMode))}")
    if not 0 < temperature < float("inf"):
        raise ValueError(f"temperature is {temperature}; give a positive number, such as 1.0")


def _check(input: Tensor, probabilities: Tensor, connections: Tensor) -> None:
    """Refuse arguments that do not fit."""
    check_floating(input.dtype)
    if connections.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"connections is {connections.dtype}; give indices, such as torch.int64")
    if connections.ndim != 2 or probabilities.shape != (connections.shape[1], 16):
        raise ValueError(
            f"probabilities has shape {tuple(probabilities.shape)} and connections "
            f"{tuple(connections.shape)}; give (out, 16) and (2, out)"
        )
    if connections.shape[0] != 2 or input.ndim == 0:
        raise ValueError(
            f"input has shape {tuple(input.shape)} and connections {tuple(connections.shape)}; "
            "give (*, in) and (2, out)"
        )
    check_alike(input, probabilities, "probabilities")
