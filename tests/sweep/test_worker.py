"""A sweep in processes: the same outcomes, errors and breaks as in threads."""

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from studies import Apart, Digests, Faults
from torchalu import sweep
from torchalu.experiments import Runs, get
from torchalu.sweep.worker import RemoteTraceback, Worker
from torchalu.train import RunFolder

TESTS = Path(__file__).parents[1]


@pytest.fixture
def pids(tmp_path):
    folder = tmp_path / "pids"
    folder.mkdir()
    return folder


def numbers(pids):
    return {int(path.name) for path in pids.iterdir()}


def runs(pid):
    """Whether there is such a process, which is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def first_outcomes(study, scratch):
    """The outcomes of a study's first chunk, by a process of its own."""
    with closing(Worker(study)) as worker:
        files = worker.carry_out(study.chunks()[0], scratch, lambda fraction: None, lambda _: None)
    return pl.read_parquet(files[".outcomes.parquet"])


def test_outcomes_are_those_of_threads_and_come_from_processes(tmp_path, pids):
    threads = sweep.run(Digests(6), tmp_path / "threads", workers=2)
    processes = sweep.run(Apart(6, pids=pids, seconds=0.2), tmp_path / "processes", workers=2)
    assert processes.equals(threads)
    assert len(numbers(pids)) == 2
    assert os.getpid() not in numbers(pids)
    assert not any(map(runs, numbers(pids)))
    parts = sorted((tmp_path / "processes" / "parts").glob("*.json"))
    costs = [json.loads(path.read_text()) for path in parts]
    assert [0.1 <= cost["core_seconds"] < cost["wall_seconds"] for cost in costs] == [True] * 6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_processes_keep_memory_that_is_freed(tmp_path, pids, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    outcomes = first_outcomes(Faults(1, pids=pids), tmp_path)
    assert outcomes["value"].item() < 100  # of 16384, in small pages


def test_processes_have_the_memory_that_the_user_settled(tmp_path, pids, monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=0")
    outcomes = first_outcomes(Faults(1, pids=pids), tmp_path)
    assert outcomes["tunables"].item() == "glibc.malloc.perturb=0"


def test_files_of_the_current_folder_are_no_modules_of_processes(tmp_path, pids, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    first_outcomes(Apart(1, pids=pids), tmp_path)
    assert os.getpid() not in numbers(pids)


def test_one_worker_needs_no_process(tmp_path, pids):
    sweep.run(Apart(2, pids=pids), tmp_path / "run", workers=1)
    assert numbers(pids) == {os.getpid()}


def test_a_study_of_the_main_program_is_sent_whole(tmp_path):
    program = (
        "import os, sys, polars as pl; from torchalu import sweep\n"
        "from torchalu.train import Chunk, Part\n"
        "class Own:\n"
        "    name, configuration, keys, extent = 'own', {}, ('seed',), frozenset()\n"
        "    interpreted = True\n"
        "    def chunks(self): return [Chunk('0'), Chunk('1')]\n"
        "    def run(self, chunk, scratch, report):\n"
        "        row = {'seed': [int(chunk.name)], 'pid': [os.getpid()]}\n"
        "        return Part(pl.DataFrame(), pl.DataFrame(row))\n"
        "    def summarize(self, outcomes): return {'own': outcomes}\n"
        "found = sweep.run(Own(), sys.argv[1], workers=2)\n"
        "print(os.getpid() in found['pid'], found['seed'].to_list())"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "run"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "False [0, 1]\n"


def test_an_error_comes_with_its_chunk_and_where_it_was_raised(tmp_path, pids):
    with pytest.raises(ValueError, match="no such number") as caught:
        sweep.run(Apart(4, pids=pids, fail=(1,)), tmp_path / "run", workers=2)
    assert caught.value.__notes__ == ["(in chunk 'seed-1' of tests.apart)"]
    assert isinstance(caught.value.__cause__, RemoteTraceback)
    assert "studies.py" in str(caught.value.__cause__)


def test_an_error_that_cannot_be_sent_keeps_its_words(tmp_path, pids):
    with pytest.raises(RuntimeError, match="Unsendable: of an odd kind"):
        first_outcomes(Apart(1, pids=pids, odd=0), tmp_path)


def test_a_study_that_cannot_be_sent_is_no_silent_end(tmp_path, pids):
    study = Apart(2, pids=pids)
    study.lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot pickle") as caught:
        sweep.run(study, tmp_path / "run", workers=2)
    assert "one worker needs none" in caught.value.__notes__[0]
    assert sweep.run(study, tmp_path / "run", workers=1).height == 2


def test_a_process_that_ends_is_named(tmp_path, pids):
    study = Apart(4, pids=pids, die=2)
    with pytest.raises(
        ChildProcessError, match=r"ended with status 3; if memory was short, give fewer"
    ):
        sweep.run(study, tmp_path / "run", workers=2)
    study.die = None
    assert sweep.run(study, tmp_path / "run", workers=1).equals(
        sweep.run(Digests(4), tmp_path / "whole")
    )


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_processes_end_with_the_one_that_made_them(tmp_path, pids, number, status):
    program = (
        "import sys; from studies import Apart; from torchalu import sweep\n"
        "study = Apart(40, pids=sys.argv[2], seconds=30, rounds=300)\n"
        "try: sweep.run(study, sys.argv[1], workers=2)\n"
        "except KeyboardInterrupt: sys.exit(130)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "run", pids],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    with process:
        try:
            for _ in range(1200):
                if len(numbers(pids)) == 2:
                    break
                time.sleep(0.05)
            assert len(numbers(pids)) == 2
            time.sleep(1)
            process.send_signal(number)
            assert process.wait(30) == status
        finally:
            process.kill()
    for _ in range(200):
        if not any(map(runs, numbers(pids))):
            break
        time.sleep(0.05)
    assert not any(map(runs, numbers(pids)))
    with RunFolder(tmp_path / "run", Apart(40, pids=pids, rounds=300)) as folder:
        assert folder.done == []
        assert folder.spent("seed-0").core_seconds > 0 or number == signal.SIGKILL


def test_a_process_ends_well_whose_connection_is_closed_first(pids):
    worker = Worker(Apart(1, pids=pids))
    worker._ours.close()
    assert worker._process.wait() == 0
    worker.close()


def test_experiments_of_torch_run_apart_and_those_of_the_native_trainer_do_not():
    assert get("lowe2022.figure4")().interpreted
    assert get("kaiser2016.table1")().interpreted
    assert get("madsen2020.figure4")().interpreted
    assert not getattr(get("madsen2020.table2")(Runs(seeds=1)), "interpreted", False)
