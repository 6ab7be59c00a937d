"""Checkpoints of the training loop: one safetensors file with JSON in its head."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load, save
from torch import Tensor

from torchalu.train.checksum import content_sum
from torchalu.train.files import set_aside, write_atomic

NAME = "checkpoint.safetensors"
_FORMAT = "torchalu.train/2"
_WITHOUT_SUM = "torchalu.train/1"
_NOT_WHOLE = (
    safetensors.SafetensorError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)
"""What reading a file raises that is cut short, was changed, or is no checkpoint."""


class CheckpointError(ValueError):
    """A checkpoint that is of another run."""


@dataclass
class Checkpoint:
    """Everything a run needs to go on as if it had not been broken off.

    Attributes:
        identity: what must be the same when it goes on: configuration and shapes.
        step: steps taken.
        status: as in `TrainingResult`.
        state: the module's, after that many steps.
        best_state: the module's at its lowest validation loss; empty before the first evaluation.
        best_step: the step of that.
        best_loss: that loss.
        optimizer: the optimizer's state for each parameter, by number and name.
        generators: the states of the random number generators.
        records: the evaluations, column by column.
        hooks: the state of each hook, by its name.
    """

    identity: dict[str, Any]
    step: int = 0
    status: str = "running"
    state: dict[str, Tensor] = field(default_factory=dict)
    best_state: dict[str, Tensor] = field(default_factory=dict)
    best_step: int = 0
    best_loss: float = math.inf
    optimizer: dict[int, dict[str, Any]] = field(default_factory=dict)
    generators: dict[str, Tensor] = field(default_factory=dict)
    records: dict[str, list[float]] = field(default_factory=dict)
    hooks: dict[str, dict[str, Any]] = field(default_factory=dict)


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        folder: made if it does not exist.
        checkpoint: what to write.

    Raises:
        OSError: the folder cannot be written to.
        TypeError: the optimizer's state holds what is neither tensor nor number.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     write_checkpoint(Path(name), Checkpoint({"seed": 0}, step=7))
        ...     read_checkpoint(Path(name), {"seed": 0}).step
        7
    """
    tensors: dict[str, Tensor] = {}
    hooks = {name: _pack(tensors, name, state) for name, state in checkpoint.hooks.items()}
    for prefix in ("state", "best_state", "generators"):
        for name, value in getattr(checkpoint, prefix).items():
            tensors[f"{prefix}/{name}"] = value
    numbers: dict[str, dict[str, Any]] = {}
    for index, entries in checkpoint.optimizer.items():
        numbers[str(index)] = {}
        for name, value in entries.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer/{index}/{name}"] = value
            elif value is None or isinstance(value, bool | int | float):
                numbers[str(index)][name] = value
            else:
                raise TypeError(
                    f"the optimizer keeps {name!r} as a {type(value).__name__}; a checkpoint "
                    "takes tensors and numbers: use another optimizer, or no folder"
                )
    for name, column in checkpoint.records.items():
        tensors[f"records/{name}"] = torch.tensor(column, dtype=torch.float64)
    tensors["best_loss"] = torch.tensor(checkpoint.best_loss, dtype=torch.float64)
    head = {
        "format": _FORMAT,
        "identity": checkpoint.identity,
        "step": checkpoint.step,
        "status": checkpoint.status,
        "best_step": checkpoint.best_step,
        "optimizer": numbers,
        "columns": list(checkpoint.records),
        "hooks": hooks,
    }
    copies = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
    head = json.loads(json.dumps(head, allow_nan=False))  # as it will be read
    head["sha256"] = content_sum(head, copies)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / NAME, save(copies, {"torchalu": json.dumps(head)}))


def read_checkpoint(folder: Path, identity: dict[str, Any]) -> Checkpoint | None:
    """Read the checkpoint in a folder; None if there is none to go on from.

    A file that is not whole, or was changed, is set aside under a name that ends in `.broken`, with
    a warning.

    Args:
        folder: where `write_checkpoint` put it.
        identity: of the run that is to go on.

    Raises:
        OSError: the file is there and cannot be opened.
        CheckpointError: it is of another run, with what differs, or of another format.
    """
    path = folder / NAME
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        head, checkpoint = _whole(data)
    except _NOT_WHOLE as error:
        aside = set_aside(path, ".broken")
        warnings.warn(
            f"{str(path)!r} is no checkpoint ({error}); it is now {aside.name!r}, and training "
            "begins anew",
            stacklevel=3,
        )
        return None
    if checkpoint is None:
        raise CheckpointError(
            f"{str(path)!r} is of format {head['format']!r}, and this version of torchalu knows "
            f"{_FORMAT!r}; give another folder, or remove the file to begin anew"
        )
    _compare(path, checkpoint.identity, identity)
    return checkpoint


