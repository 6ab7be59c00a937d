"""Committed results: outcomes of every seed, the tables that follow, and what made them."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.cli.outcome_tables import csv_text, read_outcomes, write_tables
from torchalu.experiments import counterparts, get, included, including
from torchalu.train import JSON, RunFolder, Study, write_atomic

_ALL_ROWS = "{}"  # the labels, of which there are none, that the rows of every setting have

_ENDS = ("settle", "stall")
"""What ends a run before its last step; `give_up` only ends runs without hope, and may differ."""


def merge(run: RunFolder, folder: Path, command: str, *, replace: bool = False) -> list[Path]:
    """Adds a run's outcomes to those that are committed, and makes the tables anew from all.

    The order of the rows is that of the keys, so that a change shows the rows that changed and no
    others. Committed outcomes of an experiment that is included in this one count in the tables;
    and the tables of an experiment that includes this one are made anew as well. Merges into one
    folder wait for each other.

    Args:
        run: the folder of a run that is done.
        folder: of the results; it is created if it is not there.
        command: what made the run.
        replace: let the run's rows take the place of those of the same keys that differ.

    Returns:
        The files that were written: of outcomes, of tables, and of what made them.

    Raises:
        ValueError: if a file that is there cannot be read, if rows would be replaced or would stand
            beside rows of the same setting that was trained otherwise, or if the outcomes of other
            runs, from which the tables are made, are not there.
        OSError: if one cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        return _merge(run, folder, command, replace=replace)


def check_settings(study: Study, folder: Path, *, replace: bool = False) -> None:
    """Refuse, before it is trained, a study that could not be merged into results.

    Args:
        study: that is to be carried out.
        folder: of the results.
        replace: whether its rows are to take the place of those of the same keys: only rows of
            other seeds count then.

    Raises:
        ValueError: if a file that is there cannot be read, or has rows of a setting of the study
            that was trained otherwise.
    """
    views = {study.name: (_digests(study), study.keys)}
    ends = _ends(study)
    for name in _pooled_with(study.name):
        both = counterparts(study.name, name)
        views[name] = _setting_digests(both.describe(_settings(study))), both.keys
    for name, (digests, keys) in views.items():
        path, made = _seeds_path(folder, name), _made_path(folder, name)
        if name != study.name and not _is_there(folder, name):
            continue
        if digests and path.exists():
            entries = _entries(made)
            _check_made(path, made, entries)
            _check_study(path, entries, name)
            there = read_outcomes(
                path, pl.DataFrame([json.loads(labels) for labels in digests]), keys
            )
            _check_count(path, made, there)
            of_others = _of_other_seeds(there, study)
            trained = {which: entry | {"ends": ends} for which, entry in entries.items()}
            kept = of_others if replace else there
            for others, rows in ((trained, kept), (entries, of_others)):  # ends count beside others
                _check_settings(path, others, {"settings": digests, "ends": ends}, keys, rows)
        elif not path.exists():
            _check_present(path, made, _entries(made).keys() - {_name_of(study)})


def _of_other_seeds(there: pl.DataFrame, study: Study) -> pl.DataFrame:
    """The rows of seeds that a study has not; none where it does not say which it has."""
    seeds = _seeds(study)
    if seeds is None or "seed" not in there.columns:
        return there.clear()
    return there.filter(~pl.col("seed").is_between(seeds[0], seeds[1]))


