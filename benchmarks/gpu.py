"""One training step of one replica on a GPU that is full of them, against this machine's CPU."""

import sys
import time

import torch

from benchmarks.row import Row
from torchalu.engine import train
from torchalu.engine.cores import cores
from torchalu.engine.device import gpu
from torchalu.nn import NAC, NALU, NAU, NMU, NACMul
from torchalu.tasks import SimpleFunction

STACKS = {
    "NMU": [NAU(100, 2), NMU(2, 1)],
    "NAU": [NAU(100, 2), NAU(2, 1)],
    "NAC*": [NAC(100, 2), NACMul(2, 1)],
    "NALU": [NALU(100, 2), NALU(2, 1)],
    "NMU, hidden size 10": [NAU(100, 10), NMU(10, 1)],
}
TARGETS = {"NMU": "<= 20"}
REPLICAS = 4224
"""Four for each quarter of a multiprocessor of an H100, twice over."""


def seconds(stack: list[torch.nn.Module], device: str, steps: int, replicas: int) -> float:
    """A whole call; replicas are evaluated once, at the end, on few rows."""
    task = SimpleFunction("mul", evaluation_rows=128)
    ramp = {"penalty": 10.0, "penalty_start": 1e6, "penalty_end": 2e6}
    call = {"evaluate_every": steps, "initial": torch.nn.Sequential(*stack).state_dict(), **ramp}
    start = time.perf_counter()
    train(stack, task, steps=steps, replicas=replicas, device=device, **call)
    return time.perf_counter() - start


def step(stack: list[torch.nn.Module], device: str, steps: int, replicas: int) -> float:
    """Nanoseconds a step and replica: what further steps take, without what comes before them."""
    short = seconds(stack, device, steps // 4, replicas)
    return (seconds(stack, device, steps, replicas) - short) / (steps * 3 // 4 * replicas) * 1e9


def benchmark() -> list[Row]:
    """A row a stack; none without a GPU."""
    try:
        name_of_gpu = gpu()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return []
    rows = []
    for name, stack in STACKS.items():
        seconds(stack, "cuda", 10, 1)  # the first call starts CUDA
        rows.append(
            Row(
                name=f"trainer step on a GPU, {name}, {name_of_gpu}",
                unit="ns",
                ours=step(stack, "cuda", 8000, REPLICAS),
                baseline=step(stack, "cpu", 4000, 4 * cores()),
                baseline_name=f"the native trainer on {cores()} cores",
                floor=None,
                target=TARGETS.get(name, ""),
            )
        )
    return rows
