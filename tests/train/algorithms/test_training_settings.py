"""What the settings of a training reach: its strings, validation, gradients and memory."""

import dataclasses

import pytest
import torch

from torchalu.evaluate import string_accuracy
from torchalu.tasks import StringFileTask, algorithm
from torchalu.train.algorithms import (
    AlgorithmTraining,
    new_module,
    string_loss,
    train_algorithm,
)
from torchalu.train.algorithms.start import check_training_memory
from torchalu.train.algorithms.training import _with_carries

TINY = AlgorithmTraining(
    maps=6, bins=(3, 5), batch=2, steps=6, evaluate_every=3, validation_strings=3, every=2
)


@pytest.fixture
def trained_texts(monkeypatch):
    """The inputs of all training strings, as they come."""
    seen = []

    def noting(alphabet):
        def loss(module, groups):
            for group in groups:
                rows = group.inputs.tolist()
                seen.extend("".join(alphabet[n - 1] for n in row if n) for row in rows)
            return string_loss(module, groups)

        monkeypatch.setattr("torchalu.train.algorithms.training.string_loss", loss)
        return seen

    return noting


def test_long_carries_are_those_of_the_training_strings(trained_texts):
    task, longest = algorithm("badd"), []
    texts = trained_texts(task.alphabet)
    training = dataclasses.replace(TINY, bins=(21,), batch=8, validate_at=(1.0,), long_carries=1.0)
    train_algorithm(task, training)
    assert len(texts) == 6 * 8
    for text in texts:
        carry, run, runs = 0, 0, [0]
        for a, b in zip(*text.split("+"), strict=True):
            carry = int(a) + int(b) + carry >= 2
            run = run + 1 if carry else 0
            runs.append(run)
        longest.append(max(runs) / text.index("+"))
    assert min(longest) >= 0.5


def test_absent_carries_are_those_of_the_training_strings(trained_texts):
    task = algorithm("badd")
    texts = trained_texts(task.alphabet)
    training = dataclasses.replace(
        TINY, bins=(21,), batch=8, validate_at=(1.0,), long_carries=0.0, absent_carries=1.0
    )
    train_algorithm(task, training)
    assert len(texts) == 6 * 8
    for text in texts:
        differ = "".join("01"[a != b] for a, b in zip(*text.split("+"), strict=True))
        assert max(map(len, differ.split("0"))) + 1 >= text.index("+") / 2
        assert any(a == b == "0" for a, b in zip(*text.split("+"), strict=True))


def test_tasks_without_absent_carries_ignore_their_share(trained_texts):
    task = algorithm("bmul")
    texts = trained_texts(task.alphabet)
    training = dataclasses.replace(TINY, bins=(7,), batch=8, validate_at=(1.0,), absent_carries=0.5)
    train_algorithm(task, training)
    assert len(texts) == 6 * 8


def test_rows_are_trained_on_or_validated_on_but_never_both(trained_texts, monkeypatch):
    rows = {f"{n:07b}".translate({48: "a", 49: "b"}): "ab"[n % 2] for n in range(128)}
    task = StringFileTask(
        name="own", title="rows", alphabet="ab", example="a", size=(1, 0), rows=rows
    )
    validated = set()

    def noting(module, task, texts):
        validated.update(texts)
        return string_accuracy(module, task, texts)

    monkeypatch.setattr("torchalu.train.algorithms.validation.string_accuracy", noting)
    texts = trained_texts(task.alphabet)
    training = dataclasses.replace(TINY, bins=(7,), batch=32, validation_strings=99)
    train_algorithm(task, training)
    most, few = task.split()
    assert len(most.rows) > len(few.rows) > 0
    assert set(texts) <= most.rows.keys()
    assert validated == few.rows.keys()


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_strings_under_noise_are_validated_where_there_is_noise(noise):
    records = train_algorithm(algorithm("copy"), dataclasses.replace(TINY, noise=noise)).records
    assert ("right_under_noise" in records.columns) == (noise > 0)


def test_the_gradient_is_clipped():
    """A bound near 0 keeps the start; Adam divides by 1e-4 at least."""
    moved = []
    for clip_norm in (1e-12, float("inf")):
        training = dataclasses.replace(
            TINY, clip_norm=clip_norm, optimizer="adam", gradient_noise=0.0, average=0.0
        )
        start = new_module(algorithm("copy"), training).state_dict()
        state = train_algorithm(algorithm("copy"), training).module.state_dict()
        moved.append(max((state[name] - start[name]).abs().max().item() for name in start))
    assert moved[0] < 1e-6
    assert moved[1] > 1e-3


def test_memory_that_gradients_take_is_reckoned_with(monkeypatch):
    """4 bytes, 32 strings of 41 symbols, 48 maps in 10 and 18 x 41 copies, 3 x 4 symbols."""
    taken = 4 * 32 * 41 * (48 * (10 + 18 * 41) + 3 * 4)
    training = AlgorithmTraining(maps=48, bins=(41,), bins_per_step=1, batch=32)
    free = {"bytes": taken}
    monkeypatch.setattr("torchalu.evaluate.memory.free_bytes", lambda device: free["bytes"])
    with pytest.raises(ValueError, match=r"bins is \(41,\), batch 32 and maps 48, which takes"):
        check_training_memory(algorithm("badd"), training)
    free["bytes"] = 2 * taken  # the parameters are few beside it
    check_training_memory(algorithm("badd"), training)


class OneHot(torch.nn.Module):
    """A module that is no Neural GPU: for each symbol a row of a table."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.zeros(8, 3))

    def forward(self, symbols, lengths):
        return self.table[symbols]


@pytest.mark.parametrize("name", ["noise", "saturation"])
def test_methods_that_ask_for_a_neural_gpu_say_so(name):
    numbers = {"noise": 0.0, "saturation": 0.0, "bins": (3,), "batch": 2, "steps": 2}
    training = AlgorithmTraining(maps=6, validate_at=(1.0,), **numbers)
    asked = dataclasses.replace(training, **{name: 0.5})
    with pytest.raises(ValueError, match=rf"OneHot and training.{name} is 0.5.* training.{name}=0"):
        train_algorithm(algorithm("copy"), asked, module=OneHot())
    assert train_algorithm(algorithm("copy"), training, module=OneHot()).steps == 2


def test_a_task_with_shares_of_its_own_keeps_them():
    training = dataclasses.replace(TINY, bins=(21,), batch=8, validate_at=(1.0,), long_carries=0.25)
    own = algorithm("badd", long_carries=1.0)
    assert _with_carries(own, training) == own
    absent = algorithm("badd", absent_carries=0.9)
    assert _with_carries(absent, training) == absent
    assert _with_carries(algorithm("badd"), training).long_carries == 0.25
