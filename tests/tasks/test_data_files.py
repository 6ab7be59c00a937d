"""Where files are looked for, and what is said of those that are missing or wrong."""

import hashlib

import pytest

from torchalu.tasks import DataError, DataFiles, cache_folder

CONTENT = {"a.bin": b"first", "b.bin": b"second"}
SUMS = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
FILES = DataFiles("stars", "Stars", SUMS, layouts=("stars-1", "."))


@pytest.fixture(autouse=True)
def caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("TORCHALU_DATA", raising=False)


def write(folder, names=("a.bin", "b.bin")):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(CONTENT[name])


def test_the_argument_goes_before_the_variable_and_that_before_the_cache(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="run `torchalu data stars`, which gets it once"):
        FILES.folder()
    write(cache_folder("stars") / "stars-1")
    assert FILES.folder() == cache_folder("stars") / "stars-1"
    write(tmp_path / "variable")
    monkeypatch.setenv("TORCHALU_DATA", str(tmp_path / "variable"))
    assert FILES.folder() == tmp_path / "variable"
    write(tmp_path / "argument" / "stars-1")
    assert FILES.folder(tmp_path / "argument") == tmp_path / "argument" / "stars-1"


def test_a_named_folder_without_a_file_is_an_error_whatever_the_cache_holds(tmp_path):
    write(cache_folder("stars"))
    write(tmp_path / "some", ["a.bin"])
    with pytest.raises(FileNotFoundError, match=r"Stars is not in .*some': no b\.bin; run"):
        FILES.folder(tmp_path / "some")


def test_files_of_a_layout_are_not_mixed_with_those_of_another(tmp_path):
    write(tmp_path, ["a.bin"])
    write(tmp_path / "stars-1", ["b.bin"])
    with pytest.raises(FileNotFoundError, match=r"no a\.bin;"):
        FILES.folder(tmp_path)


def test_what_cannot_be_fetched_says_where_to_put_it(tmp_path):
    files = DataFiles("stars", "Stars", SUMS, layouts=("stars-1", "."), fetched=False)
    with pytest.raises(FileNotFoundError) as raised:
        files.folder()
    message = str(raised.value)
    assert "no package carries it" in message
    assert repr(str(cache_folder("stars") / "stars-1")) in message
    assert "in $TORCHALU_DATA" in message
    assert "torchalu data" not in message


def test_a_damaged_file_is_named_with_both_sums(tmp_path):
    write(tmp_path)
    FILES.check_all(tmp_path)
    assert FILES.read("b.bin", tmp_path) == b"second"
    (tmp_path / "b.bin").write_bytes(b"secons")
    found = hashlib.sha256(b"secons").hexdigest()
    with pytest.raises(DataError, match=rf"b\.bin' has sha256 {found} .*where {SUMS['b.bin']}"):
        FILES.check_all(tmp_path)


def test_the_first_digits_of_a_sum_are_enough_where_no_more_is_published(tmp_path):
    files = DataFiles("one", "One", {"a.bin": SUMS["a.bin"][:8]})
    write(tmp_path, ["a.bin"])
    assert files.read("a.bin", tmp_path) == b"first"
    (tmp_path / "a.bin").write_bytes(b"other")
    with pytest.raises(DataError, match="damaged or another data set"):
        files.read("a.bin", tmp_path)
