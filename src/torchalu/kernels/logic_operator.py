"""Functions of groups of logits as operators, forward and backward in one pass each.

Of one piecewise linear function, or of several that share the groups, one byte an operand is kept
for the backward pass. Of others, and of several functions of the same groups, it is the input,
which is no copy. On a CPU they run in the native core, on CUDA devices in Triton where it is
installed, and elsewhere in torch's own operations.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_legacy_batchedtensor

from torchalu import _core
from torchalu.kernels.compilers import has_triton
from torchalu.kernels.logic_forms import (
    FUNCTIONS,
    PIECEWISE_LINEAR,
    logic_form,
    logic_gradient,
    logic_slopes,
    widened,
)

_MOST_SHARES = 127  # a slope's code is one byte
_SHORT = 8  # positions of a row, below which rows side by side are faster on a CPU
_NATIVE = (torch.float32, torch.float64, torch.bfloat16)


def logic(
    input: Tensor,
    operators: Sequence[str],
    moments: Sequence[tuple[float, float]],
    *,
    partition: bool,
) -> Tensor:
    """Functions of groups of k, normalized by a mean and a standard deviation each.

    It equals :func:`torchalu.kernels.logic_form` in value and in all derivatives.

    Args:
        input: groups, of any floating dtype; half precision is computed in float32.
        operators: names of the functions.
        moments: a mean to subtract and a deviation to divide by, for each function.
        partition: each function takes an equal share of the positions (groups, inner), in
            place of all.

    Shape:
        `(rows, groups, k, inner)` to `(rows, functions, groups * inner)`, or in a partition to
        `(rows, 1, groups * inner)`.

    Example:
        >>> z = torch.tensor([-1.0, -2.0, 3.0, -4.0]).view(1, 2, 2, 1)
        >>> logic(z, ["and_ail", "max_out"], [(0.0, 1.0)] * 2, partition=False)
        tensor([[[-3., -4.],
                 [-1.,  3.]]])
    """
    functions = [FUNCTIONS.index(name) for name in operators]
    means, scales = [mean for mean, _ in moments], [1 / deviation for _, deviation in moments]
    differentiated = torch.is_grad_enabled() and (
        input.requires_grad or torch._C._are_functorch_transforms_active()
    )
    slopes = differentiated and _have_codes(functions, partition, input.shape[2])
    run = logic_rows if torch.compiler.is_compiling() else _Logic.apply
    rows, groups, k, inner = input.shape
    if input.device.type != "cpu" or not _is_short(groups * inner, len(operators), partition):
        return run(input, functions, means, scales, partition, slopes)[0]
    beside = input.movedim(0, -1).reshape(1, groups, k, inner * rows)
    output = run(beside, functions, means, scales, partition, slopes)[0]
    return output[0].unflatten(-1, (groups * inner, rows)).movedim(-1, 0).contiguous()


def logic_anywhere(
    input: Tensor,
    functions: Sequence[int],
    means: Sequence[float],
    scales: Sequence[float],
    partition: bool,
    slopes: bool,
) -> tuple[Tensor, Tensor]:
    """Outputs, and slopes for the backward pass or nothing."""
    output = logic_form(input, functions, means, scales, partition)
    return output, logic_slopes(input, functions, partition) if slopes else _nothing(input)


def logic_backward_anywhere(
    grad_output: Tensor,
    saved: Tensor,
    functions: Sequence[int],
    scales: Sequence[float],
    partition: bool,
) -> Tensor:
    """Gradient by the input; `saved` is the input or its slopes."""
    return logic_gradient(grad_output, saved, functions, scales, partition)


logic_rows = torch.library.custom_op("torchalu::logic", logic_anywhere, mutates_args=())
logic_rows_backward = torch.library.custom_op(
    "torchalu::logic_backward", logic_backward_anywhere, mutates_args=()
)


@logic_rows.register_kernel("cpu")
def _forward_on_cpu(
    input: Tensor,
    functions: Sequence[int],
    means: Sequence[float],
    scales: Sequence[float],
    partition: bool,
    slopes: bool,
) -> tuple[Tensor, Tensor]:
    plain = _plain(input)
    output, codes = _empty_outputs(plain, len(functions), partition, slopes)
    members = (list(functions), list(means), list(scales), partition)
    kept = codes if slopes else None
    _core.logic_forward(_bits(plain), _bits(output), kept, members, torch.get_num_threads())
    return output.to(input.dtype), codes


@logic_rows_backward.register_kernel("cpu")
def _backward_on_cpu(
    grad_output: Tensor,
    saved: Tensor,
    functions: Sequence[int],
    scales: Sequence[float],
    partition: bool,
) -> Tensor:
    grad = _plain(grad_output)
    grad_input = grad.new_empty(saved.shape[-4:] if _is_input(saved) else _without_members(saved))
    operands = (_bits(_plain(saved)), None) if _is_input(saved) else (None, saved.contiguous())
    members = (list(functions), [0.0] * len(scales), list(scales), partition)
    threads = torch.get_num_threads()
    _core.logic_backward(_bits(grad), *operands, _bits(grad_input), members, threads)
    return grad_input.to(grad_output.dtype)


@logic_rows.register_kernel("cuda")
def _forward_on_cuda(
    input: Tensor,
    functions: Sequence[int],
    means: Sequence[float],
    scales: Sequence[float],
    partition: bool,
    slopes: bool,
) -> tuple[Tensor, Tensor]:
    if not has_triton() or not input.numel():
        return logic_anywhere(input, functions, means, scales, partition, slopes)
    from torchalu.kernels import logic_triton

    output, codes = _empty_outputs(input, len(functions), partition, slopes)
    kept = codes if slopes else None
    members = (functions, means, scales, partition, PIECEWISE_LINEAR)
    logic_triton.logic_forward(input.contiguous(), output, kept, *members)
    return output, codes


@logic_rows_backward.register_kernel("cuda")
def _backward_on_cuda(
    grad_output: Tensor,
    saved: Tensor,
    functions: Sequence[int],
    scales: Sequence[float],
    partition: bool,
) -> Tensor:
    if not has_triton() or not saved.numel():
        return logic_backward_anywhere(grad_output, saved, functions, scales, partition)
    from torchalu.kernels import logic_triton

    operands = grad_output.contiguous(), saved.contiguous()
    members = functions, scales, partition, PIECEWISE_LINEAR
    return logic_triton.logic_backward(*operands, *members)


@logic_rows.register_fake
def _(
    input: Tensor,
    functions: Sequence[int],
    _means: Sequence[float],
    _scales: Sequence[float],
    partition: bool,
    slopes: bool,
) -> tuple[Tensor, Tensor]:
    return _empty_outputs(input, len(functions), partition, slopes)


@logic_rows_backward.register_fake
def _(
    grad_output: Tensor,
    saved: Tensor,
    _functions: Sequence[int],
    _scales: Sequence[float],
    _partition: bool,
) -> Tensor:
    return grad_output.new_empty(saved.shape if _is_input(saved) else _without_members(saved))


class _Logic(torch.autograd.Function):
    """:func:`logic_rows` with derivatives that `torch.func` can transform."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        return (_forward_on_cpu if _is_plain(inputs[0]) else logic_rows)(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        input, functions, _, scales, partition, slopes = inputs
        ctx.save_for_backward(output[1] if slopes else input)
        ctx.members = functions, scales, partition
        ctx.shape = output[0].shape
        if hasattr(ctx, "mark_non_differentiable"):  # an operator's context has no need of it
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)
            ctx.save_for_forward(output[1] if slopes else input)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if grads[0] is None:
            return (None,) * 6
        differentiated = torch.is_grad_enabled() or torch._C._are_functorch_transforms_active()
        run = _LogicBackward.apply if differentiated else _LogicBackward.forward
        return run(grads[0], *ctx.saved_tensors, *ctx.members), None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """By the gradient, which is linear in that of the output, transposed."""
        (saved,), start = ctx.saved_tensors, tangents[0].new_zeros(ctx.shape)
        pull = torch.func.vjp(lambda g: logic_gradient(g, saved, *ctx.members), start)[1]
        return *pull(tangents[0]), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:  # noqa: ARG004
        input, *members = inputs
        rows = input.movedim(in_dims[0], 0)
        output, slopes = _Logic.apply(rows.flatten(0, 1), *members)
        sizes = rows.shape[:2]
        if not members[-1]:
            return (output.unflatten(0, sizes), slopes), (0, None)
        return (output.unflatten(0, sizes), slopes.unflatten(0, sizes)), (0, 0)