def _seeds(study: Study) -> tuple[int, int] | None:
    """The first and the last seed of a study, if it says which it has."""
    seeds: Any = study.configuration.get("seeds")
    first: Any = study.configuration.get("first_seed")
    if isinstance(seeds, int) and isinstance(first, int):
        return first, first + seeds - 1
    return (seeds[0], seeds[-1]) if isinstance(seeds, list) else None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process, and no other part of this one, merges into a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _merge(run: RunFolder, folder: Path, command: str, *, replace: bool) -> list[Path]:
    """The same, with the folder locked."""
    seeds = _seeds_path(folder, run.study.name)
    made = _made_path(folder, run.study.name)
    keys = list(run.study.keys)
    mine = run.outcomes()
    _check_once(run, mine)
    rows, before = mine, 0
    entries, entry = _entries(made), _entry(run, command)
    for name in _pooled_with(run.study.name):
        path = _seeds_path(folder, name)
        if _is_there(folder, name):
            both = counterparts(run.study.name, name)
            others = _others(read_outcomes(path, mine, both.keys), both.relabel(mine), both.keys)
            digests = _setting_digests(both.describe(_settings(run.study)))
            theirs = _entries(_made_path(folder, name))
            _check_settings(path, theirs, entry | {"settings": digests}, both.keys, others)
    if seeds.exists():
        _check_made(seeds, made, entries)
        _check_study(seeds, entries, run.study.name)
        there = read_outcomes(seeds, mine, keys)
        _check_count(seeds, made, there)
        before = there.height
        if not replace:
            _check_same(seeds, there, mine, keys)
        kept = _others(there, mine, keys)
        _check_settings(seeds, entries, entry, keys, kept)
        if replace:
            _forget(entries, kept, keys)
        rows = pl.concat([mine, kept], how="diagonal_relaxed")
    else:
        _check_present(seeds, made, entries.keys() - {entry["configuration"]})
    rows = rows.sort(keys, maintain_order=True)
    entries[entry["configuration"]] = entry
    note = {"outcomes": rows.height, "runs": list(entries.values())}
    between = note | {"before": before} if before not in (0, rows.height) else note
    write_atomic(made, _json_text(between))  # first: no rows are without their run
    write_atomic(seeds, csv_text(rows))
    if between != note:
        write_atomic(made, _json_text(note))
    tables = _tables(run.study, rows, folder)
    for name in including(run.study.name):
        path = _seeds_path(folder, name)
        if _is_there(folder, name):
            other = get(name)()
            tables += _tables(other, read_outcomes(path, mine, other.keys), folder)
    return [seeds, *tables, made]


def _json_text(note: dict[str, Any]) -> str:
    """What made results, as a file holds it."""
    return json.dumps(note, indent=1) + "\n"


def _tables(study: Study, rows: pl.DataFrame, folder: Path) -> list[Path]:
    """Writes the tables of a study, with the outcomes of what it includes."""
    for name in included(study.name):
        path = _seeds_path(folder, name)
        if _is_there(folder, name):
            theirs = read_outcomes(path, rows, get(name)().keys)
            more = _others(counterparts(name, study.name).relabel(theirs), rows, study.keys)
            rows = pl.concat([rows, more], how="diagonal_relaxed")
    return write_tables(study.summarize(rows), folder)


