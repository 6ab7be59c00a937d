"""The zoo: what is in it loads, and is what stands beside it."""

import json
from pathlib import Path

import pytest
from scipy.stats import binomtest

import torchalu
from exact_copy import exact_copy
from torchalu.tasks import algorithm_names
from torchalu.zoo import AlgorithmFileError, Card, find, load, names, put, shelf


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A zoo with one algorithm in it."""
    learned = exact_copy()
    learned.measure([4], count=10)
    put(learned, tmp_path)
    monkeypatch.setattr(shelf, "_FOLDER", tmp_path)
    return learned


def check(folder):
    """Each checkpoint loads under its task's name, and its card stands beside it."""
    assert {path.stem for path in folder.glob("*.json")} == set(names())
    for name in names():
        learned = load(name)
        assert learned.task.name == name
        assert name in algorithm_names()
        assert Card.from_json((folder / f"{name}.json").read_text("utf-8")) == learned.card
        assert learned.card.measured
        assert learned.run(learned.task.example) == learned.task.solve(learned.task.example)


def test_what_comes_with_the_package():
    check(Path(str(shelf._FOLDER)))
    assert torchalu.zoo.names() == names()


@pytest.mark.parametrize("name", names())
def test_what_comes_with_the_package_is_as_right_as_its_card_says(name):
    learned = load(name)
    shortest = min(part.length for part in learned.card.measured)
    claimed = {part.kind: part.right for part in learned.card.measured if part.length == shortest}
    random = claimed.pop("random")
    right = learned.evaluate(shortest, 100, seed=1).right
    assert random > 980
    assert right == 100 if random == 1000 else binomtest(right, 100, random / 1000).pvalue > 0.01
    found = {kind: got.right for kind, got in learned.evaluate_adversarial(shortest).items()}
    assert found == claimed


def test_what_is_put_there_is_found(filled, tmp_path):
    check(tmp_path)
    assert names() == ("copy",)
    assert json.loads((tmp_path / "copy.json").read_text())["measured"][0]["right"] == 10
    assert find("copy").card == find(str(tmp_path / "copy.safetensors")).card == filled.card


def test_what_is_not_there(filled):
    with pytest.raises(ValueError, match="there are: copy; `torchalu algorithm train TASK`"):
        load("badd")
    with pytest.raises(ValueError, match="but 'copy'; there are"):
        find("cop")
    with pytest.raises(ValueError, match=r"'cop\.safetensors' does not exist"):
        find("cop.safetensors")


def test_an_empty_zoo(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "_FOLDER", tmp_path)
    assert names() == ()
    with pytest.raises(ValueError, match="there are: none yet"):
        load("badd")


def test_a_broken_one(filled, tmp_path):
    path = tmp_path / "copy.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(AlgorithmFileError, match="copy the file again"):
        load("copy")
