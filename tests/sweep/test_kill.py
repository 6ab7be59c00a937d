"""Killed at random moments, a sweep ends with the records of one that was not, bit for bit."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studies import Subtraction
from torchalu import sweep
from torchalu.train import RunFolder

PROGRAM = """
import sys
from studies import Subtraction
from torchalu import sweep
study = Subtraction(int(sys.argv[2]), int(sys.argv[3]))
print("begun", flush=True)
sweep.run(study, sys.argv[1], workers=2)
"""


def sweep_in_a_process(folder, study):
    """A process that sweeps, once it has begun."""
    arguments = [folder, str(study.seeds), str(study.steps)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    return process


def parts(folder):
    """The bytes of all parts, by name; a marker differs in its times, not in its sums."""
    suffixes = (".parquet", ".safetensors")
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix in suffixes
    }


def count_parts(folder):
    return len(list((folder / "parts").glob("*.json")))


def wait_for_parts(folder, count):
    """However fast the machine is, a sweep is killed in its midst."""
    deadline = time.monotonic() + 60
    while count_parts(folder) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("kills", "seeds", "seed"), [(1, 20, 5), pytest.param(20, 240, 2, marks=pytest.mark.long)]
)
def test_killed_at_random_moments(tmp_path, kills, seeds, seed):
    study, moments = Subtraction(seeds, steps=100_000), random.Random(seed)
    done = [0]
    for _ in range(kills):
        with sweep_in_a_process(tmp_path / "broken", study) as process:
            wait_for_parts(tmp_path / "broken", done[-1] + moments.randrange(3))
            time.sleep(moments.uniform(0.0, 0.05))
            process.kill()
        done.append(count_parts(tmp_path / "broken"))
    assert done == sorted(done)
    assert 0 < done[-1] < seeds
    broken = sweep.run(study, tmp_path / "broken", workers=2)
    assert broken.equals(sweep.run(study, tmp_path / "whole", workers=1))
    assert parts(tmp_path / "broken") == parts(tmp_path / "whole")
    with RunFolder(tmp_path / "broken", study) as folder:
        assert len(folder.environments) in range(2, kills + 3)
        assert folder.outcomes().equals(broken)
