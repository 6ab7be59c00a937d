"""The file of a learned algorithm: one safetensors file, with JSON in its head, and its sum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import safetensors
import torch
from safetensors.torch import load, save
from torch import Tensor

from torchalu.nn import DiagonalNeuralGPU, NeuralGPU, NeuralGPUBase
from torchalu.train import write_atomic
from torchalu.train.checksum import content_sum

SUFFIX = ".safetensors"
FORMS: dict[str, Callable[..., NeuralGPUBase]] = {
    form.__name__: form for form in (DiagonalNeuralGPU, NeuralGPU)
}
"""The modules that a file may hold, by the names that stand in it."""

_KEY, _FORMAT = "torchalu", "torchalu.algorithm/1"
_MOST_BYTES, _MOST_NUMBER = 2**30, 2**16
_DTYPES = (torch.float32, torch.float64)
_REMEDY = "copy the file again from where it came from, or train the algorithm again"


class AlgorithmFileError(ValueError):
    """A file that is no learned algorithm, or not what was written."""


def write_algorithm(path: str | Path, module: NeuralGPUBase, head: Mapping[str, Any]) -> None:
    """Writes a module and a head, whole or not at all.

    Args:
        path: the file, which ends in .safetensors; an existing one is replaced.
        module: of one of `FORMS`, in float32 or float64.
        head: what else the file says, as JSON can say it.

    Raises:
        TypeError: the module is of another form.
        ValueError: the path has another ending, or a weight is not finite or of another dtype.
        OSError: the file cannot be written.
    """
    path, form = Path(path), type(module).__name__
    if FORMS.get(form) is not type(module):
        raise TypeError(f"module is a {form}; a file takes {' or '.join(FORMS)}")
    if path.suffix != SUFFIX:
        raise ValueError(f"path is {str(path)!r}; give a name that ends in {SUFFIX}")
    tensors = {
        name: value.detach().cpu().clone().contiguous()
        for name, value in module.state_dict().items()
    }
    wrong = _wrong_values(tensors)
    if wrong:
        raise ValueError(f"{wrong}; nothing is written")
    full = {
        "format": _FORMAT,
        "form": form,
        "configuration": module.configuration(),
        **head,
    }
    full["sha256"] = content_sum(full, tensors)
    write_atomic(path, save(tensors, {_KEY: json.dumps(full, allow_nan=False)}))


def read_algorithm(path: str | Path) -> tuple[NeuralGPUBase, dict[str, Any]]:
    """Reads what `write_algorithm` wrote, and trusts nothing in it.

    No memory is taken for anything but the file's own bytes before its sizes are known to agree.

    Args:
        path: the file.

    Returns:
        The module, in evaluation mode, and the head.

    Raises:
        AlgorithmFileError: the file is cut short, was changed, or is none of this format; its
            form is unknown; a shape or dtype is not what the configuration asks for; a weight is
            NaN or infinite. The message names the file and what to do.
        OSError: it cannot be read.
    """
    path = Path(path)
    size = path.stat().st_size
    if size > _MOST_BYTES:
        refuse(path, f"has {size} bytes; allowed: {_MOST_BYTES}", "name another file")
    data = path.read_bytes()
    try:
        tensors = load(data)
        head = _head(data)
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        refuse(path, f"is no learned algorithm, or is cut short or changed ({error})")
    if str(head.get("format")).startswith("torchalu.train/"):
        refuse(
            path,
            "keeps a training that goes on, and is no learned algorithm",
            "give the file NAME.safetensors in the folder above, which is written at the end",
        )
    if head.get("format") != _FORMAT:
        refuse(
            path,
            f"is of format {head.get('format')!r}, and this version of torchalu knows {_FORMAT!r}",
            "use the version that wrote it, or train the algorithm again",
        )
    if head.pop("sha256", None) != content_sum(head, tensors):
        refuse(path, "was changed after it was written: its sha256 is not that of its content")
    wrong = _wrong_values(tensors)
    if wrong:
        refuse(path, f"holds what no training writes: {wrong}")
    return _build(path, head, tensors), head


def refuse(path: str | Path, problem: str, remedy: str = _REMEDY) -> NoReturn:
    """Raises for a file, with what is wrong with it and what to do."""
    raise AlgorithmFileError(f"{str(path)!r} {problem}; {remedy}")


def _build(path: Path, head: dict[str, Any], tensors: dict[str, Tensor]) -> NeuralGPUBase:
    """The module that a head and tensors make."""
    form, configuration = head.get("form"), head.get("configuration")
    if not isinstance(form, str) or form not in FORMS:
        refuse(
            path,
            f"holds a {form!r}; known: {', '.join(FORMS)}",
            "use the version of torchalu that wrote it",
        )
    if not isinstance(configuration, dict) or not all(map(_small, configuration.values())):
        refuse(path, f"has the configuration {configuration!r}; allowed: names and small numbers")
    try:
        module = FORMS[form](**configuration, device="meta")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        refuse(path, f"has a configuration that makes no {form} ({error})")
    wanted = {name: list(value.shape) for name, value in module.state_dict().items()}
    found = {name: list(value.shape) for name, value in tensors.items()}
    if wanted != found:
        name = min(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
        refuse(
            path,
            f"holds {name!r} with the shape {found.get(name)}, and its configuration asks for "
            f"{wanted.get(name)}",
        )
    module.load_state_dict(tensors, assign=True)
    return module.eval()


def _head(data: bytes) -> dict[str, Any]:
    """The JSON in the head of a safetensors file that is otherwise sound."""
    size = int.from_bytes(data[:8], "little")
    head = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_KEY])
    if not isinstance(head, dict):
        raise TypeError("its head is no object")
    return head


def _small(value: Any) -> bool:
    """Whether a number of a configuration can be one."""
    return value is None or (isinstance(value, bool | int | float) and abs(value) <= _MOST_NUMBER)


def _wrong_values(tensors: Mapping[str, Tensor]) -> str:
    """What is wrong with the values of tensors; nothing if they are fit for use."""
    dtypes = {value.dtype for value in tensors.values()}
    if len(dtypes) != 1 or not dtypes <= set(_DTYPES):
        names = ", ".join(sorted(map(str, dtypes))) or "no tensors"
        return f"its weights are of {names}, and allowed is float32 alone or float64 alone"
    for name, value in tensors.items():
        if not value.isfinite().all():
            return f"{name!r} has values that are NaN or infinite"
    return ""
