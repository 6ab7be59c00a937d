"""A study of the native trainer that is stopped, or stored, in the midst of a chunk."""

import pytest
import torch

from torchalu.experiments import Runs, get, native
from torchalu.train import CheckpointError, Stopped

RUNS = Runs(seeds=2, steps=100_000, settle=5_000)


def study():
    models, operations = ("NMU", "NAU", "NALU"), ("add", "mul")
    return get("madsen2020.table2")(RUNS, models=models, operations=operations)


def carry_out(folder, calls=10**9):
    """The last chunk's part, and the fractions it reported; it is stopped at a call of `report`."""
    fractions = []

    def report(fraction):
        fractions.append(fraction)
        if len(fractions) == calls:
            raise Stopped("enough")

    made = study()
    return made.run(made.chunks()[-1], folder, report), fractions


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The part of a chunk that is not stopped."""
    folder = tmp_path_factory.mktemp("chunk") / "whole"
    part, _ = carry_out(folder)
    assert not folder.exists()
    return part


def assert_same(one, other):
    assert one.outcomes.equals(other.outcomes)
    assert one.records.equals(other.records)
    assert one.weights.keys() == other.weights.keys()
    assert all(torch.equal(one.weights[name], other.weights[name]) for name in one.weights)


def test_stopped_again_and_again_it_ends_as_if_it_had_not_been(tmp_path, whole):
    begun = []
    for _ in range(3):
        with pytest.raises(Stopped):
            carry_out(tmp_path / "broken", calls=1)
        begun.append((tmp_path / "broken" / "checkpoint.safetensors").read_bytes())
    assert len(set(begun)) == 3
    rest, fractions = carry_out(tmp_path / "broken")
    assert fractions[0] > 0
    assert fractions == sorted(fractions)
    assert_same(rest, whole)


@pytest.mark.long
def test_stored_at_every_look_it_ends_as_if_it_had_not_been(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(native, "_STORE_EVERY_SECONDS", 0.0)
    stored, fractions = carry_out(tmp_path / "stored")
    assert (tmp_path / "stored" / "checkpoint.safetensors").exists()
    assert fractions == sorted(fractions)
    assert_same(stored, whole)


def test_a_checkpoint_of_another_chunk_is_refused(tmp_path):
    with pytest.raises(Stopped):
        carry_out(tmp_path, calls=1)
    first = study()
    with pytest.raises(CheckpointError, match=r"chunk = 'team0-seed1', and this one has 'team0-"):
        first.run(first.chunks()[0], tmp_path, print)


def test_a_broken_checkpoint_is_set_aside_and_the_chunk_begun_anew(tmp_path, whole):
    with pytest.raises(Stopped):
        carry_out(tmp_path, calls=1)
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is no checkpoint"):
        part, _ = carry_out(tmp_path)
    assert_same(part, whole)
