"""One training step of the native trainer against eager PyTorch, a thread each."""

import torch

from benchmarks.baselines import nalu_step, nau_nmu_step
from benchmarks.row import Row
from benchmarks.timing import alternate, best_seconds
from torchalu import _core
from torchalu.engine import instruction_set, train
from torchalu.nn import NALU, NAU, NMU
from torchalu.tasks import SimpleFunction

NATIVE_STEPS = 20_000
EAGER_STEPS = 200
MULTIPLY_ADDS = {"nau_nmu": 2 * 2 * 100 * 128, "nalu": 2 * 6 * 100 * 128}
"""Of the first layer, forward and backward; the second layer's are 1 in 50 of them."""


def native(stack: list[torch.nn.Module], steps: int = NATIVE_STEPS, replicas: int = 1) -> None:
    """Replicas evaluated once, at the end, on few rows: nothing but steps."""
    task = SimpleFunction("mul", evaluation_rows=128)
    train(
        stack,
        task,
        steps=steps,
        replicas=replicas,
        evaluate_every=steps,
        threads=1,
        penalty=10.0,
        penalty_start=1e6,
        penalty_end=2e6,
    )


def floor_seconds(name: str) -> float:
    """The random numbers of a batch plus the multiplications at the machine's measured peak.

    Logarithms, the optimizer and everything else count for nothing.
    """
    batches = 8
    columns = torch.empty(100 * batches, 128)
    uniform = (1.0, 2.0, 1.0, 2.0, False)
    numbers = best_seconds(
        lambda: [_core.sample(1, 2, 0, k, uniform, columns) for k in range(200)], 10
    )
    a = torch.rand(512, 512)
    product = best_seconds(lambda: [a @ a for _ in range(10)], 10)
    return numbers / 200 / batches + MULTIPLY_ADDS[name] * product / 10 / 512**3


def benchmark() -> list[Row]:
    """A row for the NAU and NMU stack, one for the NALU stack."""
    torch.set_num_threads(1)
    wide = instruction_set() == "avx512"
    rows = []
    for name, stack, eager, target in (
        ("nau_nmu", [NAU(100, 2), NMU(2, 1)], nau_nmu_step(), 150 if wide else 80),
        ("nalu", [NALU(100, 2), NALU(2, 1)], nalu_step(), 100),
    ):
        ours, baseline = alternate(
            lambda stack=stack: native(stack),
            lambda eager=eager: [eager(k) for k in range(EAGER_STEPS)],
            repeats=5,
        )
        rows.append(
            Row(
                name=f"trainer step, {name}, {instruction_set()}",
                unit="us",
                ours=ours / NATIVE_STEPS * 1e6,
                baseline=baseline / EAGER_STEPS * 1e6,
                baseline_name="eager PyTorch, one thread",
                floor=floor_seconds(name) * 1e6,
                target=f">= {target}x",
            )
        )
    return rows
