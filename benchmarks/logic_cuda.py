"""The logic activations on a CUDA device, forward and backward, against torch.relu."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.cuda_timing import seconds
from benchmarks.row import Row
from torchalu import functional

BATCH, FEATURES = 1 << 16, 1024
REPEATS = 20


def benchmark() -> list[Row]:
    """Adjacent pairs of standard normal numbers in float32."""
    z = torch.randn(BATCH, FEATURES, device="cuda", requires_grad=True)

    def work(function: Callable[[Tensor], Tensor]) -> Callable[[], object]:
        slope = torch.randn_like(function(z))
        return lambda: torch.autograd.grad(function(z), z, slope)

    relu = seconds(work(torch.relu), REPEATS)
    names = ("and_ail", "or_ail", "xnor_ail", "logit_and", "logit_or", "logit_xnor")
    return [
        Row(
            name=f"{name}, ({BATCH}, {FEATURES}), forward and backward",
            unit="ms",
            ours=seconds(work(getattr(functional, name)), REPEATS) * 1e3,
            baseline=relu * 1e3,
            baseline_name="torch.relu",
            floor=None,
            target="at most 1.2x torch.relu: >= 0.83x" if name.endswith("ail") else "",
        )
        for name in names
    ]
