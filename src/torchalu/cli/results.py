"""Committed results: outcomes of every seed, the tables that follow, and what made them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.cli.merge_checks import (
    check_alike,
    check_count,
    check_made,
    check_once,
    check_present,
    check_same,
    check_study,
    has_rows,
)
from torchalu.cli.outcome_tables import csv_text, read_outcomes, write_tables
from torchalu.cli.provenance import (
    ALL_ROWS,
    configuration_name,
    digests_of,
    ends_of,
    entry_of,
    file_digest,
    labelled_settings,
    made_path,
    read_entries,
    seed_range,
    seeds_path,
    setting_digests,
    study_of,
)
from torchalu.experiments import counterparts, get, included, including
from torchalu.train import RunFolder, Study, write_atomic


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
    views = {study.name: (digests_of(study), study.keys)}
    ends = ends_of(study)
    for name in _pooled_with(study.name):
        both = counterparts(study.name, name)
        views[name] = setting_digests(both.describe(labelled_settings(study))), both.keys
    for name, (digests, keys) in views.items():
        path, made = seeds_path(folder, name), made_path(folder, name)
        if name != study.name and not _is_there(folder, name):
            continue
        entries, count = read_entries(folder, name)
        if digests and path.exists():
            check_made(path, made, entries)
            check_study(path, entries, name)
            there = read_outcomes(
                path, pl.DataFrame([json.loads(labels) for labels in digests]), keys
            )
            check_count(path, made, there, count)
            of_others = _of_other_seeds(there, study)
            trained = {which: entry | {"ends": ends} for which, entry in entries.items()}
            kept = of_others if replace else there
            for others, rows in ((trained, kept), (entries, of_others)):  # ends count beside others
                check_alike(path, others, {"settings": digests, "ends": ends}, keys, rows)
        elif not path.exists():
            check_present(path, made, entries.keys() - {configuration_name(study)})


def _of_other_seeds(there: pl.DataFrame, study: Study) -> pl.DataFrame:
    """The rows of seeds that a study has not; none where it does not say which it has."""
    seeds = seed_range(study)
    if seeds is None or "seed" not in there.columns:
        return there.clear()
    return there.filter(~pl.col("seed").is_between(seeds[0], seeds[1]))


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
    seeds = seeds_path(folder, run.study.name)
    made = made_path(folder, run.study.name)
    keys = list(run.study.keys)
    mine = run.outcomes()
    check_once(run, mine)
    rows, before = mine, {}
    entry = entry_of(run, command)
    entries, count = read_entries(folder, run.study.name)
    for name in _pooled_with(run.study.name):
        path = seeds_path(folder, name)
        if _is_there(folder, name):
            both = counterparts(run.study.name, name)
            others = _others(read_outcomes(path, mine, both.keys), both.relabel(mine), both.keys)
            digests = setting_digests(both.describe(labelled_settings(run.study)))
            theirs, _ = read_entries(folder, name)
            check_alike(path, theirs, entry | {"settings": digests}, both.keys, others)
    if seeds.exists():
        check_made(seeds, made, entries)
        check_study(seeds, entries, run.study.name)
        there = read_outcomes(seeds, mine, keys)
        check_count(seeds, made, there, count)
        before = {"before": deepcopy(_note(there, entries)) | {"sha256": file_digest(seeds)}}
        if not replace:
            check_same(seeds, there, mine, keys)
        kept = _others(there, mine, keys)
        check_alike(seeds, entries, entry, keys, kept)
        if replace:
            _forget(entries, kept, keys)
        rows = pl.concat([mine, kept], how="diagonal_relaxed")
    else:
        check_present(seeds, made, entries.keys() - {entry["configuration"]})
    rows = rows.sort(keys, maintain_order=True)
    entries[entry["configuration"]] = entry
    note = _note(rows, entries)
    write_atomic(made, _json_text(note | before))  # first: no rows are without their run
    write_atomic(seeds, csv_text(rows))
    if before:
        write_atomic(made, _json_text(note))
    tables = _tables(run.study, rows, folder)
    for name in including(run.study.name):
        path = seeds_path(folder, name)
        if _is_there(folder, name):
            other = get(name)()
            tables += _tables(other, read_outcomes(path, mine, other.keys), folder)
    return [seeds, *tables, made]


def _note(rows: pl.DataFrame, entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How many outcomes there are, and what made them."""
    return {"outcomes": rows.height, "runs": list(entries.values())}


def _json_text(note: dict[str, Any]) -> str:
    """What made results, as a file holds it."""
    return json.dumps(note, indent=1) + "\n"


def _tables(study: Study, rows: pl.DataFrame, folder: Path) -> list[Path]:
    """Writes the tables of a study, with the outcomes of what it includes."""
    for name in included(study.name):
        path = seeds_path(folder, name)
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


def _is_there(folder: Path, name: str) -> bool:
    """Whether a folder has outcomes of an experiment, and not of another paper's of that name."""
    entries, _ = read_entries(folder, name)
    mine = all(study_of(entry, name) == name for entry in entries.values())
    return mine and seeds_path(folder, name).exists()


def _forget(entries: dict[str, dict[str, Any]], kept: pl.DataFrame, keys: Sequence[str]) -> None:
    """Without the runs of whose settings and seeds no row is kept, as far as they are noted."""
    for name, other in list(entries.items()):
        own, seeds = kept, other.get("seeds")
        if seeds and "seed" in kept.columns:
            own = kept.filter(pl.col("seed").is_between(seeds[0], seeds[1]))
        if not any(has_rows(own, labels, keys) for labels in other.get("settings", [ALL_ROWS])):
            del entries[name]
