"""The bar of a sweep: there on a terminal, nowhere else."""

import io
import re
from contextlib import redirect_stderr

import pytest

from studies import Digests
from torchalu import sweep
from torchalu.sweep.progress import Progress
from torchalu.train import RunFolder


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    return Terminal()


def shown(terminal):
    """What was drawn, without colors and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def test_chunks_runs_and_work(tmp_path, terminal):
    sweep.run(Digests(2), tmp_path)
    with (
        RunFolder(tmp_path, Digests(2)) as folder,
        redirect_stderr(terminal),
        Progress(folder, True),
    ):
        pass
    assert "tests.digests" in shown(terminal)
    assert "2/2 chunks, 2 runs" in shown(terminal)
    assert "100.0%" in shown(terminal)


def test_a_chunk_counts_by_its_work(tmp_path, terminal):
    with (
        RunFolder(tmp_path, Digests(3)) as folder,
        redirect_stderr(terminal),
        Progress(folder, True) as bar,
    ):
        bar.update("seed-0", 1.0)
        bar.update("seed-2", 0.5)
    assert "41.7%" in shown(terminal)  # (1 + 0.5 * 3) / (1 + 2 + 3)
    assert "0/3 chunks, 0 runs" in shown(terminal)


def test_it_moves(tmp_path, terminal):
    with redirect_stderr(terminal):
        sweep.run(Digests(4, seconds=0.3), tmp_path, workers=2, progress=True)
    assert len(set(re.findall(r"[\d.]+%", shown(terminal)))) > 2


@pytest.mark.parametrize("quiet", [True, False])
def test_no_bar(tmp_path, terminal, monkeypatch, quiet):
    monkeypatch.setattr(Terminal, "isatty", lambda self: quiet)
    with redirect_stderr(terminal):
        sweep.run(Digests(2), tmp_path, progress=not quiet)
    assert shown(terminal) == ""
