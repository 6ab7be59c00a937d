"""The learned algorithms that come with the package."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path

from torchalu.tasks import AlgorithmicTask
from torchalu.train import write_atomic
from torchalu.zoo.algorithm_file import SUFFIX
from torchalu.zoo.learned_algorithm import LearnedAlgorithm
from torchalu.zoo.task_description import check_name

_FOLDER = resources.files("torchalu.zoo.weights")


def names() -> tuple[str, ...]:
    """The names of the learned algorithms that come with the package; those of their tasks.

    Example:
        >>> list(names()) == sorted(names())
        True
    """
    files = (entry.name for entry in _FOLDER.iterdir() if entry.name.endswith(SUFFIX))
    return tuple(sorted(name.removesuffix(SUFFIX) for name in files))


def load(name: str, task: AlgorithmicTask | None = None) -> LearnedAlgorithm:
    """Loads a learned algorithm that comes with the package.

    Args:
        name: one of `names()`.
        task: as in `LearnedAlgorithm.load`.

    Raises:
        ValueError: there is none of this name; the message says which there are, and how to train
            one.

    Example:
        >>> load("no such task")
        Traceback (most recent call last):
        ...
        ValueError: the zoo has no 'no such task'...
    """
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1)
        there = ", ".join(names()) or "none yet"
        raise ValueError(
            f"the zoo has no {name!r}{f', but {near[0]!r}' if near else ''}; there are: {there}; "
            f"`torchalu algorithm train TASK` trains one, `torchalu algorithm list` names the tasks"
        )
    with resources.as_file(_FOLDER / f"{name}{SUFFIX}") as path:
        return LearnedAlgorithm.load(Path(path), task)


def put(learned: LearnedAlgorithm, folder: str | Path) -> Path:
    """Writes a learned algorithm as the zoo keeps it: the checkpoint, and its card to be read.

    Args:
        learned: the algorithm.
        folder: where NAME.safetensors and NAME.json are written; NAME is the task's.

    Returns:
        The path of the checkpoint.

    Raises:
        ValueError: its weights are not fit for a file, or its task's name is not.
        OSError: the folder cannot be written to.
    """
    check_name(learned.task.name)
    path = Path(folder) / f"{learned.task.name}{SUFFIX}"
    learned.save(path)
    write_atomic(path.with_suffix(".json"), learned.card.to_json())
    return path


def find(checkpoint: str, task: AlgorithmicTask | None = None) -> LearnedAlgorithm:
    """Loads a learned algorithm from the zoo or from a file.

    Args:
        checkpoint: a name in the zoo, or else the path of a file.
        task: as in `LearnedAlgorithm.load`.

    Raises:
        ValueError: there is neither; or the file is no learned algorithm.
        OSError: the file cannot be read.
    """
    path = Path(checkpoint)
    if checkpoint not in names():
        if path.is_file():
            return LearnedAlgorithm.load(path, task)
        if path.suffix == SUFFIX or len(path.parts) != 1:
            problem = "is a folder" if path.is_dir() else "does not exist"
            raise ValueError(
                f"{checkpoint!r} {problem}; give the file NAME{SUFFIX} that `torchalu algorithm "
                "train` wrote, or a name in the zoo"
            )
    return load(checkpoint, task)
