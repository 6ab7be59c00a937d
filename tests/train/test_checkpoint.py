"""Checkpoints that are of another run, damaged or forged: named, set aside, done again."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from product_training import configuration, loss, model, same, sample
from torchalu.train import CheckpointError, fit
from torchalu.train.checkpoint import NAME, read_checkpoint


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    fit(model(), sample, loss, configuration(steps=10), folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"a run with seed = 3, and this one has 4; give"):
        fit(model(), sample, loss, configuration(seed=4), folder=tmp_path)
    with pytest.raises(CheckpointError, match="a run with parameters = "):
        fit(nn.Linear(3, 1), sample, loss, configuration(), folder=tmp_path)
    with pytest.raises(CheckpointError, match="a run with optimizer = 'Adam'"):
        fit(model(), sample, loss, configuration(), folder=tmp_path, optimizer=torch.optim.SGD)
    with pytest.raises(CheckpointError, match=r"a run with dtypes.0.weight = 'torch.float32', and"):
        fit(model().double(), sample, loss, configuration(), folder=tmp_path)
    frozen = model()
    frozen[0].requires_grad_(False)
    with pytest.raises(CheckpointError, match=r"trained = \{\}, and this one has \['1.weight'\]"):
        fit(frozen, sample, loss, configuration(), folder=tmp_path)


def test_a_number_of_numpy_is_a_number(tmp_path):
    fit(model(), sample, loss, configuration(evaluate_every=np.int64(20)), folder=tmp_path)
    fit(model(), sample, loss, configuration(evaluate_every=20), folder=tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda d: b"", lambda d: d[:100], lambda d: d[:-5], bytes.swapcase]
)
def test_a_damaged_checkpoint_is_named_set_aside_and_done_again(tmp_path, damage):
    whole = fit(model(), sample, loss, configuration(), folder=tmp_path)
    path = tmp_path / NAME
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match=r"no checkpoint .*is now 'checkpoint.safetensors.broken'"):
        result = fit(model(), sample, loss, configuration(), folder=tmp_path)
    assert same(result.last_state, whole.last_state)
    assert (tmp_path / f"{NAME}.broken").exists()


def test_a_second_damaged_checkpoint_leaves_the_first_one_where_it_is(tmp_path):
    path = tmp_path / NAME
    for number, content in enumerate((b"first", b"second")):
        fit(model(), sample, loss, configuration(), folder=tmp_path)
        path.write_bytes(content)
        name = f"{NAME}.broken" + "-2" * number
        with pytest.warns(UserWarning, match=f"is now '{name}'"):
            fit(model(), sample, loss, configuration(), folder=tmp_path)
    assert (tmp_path / f"{NAME}.broken").read_bytes() == b"first"
    assert (tmp_path / f"{NAME}.broken-2").read_bytes() == b"second"


def read_head(data):
    """The JSON in the head of a checkpoint."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["torchalu"])


def rewritten(data, change, **head):
    """A checkpoint with other tensors and another head, but the sum that it had."""
    found, tensors = read_head(data), load(data)
    change(found, tensors)
    return save(tensors, {"torchalu": json.dumps(found | head)})


@pytest.mark.parametrize(
    "change",
    [
        lambda head, tensors: head.pop("step"),
        lambda head, tensors: head.update(step=7),
        lambda head, tensors: head.pop("sha256"),
        lambda head, tensors: head.update(identity=[]),
        lambda head, tensors: tensors.pop("state/0.weight"),
        lambda head, tensors: tensors["state/0.weight"].view(torch.uint8).bitwise_xor_(1),
        lambda head, tensors: tensors.pop("generators/cpu"),
    ],
)
def test_a_changed_checkpoint_is_set_aside_and_done_again(tmp_path, change):
    whole = fit(model(), sample, loss, configuration(), folder=tmp_path)
    path = tmp_path / NAME
    path.write_bytes(rewritten(path.read_bytes(), change))
    with pytest.warns(UserWarning, match=r"no checkpoint .*is now 'checkpoint.safetensors.broken'"):
        result = fit(model(), sample, loss, configuration(), folder=tmp_path)
    assert same(result.last_state, whole.last_state)
    assert (tmp_path / f"{NAME}.broken").exists()


def test_every_flipped_bit_of_a_checkpoint_is_found(tmp_path):
    fit(model(), sample, loss, configuration(steps=8), folder=tmp_path)
    data = bytearray((tmp_path / NAME).read_bytes())
    identity, kind = read_head(data)["identity"], data.index(b"torchalu.train/")
    for place in {*range(0, len(data), 61)} - {*range(kind, kind + 16)}:
        data[place] ^= 4
        (tmp_path / NAME).write_bytes(data)
        with pytest.warns(UserWarning, match="no checkpoint"):
            assert read_checkpoint(tmp_path, identity) is None
        data[place] ^= 4
    (tmp_path / NAME).write_bytes(data)
    assert read_checkpoint(tmp_path, identity).step == 8


def test_checkpoints_of_older_versions(tmp_path):
    """Those of the first format have no sum, and go on; of others nothing is known."""
    whole = fit(model(), sample, loss, configuration())
    path = tmp_path / NAME

    def first(head, tensors):
        head["format"] = "torchalu.train/1"
        del head["sha256"]

    fit(model(), sample, loss, configuration(steps=35), folder=tmp_path)
    path.write_bytes(rewritten(path.read_bytes(), first))
    result = fit(model(), sample, loss, configuration(), folder=tmp_path)
    assert same(result.last_state, whole.last_state)
    path.write_bytes(rewritten(path.read_bytes(), lambda head, tensors: None, format="other/3"))
    with pytest.raises(CheckpointError, match=r"is of format 'other/3'.*give another folder"):
        fit(model(), sample, loss, configuration(), folder=tmp_path)


def test_a_checkpoint_holds_no_pickle(tmp_path):
    fit(model(), sample, loss, configuration(steps=10), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    data = (tmp_path / NAME).read_bytes()
    assert int.from_bytes(data[:8], "little") < len(data)
    assert data[8:9] == b"{"
