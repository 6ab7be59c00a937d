"""Best of several, since whatever else runs on the machine can only slow a program down."""

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of `repeats` runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def alternate(
    ours: Callable[[], object], baseline: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """The shortest run of each, taken in turns so that both meet the same machine."""
    ours()
    baseline()
    pairs = [(best_seconds(ours, 1), best_seconds(baseline, 1)) for _ in range(repeats)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
