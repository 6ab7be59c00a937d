"""A task as a file can name it: one of the package's, or the alphabet and sizes of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torchalu.tasks import AlgorithmicTask, StringFileTask, algorithm, algorithm_names

_KEYS = ("name", "title", "alphabet", "example", "size", "filled")
_LARGEST = 1 << 26
"""Of the numbers of a size: as many symbols as the largest file of rows has bytes."""

_LONGEST = 200
"""Bytes of a name; a file's may have 255, suffix included."""


def describe(task: AlgorithmicTask) -> dict[str, Any]:
    """What a file says of a task; the rows of one's own are not in it.

    Args:
        task: one of the package's, or from a file of rows.

    Raises:
        ValueError: its name, title, example or size is none that a file can hold.

    Example:
        >>> describe(algorithm("copy"))["alphabet"]
        '01'
    """
    description = {name: getattr(task, name) for name in _KEYS}
    description |= {"size": list(task.size), "own": isinstance(task, StringFileTask)}
    _check(description)
    return description


def check_name(name: str) -> None:
    """Refuse the name of a task that cannot be that of a file, or be shown.

    Args:
        name: of a task.

    Raises:
        ValueError: it is empty, `.` or `..`, has a slash, a backslash or a character that cannot
            be printed, as control characters, or is longer than a file's name may be.

    Example:
        >>> check_name("../badd")
        Traceback (most recent call last):
        ValueError: the name of the task is '../badd'; allowed: characters that can be printed, ...
    """
    allowed = name.isprintable() and not {*name} & {"/", "\\"} and len(name.encode()) <= _LONGEST
    if not allowed or name in ("", ".", ".."):
        raise ValueError(
            f"the name of the task is {name!r}; allowed: characters that can be printed, but no / "
            f"and \\, neither . nor .. alone, and at most {_LONGEST} bytes, as files are called by "
            "it; give another name"
        )


def recall(description: Any, task: AlgorithmicTask | None = None) -> AlgorithmicTask:
    """The task that a file speaks of.

    Args:
        description: what `describe` gave.
        task: where the rows of one's own task are taken from; without it nothing tells its
            answers, and it says how texts are encoded.

    Returns:
        The package's task of that name, or a `StringFileTask`.

    Raises:
        TypeError: the description is no description of a task.
        ValueError: it is of another alphabet, or other sizes, than the task of that name; its name,
            title, example or size is none that a task can have.

    Example:
        >>> recall(describe(algorithm("badd"))).solve("11+11")
        '011'
    """
    _check(description)
    if not description["own"]:
        return _packaged(description, task)
    fields = {name: description[name] for name in _KEYS}
    own = StringFileTask(**{**fields, "size": tuple(fields["size"])})
    return own if task is None else _with_rows(own, task)


def _packaged(description: dict[str, Any], task: AlgorithmicTask | None) -> AlgorithmicTask:
    """One of the package's tasks, in the form that a description has."""
    name, filled = description["name"], description["filled"]
    if name not in algorithm_names():
        raise ValueError(f"it is of the task {name!r}, which this version of torchalu has not")
    known = algorithm(name) if filled else algorithm(name, filled=False)
    found = describe(known)
    for key in ("alphabet", "size", "filled"):
        if description[key] != found[key]:
            raise ValueError(
                f"it is of a task {name!r} with {key} {description[key]!r}, and that of torchalu "
                f"has {found[key]!r}"
            )
    given = found if task is None else describe(task)
    for key in given:
        if given[key] != found[key]:
            raise ValueError(
                f"it is of a task with {key} {found[key]!r}, and the task given has {given[key]!r}"
            )
    return known if task is None else task


def _with_rows(own: StringFileTask, task: AlgorithmicTask) -> StringFileTask:
    """A task of one's own with the rows of another file."""
    if not isinstance(task, StringFileTask):
        raise ValueError(
            f"it is of a task of one's own, {own.name!r}, and the task given is {task.name!r}"
        )
    foreign = sorted(set(task.alphabet) - set(own.alphabet))
    if foreign:
        raise ValueError(
            f"its alphabet is {own.alphabet!r}, and the rows given have {foreign[0]!r}"
        )
    for text, answer in task.rows.items():
        most = own.symbols(len(text))
        if max(len(text), len(answer)) > most:
            raise ValueError(
                f"it gives an input of {len(text)} symbols room for {most}, and the rows given "
                f"have one with an answer of {len(answer)}"
            )
    return replace(own, rows=task.rows)


def _check(description: Any) -> None:
    """Raises unless each part is of the type and in the range that it should be."""
    types = dict.fromkeys(_KEYS, str) | {"size": list, "filled": bool, "own": bool}
    if not isinstance(description, dict) or set(description) != set(types):
        raise TypeError("it says nothing of a task")
    for name, kind in types.items():
        if not isinstance(description[name], kind):
            raise TypeError(f"the {name} of its task is {description[name]!r}")
    size = description["size"]
    if len(size) != 2 or any(type(number) is not int for number in size) or size[0] < 1:
        raise TypeError(f"the size of its task is {size!r}")
    if max(map(abs, size)) > _LARGEST:
        raise ValueError(f"the size of its task is beyond {_LARGEST}")
    check_name(description["name"])
    foreign = "".join({*description["example"]} - {*description["alphabet"]})
    for name, text in (("title", description["title"]), ("example", foreign)):
        if not text.isprintable():
            raise ValueError(
                f"the {name} of its task has characters that cannot be printed: {text!r}"
            )