def _others(there: pl.DataFrame, mine: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows whose keys no row of mine has."""
    return there.join(mine, on=list(keys), how="anti", nulls_equal=True)


def _pooled_with(name: str) -> tuple[str, ...]:
    """The experiments whose outcomes count in one table with those of another."""
    return *included(name), *including(name)


def _seeds_path(folder: Path, name: str) -> Path:
    """Where the outcomes of an experiment are."""
    return folder / f"{name.rpartition('.')[2]}_seeds.csv"


def _made_path(folder: Path, name: str) -> Path:
    """Where it is noted what made the results of an experiment."""
    return folder / f"{name.rpartition('.')[2]}.json"


def _is_there(folder: Path, name: str) -> bool:
    """Whether a folder has outcomes of an experiment, and not of another paper's of that name."""
    entries = _entries(_made_path(folder, name)).values()
    return _seeds_path(folder, name).exists() and all(_study_of(e, name) == name for e in entries)


def _study_of(entry: dict[str, Any], default: str) -> str:
    """The experiment that a run was of; earlier versions noted it in the command alone."""
    words = entry["command"].split()
    named = words[2] if words[:2] == ["torchalu", "run"] and len(words) > 2 else default
    return entry.get("study", named)


def _check_same(path: Path, there: pl.DataFrame, mine: pl.DataFrame, keys: list[str]) -> None:
    """No row that is there may stand in for another with the same keys; seconds may differ."""
    pairs = there.join(mine, on=keys, how="inner", nulls_equal=True, suffix=" of the run")
    results = [name for name in mine.columns if name not in keys and not name.endswith("seconds")]
    both = [name for name in results if name in there.columns]
    lost = [n for n in there.columns if n not in mine.columns and not n.endswith("seconds")]
    unlike = [pl.col(name).ne_missing(pl.col(f"{name} of the run")) for name in both]
    unlike += [pl.col(name).is_not_null() for name in lost]
    count = pairs.filter(pl.any_horizontal(unlike)).height if unlike else 0
    if count:
        raise ValueError(
            f"{str(path)!r} has other outcomes for {count} of the run's {mine.height} rows, from a "
            "run with other settings, or trained beside other seeds; give --replace to put the new "
            "ones in their place, or name another folder"
        )


def _check_made(seeds: Path, made: Path, entries: dict[str, dict[str, Any]]) -> None:
    """Of outcomes that are there it has to be known what made them."""
    if not entries:
        raise ValueError(
            f"{str(seeds)!r} is there, but {str(made)!r}, which says by which runs, is not, or "
            "names none; restore it, or name another folder"
        )


def _check_once(run: RunFolder, mine: pl.DataFrame) -> None:
    """No two parts of a run may have the same outcome."""
    twice = mine.filter(mine.select(run.study.keys).is_duplicated()) if mine.height else mine
    if twice.height:
        raise ValueError(
            f"{str(run.path)!r} has {twice.row(0, named=True)} twice; its parts are not those that "
            "were written; remove one of them, and run the same command again"
        )


def _check_study(seeds: Path, entries: dict[str, dict[str, Any]], name: str) -> None:
    """The outcomes have to be of this experiment: another paper's may have the same last name."""
    for entry in entries.values():
        if (other := _study_of(entry, name)) != name:
            raise ValueError(
                f"{str(seeds)!r} has outcomes of {other}, and those of {name} would have the same "
                "name; name another folder"
            )


def _check_present(seeds: Path, made: Path, others: Collection[str]) -> None:
    """The outcomes of other runs have to be there, since the tables are made of them."""
    if others:
        raise ValueError(
            f"{str(seeds)!r} is not there, but {str(made)!r} names other runs that the tables are "
            f"made of; restore it, name another folder, or remove {made.name!r} to begin anew"
        )


def _check_count(seeds: Path, made: Path, rows: pl.DataFrame) -> None:
    """There have to be as many outcomes as were merged, or as before a merge that was cut off."""
    note = json.loads(made.read_bytes())
    counts = [note[name] for name in ("outcomes", "before") if name in note]
    if counts and rows.height not in counts:
        raise ValueError(
            f"{str(seeds)!r} has {rows.height} outcomes, but {str(made)!r} says {counts[0]}; "
            "restore it, or name another folder"
        )


def _check_settings(
    path: Path,
    entries: dict[str, dict[str, Any]],
    entry: dict[str, Any],
    keys: Sequence[str],
    kept: pl.DataFrame,
) -> None:
    """No rows may stand beside others of the same labels that were trained otherwise.

    Where none of the others is kept, their run is forgotten as one that made them.
    """
    for name, other in list(entries.items()):
        for labels in _unlike(other, entry):
            if _has(kept, labels, keys):
                whose = "" if labels == _ALL_ROWS else f" of {labels}"
                raise ValueError(
                    f"{str(path)!r} has outcomes{whose} by `{other['command']}`, which "
                    f"trained them with other settings{_other_ends(other, entry, labels)}, and one "
                    "table cannot hold both; name another folder, or run the same seeds and give "
                    "--replace"
                )
            del other["settings"][labels]
            if not other["settings"]:
                del entries[name]


def _forget(entries: dict[str, dict[str, Any]], kept: pl.DataFrame, keys: Sequence[str]) -> None:
    """Without the runs of whose settings and seeds no row is kept, as far as they are noted."""
    for name, other in list(entries.items()):
        own, seeds = kept, other.get("seeds")
        if seeds and "seed" in kept.columns:
            own = kept.filter(pl.col("seed").is_between(seeds[0], seeds[1]))
        if not any(_has(own, labels, keys) for labels in other.get("settings", [_ALL_ROWS])):
            del entries[name]


def _has(rows: pl.DataFrame, labels: str, keys: Sequence[str]) -> bool:
    """Whether there is a row of a setting, as far as its labels are columns."""
    wanted = {k: v for k, v in json.loads(labels).items() if k in keys and k in rows.columns}
    same = [pl.lit(True), *(pl.col(name).eq_missing(value) for name, value in wanted.items())]
    return rows.filter(pl.all_horizontal(same)).height > 0


def _unlike(other: dict[str, Any], entry: dict[str, Any]) -> list[str]:
    """The labels of what two runs have trained, each in its own way.

    What a run that was merged by an earlier version did not note may be anything.
    """
    settings = other.get("settings", {})
    ends = other.get("ends", entry["ends"])
    return [
        labels
        for labels, digest in entry["settings"].items()
        if labels in settings and (settings[labels], ends) != (digest, entry["ends"])
    ]


def _other_ends(other: dict[str, Any], entry: dict[str, Any], labels: str) -> str:
    """What ended another run's setting early and this one's, if they are alike but for that."""
    if other["settings"][labels] != entry["settings"][labels]:
        return ""
    pairs = {name: (other["ends"].get(name), now) for name, now in entry["ends"].items()}
    ends = [f"{name} {then}, not {now}" for name, (then, now) in pairs.items() if then != now]
    return f" ({'; '.join(ends)})"


def _ends(study: Study) -> dict[str, JSON]:
    """What ends a study's runs before their last step."""
    return {name: value for name, value in study.configuration.items() if name in _ENDS}


def _name_of(study: Study) -> str:
    """A digest of a study and of all that it is configured with."""
    return _digest([study.name, study.configuration], 16)


def _digests(study: Study) -> dict[str, str]:
    """For each setting, by its labels, a digest of what settles its results.

    A study without labelled settings has one digest, for all its rows.
    """
    how = {name: v for name, v in study.configuration.items() if name not in study.extent}
    return _setting_digests(_settings(study)) or {_ALL_ROWS: _digest(how, 8)}


def _settings(study: Study) -> list[dict[str, JSON]]:
    """The settings of a study that have labels."""
    settings: Any = study.configuration.get("settings", [])
    return [setting for setting in settings if "labels" in setting]


def _setting_digests(settings: Sequence[dict[str, JSON]]) -> dict[str, str]:
    """For each setting, by its labels, a digest of all of it."""
    return {json.dumps(setting["labels"]): _digest(setting, 8) for setting in settings}


def _digest(value: Any, digits: int) -> str:
    """The first digits of a hash of a JSON value."""
    content = json.dumps(value, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:digits]


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """What made the results so far, by configuration."""
    if not path.exists():
        return {}
    try:
        runs = json.loads(path.read_bytes())["runs"]
        return {entry["configuration"]: entry for entry in runs if entry["command"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} does not say what made the results; restore it, or name another folder"
        ) from error


def _on_device(run: RunFolder) -> dict[str, Any]:
    """Of a run on a GPU its name, and how many hours it was at work, as far as noted."""
    starts: list[Any] = [start for start in run.environments if "device" in start]
    if not starts:
        return {}
    names = sorted({start["device"] for start in starts})
    hours = sum(start.get("seconds", 0.0) for start in starts) / 3600
    return {"device": "; ".join(names), "device_hours": round(hours, 6)}


def _entry(run: RunFolder, command: str) -> dict[str, Any]:
    """What made a run's outcomes."""
    versions: Any = run.environments[-1]["versions"]
    return {
        "study": run.study.name,
        "configuration": _name_of(run.study),
        "command": command,
        "torchalu": versions["torchalu"],
        "date": str(run.environments[0]["time"])[:10],
        "rows": run.runs,
        "core_hours": round(run.core_hours, 6),
        "processor": "; ".join(run.processors),
        **_on_device(run),
        **({"seeds": seeds} if (seeds := _seeds(run.study)) else {}),
        "settings": _digests(run.study),
        "ends": _ends(run.study),
    }
