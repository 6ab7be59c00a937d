"""What a step of a seed costs in a whole sweep: study, run folder, evaluation, records and all."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.baselines import nau_nmu_step
from benchmarks.row import Row
from benchmarks.trainer import EAGER_STEPS, native
from torchalu import sweep
from torchalu.experiments import Runs, get
from torchalu.nn import NAU, NMU

SEEDS, STEPS, REPEATS = 4, 200_000, 3
SHARING = tuple(float(factor) for factor in range(1, 9))
RUNS, RUN_STEPS, RUN_HOURS = 19_150, 5_000_000, 8.0
"""The paper's: how many runs, how long each, and what one took on a core (appendix C.2)."""


def whole_sweep() -> None:
    """The NMU on products, a chunk a seed, one at a time, in a folder that is new."""
    runs = Runs(seeds=SEEDS, steps=STEPS)
    study = get("madsen2020.table2")(runs, operations=("mul",), models=("NMU",))
    with tempfile.TemporaryDirectory() as folder:
        sweep.run(study, Path(folder) / "run", workers=1)


def shared_sweep() -> None:
    """The NMU with the penalties of figure 12, which are trained together on the same inputs."""
    runs = Runs(seeds=SEEDS, steps=STEPS)
    study = get("madsen2020.figure12")(runs, penalties=SHARING)
    with tempfile.TemporaryDirectory() as folder:
        sweep.run(study, Path(folder) / "run", workers=1)


def bare_trainer() -> None:
    """The same stack, seeds and steps, without evaluation."""
    native([NAU(100, 2), NMU(2, 1)], STEPS, SEEDS)


def core_seconds(works: list[Callable[[], object]]) -> list[float]:
    """The least core time of each, of all its threads, taken in turns after one that is not."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS + 1):
        for work, taken in zip(works, times, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return [min(taken[1:]) for taken in times]


def benchmark() -> list[Row]:
    """Rows against the bare trainer and eager PyTorch, and one for all of the paper's runs."""
    torch.set_num_threads(1)
    eager_step = nau_nmu_step()
    ours, shared, bare, eager = core_seconds(
        [
            whole_sweep,
            shared_sweep,
            bare_trainer,
            lambda: [eager_step(k) for k in range(5 * EAGER_STEPS)],
        ]
    )
    step = ours / SEEDS / STEPS
    return [
        Row(
            name="sweep, a step of a seed, NMU on products",
            unit="us",
            ours=step * 1e6,
            baseline=bare / SEEDS / STEPS * 1e6,
            baseline_name="bare trainer, no evaluation",
            floor=None,
            target=">= 0.8x",
        ),
        Row(
            name="sweep, a step of a seed, NMU on products",
            unit="us",
            ours=step * 1e6,
            baseline=eager / (5 * EAGER_STEPS) * 1e6,
            baseline_name="eager PyTorch, one thread, no evaluation",
            floor=None,
            target="",
        ),
        Row(
            name=f"the same, {len(SHARING)} settings on the same inputs",
            unit="us",
            ours=shared / SEEDS / STEPS / len(SHARING) * 1e6,
            baseline=step * 1e6,
            baseline_name="each setting by itself",
            floor=None,
            target="",
        ),
        Row(
            name=f"the paper's {RUNS:,} runs of {RUN_STEPS:,} steps, extrapolated",
            unit="core-hours",
            ours=step * RUN_STEPS * RUNS / 3600,
            baseline=RUN_HOURS * RUNS,
            baseline_name="8 hours a run, as the paper reports",
            floor=None,
            target="",
        ),
    ]
