"""A study whose settings the native trainer carries out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import torch
from torch import nn

from torchalu.arguments import check_positive_integers
from torchalu.engine import Result, Run, TrainingInterrupted, train_together
from torchalu.evaluate import outcomes, summarize
from torchalu.experiments.runs import Runs
from torchalu.experiments.setting import Label, Setting
from torchalu.experiments.stored_team import store_team, stored_team
from torchalu.train import JSON, Chunk, Part, Report, Stopped

Observe = Callable[[Setting, int, nn.Sequential], Mapping[str, float]]

_STORE_EVERY_SECONDS = 60.0


@dataclass
class NativeStudy:
    """Settings times seeds, a chunk for each team of settings and seed.

    A team are settings that are trained on the same inputs; these are drawn once for all of them,
    and each result is what the setting alone would give.

    Args:
        name: such as "madsen2020.table2"; its last word names the summary.
        settings: what is trained; they agree in the names of their labels.
        runs: which seeds, what ends a run early, and most settings in a chunk; its `steps` are
            for those who make the settings, each of which has its own.
        published: the paper's results, joined to the summary by its columns that are labels.
        defaults: for a study that varies one label at a time, the value of each where another
            is varied: the summary then has a column `varied`, the name of the one that is.
        observe: more columns of the outcomes, from a setting, a seed and the best model.

    Raises:
        ValueError: no settings, one without steps, or two with the same labels.

    Example:
        >>> from torchalu.experiments import Runs, get
        >>> study = get("madsen2020.table2")(Runs(seeds=3), models=("NMU", "NAU"))
        >>> study.keys, [chunk.name for chunk in study.chunks()]
        (('model', 'operation', 'seed'), ['team0-seed0', 'team0-seed1', 'team0-seed2'])
    """

    name: str
    settings: Sequence[Setting]
    runs: Runs
    published: pl.DataFrame | None = None
    defaults: Mapping[str, Label] | None = None
    observe: Observe | None = None
    configuration: Mapping[str, JSON] = field(init=False)
    keys: tuple[str, ...] = field(init=False)
    extent: ClassVar[frozenset[str]] = frozenset({"settings", "seeds", "give_up", "team"})

    def __post_init__(self) -> None:
        self.check()
        self.keys = (*self.settings[0].labels, "seed")
        described = {
            "settings": [setting.describe() for setting in self.settings],
            "seeds": [self.runs.seed_numbers[0], self.runs.seed_numbers[-1]],
            "settle": self.runs.settle,
            "stall": self.runs.stall,
            "give_up": self.runs.give_up,
            "team": self.runs.team,
            **({} if self.runs.device == "cpu" else {"device": self.runs.device}),
        }
        self.configuration = json.loads(json.dumps(described))  # tuples become lists

    def check(self) -> None:
        """Look at the settings."""
        if not self.settings:
            raise ValueError("settings is empty; give at least one")
        for setting in self.settings:
            check_positive_integers(steps=setting.steps)
        names = [_key(setting).replace("|", " ") for setting in self.settings]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"settings holds {twice[0]} twice; give each once")

    def chunks(self) -> list[Chunk]:
        """All teams of the first seeds that are trained together, then of the next, and so on."""
        return [
            Chunk(
                f"team{number}-{_name(seeds)}", sum(setting.cost for setting in team) * len(seeds)
            )
            for seeds in self.runs.together
            for number, team in enumerate(self._teams())
        ]

    def run(self, chunk: Chunk, scratch: Path, report: Report) -> Part:
        """Train a team on one seed, or on several; see `torchalu.train.Study`."""
        word, name = chunk.name.split("-", 1)
        team = self._teams()[int(word.removeprefix("team"))]
        seeds = next(seeds for seeds in self.runs.together if _name(seeds) == name)
        runs = [self._run_of(setting, seeds) for setting in team]
        training = _Training(chunk.name, scratch, report, runs, seeds, self.runs.device)
        results = training.complete(team[0].steps)
        singles = [
            (
                setting,
                seed,
                result.only(k),
                _key(setting) if len(seeds) == 1 else f"{_key(setting)}|{seed}",
            )
            for setting, result in zip(team, results, strict=True)
            for k, seed in enumerate(seeds)
        ]
        return Part(
            pl.concat([_records(setting, result) for setting, _, result, _ in singles]),
            pl.concat([self._outcome(*single[:3]) for single in singles]),
            {
                f"{key}|{name}": tensor[0].clone()
                for *_, result, key in singles
                for name, tensor in result.best_parameters.items()
            },
        )

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """One table, named as the study: a row a setting; see `torchalu.evaluate.summarize`."""
        labels = [key for key in self.keys if key != "seed"]
        if self.defaults is None:
            table = summarize(outcomes, by=labels).sort(labels)
        else:
            table = _panels(outcomes, labels, self.defaults)
        if self.published is not None:
            shared = [name for name in self.published.columns if name in labels]
            table = table.join(self.published, on=shared, how="left", maintain_order="left")
        return {self.name.split(".")[-1]: table}

    def _teams(self) -> list[list[Setting]]:
        groups: dict[tuple[object, ...], list[Setting]] = {}
        for setting in self.settings:
            groups.setdefault(setting.inputs, []).append(setting)
        teams = []
        for group in groups.values():
            if self.runs.give_up is not None:  # those that end early side by side, for full teams
                group.sort(key=self._is_hopeless)
            count = -(-len(group) // self.runs.team)
            bounds = [round(k * len(group) / count) for k in range(count + 1)]
            teams += [group[bounds[k] : bounds[k + 1]] for k in range(count)]
        return teams

    def _run_of(self, setting: Setting, seeds: Sequence[int]) -> Run:
        """The setting for the engine, with the starts of the seeds and what ends it early."""
        stall = self.runs.stall
        if stall is None and self._is_hopeless(setting):
            stall = self.runs.give_up
        run = replace(setting.run(seeds[0]), settle=self.runs.settle, stall=stall)
        if run.initial is None:
            return run
        starts = [setting.initial(seed) or {} for seed in seeds]
        initial = {name: torch.cat([start[name] for start in starts]) for name in run.initial}
        return replace(run, initial=initial)

    def _is_hopeless(self, setting: Setting) -> bool:
        """Did the paper solve none of this setting's runs?"""
        if self.published is None:
            return False
        labels = [name for name in setting.labels if name in self.published.columns]
        mine = self.published.filter(*(pl.col(name) == setting.labels[name] for name in labels))
        return mine["published_solved"].to_list() == [0]

    def _outcome(self, setting: Setting, seed: int, result: Result) -> pl.DataFrame:
        frame = outcomes(result.records, setting.goal).drop("replica")
        observed = {} if self.observe is None else self.observe(setting, seed, result.module(0))
        labels = {**setting.labels, "seed": seed}
        return frame.select(
            *(pl.lit(value).alias(name) for name, value in labels.items()),
            pl.all().exclude("steps", "status"),
            *(pl.lit(float(value)).alias(name) for name, value in observed.items()),
            pl.lit(int(result.steps[0]), dtype=pl.Int64).alias("steps"),
            pl.lit(result.status[0]).alias("status"),
        ).with_columns(pl.col(pl.Int32).cast(pl.Int64))


