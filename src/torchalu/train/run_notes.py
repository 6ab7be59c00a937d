"""What a run folder says about itself: of which study its results are, and who made them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torchalu.train.files import is_unfinished, set_aside, write_atomic
from torchalu.train.machine import environment
from torchalu.train.study import JSON, Study

FORMAT, LOCK = 1, "lock"
_CONFIGURATION, _ENVIRONMENT = "configuration.json", "environment.json"
_WORK = ("parts", "scratch")
_SHOWN = 3
_LOGGER = logging.getLogger(__name__)


def create_folder(folder: Path) -> None:
    """Creates a folder for a run, unless it is there.

    Args:
        folder: the run folder; those above it are created too.

    Raises:
        ValueError: if there is a file of that name, or a folder that holds something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(
            f"{str(folder)!r} is no folder, or lies in none; choose another name"
        ) from None
    names = sorted(entry.name for entry in folder.iterdir())
    others = [name for name in names if name != LOCK and not is_unfinished(name)]
    if others and _CONFIGURATION not in names:
        raise ValueError(
            f"{str(folder)!r} holds {others[0]!r} but no {_CONFIGURATION}, so it is no run folder; "
            "choose another, or one that does not exist yet"
        )


def check_configuration(folder: Path, study: Study) -> None:
    """Raises if a folder's results are not those of a study; one without any takes the study's.

    Args:
        folder: the run folder, locked.
        study: what it should hold results of.

    Raises:
        ValueError: if it holds something else; the message names the first keys that differ.
    """
    path = folder / _CONFIGURATION
    begun = any(path.is_file() for name in _WORK for path in (folder / name).rglob("*"))
    mine = json.loads(json.dumps({"study": study.name, "configuration": study.configuration}))
    if not path.exists() or not begun:
        write_atomic(path, json.dumps({"format": FORMAT, **mine}, indent=1) + "\n")
        return
    differences = list(_differences(_stored(path), mine))
    if differences:
        more = len(differences) - _SHOWN
        shown = "; ".join(differences[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        raise ValueError(
            f"{str(folder)!r} holds results of another configuration: {shown}. Choose another "
            "folder, or give the options that it was begun with"
        )


def note_start(folder: Path, device: str = "cpu") -> list[dict[str, JSON]]:
    """Adds this process to the list of those that worked on a folder.

    Args:
        folder: the run folder, locked.
        device: that the study is carried out on.

    Returns:
        The list, this process's own entry last.
    """
    path = folder / _ENVIRONMENT
    entries: list[dict[str, Any]] = []
    try:
        entries = json.loads(path.read_bytes())
        if not (isinstance(entries, list) and all(_is_entry(entry) for entry in entries)):
            raise TypeError("not a list of entries")
    except FileNotFoundError:
        pass
    except (ValueError, TypeError, RecursionError):
        entries = []
        aside = set_aside(path, ".corrupt")
        _LOGGER.warning("%s cannot be read; it is set aside as %s", path, aside.name)
    mine = environment(device)
    for key in ("instruction_set", "versions"):
        if entries and entries[-1].get(key) != mine[key]:
            _LOGGER.warning(
                "%s was worked on with %s %s and is now with %s; the last digits of results may "
                "differ between them",
                folder,
                key,
                entries[-1].get(key),
                mine[key],
            )
    entries.append(mine)
    _write_environments(folder, entries)
    return entries


def note_end(folder: Path, entries: list[dict[str, JSON]], seconds: float) -> None:
    """Adds to this process's entry how long its work has taken; none is there if it is killed.

    Args:
        folder: the run folder, locked.
        entries: from `note_start`; the last one is changed.
        seconds: that have passed.

    Raises:
        OSError: if it cannot be written.
    """
    entries[-1]["seconds"] = round(seconds, 3)
    _write_environments(folder, entries)


def _write_environments(folder: Path, entries: list[dict[str, JSON]]) -> None:
    write_atomic(folder / _ENVIRONMENT, json.dumps(entries, indent=1) + "\n")


def _is_entry(value: Any) -> bool:
    """Whether it says when and with which versions a process worked on a folder."""
    return isinstance(value, dict) and {"time", "versions"} <= value.keys()


def _stored(path: Path) -> dict[str, Any]:
    """The study and the configuration that a file names."""
    try:
        stored = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read as JSON ({type(error).__name__}); restore it, or choose "
            "another folder"
        ) from error
    if not isinstance(stored, dict) or type(stored.get("format")) is not int:
        raise ValueError(
            f"{str(path)!r} names no format, so it is not torchalu's; choose another folder"
        )
    if stored["format"] != FORMAT:
        raise ValueError(
            f"{str(path)!r} is of format {stored['format']}, and this version of torchalu knows "
            f"format {FORMAT}; use the version that wrote it, or choose another folder"
        )
    return {key: stored.get(key) for key in ("study", "configuration")}


def _differences(there: Any, here: Any, key: str = "") -> Iterator[str]:
    """A phrase for each key, dotted, at which two JSON values differ."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for name in dict.fromkeys((*there, *here)):
            below = f"{key}.{name}" if key else str(name)
            if name not in there or name not in here:
                where = "there" if name in there else "here"
                value = _short((there if name in there else here)[name])
                yield f"{below} is {value} {where} only"
            else:
                yield from _differences(there[name], here[name], below)
    elif _are_objects(there) and _are_objects(here):
        if len(there) != len(here):
            name = key.removeprefix("configuration.")
            yield f"{name} has a length of {len(there)} there, {len(here)} here"
        for place, pair in enumerate(zip(there, here, strict=False)):
            yield from _differences(*pair, f"{key}.{place}")
    elif json.dumps(there, sort_keys=True) != json.dumps(here, sort_keys=True):
        yield f"{key.removeprefix('configuration.')} is {_short(there)} there, {_short(here)} here"


def _are_objects(value: Any) -> bool:
    """Whether it is a list of JSON objects."""
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def _short(value: Any) -> str:
    """A JSON value in a few characters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
