"""Excerpts: which there are, how they are corrupted, and that no part knows of another."""

import numpy as np
import pytest
import torch

from data_sets import needs
from torchalu.tasks import Chorale, IsItBach, load_chorales


def chorales(count=20, beats=12):
    """Chorales in quarter notes, one a group, with voices on ranges of their own."""
    random = np.random.default_rng(0)
    made = []
    for number in range(count):
        notes = random.integers(6, size=(beats, 4)) + np.array([70, 60, 50, 40])
        voices = -np.repeat(notes, 4, axis=0).astype(np.int16)
        voices[::4] *= -1
        made.append(Chorale(str(number), number, voices))
    return made


def decoded(task, features):
    """Pitches from features, by hand."""
    cells = features.reshape(-1, task.steps, 4, task.pitches)
    assert torch.equal(cells.sum(-1), torch.ones(cells.shape[:-1]))
    return cells.argmax(-1).numpy() + task.lowest


def test_genuine_excerpts_are_what_the_voices_sing():
    made = chorales()
    tasks = [IsItBach(made, part, steps=8) for part in ("train", "validation", "test")]
    assert [len(task) for task in tasks] == [16 * 5, 2 * 5, 2 * 5]
    windows = {
        np.array(one.voices[4 * start : 4 * (start + 8) : 4]).astype(np.int64).tobytes(): one.group
        for one in made
        for start in range(5)
    }
    groups = []
    for task in tasks:
        batch = task.pairs()
        assert batch.targets.flatten().tolist() == [1.0, 0.0] * len(task)
        genuine = decoded(task, batch.features[::2])
        groups.append({windows[excerpt.tobytes()] for excerpt in genuine})
        assert task.in_features == 8 * 4 * task.pitches == batch.features.shape[1]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 20


def test_a_group_is_never_in_two_parts():
    made = [one._replace(group=number // 4) for number, one in enumerate(chorales(40))]
    sizes = {part: len(IsItBach(made, part)) for part in ("train", "validation", "test")}
    assert sizes == {"train": 160, "validation": 20, "test": 20}


def test_corrupted_excerpts_have_other_pitches_of_the_same_voice():
    made = chorales()
    task = IsItBach(made, "validation", rate=0.25, seed=1)
    batch = task.pairs()
    genuine, corrupted = decoded(task, batch.features[::2]), decoded(task, batch.features[1::2])
    changed = genuine != corrupted
    assert changed.any((1, 2)).all()
    ranges = np.array([70, 60, 50, 40])
    assert ((corrupted >= ranges) & (corrupted < ranges + 6)).all()


def test_the_rate_is_the_probability_of_each_note():
    task = IsItBach(chorales(200), "train", rate=0.25)
    changed = task.corrupt(task.excerpts, np.random.default_rng(0)) != task.excerpts
    cells = changed.size
    assert changed.mean() == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / cells) ** 0.5)
    assert changed.mean((0, 1)) == pytest.approx(0.25, abs=8 * (0.25 * 0.75 / cells) ** 0.5)


def test_one_note_is_replaced_in_any_case_and_each_note_equally_often():
    task = IsItBach(chorales(200), "train", rate=1e-12)
    changed = task.corrupt(task.excerpts, np.random.default_rng(0)) != task.excerpts
    assert (changed.sum((1, 2)) == 1).all()
    share = changed.reshape(len(changed), -1).mean(0)
    assert share == pytest.approx(1 / 32, abs=5 * (1 / 32 / len(changed)) ** 0.5)


def test_new_pitches_come_by_how_often_the_voice_sings_them():
    voices = np.array([[60, 50, 45, 40]] * 5 + [[62, 52, 47, 42]] * 3 + [[64, 54, 49, 44]] * 2)
    made = [Chorale(str(i), i, voices.astype(np.int16)) for i in range(10)]
    task = IsItBach(made, "train", steps=1, resolution=1, rate=1.0)
    excerpts = np.repeat(task.excerpts[:1], 20_000, axis=0)
    assert (excerpts[0, 0] + task.lowest).tolist() == [60, 50, 45, 40]
    new = task.corrupt(excerpts, np.random.default_rng(0))[:, 0] + task.lowest
    assert sorted(set(new[:, 0])) == [62, 64]
    tolerance = 4 * (0.6 * 0.4 / 20_000) ** 0.5
    assert (new == [62, 52, 47, 42]).mean(0) == pytest.approx(0.6, abs=tolerance)


def test_rests_and_lengths():
    made = chorales(20)
    made[0].voices[20, 2] = 0
    short = [*made, Chorale("short", 20, made[1].voices[:8])]

    def excerpts(chorales, **sizes):
        parts = ("train", "validation", "test")
        return sum(len(IsItBach(chorales, part, **sizes)) for part in parts)

    assert excerpts(made) == excerpts(short) == 20 * 5 - 5
    assert excerpts(made, steps=12) == 19
    assert excerpts(made, steps=24, resolution=2) == 19
    assert excerpts(made, steps=8, resolution=2) == 20 * 17 - 8


def test_batches_follow_from_seed_and_step():
    task, again = IsItBach(chorales(), seed=3), IsItBach(chorales(), seed=3)
    assert torch.equal(task.batch(5).features, again.batch(5).features)
    assert not torch.equal(task.batch(5).features, task.batch(6).features)
    other = IsItBach(chorales(), seed=4)
    assert not torch.equal(task.batch(5).features, other.batch(5).features)
    assert torch.equal(task.pairs().features, again.pairs().features)
    assert torch.equal(task.pairs().features[::2], other.pairs().features[::2])
    batch = task.batch(0, batch_size=5)
    assert batch.targets.flatten().tolist() == [1, 0, 1, 0, 1]
    before = task.excerpts.copy()
    task.batch(7)
    np.testing.assert_array_equal(task.excerpts, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": "dev"}, "part is 'dev'; choose from train, validation, test"),
        ({"steps": 0}, "steps is 0; give a positive integer"),
        ({"resolution": 0}, "resolution is 0; give a positive integer"),
        ({"rate": 0.0}, "rate is 0.0; give a probability"),
        ({"rate": 1.5}, "rate is 1.5; give a probability"),
        ({"steps": 13}, "holds no excerpt of 13 steps"),
    ],
)
def test_arguments_that_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        IsItBach(chorales(), **arguments)


def test_chorales_that_cannot_be():
    with pytest.raises(ValueError, match="chorales has 0 chorales"):
        IsItBach([])
    flat = [one._replace(voices=np.full_like(one.voices, 60)) for one in chorales()]
    with pytest.raises(ValueError, match="whose soprano sings one pitch"):
        IsItBach(flat)
    with pytest.raises(ValueError, match="batch_size is 0"):
        IsItBach(chorales()).batch(0, batch_size=0)


@needs("chorales")
def test_no_excerpt_of_a_real_part_is_in_another_whatever_its_key():
    made = load_chorales()
    seen = {}
    for part in ("train", "validation", "test"):
        excerpts = IsItBach(made, part).excerpts
        relative = excerpts - excerpts.max((1, 2), keepdims=True)
        seen[part] = {excerpt.tobytes() for excerpt in relative}
    assert {part: len(found) > 1000 for part, found in seen.items()} == dict.fromkeys(seen, True)
    assert not seen["train"] & seen["validation"]
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]
