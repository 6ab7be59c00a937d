"""A sweep on this machine: order, failures, Ctrl-C."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from studies import Digests, Subtraction
from torchalu import sweep
from torchalu.sweep import local
from torchalu.train import Chunk, RunFolder, Spent

TESTS = Path(__file__).parents[1]


def test_outcomes_are_those_of_the_study(tmp_path):
    study = Digests(5)
    whole = [study.run(Chunk(f"seed-{k}"), tmp_path, lambda f: None).outcomes for k in range(5)]
    for workers in (1, 2, 7):
        outcomes = sweep.run(Digests(5), tmp_path / str(workers), workers=workers)
        assert outcomes.rows() == [frame.row(0) for frame in whole]


def test_what_is_done_is_not_done_again(tmp_path):
    first = sweep.run(Digests(4), tmp_path)
    again = sweep.run(Digests(4, fail=range(4)), tmp_path)
    assert again.equals(first)


def test_workers_work_at_the_same_time(tmp_path):
    begin = time.monotonic()
    sweep.run(Digests(8, seconds=0.5), tmp_path, workers=8)
    assert time.monotonic() - begin < 8 * 0.5


def test_a_chunk_fails(tmp_path):
    with pytest.raises(ValueError, match="no such number") as caught:
        sweep.run(Digests(12, seconds=0.2, fail=(1,)), tmp_path, workers=2)
    assert caught.value.__notes__ == ["(in chunk 'seed-1' of tests.digests)"]
    with RunFolder(tmp_path, Digests(12)) as folder:
        assert folder.done == ["seed-0"]


def test_threads_of_torch_are_as_before(tmp_path, threads):
    threads(3)
    sweep.run(Digests(1), tmp_path)
    assert torch.get_num_threads() == 3


def test_scratch_is_there_until_the_part_is(tmp_path):
    with RunFolder(tmp_path, Digests(2)) as folder:
        (folder.scratch("seed-0") / "round").write_text("7")
        assert (folder.scratch("seed-0") / "round").read_text() == "7"
    sweep.run(Digests(2), tmp_path)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_core_seconds_are_those_of_the_process(tmp_path):
    begin = time.process_time()
    sweep.run(Subtraction(4, steps=20_000), tmp_path, workers=2)
    spent = time.process_time() - begin
    with RunFolder(tmp_path, Subtraction(4, steps=20_000)) as folder:
        assert 0 < folder.core_hours * 3600 <= spent + 0.01


class Broken(Digests):
    """Takes a second of processor time, fails, and needs none when it is begun again."""

    def __init__(self, *, checkpoint):
        super().__init__(1)
        self.checkpoint, self.begun = checkpoint, False

    def run(self, chunk, scratch, report):
        if self.begun:
            return super().run(chunk, scratch, report)
        self.begun, end = True, time.process_time() + 1.0
        if self.checkpoint:
            (scratch / "checkpoint").write_text("half")
        while time.process_time() < end:
            report(0.5)
        raise RuntimeError("broken off")


@pytest.mark.parametrize("checkpoint", [True, False])
def test_time_before_a_checkpoint_counts(tmp_path, checkpoint):
    study = Broken(checkpoint=checkpoint)
    with pytest.raises(RuntimeError, match="broken off"):
        sweep.run(study, tmp_path, workers=1)
    sweep.run(study, tmp_path, workers=1)
    with RunFolder(tmp_path, study) as folder:
        assert (folder.core_hours * 3600 >= 1.0) is checkpoint
    assert list((tmp_path / "spent").iterdir()) == []


@pytest.mark.parametrize("noted", ["", "[]", '{"wall_seconds": "long", "core_seconds": 1}'])
def test_a_note_of_the_time_that_cannot_be_read(tmp_path, caplog, noted):
    with RunFolder(tmp_path, Digests(1)) as folder:
        (folder.scratch("seed-0") / "checkpoint").write_text("half")
        (tmp_path / "spent").mkdir()
        (tmp_path / "spent" / "seed-0.json").write_text(noted)
        assert folder.spent("seed-0") == Spent(0.0, 0.0)
        assert "seed-0.json cannot be read" in caplog.text
        folder.note_spent("seed-0", Spent(3.0, 2.0))
        assert folder.spent("seed-0") == Spent(3.0, 2.0)


def test_a_note_of_the_time_that_finds_no_room_costs_no_chunk(tmp_path, monkeypatch):
    asked = []

    def full(self, chunk, spent):
        asked.append(chunk)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RunFolder, "note_spent", full)
    monkeypatch.setattr(local, "_NOTE_EVERY_SECONDS", -1)
    outcomes = sweep.run(Digests(2, seconds=0.1), tmp_path, workers=1)
    assert outcomes.height == 2
    assert set(asked) == {"seed-0", "seed-1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -2}, "workers is -2"),
        ({"workers": 0}, "workers is 0; give a positive integer"),
        ({"engine": "slurm"}, "engine is 'slurm'; allowed: 'local', 'ray'"),
        ({"address": "auto"}, "address is 'auto', but engine is 'local'"),
    ],
)
def test_bad_arguments(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        sweep.run(Digests(), tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


@contextlib.contextmanager
def start(folder, study):
    """A process that sweeps, once it has begun; it does not outlive a test that fails."""
    program = (
        "import sys; import studies; from torchalu import sweep; print('begun', flush=True)\n"
        "try: sweep.run(studies.STUDY, sys.argv[1], workers=2)\n"
        "except KeyboardInterrupt: sys.exit(130)"
    ).replace("STUDY", study)
    process = subprocess.Popen(
        [sys.executable, "-c", program, folder],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


def wait_for(path):
    """Until a file is there."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not come")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_the_chunks_and_keeps_what_is_done(tmp_path):
    with start(tmp_path, "Digests(40, seconds=0.5, rounds=50)") as process:
        wait_for(tmp_path / "parts" / "seed-1.json")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    study = Digests(40, rounds=50)
    with RunFolder(tmp_path, study) as folder:
        assert 2 <= len(folder.done) < 40
    sweep.run(study, tmp_path, workers=4)
    whole = sweep.run(study, tmp_path / "whole", workers=4)
    with RunFolder(tmp_path, study) as folder:
        assert folder.outcomes().equals(whole)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("study", ["Digests(3, hang=0)", "Subtraction(3, steps=10**9)"])
