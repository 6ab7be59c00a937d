"""The command as a process: its status, its streams, and that nobody may be there to read them."""

import subprocess
import sys
from importlib import resources

import pytest

KEPLER = str(resources.files("torchalu.tasks.tables") / "kepler.csv")
MAIN = [sys.executable, "-c", "import sys; from torchalu.cli import main; sys.exit(main())"]
FIT = ["fit", KEPLER, "--target", "period", "--features", "a", "--restarts", "1"]


def unread(arguments, folder):
    """The status of a command whose output nobody reads, and what it says of errors."""
    run = subprocess.Popen(
        [*MAIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.close()
    with run.stderr:
        said = run.stderr.read()
    return run.wait(120), said


def test_bad_input_is_status_2_one_line_and_quick():
    run = subprocess.run(
        [*MAIN, "fit", "no.csv", "--target", "y"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == "torchalu: no such file: 'no.csv'; check the spelling and the folder\n"


@pytest.mark.parametrize("arguments", [["cite"], ["fit", "--help"]])
def test_where_nobody_reads_on_it_ends_without_a_word(arguments, tmp_path):
    assert unread(arguments, tmp_path) == (141, b"")


def test_all_files_are_written_whoever_reads(tmp_path):
    assert unread([*FIT, "--export", "formula.py", "formula.c"], tmp_path) == (141, b"")
    assert "def formula(a):" in (tmp_path / "formula.py").read_text()
    assert "double formula(double a)" in (tmp_path / "formula.c").read_text()


@pytest.mark.parametrize(
    ("closed", "arguments", "status"),
    [(">&-", ["cite", "NMU"], 0), ("2>&-", ["fit", "no.csv", "--target", "y"], 2)],
)
def test_what_would_go_to_a_closed_stream_goes_nowhere(closed, arguments, status):
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *MAIN, *arguments]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, b"", b"")
