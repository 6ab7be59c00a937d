"""Dropout on the state that a Neural GPU begins with, as an operator.

It is one since a compiler that looks into it unfolds the arithmetic on a seed that changes from
call to call without end.
"""

import torch
from torch import Tensor

from torchalu.kernels.compilers import has_triton
from torchalu.kernels.recurrence_forms import Dropout

_BEFORE_THE_FIRST_STEP = -1
_SEEDS = 2**64


def kept_anywhere(state: Tensor, keep: Tensor, seed: int) -> Tensor:
    """Which elements of a state dropout keeps before the first step.

    Args:
        state: (batch, length, width, maps); its shape and device alone count.
        keep: probability that an element of a sequence stays.
        seed: 64 bits, as a number with a sign.
    """
    dropout = Dropout(state, keep, seed % _SEEDS)
    image = torch.ones_like(state).permute(0, 3, 1, 2)
    return dropout(image, _BEFORE_THE_FIRST_STEP).permute(0, 2, 3, 1).bool().contiguous()


kept_at_start = torch.library.custom_op("torchalu::kept_at_start", kept_anywhere, mutates_args=())


@kept_at_start.register_kernel("cuda")
def _(state: Tensor, keep: Tensor, seed: int) -> Tensor:
    if not has_triton() or not state.numel():
        return kept_anywhere(state, keep, seed)
    from torchalu.kernels import recurrence_cuda

    return recurrence_cuda.kept_at_start(state, keep, seed % _SEEDS)


@kept_at_start.register_fake
def _(state: Tensor, keep: Tensor, seed: int) -> Tensor:  # noqa: ARG001
    return state.new_empty(state.shape, dtype=torch.bool)
