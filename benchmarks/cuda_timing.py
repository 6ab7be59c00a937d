"""Best of several on a CUDA device, which works while the program goes on."""

import time
from collections.abc import Callable

import torch


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)
