"""What made committed results: of each run its experiment, settings, seeds and cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchalu.train import JSON, RunFolder, Study

ALL_ROWS = "{}"
"""The labels, of which there are none, that the rows of every setting have."""

_ENDS = ("settle", "stall")
"""What ends a run before its last step; `give_up` only ends runs without hope, and may differ."""


def study_of(entry: dict[str, Any], default: str) -> str:
    """The experiment that a run was of; earlier versions noted it in the command alone."""
    words = entry["command"].split()
    named = words[2] if words[:2] == ["torchalu", "run"] and len(words) > 2 else default
    return entry.get("study", named)


def seeds_path(folder: Path, name: str) -> Path:
    """Where the outcomes of an experiment are."""
    return folder / f"{name.rpartition('.')[2]}_seeds.csv"


def made_path(folder: Path, name: str) -> Path:
    """Where it is noted what made the results of an experiment."""
    return folder / f"{name.rpartition('.')[2]}.json"


def read_entries(folder: Path, name: str) -> tuple[dict[str, dict[str, Any]], int | None]:
    """What made the results of an experiment so far, by configuration, and how many they are.

    Of a merge that was cut off before it wrote the outcomes, what made those that are there.
    """
    path, seeds = made_path(folder, name), seeds_path(folder, name)
    if not path.exists():
        return {}, None
    try:
        note = json.loads(path.read_bytes())
        before = note.get("before")
        if before and seeds.exists() and file_digest(seeds) == before["sha256"]:
            note = before
        entries = {entry["configuration"]: entry for entry in note["runs"] if entry["command"]}
        return entries, note.get("outcomes")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} does not say what made the results; restore it, or name another folder"
        ) from error


def file_digest(path: Path) -> str:
    """A hash of what is in a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def entry_of(run: RunFolder, command: str) -> dict[str, Any]:
    """What made a run's outcomes."""
    versions: Any = run.environments[-1]["versions"]
    return {
        "study": run.study.name,
        "configuration": configuration_name(run.study),
        "command": command,
        "torchalu": versions["torchalu"],
        "date": str(run.environments[0]["time"])[:10],
        "rows": run.runs,
        "core_hours": round(run.core_hours, 6),
        "processor": "; ".join(run.processors),
        "instruction_set": "; ".join(run.instruction_sets),
        **_on_device(run),
        **({"seeds": seeds} if (seeds := seed_range(run.study)) else {}),
        "settings": digests_of(run.study),
        "ends": ends_of(run.study),
    }


def _on_device(run: RunFolder) -> dict[str, Any]:
    """Of a run on a GPU its name, and how many hours it was at work, as far as noted."""
    starts: list[Any] = [start for start in run.environments if "device" in start]
    if not starts:
        return {}
    names = sorted({start["device"] for start in starts})
    hours = sum(start.get("seconds", 0.0) for start in starts) / 3600
    return {"device": "; ".join(names), "device_hours": round(hours, 6)}


def configuration_name(study: Study) -> str:
    """A digest of a study and of all that it is configured with."""
    return _digest([study.name, study.configuration], 16)


def digests_of(study: Study) -> dict[str, str]:
    """For each setting, by its labels, a digest of what settles its results.

    A study without labelled settings has one digest, for all its rows.
    """
    how = {name: v for name, v in study.configuration.items() if name not in study.extent}
    return setting_digests(labelled_settings(study)) or {ALL_ROWS: _digest(how, 8)}


def labelled_settings(study: Study) -> list[dict[str, JSON]]:
    """The settings of a study that have labels."""
    settings: Any = study.configuration.get("settings", [])
    return [setting for setting in settings if "labels" in setting]


def setting_digests(settings: Sequence[dict[str, JSON]]) -> dict[str, str]:
    """For each setting, by its labels, a digest of all of it."""
    return {json.dumps(setting["labels"]): _digest(setting, 8) for setting in settings}


def _digest(value: Any, digits: int) -> str:
    """The first digits of a hash of a JSON value."""
    content = json.dumps(value, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:digits]


def seed_range(study: Study) -> tuple[int, int] | None:
    """The first and the last seed of a study, if it says which it has."""
    seeds: Any = study.configuration.get("seeds")
    first: Any = study.configuration.get("first_seed")
    if isinstance(seeds, int) and isinstance(first, int):
        return first, first + seeds - 1
    return (seeds[0], seeds[-1]) if isinstance(seeds, list) else None


def ends_of(study: Study) -> dict[str, JSON]:
    """What ends a study's runs before their last step."""
    return {name: value for name, value in study.configuration.items() if name in _ENDS}
