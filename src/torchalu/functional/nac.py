"""Neural accumulator, for sums and, in log space, for products."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_eps, check_weight
from torchalu.functional._log_space import full_precision, magnitude, saturating_exp


def nac_weight(
    w_hat: Float[Tensor, "out in"], m_hat: Float[Tensor, "out in"]
) -> Float[Tensor, "out in"]:
    r"""Weight that leans towards -1, 0 and 1.

    .. math:: W = \tanh(\hat W) \, \sigma(\hat M)

    Args:
        w_hat: decides the sign and the size.
        m_hat: decides between 0 and full size.

    Shape:
        `(out, in)` and `(out, in)` to `(out, in)`.

    Source:
        Trask et al. 2018, section 2, the neural accumulator.

    Example:
        >>> nac_weight(torch.tensor([[9.0, -9.0]]), torch.tensor([[20.0, -20.0]])).round(decimals=4)
        tensor([[1., -0.]])
    """
    return torch.tanh(w_hat) * torch.sigmoid(m_hat)


def nac(
    input: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "out in"],
    m_hat: Float[Tensor, "out in"],
) -> Float[Tensor, "*batch out"]:
    r"""Add and subtract inputs, with weights that lean towards -1, 0 and 1.

    .. math:: a = W x, \qquad W = \tanh(\hat W) \, \sigma(\hat M)

    Args:
        input: the numbers to add.
        w_hat: decides the sign and the size of a weight.
        m_hat: decides between 0 and full size.

    Shape:
        `(*, in)`, `(out, in)` and `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and a parameter differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Trask et al. 2018, section 2, the neural accumulator.

    Example:
        >>> w_hat, m_hat = torch.tensor([[20.0, -20.0]]), torch.tensor([[40.0, 40.0]])
        >>> nac(torch.tensor([5.0, 3.0]), w_hat, m_hat)
        tensor([2.])
    """
    check_weight(input, w_hat, "w_hat")
    check_weight(input, m_hat, "m_hat")
    return linear(input, nac_weight(w_hat, m_hat))


@full_precision
def nac_mul(
    input: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"], eps: float = 1e-7
) -> Float[Tensor, "*batch out"]:
    r"""Multiply powers of the magnitudes of inputs.

    .. math:: m_o = \exp\Bigl(\sum_i W_{oi} \log(|x_i| + \epsilon)\Bigr)

    The sign of an input is lost, as the equation says: where an input may be negative, use
    :func:`nmu`, :func:`real_npu` or :func:`npu`.

    Args:
        input: the numbers to multiply.
        weight: the power of each input; any real number.
        eps: keeps the logarithm of 0 finite; a product of n inputs is off by about
            n * eps / |x|.

    Shape:
        `(*, in)` and `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and `weight` differ in dtype outside autocast.
        ValueError: the shapes do not fit, or `eps` is not positive.

    Source:
        Trask et al. 2018, section 2; Madsen & Johansen 2020, equation 3. Departures: a product
        beyond the largest finite number stops there, with a gradient of 0, where the equation
        would overflow and then meet 0 * inf; half precision is computed in float32.

    Example:
        >>> nac_mul(torch.tensor([6.0, -3.0]), torch.tensor([[1.0, -1.0]])).round(decimals=3)
        tensor([2.])
    """
    check_weight(input, weight)
    check_eps(eps, input.dtype)
    return saturating_exp(linear(torch.log(magnitude(input) + eps), weight))
