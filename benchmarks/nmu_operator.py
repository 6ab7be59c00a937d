"""The NMU layer, forward and backward, against the product written out."""

import torch

from benchmarks.baselines import nmu
from benchmarks.row import Row
from benchmarks.timing import alternate, best_seconds
from torchalu.nn import NMU

BATCH, FEATURES = 1024, 256


def benchmark() -> list[Row]:
    """Inputs from U(1/2, 3/2), so that products of 256 factors stay of order 1."""
    torch.set_num_threads(1)
    unit = NMU(FEATURES, FEATURES)
    x = (torch.rand(BATCH, FEATURES) + 0.5).requires_grad_()
    slope = torch.randn(BATCH, FEATURES)

    def ours() -> None:
        torch.autograd.grad(unit(x), (x, unit.weight), slope)

    def written_out() -> None:
        torch.autograd.grad(nmu(x, unit.weight), (x, unit.weight), slope)

    fast, slow = alternate(ours, written_out, repeats=4)
    a = torch.rand(512, 512)
    peak = best_seconds(lambda: [a @ a for _ in range(10)], 5) / 10 / 512**3
    # A factor and a product forward; backward the factor again, prefix and suffix product, the
    # product of both, and the two gradients: 8 operations where a multiply-add counts as one.
    return [
        Row(
            name=f"NMU layer, {BATCH} x {FEATURES} -> {FEATURES}, forward and backward",
            unit="ms",
            ours=fast * 1e3,
            baseline=slow * 1e3,
            baseline_name="written-out product, one thread",
            floor=8 * BATCH * FEATURES**2 * peak * 1e3,
            target=">= 100x",
        )
    ]
