"""The product of the NMU as an operator, without a tensor (batch, out, in).

On a CPU it runs in the native core; on any other device it loops over the inputs. Both hold
two tensors of the output's size, and both are exact where a factor is 0. The operator takes several
products at a time, each of rows and weights of its own.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchalu import _core
from torchalu.kernels.nmu_loop import nmu_loop, nmu_loop_backward


def nmu(input: Tensor, weight: Tensor) -> Tensor:
    r"""Product of `weight * input + 1 - weight` over the inputs.

    It equals :func:`torchalu.functional.nmu_definition` in value and in the first and second
    derivatives.

    Args:
        input: float32 or float64.
        weight: of the same dtype.

    Shape:
        `(*, in)` and `(out, in)` to `(*, out)`.

    Example:
        >>> nmu(torch.tensor([3.0, -4.0]), torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor([-12.,  -4.])
    """
    rows = nmu_rows if torch.compiler.is_compiling() else _NMU.apply
    count = math.prod(input.shape[:-1])  # which -1 does not say where there are no features
    product: Tensor = rows(input.reshape(1, count, input.shape[-1]), weight.unsqueeze(0))
    return product.reshape(*input.shape[:-1], weight.shape[0])


nmu_rows = torch.library.custom_op("torchalu::nmu", nmu_loop, mutates_args=())
nmu_rows_backward = torch.library.custom_op(
    "torchalu::nmu_backward", nmu_loop_backward, mutates_args=()
)


@nmu_rows.register_kernel("cpu")
def _(input: Tensor, weight: Tensor) -> Tensor:
    if input.shape[2] != weight.shape[2] or input.dtype != weight.dtype:
        raise ValueError(
            f"input is {input.dtype} of shape {tuple(input.shape)}, but weight {weight.dtype} of "
            f"{tuple(weight.shape)}; they must have one dtype and last dimension"
        )
    product = input.new_empty(*input.shape[:2], weight.shape[1])
    _core.nmu_forward(_plain(input), _plain(weight), product, torch.get_num_threads())
    return product


@nmu_rows_backward.register_kernel("cpu")
def _(grad_output: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    grad_input = input.new_empty(input.shape)
    grad_weight = weight.new_empty(weight.shape)
    operands = (_plain(grad_output), _plain(input), _plain(weight))
    _core.nmu_backward(*operands, grad_input, grad_weight, torch.get_num_threads())
    return grad_input, grad_weight


@nmu_rows.register_fake
def _(input: Tensor, weight: Tensor) -> Tensor:
    return input.new_empty(*input.shape[:2], weight.shape[1])


@nmu_rows_backward.register_fake
def _(_grad_output: Tensor, input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return input.new_empty(input.shape), weight.new_empty(weight.shape)


class _NMU(torch.autograd.Function):
    """:func:`nmu_rows` with derivatives that `torch.func` can transform.

    The derivative of an operator of torch.library cannot be transformed, that of a function
    can; the compiler, on the other hand, takes the operator as it is.
    """

    @staticmethod
    def forward(*inputs: Tensor) -> Tensor:
        return nmu_rows(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _NMUBackward.apply(*grads, *ctx.saved_tensors)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Tensor) -> Any:
        return _map_product(_NMU.apply, info, in_dims, *inputs)


class _NMUBackward(torch.autograd.Function):
    """:func:`nmu_rows_backward` with the derivative of the written-out product."""

    @staticmethod
    def forward(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        return nmu_rows_backward(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Any) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        def product(input: Tensor, weight: Tensor) -> Tensor:
            each = weight.unsqueeze(-3)
            return (each * input.unsqueeze(-2) + (1 - each)).prod(-1)

        def gradients(grad_output: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
            return torch.func.vjp(product, *inputs)[1](grad_output)

        return torch.func.vjp(gradients, *ctx.saved_tensors)[1](grads)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Tensor) -> Any:
        return _map_gradients(_NMUBackward.apply, info, in_dims, *inputs)


def _map_product(
    product: Callable[..., Any], _info: Any, in_dims: Any, input: Tensor, weight: Tensor
) -> tuple[Tensor, int]:
    """Rule for vmap: more rows, more outputs, or more products."""
    if in_dims[1] is None:
        rows = input.movedim(in_dims[0], 1)
        return product(rows.flatten(1, 2), weight).unflatten(1, rows.shape[1:3]), 1
    if in_dims[0] is None:
        outputs = weight.movedim(in_dims[1], 1)
        return product(input, outputs.flatten(1, 2)).unflatten(2, outputs.shape[1:3]), 2
    pair = input.movedim(in_dims[0], 0), weight.movedim(in_dims[1], 0)
    return product(*(each.flatten(0, 1) for each in pair)).unflatten(0, pair[0].shape[:2]), 0


def _map_gradients(
    gradients: Callable[..., Any], info: Any, in_dims: Any, *tensors: Tensor
) -> tuple[tuple[Tensor, ...], tuple[int, int]]:
    """Rule for vmap: more products."""
    each = [
        tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        for tensor, dim in zip(tensors, in_dims, strict=True)
    ]
    found = gradients(*(tensor.flatten(0, 1) for tensor in each))
    return tuple(grad.unflatten(0, each[0].shape[:2]) for grad in found), (0, 0)


nmu_rows.register_autograd(_NMU.backward, setup_context=_NMU.setup_context)
nmu_rows.register_vmap(partial(_map_product, nmu_rows))
nmu_rows_backward.register_vmap(partial(_map_gradients, nmu_rows_backward))
nmu_rows.register_autocast("cpu", torch.float32)
nmu_rows.register_autocast("cuda", torch.float32)


def _plain(tensor: Tensor) -> Tensor:
    """The tensor as the native core takes it."""
    return tensor.detach().contiguous()
