"""A file is written whole or not at all."""

import os
import stat

import pytest

from torchalu.train import write_atomic


def test_writes_text_and_bytes(tmp_path):
    write_atomic(tmp_path / "a.txt", "größe\n")
    write_atomic(tmp_path / "b.bin", b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == "größe\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"


def test_replaces_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    write_atomic(path, "new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_atomic(tmp_path / "a.txt", "")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "a.txt")]
    assert modes[0] == modes[1]


def test_keeps_the_old_file_if_the_write_fails(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_no_such_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/a.txt' cannot be written: No such file or "):
        write_atomic(tmp_path / "none" / "a.txt", "new")


def test_what_cannot_be_written_is_named_and_not_its_neighbor(tmp_path):
    with pytest.raises(
        IsADirectoryError, match=r"' cannot be written: Is a .*; mend that, or name"
    ):
        write_atomic(tmp_path, "new")
    long = 250 * "a"
    write_atomic(tmp_path / long, "new")
    assert os.listdir(tmp_path) == [long]
