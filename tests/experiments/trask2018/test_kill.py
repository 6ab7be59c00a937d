"""A run that is killed goes on, in the midst of a training, and ends as one that was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torchalu import sweep
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018.program_training import ProgramTraining
from torchalu.experiments.trask2018.programs import figure6

TRAINING = ProgramTraining(steps=100, batch_size=4, evaluate_every=20, count=5)
PROGRAM = """
import sys
from test_kill import study
from torchalu import sweep
sweep.run(study(), sys.argv[1], workers=1)
"""


def study():
    return figure6(Seeds(2), models=("NAC", "NAU"), hidden=5, registers=2, training=TRAINING)


def wait_for(folder, pattern, process):
    """However fast the machine is, a run is killed once the file is there."""
    deadline = time.monotonic() + 120
    while not list(folder.glob(pattern)):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.001)


def parts(folder):
    """The bytes of all records, outcomes and weights."""
    files = (folder / "parts").iterdir()
    return {path.name: path.read_bytes() for path in files if path.suffix != ".json"}


@pytest.mark.long
def test_a_killed_run_goes_on_and_gives_the_same(tmp_path):
    """In the midst of the second training, beside one that is done."""
    broken, second = tmp_path / "broken", study().chunks()[1].name
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(broken)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    ) as process:
        wait_for(broken, f"scratch/{second}/*", process)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert len(list(broken.glob("parts/*.json"))) == 1
    outcomes = sweep.run(study(), broken, workers=1)
    assert outcomes.equals(sweep.run(study(), tmp_path / "whole", workers=1))
    assert parts(broken) == parts(tmp_path / "whole")
