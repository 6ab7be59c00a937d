"""Small files in the layouts of the real data sets, whose sums take the place of the real ones."""

import dataclasses
import hashlib

import numpy as np

from torchalu.tasks import Chorale, chorales, chorales_json, cifar


def put_chorales(folder, monkeypatch, count=20, beats=12):
    """A chord of four voices, one of ten notes of which is a step off."""
    random = np.random.default_rng(0)
    made = []
    for number in range(count):
        off = random.choice([-1, 1], (beats, 4)) * (random.random((beats, 4)) < 0.1)
        notes = off + np.array([70, 63, 56, 49])
        made.append(Chorale(str(number), number, np.repeat(notes, 4, 0).astype(np.int16)))
    _put(folder, monkeypatch, chorales, "CHORALES", {"chorales.json": chorales_json(made)})
    return made


def put_cifar10(folder, monkeypatch, rows=8):
    """Random pictures, whose red channel is as bright as their label is large."""
    random = np.random.default_rng(0)
    monkeypatch.setattr(cifar, "_VALIDATION", rows)
    place = folder / cifar.CIFAR10.layouts[0]
    place.mkdir()
    content = {}
    for name in cifar.CIFAR10.sums:
        labels = random.integers(10, size=(rows, 1), dtype=np.uint8)
        pixels = random.integers(256, size=(rows, 3072), dtype=np.uint8)
        pixels[:, :1024] = 25 * labels
        content[name] = np.column_stack((labels, pixels)).tobytes()
    _put(place, monkeypatch, cifar, "CIFAR10", content)


def _put(folder, monkeypatch, module, name, content):
    for file, data in content.items():
        (folder / file).write_bytes(data)
    sums = {file: hashlib.sha256(data).hexdigest() for file, data in content.items()}
    changed = dataclasses.replace(getattr(module, name), sums=sums)
    monkeypatch.setattr(module, name, changed)
