"""The unrolled recurrence of the Neural GPUs as an operator.

In float32 and float64 on a CPU it runs in the native core, which computes the positions and steps
of each sequence alone. On CUDA devices the diagonal cell runs in Triton where it is installed, in
the same dtypes. Everything else runs in torch's own operations; on the device `meta` nothing runs,
and shapes alone come out.
"""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch._subclasses.fake_tensor import DynamicOutputShapeException

from torchalu import _core
from torchalu.kernels import recurrence_forms
from torchalu.kernels.compilers import has_triton
from torchalu.kernels.recurrence_forms import MOST_LEVELS, Cell
from torchalu.kernels.tracing import is_transformed

_NATIVE = (torch.float32, torch.float64)
_HALF = 2**63


def unroll(
    state: Float[Tensor, "batch length width maps"],
    lengths: Int64[Tensor, " batch"],
    steps: Int64[Tensor, " batch"],
    gate_weight: Float[Tensor, "sets layers 2*maps maps kernel_length kernel_width"],
    gate_bias: Float[Tensor, "sets layers 2*maps"],
    candidate_weight: Float[Tensor, "sets layers maps maps kernel_length kernel_width"],
    candidate_bias: Float[Tensor, "sets layers maps"],
    *,
    cell: Cell,
    cutoff: bool = True,
    levels: int = 0,
    keep: Float[Tensor, " batch"] | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> tuple[Float[Tensor, "batch length width maps"], Float[Tensor, " batch"]]:
    r"""Take many steps of a Neural GPU, in place of a loop in Python.

    Step t = 0, 1, ... takes the parameters of set t mod sets. Convolutions are
    cross-correlations over length and width, with zeros around the state.

    Args:
        state: where the sequences start.
        lengths: positions behind the end of a sequence are 0 at the start and after each layer.
        steps: how many steps each sequence takes; it then stays as it is. 0 is allowed.
        gate_weight: kernels of the reset gate, then of the update gate, of odd sizes.
        gate_bias: the gates' biases in the same order.
        candidate_weight: kernels of the candidate.
        candidate_bias: biases of the candidate.
        cell: `"cgru"`: dropout on the state, then each layer as
            :func:`torchalu.functional.cgru`; `"diagonal"`: as
            :func:`torchalu.functional.diagonal_cgru`, with dropout on the candidate. The latter
            has one layer, width 1 and a multiple of 3 maps.
        cutoff: of the gates of `"cgru"`.
        levels: after each layer the state is rounded to multiples of 1 / levels, halves to even;
            gradients go through as if it were not. With 0 it is not.
        keep: probability that dropout keeps an element of a sequence; no dropout if left out.
        noise: amplitude of uniform noise on all pre-activations of gates and candidates.
        seed: of dropout and noise, 64 bits. They depend on it, on the number of the sequence, on
            the step and on the place alone.

    Returns:
        The final state, and for each sequence the sum over steps, positions and maps of
        relu(|x| - 0.9) for the three pre-activations x of `"diagonal"`, 0 for `"cgru"`.

    Example:
        >>> import torch
        >>> kernel, bias = torch.zeros(1, 1, 1, 1, 1, 1), torch.full((1, 1, 1), 9.0)
        >>> state, three = torch.zeros(1, 3, 1, 1), torch.tensor([3])
        >>> gates = torch.zeros(1, 1, 2, 1, 1, 1), torch.zeros(1, 1, 2)
        >>> final, _ = unroll(state, three, three, *gates, kernel, bias, cell="cgru")
        >>> final.flatten()
        tensor([0.8750, 0.8750, 0.8750])
    """
    parameters = gate_weight, gate_bias, candidate_weight, candidate_bias
    fused = _is_native(state) or _is_in_triton(state, cell == "diagonal")
    operator = (fused or state.is_meta) and not is_transformed()
    if not (torch.compiler.is_compiling() or operator):
        options = _options(cell == "diagonal", cutoff, levels, keep, noise, seed)
        return recurrence_forms.unroll(state, lengths, steps, *parameters, **options)
    kept = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (state, *parameters))
    members = cell == "diagonal", cutoff, levels, keep, noise, (seed + _HALF) % (2 * _HALF) - _HALF
    final, saturation, _ = recurrence(state, lengths, steps, *parameters, *members, kept)
    return final, saturation


def recurrence_anywhere(
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    gate_weight: Tensor,
    gate_bias: Tensor,
    candidate_weight: Tensor,
    candidate_bias: Tensor,
    diagonal: bool,
    cutoff: bool,
    levels: int,
    keep: Tensor | None,
    noise: float,
    seed: int,
    kept: bool,  # noqa: ARG001
) -> tuple[Tensor, Tensor, Tensor]:
    """Final state, saturation, and what a fused backward pass needs: nothing."""
    parameters = gate_weight, gate_bias, candidate_weight, candidate_bias
    options = _options(diagonal, cutoff, levels, keep, noise, seed)
    final, saturation = recurrence_forms.unroll(state, lengths, steps, *parameters, **options)
    return final.clone(memory_format=torch.contiguous_format), saturation, state.new_empty(0)