def _whole(data: bytes) -> tuple[dict[str, Any], Checkpoint | None]:
    """The head of a file and its checkpoint, None of another format; raises if it is not whole."""
    head, tensors = json.loads(_metadata(data)["torchalu"]), load(data)
    if head["format"] not in (_FORMAT, _WITHOUT_SUM):
        return head, None
    if head["format"] == _FORMAT and head.pop("sha256") != content_sum(head, tensors):
        raise ValueError("its sha256 is not that of its content")
    return head, _assemble(head, tensors)


def _assemble(head: dict[str, Any], tensors: dict[str, Tensor]) -> Checkpoint:
    """The checkpoint that head and tensors of a file make."""
    groups: dict[str, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        group, _, rest = name.partition("/")
        groups.setdefault(group, {})[rest] = value
    optimizer = {int(index): dict(entries) for index, entries in head["optimizer"].items()}
    for name, value in groups.get("optimizer", {}).items():
        index, _, rest = name.partition("/")
        optimizer[int(index)][rest] = value
    return Checkpoint(
        identity=head["identity"],
        step=head["step"],
        status=head["status"],
        state=groups.get("state", {}),
        best_state=groups.get("best_state", {}),
        best_step=head["best_step"],
        best_loss=tensors["best_loss"].item(),
        optimizer=optimizer,
        generators=groups.get("generators", {}),
        records={name: groups["records"][name].tolist() for name in head["columns"]},
        hooks=_unpack(head.get("hooks", {}), groups.get("hooks", {})),
    )


def _pack(tensors: dict[str, Tensor], hook: str, state: dict[str, Any]) -> dict[str, Any]:
    """Put the tensors of a hook's state among the file's; answer with the rest of it, for JSON."""
    rest: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, Tensor):
            tensors[f"hooks/{hook}/{name}"] = value
        elif isinstance(value, dict):
            rest[name] = {}
            tensors |= {f"hooks/{hook}/{name}/{key}": entry for key, entry in value.items()}
        elif value is None or (isinstance(value, int | float) and math.isfinite(value)):
            rest[name] = value
        else:
            raise TypeError(
                f"hook {hook} keeps {name} = {value!r}; give finite numbers, None, tensors, or "
                "dictionaries from names to tensors"
            )
    return rest


def _unpack(rest: dict[str, dict[str, Any]], tensors: dict[str, Tensor]) -> dict[str, Any]:
    """The states of the hooks from what `_pack` made of them."""
    hooks = {hook: dict(state) for hook, state in rest.items()}
    for path, value in tensors.items():
        hook, name, *keys = path.split("/", 2)
        if keys:
            hooks[hook][name][keys[0]] = value
        else:
            hooks[hook][name] = value
    return hooks


def _metadata(data: bytes) -> dict[str, str]:
    """The metadata in the head of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size].decode(errors="replace"))["__metadata__"]


def _compare(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise where the checkpoint is of another run."""
    difference = _difference(found, json.loads(json.dumps(wanted)))
    if difference is not None:
        name, there, here = difference
        if name.startswith("hooks.") and name.count(".") > 1:
            name = name.split(".", 2)[2]  # a setting, of whichever hook
        raise CheckpointError(
            f"{str(path)!r} is of a run with {name} = {there!r}, and this one has {here!r}; give "
            "another folder, or remove the file to begin anew"
        )


def _difference(found: Any, wanted: Any, within: str = "") -> tuple[str, Any, Any] | None:
    """The first entry in which two differ, and both values; else the names, where these differ."""
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        return None if found == wanted else (within, found, wanted)
    for name in wanted | found:
        if within and not (name in found and name in wanted):
            continue
        path = f"{within}.{name}" if within else name
        difference = _difference(found.get(name, {}), wanted.get(name, {}), path)
        if difference is not None:
            return difference
    if within and found.keys() != wanted.keys():
        return within, sorted(found), sorted(wanted)
    return None
