"""The logic activations, forward and backward, against torch.relu and the authors' program."""

from collections.abc import Callable

import pytorch_logit_logic as peer
import torch
from torch import Tensor

from benchmarks.row import Row
from benchmarks.timing import alternate
from torchalu import functional

BATCH, FEATURES = 4096, 1024
THREADS = 2
REPEATS = 100

PEERS: dict[str, Callable[[], Callable[[Tensor], Tensor]]] = {
    "and_ail": peer.AIL_AND,
    "or_ail": peer.AIL_OR,
    "xnor_ail": peer.AIL_XNOR,
    "logit_and": peer.IL_AND,
    "logit_or": peer.IL_OR,
    "logit_xnor": peer.IL_XNOR,
}


def benchmark() -> list[Row]:
    """Adjacent pairs of standard normal numbers in float32."""
    torch.set_num_threads(THREADS)
    z = torch.randn(BATCH, FEATURES, requires_grad=True)

    def work(function: Callable[[Tensor], Tensor]) -> Callable[[], object]:
        slope = torch.randn_like(function(z))
        return lambda: torch.autograd.grad(function(z), z, slope)

    relu = work(torch.relu)
    rows = []
    for name, program in PEERS.items():
        ours = work(getattr(functional, name))
        approximate = name.endswith("ail")
        if approximate:
            target = "at most 1.2x torch.relu: >= 0.83x"
            rows.append(_row(name, *alternate(ours, relu, REPEATS), "torch.relu", target))
        target = ">= 12x" if approximate else ">= 4x"
        theirs = alternate(ours, work(program()), REPEATS)
        rows.append(_row(name, *theirs, "pytorch-logit-logic", target))
    target = "at most 3.5x torch.relu: >= 0.29x"
    rows.append(_row("all three", *alternate(work(_three), relu, REPEATS), "torch.relu", target))
    rows.append(_saved_row("or_ail", functional.or_ail, z, 1))
    rows.append(_saved_row("all three", _three, z, 1))
    return rows


def _three(z: Tensor) -> Tensor:
    """The duplicated ensemble."""
    return functional.logic_ensemble(z, ("or_ail", "and_ail", "xnor_ail"))


def _row(name: str, ours: float, baseline: float, baseline_name: str, target: str) -> Row:
    """A line of the table, in milliseconds."""
    return Row(
        name=f"{name}, ({BATCH}, {FEATURES}), forward and backward",
        unit="ms",
        ours=ours * 1e3,
        baseline=baseline * 1e3,
        baseline_name=f"{baseline_name}, {THREADS} threads",
        floor=None,
        target=target,
    )


def _saved_row(name: str, function: Callable[[Tensor], Tensor], z: Tensor, most: int) -> Row:
    """Bytes beyond input and output that are kept for the backward pass."""
    kept = []

    def pack(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() != z.data_ptr():
            kept.append(tensor.nbytes)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function(z)
    return Row(
        name=f"{name}, ({BATCH}, {FEATURES}), kept for the backward pass",
        unit="bytes an element",
        ours=sum(kept) / z.numel(),
        baseline=None,
        baseline_name="",
        floor=None,
        target=f"<= {most}",
    )