def test_a_second_ctrl_c_does_not_wait(tmp_path, study):
    with start(tmp_path, study) as process:
        wait_for(tmp_path / "scratch")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_the_cost_of_a_part_has_the_time_of_earlier_starts(tmp_path):
    with RunFolder(tmp_path, Digests(1)) as folder:
        (folder.scratch("seed-0") / "checkpoint").write_text("half")
        folder.note_spent("seed-0", Spent(wall_seconds=300.0, core_seconds=200.0))
    sweep.run(Digests(1), tmp_path)
    marker = json.loads((tmp_path / "parts" / "seed-0.json").read_text())
    assert 300 <= marker["wall_seconds"] < 330
    assert 200 <= marker["core_seconds"] < 230


def test_time_is_noted_while_a_chunk_is_under_way(tmp_path, monkeypatch):
    """A process that is killed loses no more than what came after the last note."""
    monkeypatch.setattr("torchalu.sweep.local._NOTE_EVERY_SECONDS", 0.05)
    noted = []

    class Busy(Digests):
        def run(self, chunk, scratch, report):
            end = time.process_time() + 0.5
            while time.process_time() < end:
                report(0.5)
            noted.append(json.loads((tmp_path / "spent" / "seed-0.json").read_text()))
            return super().run(chunk, scratch, report)

    sweep.run(Busy(1), tmp_path, workers=1)
    (spent,) = noted
    assert spent["core_seconds"] > 0.1
    assert spent["wall_seconds"] > 0.1
