"""One training step of one replica on a GPU that is full of them, against this machine's CPU.

python -m benchmarks.trainer_cuda shows instead what other shares of a multiprocessor do.
"""

import importlib
import time
from functools import partial

import torch

from benchmarks.row import Row
from torchalu.engine import train
from torchalu.engine.cores import cores
from torchalu.engine.device import gpu, native_train
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
MULTIPROCESSORS = 132
"""Of an H100 and an H200; a multiple of them times the warps of each leaves none idle."""
REPLICAS = MULTIPROCESSORS * 48


def call(stack: list[torch.nn.Module], **options: object) -> object:
    """The training that is measured: from one start, evaluated once, at the end, on few rows."""
    task = SimpleFunction("mul", evaluation_rows=128)
    ramp = {"penalty": 10.0, "penalty_start": 1e6, "penalty_end": 2e6}
    initial = torch.nn.Sequential(*stack).state_dict()
    return train(stack, task, evaluate_every=options["steps"], initial=initial, **ramp, **options)


def seconds(stack: list[torch.nn.Module], **options: object) -> float:
    """What the whole call takes."""
    start = time.perf_counter()
    call(stack, **options)
    return time.perf_counter() - start


def step(stack: list[torch.nn.Module], device: str, steps: int, replicas: int) -> float:
    """Nanoseconds a step and replica: what further steps take, without what comes before them."""
    both = [
        seconds(stack, device=device, steps=number, replicas=replicas)
        for number in (steps // 4, steps)
    ]
    return (both[1] - both[0]) / (steps * 3 // 4 * replicas) * 1e9


def difference(stack: list[torch.nn.Module]) -> float:
    """The largest of any parameter between GPU and CPU after 50 steps."""
    here, there = (
        call(stack, device=device, steps=50, replicas=8).state.parameters
        for device in ("cpu", "cuda")
    )
    return (here - there).abs().max().item()


def benchmark() -> list[Row]:
    """A row a stack."""
    name_of_gpu = gpu()
    rows = []
    for name, stack in STACKS.items():
        seconds(stack, device="cuda", steps=10, replicas=1)  # the first call starts CUDA
        rows.append(
            Row(
                name=f"trainer step on a GPU, {name}, {name_of_gpu}",
                unit="ns",
                ours=step(stack, "cuda", 4000, REPLICAS),
                baseline=step(stack, "cpu", 4000, 4 * cores()),
                baseline_name=f"the native trainer on {cores()} cores",
                floor=None,
                target=TARGETS.get(name, ""),
            )
        )
    return rows


def compare_shares() -> None:
    """Print nanoseconds for several numbers of warps, with and without features kept."""
    trainer = importlib.import_module("torchalu.engine.trainer")
    print(f"{gpu()}: ns a step and replica")
    for name, stack in STACKS.items():
        print(f"{name}: at most {difference(stack):.1e} from the CPU after 50 steps", flush=True)
        for warps in (6, 8, 12, 16):
            for kept in (-1, 0):
                shares = {"warps": warps, "kept": kept}
                trainer.native_train = lambda device, threads, shares=shares: partial(
                    native_train(device, threads), **(shares if device == "cuda" else {})
                )
                print(f"  {warps:3} warps, kept {kept:2}:", end=" ")
                print(f"{step(stack, 'cuda', 2000, REPLICAS):.1f}", flush=True)
        trainer.native_train = native_train


if __name__ == "__main__":
    compare_shares()