class _LogicBackward(torch.autograd.Function):
    """:func:`logic_rows_backward` with the derivatives of its form in torch's operations."""

    @staticmethod
    def forward(*inputs: Any) -> Tensor:
        return (_backward_on_cpu if _is_plain(inputs[0]) else logic_rows_backward)(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])
        ctx.members = inputs[2:]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad_output, saved = ctx.saved_tensors
        if _is_input(saved):
            tensors = (grad_output, saved)
            pull = torch.func.vjp(lambda *pair: logic_gradient(*pair, *ctx.members), *tensors)[1]
            return *pull(grads[0]), None, None, None
        pull = torch.func.vjp(lambda g: logic_gradient(g, saved, *ctx.members), grad_output)[1]
        return *pull(grads[0]), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Linear in the gradient; by the input a symmetric matrix, so that its transpose serves.

        Forward mode within forward mode is nothing that torch.autograd.forward_ad allows.
        """
        grad_output, saved = ctx.saved_tensors
        by_gradient, by_input = tangents[:2]
        change = torch.zeros_like(grad_output) if by_gradient is None else by_gradient
        moved = logic_gradient(change, saved, *ctx.members)
        if by_input is None or not _is_input(saved):  # slopes are constant
            return moved
        pull = torch.func.vjp(lambda z: logic_gradient(grad_output, z, *ctx.members), saved)[1]
        return moved + pull(by_input)[0]

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        pair = [
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(inputs[:2], in_dims[:2], strict=True)
        ]
        rows = [tensor.flatten(0, 1) for tensor in pair]
        return _LogicBackward.apply(*rows, *inputs[2:]).unflatten(0, pair[0].shape[:2]), 0


logic_rows.register_autograd(_Logic.backward, setup_context=_Logic.setup_context)


def _empty_outputs(
    input: Tensor, members: int, partition: bool, slopes: bool
) -> tuple[Tensor, Tensor]:
    """Room for the results of :func:`logic_rows`."""
    rows, groups, k, inner = input.shape
    planes = 1 if partition else members
    output = input.new_empty(rows, planes, groups * inner)
    if not slopes:
        return output, _nothing(input)
    return output, input.new_empty((rows, planes, groups, k, inner), dtype=torch.int8)


def _have_codes(functions: Sequence[int], partition: bool, k: int) -> bool:
    """Whether a byte an operand tells all that the backward pass has to know."""
    alone = partition or len(functions) == 1
    return alone and max(functions) < PIECEWISE_LINEAR and k <= _MOST_SHARES


def _is_short(positions: int, members: int, partition: bool) -> bool:
    """Whether the part of a row that a function takes is too short for the core's vectors.

    Of one function alone the core takes all rows as one.
    """
    return members > 1 and positions < _SHORT * (members if partition else 1)


def _is_plain(tensor: Tensor) -> bool:
    """Whether nobody watches, so that the way through torch's dispatcher can be spared."""
    return (
        type(tensor) is Tensor
        and tensor.device.type == "cpu"
        and not tensor.is_neg()
        and not tensor._is_zerotensor()
        and not torch._C._len_torch_dispatch_stack()
        and not is_legacy_batchedtensor(tensor)
    )


def _nothing(input: Tensor) -> Tensor:
    """In place of slopes."""
    return input.new_empty(0, dtype=torch.int8)


def _is_input(saved: Tensor) -> bool:
    """Whether the input was saved and not its slopes."""
    return saved.is_floating_point()


def _without_members(slopes: Tensor) -> list[int]:
    """The shape of the input that slopes belong to."""
    return [slopes.shape[0], *slopes.shape[2:]]


def _plain(tensor: Tensor) -> Tensor:
    """The tensor as the native core takes it."""
    return (tensor if tensor.dtype in _NATIVE else widened(tensor)).detach().contiguous()


def _bits(tensor: Tensor) -> Tensor:
    """The tensor, as 16-bit integers where it holds bfloat16, which NumPy does not know."""
    return tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