def recurrence_backward_anywhere(
    grad_final: Tensor,
    grad_saturation: Tensor,
    kept: Tensor,  # noqa: ARG001
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    gate_weight: Tensor,
    gate_bias: Tensor,
    candidate_weight: Tensor,
    candidate_bias: Tensor,
    diagonal: bool,
    cutoff: bool,
    levels: int,
    keep: Tensor | None,
    noise: float,
    seed: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients by the state and the four parameters."""

    def outputs(state: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        options = _options(diagonal, cutoff, levels, keep, noise, seed)
        return recurrence_forms.unroll(state, lengths, steps, *parameters, **options)

    parameters = gate_weight, gate_bias, candidate_weight, candidate_bias
    pull = torch.func.vjp(outputs, state, *parameters)[1]
    first, *rest = (grad.contiguous() for grad in pull((grad_final, grad_saturation)))
    return first, rest[0], rest[1], rest[2], rest[3]


recurrence = torch.library.custom_op("torchalu::recurrence", recurrence_anywhere, mutates_args=())
recurrence_backward = torch.library.custom_op(
    "torchalu::recurrence_backward", recurrence_backward_anywhere, mutates_args=()
)


@recurrence.register_kernel("cpu")
def _(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    diagonal, cutoff, levels, keep, noise, seed, is_kept = inputs[7:]
    if not _is_native(inputs[0]):
        return recurrence_anywhere(*inputs)
    lengths = inputs[1]
    ends = (int(lengths.min()), int(lengths.max())) if lengths.numel() else (0, 0)
    _check(*inputs[:11], ends=ends)
    state, lengths, steps, *parameters = map(_plain, inputs[:7])
    final = torch.empty_like(state)
    saturation = state.new_empty(len(state), dtype=torch.float64)
    size = _core.recurrence_kept(state, lengths, steps, parameters[2], diagonal) if is_kept else 0
    kept = state.new_empty(size)
    _core.recurrence_forward(
        *(state, lengths, steps, tuple(parameters)),
        *((diagonal, cutoff, levels), _random(keep, noise, seed)),
        *(final, saturation, kept if is_kept else None, torch.get_num_threads()),
    )
    return final, saturation.to(state.dtype), kept


@recurrence_backward.register_kernel("cpu")
def _(*inputs: Any) -> tuple[Tensor, ...]:
    diagonal, cutoff, levels, keep, noise, seed = inputs[10:]
    if not inputs[2].numel():  # nothing was kept
        return recurrence_backward_anywhere(*inputs)
    grad_final, grad_saturation, kept, state, lengths, steps, *parameters = map(_plain, inputs[:10])
    grads = tuple(torch.empty_like(tensor) for tensor in (state, *parameters))
    _core.recurrence_backward(
        *(grad_final, grad_saturation.double(), kept, lengths, steps),
        *((parameters[0], parameters[2]), (diagonal, cutoff, levels), _random(keep, noise, seed)),
        *(grads, torch.get_num_threads()),
    )
    return grads


@recurrence.register_kernel("cuda")
def _(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    state, lengths, steps, *parameters = inputs[:7]
    diagonal, _, levels, keep, noise, seed, is_kept = inputs[7:]
    if not _is_in_triton(state, diagonal) or not state.numel():
        return recurrence_anywhere(*inputs)
    from torchalu.kernels import recurrence_cuda

    least, greatest, most = torch.stack([*lengths.aminmax(), steps.max()]).tolist()  # at one go
    _check(*inputs[:11], ends=(least, greatest))
    if not most:
        return recurrence_anywhere(*inputs)
    keep, noise, seed = _random(keep, noise, seed)
    return recurrence_cuda.recurrence_forward(
        _plain(state),
        _plain(lengths),
        _plain(steps),
        tuple(map(_plain, parameters)),
        most,
        levels=levels,
        keep=keep,
        noise=noise,
        seed=seed,
        kept=is_kept,
    )


@recurrence_backward.register_kernel("cuda")
def _(*inputs: Any) -> tuple[Tensor, ...]:
    keep, noise, seed = _random(*inputs[-3:])
    if not inputs[2].numel():  # nothing was kept
        return recurrence_backward_anywhere(*inputs)
    from torchalu.kernels import recurrence_cuda

    grad_final, grad_saturation, kept, _, lengths, steps, *parameters = map(_plain, inputs[:10])
    return recurrence_cuda.recurrence_backward(
        grad_final,
        grad_saturation,
        kept,
        lengths,
        steps,
        tuple(parameters),
        keep=keep,
        noise=noise,
        seed=seed,
    )


@recurrence.register_fake
def _(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    state, is_kept = inputs[0], inputs[-1]
    fused = is_kept and (_is_native(state) or _is_in_triton(state, inputs[7]))
    try:
        size = torch.library.get_ctx().new_dynamic_size() if fused else 0
    except DynamicOutputShapeException:  # nobody asks for it: no graph is traced
        size = 0
    return state.new_empty(state.shape), state.new_empty(state.shape[0]), state.new_empty(size)


@recurrence_backward.register_fake
def _(*inputs: Any) -> tuple[Tensor, ...]:
    return tuple(tensor.new_empty(tensor.shape) for tensor in (inputs[3], *inputs[6:10]))


def _keep_for_backward(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, diagonal, cutoff, levels, keep, noise, seed, _ = inputs
    ctx.save_for_backward(output[2], *tensors, keep)
    ctx.members = diagonal, cutoff, levels, noise, seed


def _backward(ctx: Any, grad_final: Tensor, grad_saturation: Tensor, _: Any) -> Any:
    *tensors, keep = ctx.saved_tensors
    diagonal, cutoff, levels, noise, seed = ctx.members
    state, *parameters = recurrence_backward(
        grad_final, grad_saturation, *tensors, diagonal, cutoff, levels, keep, noise, seed
    )
    return state, None, None, *parameters, None, None, None, None, None, None, None


def _no_second_derivative(*_: Any) -> Any:
    raise NotImplementedError(
        "unroll has no second derivatives in the native core; take them of "
        "torchalu.kernels.recurrence_forms.unroll, its definition in torch's operations"
    )


recurrence.register_autograd(_backward, setup_context=_keep_for_backward)
recurrence_backward.register_autograd(_no_second_derivative)


def _options(
    diagonal: bool, cutoff: bool, levels: int, keep: Tensor | None, noise: float, seed: int
) -> dict[str, Any]:
    """What the definition takes."""
    cell = "diagonal" if diagonal else "cgru"
    same = {"cutoff": cutoff, "levels": levels, "keep": keep, "noise": noise, "seed": seed}
    return {"cell": cell, **same}


def _random(keep: Tensor | None, noise: float, seed: int) -> tuple[Tensor | None, float, int]:
    """Probabilities in double precision, the noise, and a seed without a sign."""
    return None if keep is None else _plain(keep.double()), noise, seed % (2 * _HALF)


def _is_native(state: Tensor) -> bool:
    """Whether the native core computes it."""
    return state.device.type == "cpu" and state.dtype in _NATIVE


def _is_in_triton(state: Tensor, diagonal: bool) -> bool:
    """Whether Triton's kernels compute it."""
    return state.device.type == "cuda" and diagonal and state.dtype in _NATIVE and has_triton()


def _plain(tensor: Tensor) -> Tensor:
    """The tensor as the native core takes it."""
    return tensor.detach().contiguous()


def _check(
    state: Tensor,
    lengths: Tensor,
    steps: Tensor,
    gate_weight: Tensor,
    gate_bias: Tensor,
    candidate_weight: Tensor,
    candidate_bias: Tensor,
    diagonal: bool,
    _cutoff: bool,
    levels: int,
    keep: Tensor | None,
    *,
    ends: tuple[int, int],
) -> None:
    """The kernels read and write what shapes and lengths, from the first of `ends` on, say."""
    batch, longest, width, maps = state.shape
    sets, layers, *_, length, columns = candidate_weight.shape
    kernel, counts, numbers = (maps, length, columns), torch.int64, state.dtype
    _check_tensor("lengths", lengths, (batch,), counts)
    _check_tensor("steps", steps, (batch,), counts)
    _check_tensor("gate_weight", gate_weight, (sets, layers, 2 * maps, *kernel), numbers)
    _check_tensor("gate_bias", gate_bias, (sets, layers, 2 * maps), numbers)
    _check_tensor("candidate_weight", candidate_weight, (sets, layers, maps, *kernel), numbers)
    _check_tensor("candidate_bias", candidate_bias, (sets, layers, maps), numbers)
    if keep is not None:
        _check_tensor("keep", keep, (batch,), keep.dtype)
    if not 0 <= levels <= MOST_LEVELS:
        raise ValueError(f"levels is {levels}; give 0 to {MOST_LEVELS}")
    if sets < 1 or layers < 1:
        raise ValueError(f"candidate_weight has {sets} sets and {layers} layers; give at least one")
    if not length % 2 or not columns % 2:
        raise ValueError(f"the kernel is {length} x {columns}; choose odd sizes")
    if diagonal and (width > 1 or layers > 1 or maps % 3):
        raise ValueError(
            f"the diagonal cell has width {width}, {layers} layers and {maps} maps; it needs width "
            "1, 1 layer and a multiple of 3 maps"
        )
    if ends[0] < 0 or ends[1] > longest:
        raise ValueError(f"lengths go beyond 0 to {longest}, the length of the state: {lengths}")


def _check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """An error that names the tensor unless shape and dtype are right."""
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        raise ValueError(
            f"{name} is {tuple(tensor.shape)} of {tensor.dtype}; the state and candidate_weight "
            f"ask for {shape} of {dtype}"
        )
