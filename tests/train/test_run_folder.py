"""A run folder keeps what is done, and says what is wrong with it."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from safetensors.torch import load_file

from studies import Digests, Subtraction
from torchalu import sweep
from torchalu.engine import instruction_set
from torchalu.train import Chunk, Cost, Part, RunFolder, encode

COST = Cost(1.0, 2.0, "here", "a processor", "a set")
PARTS = (".parquet", ".outcomes.parquet", ".safetensors")


def contents(folder):
    """The bytes of all parts, by name; the markers differ in their times."""
    files = Path(folder, "parts").iterdir()
    return {path.name: path.read_bytes() for path in files if path.name.endswith(PARTS)}


@pytest.fixture
def done(tmp_path):
    sweep.run(Subtraction(3), tmp_path / "run")
    return tmp_path / "run"


def test_layout(done):
    names = [f"sub-{k}{suffix}" for k in range(3) for suffix in (*PARTS, ".json")]
    assert {path.name for path in (done / "parts").iterdir()} == set(names)
    stored = json.loads((done / "configuration.json").read_text())
    assert (stored["format"], stored["study"]) == (1, "tests.subtraction")
    assert stored["configuration"] == {"seeds": 3, "steps": 1000, "stack": ["NAU", [2, 1]]}
    (entry,) = json.loads((done / "environment.json").read_text())
    assert entry["cores"] == len(os.sched_getaffinity(0))
    assert entry["python"] == ".".join(map(str, sys.version_info[:3]))
    marker = json.loads((done / "parts" / "sub-1.json").read_text())
    for suffix in PARTS:
        sizes = marker["files"][suffix]["bytes"], (done / "parts" / f"sub-1{suffix}").stat().st_size
        assert sizes[0] == sizes[1]


def test_what_is_read_is_what_the_study_gave(done):
    part = Subtraction(3).run(Chunk("sub-1"), done, lambda fraction: None)
    assert pl.read_parquet(done / "parts" / "sub-1.parquet").equals(part.records)
    weights = load_file(done / "parts" / "sub-1.safetensors")
    assert weights.keys() == part.weights.keys()
    assert weights["0.weight"].equal(part.weights["0.weight"])
    with RunFolder(done, Subtraction(3)) as folder:
        assert folder.outcomes()["seed"].to_list() == [0, 1, 2]
        assert folder.outcomes()[1].equals(part.outcomes)


def test_each_start_is_noted(done):
    with RunFolder(done, Subtraction(3)) as folder:
        assert len(folder.environments) == 2
        assert folder.environments[0]["seconds"] > 0
        assert "seconds" not in folder.environments[1]


def test_another_instruction_set_is_named(done, caplog):
    path = done / "environment.json"
    path.write_text(path.read_text().replace("instruction_set", "instructions"))
    RunFolder(done, Subtraction(3)).close()
    assert "the last digits of results may differ" in caplog.text


@pytest.mark.parametrize("content", ["[3]", "{", "{}", '""', "[{}]", "7", '[{"time": 3'])
def test_notes_that_cannot_be_read(done, caplog, content):
    (done / "environment.json").write_text(content)
    with RunFolder(done, Subtraction(3)) as folder:
        assert len(folder.environments) == 1
        assert len(folder.done) == 3
    assert "environment.json" in caplog.text
    assert (done / "environment.json.corrupt").read_text() == content


def test_two_holders(done):
    with RunFolder(done, Subtraction(3)):  # noqa: SIM117
        with pytest.raises(BlockingIOError, match=f"in use by process {os.getpid()} on"):
            RunFolder(done, Subtraction(3))
    RunFolder(done, Subtraction(3)).close()


def test_a_folder_without_results_takes_another_configuration(tmp_path):
    RunFolder(tmp_path / "run", Subtraction(3)).close()
    with RunFolder(tmp_path / "run", Subtraction(4, steps=9)) as folder:
        assert folder.study.configuration["seeds"] == 4
    RunFolder(tmp_path / "run", Subtraction(4, steps=9)).close()


def test_a_killed_process_holds_nothing(tmp_path):
    program = (
        "import sys; from studies import Digests; from torchalu.train import RunFolder;"
        "folder = RunFolder(sys.argv[1], Digests()); print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError, match=f"process {process.pid} on"):
            RunFolder(tmp_path, Digests())
        process.kill()
    RunFolder(tmp_path, Digests()).close()


def test_another_configuration(done):
    with pytest.raises(ValueError, match=r"seeds is 3 there, 4 here; steps is 1000 there, 9 here"):
        RunFolder(done, Subtraction(4, steps=9))
    with pytest.raises(ValueError, match=r"study is .* Choose another folder"):
        RunFolder(done, Digests())
    RunFolder(done, Subtraction(3)).close()


def test_equal_numbers_of_two_kinds_are_two_configurations(done):
    with pytest.raises(ValueError, match=r"steps is 1000 there, 1000\.0 here"):
        RunFolder(done, Subtraction(3, steps=1000.0))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("\xff", "cannot be read as JSON"),
        ("[]", "names no format"),
        ('{"format": true}', "names no format"),
        ('{"format": 99}', "of format 99"),
        ('{"format": 1}', "another configuration"),
        ('{"format": 1, "study": [], "configuration": "x"}', "another configuration"),
    ],
)
def test_hostile_configuration(done, content, message):
    (done / "configuration.json").write_bytes(content.encode("latin-1"))
    before = contents(done)
    with pytest.raises(ValueError, match=message):
        RunFolder(done, Subtraction(3))
    assert contents(done) == before


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(ValueError, match=r"holds 'thesis\.tex' but no configuration\.json"):
        RunFolder(tmp_path, Digests())
    assert os.listdir(tmp_path) == ["thesis.tex"]
    with pytest.raises(ValueError, match="is no folder"):
        RunFolder(tmp_path / "thesis.tex", Digests())
    with pytest.raises(ValueError, match="is no folder"):
        RunFolder(tmp_path / "thesis.tex" / "run", Digests())


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def make_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [truncate, flip, make_folder, Path.unlink])
@pytest.mark.parametrize("suffix", PARTS)
def test_a_corrupt_part_is_named_set_aside_and_redone(done, caplog, damage, suffix):
    before = contents(done)
    damage(done / "parts" / f"sub-1{suffix}")
    left = {path.name for path in (done / "parts").glob("sub-1.*")}
    sweep.run(Subtraction(3), done)
    assert contents(done) == before
    assert f"sub-1{suffix}" in caplog.text
    assert {path.name for path in (done / "parts" / "corrupt" / "sub-1-1").iterdir()} == left


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"files": 3}', "null", "[" * 100_000])
def test_a_marker_that_cannot_be_read(done, caplog, content):
    before = contents(done)
    for number in (1, 2):
        (done / "parts" / "sub-0.json").write_text(content)
        sweep.run(Subtraction(3), done)
        assert contents(done) == before
        assert "sub-0.json cannot be read" in caplog.text
        assert (done / "parts" / "corrupt" / f"sub-0-{number}" / "sub-0.json").exists()


def test_a_part_of_another_chunk_is_corrupt(done, caplog):
    for suffix in (*PARTS, ".json"):
        (done / "parts" / f"sub-2{suffix}").write_bytes(
            (done / "parts" / f"sub-0{suffix}").read_bytes()
        )
    with RunFolder(done, Subtraction(3)) as folder:
        assert folder.done == ["sub-0", "sub-1"]
    assert "part 'sub-2' of " in caplog.text
    assert "sub-2.json is that of sub-0" in caplog.text


def test_a_sound_part_that_cannot_be_read_now_stays(done, monkeypatch):
    read = Path.read_bytes

    def too_many(path):
        if path.suffix == ".parquet":
            raise OSError(errno.EMFILE, "Too many open files", str(path))
        return read(path)

    before = contents(done)
    with monkeypatch.context() as context:
        context.setattr(Path, "read_bytes", too_many)
        with pytest.raises(OSError, match="Too many open files"):
            RunFolder(done, Subtraction(3))
    assert contents(done) == before
    with RunFolder(done, Subtraction(3)) as folder:
        assert not folder.todo


def test_a_disk_that_is_full_at_the_lock_holds_nothing(done, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match=r"no disk space .*lock'"):
            RunFolder(done, Subtraction(3))
    RunFolder(done, Subtraction(3)).close()


def test_a_part_without_its_marker_is_not_done(done):
    before = contents(done)
    (done / "parts" / "sub-2.json").unlink()
    with RunFolder(done, Subtraction(3)) as folder:
        assert [chunk.name for chunk in folder.todo] == ["sub-2"]
    sweep.run(Subtraction(3), done)
    assert contents(done) == before


def test_leavings_of_a_killed_process_are_removed(done):
    below = done / "scratch" / "sub-0" / "attempt-1"
    for folder in (done, done / "parts", below):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".0123456789abcdef.unfinished").write_text("{")
    (done / "parts" / ".keep").touch()
    with RunFolder(done, Subtraction(3)) as folder:
        folder.scratch("sub-0")
    assert list(done.rglob("*.unfinished")) == []
    assert (done / "parts" / ".keep").exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("call", [1, 3, 5, 8, 12, 13])
def test_the_disk_is_full_at_some_moment(tmp_path, monkeypatch, call, code):
    sweep.run(Digests(3), tmp_path / "whole")
    fsync, calls = os.fsync, iter(range(1, 10_000))

    def full(descriptor):
        if next(calls) >= call:
            raise OSError(code, os.strerror(code))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"no disk space for .*run the same command again"):
            sweep.run(Digests(3), tmp_path / "run", workers=1)
    assert list((tmp_path / "run").rglob("*.unfinished")) == []
    sweep.run(Digests(3), tmp_path / "run")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "x" * 151, "a*", "a b", "a.outcomes"])
def test_names_that_files_cannot_have(tmp_path, monkeypatch, name):
    monkeypatch.setattr(Digests, "chunks", lambda self: [Chunk(name)])
    with pytest.raises(ValueError, match="allowed: at most 150 letters"):
        RunFolder(tmp_path / "run", Digests())
    assert not (tmp_path / "run").exists()


def test_two_chunks_of_one_name(tmp_path, monkeypatch):
    monkeypatch.setattr(Digests, "chunks", lambda self: [Chunk("a"), Chunk("a")])
    with pytest.raises(ValueError, match=r"two chunks of tests\.digests are called 'a'"):
        RunFolder(tmp_path, Digests())


def test_outcomes_without_a_key(tmp_path):
    with RunFolder(tmp_path, Digests()) as folder:
        files = encode(Part(pl.DataFrame(), pl.DataFrame({"value": [1]})))
        with pytest.raises(ValueError, match=r"chunk 'seed-0' lack the columns \['seed'\]"):
            folder.write("seed-0", files, COST)
        assert folder.done == []


def test_costs_add_up(tmp_path):
    with RunFolder(tmp_path, Digests()) as folder:
        for seed in range(3):
            part = Part(pl.DataFrame(), pl.DataFrame({"seed": [seed]}))
            folder.write(f"seed-{seed}", encode(part), COST)
        assert folder.core_hours == pytest.approx(6 / 3600)
        assert (folder.runs, folder.processors) == (3, ["a processor"])
        assert folder.instruction_sets == ["a set"]


def test_a_part_of_a_version_that_noted_no_instruction_set(done):
    path = next((done / "parts").glob("*.json"))
    marker = json.loads(path.read_text())
    del marker["instruction_set"]
    path.write_text(json.dumps(marker))
    with RunFolder(done, Subtraction(3)) as folder:
        assert not folder.todo
        assert folder.instruction_sets == sorted([instruction_set(), "unknown"])


def test_another_version_of_a_package_is_named(done, caplog):
    path = done / "environment.json"
    (entry,) = json.loads(path.read_text())
    entry["versions"]["torch"] = "0.0.1"
    path.write_text(json.dumps([entry]))
    RunFolder(done, Subtraction(3)).close()
    assert "'torch': '0.0.1'" in caplog.text
    assert "the last digits of results may differ" in caplog.text


def test_a_folder_of_no_result_takes_another_configuration(tmp_path):
    RunFolder(tmp_path, Subtraction(3)).close()
    (tmp_path / "scratch" / "seed0").mkdir(parents=True)  # a chunk was begun, and nothing stored
    RunFolder(tmp_path, Subtraction(4, steps=9)).close()
    (tmp_path / "scratch" / "seed0" / "checkpoint").write_text("half")
    with pytest.raises(ValueError, match=r"seeds is 4 there, 3 here"):
        RunFolder(tmp_path, Subtraction(3))
