"""What may not be merged into committed results, each told by the file and what to do."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from torchalu.cli.provenance import ALL_ROWS, study_of
from torchalu.train import RunFolder


def check_once(run: RunFolder, mine: pl.DataFrame) -> None:
    """No two parts of a run may have the same outcome."""
    twice = mine.filter(mine.select(run.study.keys).is_duplicated()) if mine.height else mine
    if twice.height:
        raise ValueError(
            f"{str(run.path)!r} has {twice.row(0, named=True)} twice; its parts are not those that "
            "were written; remove one of them, and run the same command again"
        )


def check_same(path: Path, there: pl.DataFrame, mine: pl.DataFrame, keys: list[str]) -> None:
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


def check_made(seeds: Path, made: Path, entries: dict[str, dict[str, Any]]) -> None:
    """Of outcomes that are there it has to be known what made them."""
    if not entries:
        raise ValueError(
            f"{str(seeds)!r} is there, but {str(made)!r}, which says by which runs, is not, or "
            "names none; restore it, or name another folder"
        )


def check_study(seeds: Path, entries: dict[str, dict[str, Any]], name: str) -> None:
    """The outcomes have to be of this experiment: another paper's may have the same last name."""
    for entry in entries.values():
        if (other := study_of(entry, name)) != name:
            raise ValueError(
                f"{str(seeds)!r} has outcomes of {other}, and those of {name} would have the same "
                "name; name another folder"
            )


def check_present(seeds: Path, made: Path, others: Collection[str]) -> None:
    """The outcomes of other runs have to be there, since the tables are made of them."""
    if others:
        raise ValueError(
            f"{str(seeds)!r} is not there, but {str(made)!r} names other runs that the tables are "
            f"made of; restore it, name another folder, or remove {made.name!r} to begin anew"
        )


def check_count(seeds: Path, made: Path, rows: pl.DataFrame, count: int | None) -> None:
    """There have to be as many outcomes as were merged, where it is noted."""
    if count is not None and rows.height != count:
        raise ValueError(
            f"{str(seeds)!r} has {rows.height} outcomes, but {str(made)!r} says {count}; "
            "restore it, or name another folder"
        )


def check_alike(
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
            if has_rows(kept, labels, keys):
                whose = "" if labels == ALL_ROWS else f" of {labels}"
                raise ValueError(
                    f"{str(path)!r} has outcomes{whose} by `{other['command']}`, which "
                    f"trained them with other settings{_other_ends(other, entry, labels)}, and one "
                    "table cannot hold both; name another folder, or run the same seeds and give "
                    "--replace"
                )
            del other["settings"][labels]
            if not other["settings"]:
                del entries[name]


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


def has_rows(rows: pl.DataFrame, labels: str, keys: Sequence[str]) -> bool:
    """Whether there is a row of a setting, as far as its labels are columns."""
    wanted = {k: v for k, v in json.loads(labels).items() if k in keys and k in rows.columns}
    same = [pl.lit(True), *(pl.col(name).eq_missing(value) for name, value in wanted.items())]
    return rows.filter(pl.all_horizontal(same)).height > 0