@dataclass
class _Training:
    """Of a chunk's settings on its seeds; stored once a minute, and when it is to stop."""

    chunk: str
    scratch: Path
    report: Report
    runs: Sequence[Run]
    seeds: Sequence[int]
    device: str

    def complete(self, steps: int) -> list[Result]:
        """The results after so many steps, from where it stands in the scratch folder."""
        results = stored_team(self.scratch, self.chunk, self.runs)
        while True:
            watch = _Watch(self.report, steps, len(self.runs) * len(self.seeds), results)
            try:
                return train_together(
                    self.runs,
                    steps=steps,
                    replicas=list(self.seeds),
                    resume=results,
                    threads=1,
                    device=self.device,
                    poll=watch,
                )
            except TrainingInterrupted as interrupted:
                results = interrupted.result
                store_team(self.scratch, self.chunk, results)
                if watch.stopped is not None:
                    raise watch.stopped from None
                if not watch.paused:
                    raise


class _Watch:
    """Reports how far all replicas are; ends the training to have it stored, or to stop."""

    def __init__(
        self, report: Report, steps: int, count: int, results: Sequence[Result] | None
    ) -> None:
        self.stopped: Stopped | None = None
        self.paused = False
        self._report, self._steps = report, steps * count
        self._before = sum(_steps_done(result, steps) for result in results or ())
        self._end = time.monotonic() + _STORE_EVERY_SECONDS

    def __call__(self, done: int) -> bool:
        try:
            self._report(min((self._before + done) / self._steps, 1.0))
        except Stopped as reason:
            self.stopped = reason
        self.paused = time.monotonic() > self._end
        return self.stopped is None and not self.paused


def _steps_done(result: Result, steps: int) -> int:
    """As the trainer counts: all, for a replica that has ended."""
    return sum(
        int(step) if status == "running" else steps
        for step, status in zip(result.steps, result.status, strict=True)
    )


def _records(setting: Setting, result: Result) -> pl.DataFrame:
    labels = [pl.lit(value).alias(name) for name, value in setting.labels.items()]
    seed = pl.col("replica").cast(pl.Int64).alias("seed")
    frame = result.records.select(*labels, seed, pl.all().exclude("replica"))
    return frame.with_columns(pl.col(pl.Int32).cast(pl.Int64))


def _key(setting: Setting) -> str:
    return "|".join(str(value) for value in setting.labels.values())


def _name(seeds: Sequence[int]) -> str:
    return f"seed{seeds[0]}" if len(seeds) == 1 else f"seeds{seeds[0]}-{seeds[-1]}"


def _panels(
    outcomes: pl.DataFrame, labels: Sequence[str], defaults: Mapping[str, Label]
) -> pl.DataFrame:
    """For each label that is varied, the rows in which the others have their default."""
    tables = []
    for varied in defaults:
        fixed = [pl.col(name) == value for name, value in defaults.items() if name != varied]
        rows = outcomes.filter(*fixed) if fixed else outcomes
        table = summarize(rows, by=list(labels)).select(pl.lit(varied).alias("varied"), pl.all())
        others = [name for name in labels if name not in defaults]
        tables.append(table.sort(*others, varied))
    return pl.concat(tables)
