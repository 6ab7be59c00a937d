"""Several starts of a training, and the best of them with its card: a new file."""

import dataclasses

import polars as pl
import pytest
import torch

from exact_copy import copying_module, untrained
from torchalu.tasks import algorithm
from torchalu.train.algorithms import AlgorithmTraining, train_algorithm
from torchalu.train.algorithms.result import AlgorithmResult
from torchalu.zoo import AlgorithmFileError
from torchalu.zoo.learn import _best, learn

TINY = AlgorithmTraining(
    maps=6, bins=(3, 5), batch=4, steps=6, evaluate_every=3, validation_strings=4, seed=5,
    validate_at=(1.0,),
)  # fmt: skip


def test_each_start_has_a_seed_of_its_own_and_the_one_that_validates_best_is_kept(tmp_path):
    task = algorithm("copy")
    alone = {
        seed: train_algorithm(task, dataclasses.replace(TINY, seed=seed)) for seed in (5, 6, 7)
    }
    losses = {seed: result.validation_loss for seed, result in alone.items()}
    assert len({*losses.values()}) == 3
    learned, records = learn(task, TINY, tmp_path, seeds=3, command="this one")
    best = min(losses, key=losses.__getitem__)
    card = learned.card
    assert (card.seed, card.seeds_tried, card.command) == (best, 3, "this one")
    assert card.steps == alone[best].best_step
    assert records.drop("seconds").equals(alone[best].records.drop("seconds"))
    state = learned.module.state_dict()
    for name, value in alone[best].module.state_dict().items():
        assert torch.equal(state[name], value)


def test_the_best_of_other_starts_is_not_replaced(tmp_path):
    task = algorithm("copy")
    learn(task, TINY, tmp_path)
    before = (tmp_path / "copy.safetensors").read_bytes()
    other = dataclasses.replace(TINY, maps=9, seed=8)
    with pytest.raises(ValueError, match=r"that of seed 5, .* has seeds 8 to 9; name another fold"):
        learn(task, other, tmp_path, seeds=2)
    assert (tmp_path / "copy.safetensors").read_bytes() == before
    learn(task, dataclasses.replace(TINY, seed=4), tmp_path, seeds=3)


def test_leavings_of_a_killed_process_are_removed(tmp_path):
    left = f".{'0123456789abcdef'}.unfinished"
    ours = [tmp_path, tmp_path / "seed-5", tmp_path / "seed-5" / "attempt-1"]
    others = [tmp_path / "other", tmp_path / "other" / "seed-5"]
    for folder in (*ours, *others):
        folder.mkdir(exist_ok=True)
        (folder / left).write_text("half")
    (tmp_path / ".notes.unfinished").write_text("not ours")
    learn(algorithm("copy"), TINY, tmp_path)
    assert not any((folder / left).exists() for folder in ours)
    assert all((folder / left).exists() for folder in others)
    assert (tmp_path / ".notes.unfinished").exists()


def test_a_damaged_result_is_set_aside_and_made_anew(tmp_path):
    task = algorithm("copy")
    learn(task, TINY, tmp_path)
    path = tmp_path / "copy.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.warns(UserWarning, match=r"copy\.safetensors' .* It is now 'copy\.safetensors\.b"):
        learn(task, TINY, tmp_path)
    assert path.read_bytes() == whole
    assert (tmp_path / "copy.safetensors.broken").read_bytes() == whole[:-3]


def test_a_sound_result_of_another_task_is_no_damaged_one(tmp_path):
    untrained(algorithm("badd")).save(tmp_path / "copy.safetensors")
    with pytest.raises(AlgorithmFileError, match=r"of a task with name 'badd'"):
        learn(algorithm("copy"), TINY, tmp_path)
    assert (tmp_path / "copy.safetensors").exists()


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"folder is '.*file', but '.*file' is no folder"):
        learn(algorithm("copy"), TINY, tmp_path / "file")


def test_where_it_learns(tmp_path, monkeypatch):
    devices = []

    def note(task, training, *, device, **options):
        devices.append(device)
        return train_algorithm(task, training, **options)

    monkeypatch.setitem(learn.__globals__, "train_algorithm", note)
    learn(algorithm("copy"), TINY, tmp_path, seeds=2, device="cuda")
    assert devices == ["cuda", "cuda"]


def test_the_card_counts_the_starts_that_generalize():
    def result(loss, *right):
        records = pl.DataFrame(
            {"step": 9, "symbols": [4, 8], "right": right, "validation_loss": loss}
        )
        return AlgorithmResult(copying_module(), records, "finished", 20, 9, 1.0)

    results = {4: result(0.1, 1.0, 0.9), 5: result(0.01, 1.0, 1.0), 6: result(0.02, 1.0, 1.0)}
    learned, _ = _best(algorithm("copy"), results, "")
    card = learned.card
    assert (card.seed, card.seeds_tried, card.seeds_generalizing) == (5, 3, 2)
    assert "seeds: 2 of 3 right on all validation strings" in str(card)
