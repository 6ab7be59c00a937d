"""The core-hours that the README of Trask et al. 2018 gives follow from the committed runs."""

import json
import re

import pytest

from torchalu.experiments import get
from trask2018_pages import RESULTS, ROOT, page, study_of

README = ROOT / "src" / "torchalu" / "experiments" / "trask2018" / "README.md"


def work(study):
    return sum(chunk.work for chunk in study.chunks())


def hours_and_work(name):
    """Core-hours by the committed runs, and the work that their chunks say they are, by seeds."""
    done = {}
    for run in json.loads((RESULTS / f"{name}.json").read_text())["runs"]:
        command = run["command"].split("trask2018.", 1)[1]
        first, count = (
            int(found[1]) if (found := re.search(rf"--{option} (\d+)", command)) else default
            for option, default in (("first-seed", 0), ("seeds", 1))
        )
        hours, amount = done.get((first, count), (0.0, 0.0))
        done[first, count] = hours + run["core_hours"], amount + work(study_of(command))
    return done


def hours_for_work(name):
    """Core-hours for each unit of work, of the seeds that took least.

    Only seeds of all models count, for which an experiment may have taken several runs.
    """
    done = hours_and_work(name)
    each = {seeds: amount / seeds[1] for seeds, (_, amount) in done.items()}
    whole = [done[seeds] for seeds in done if each[seeds] > 0.8 * max(each.values())]
    return min(hours / amount for hours, amount in whole)


def average_hours_for_work(name):
    """The same over all seeds and runs."""
    hours, amounts = zip(*hours_and_work(name).values(), strict=True)
    return sum(hours) / sum(amounts)


def measured_by(name):
    """What an experiment is measured by; a search that has not been run, by its table."""
    return name if (RESULTS / f"{name}.json").exists() else name.removesuffix("_search")


ESTIMATED = [
    (name, float(hours))
    for name, hours in re.findall(
        r"^\| `(\w+)` \|(?:[^|]*\|){3} ([\d.]+) \|$", README.read_text("utf-8"), re.MULTILINE
    )
]
NIGHT = [
    (command, float(hours))
    for command, hours in re.findall(
        r"^\| `([^`]+)` \| ([\d.]+) \| [^|]+ \|$", README.read_text("utf-8"), re.MULTILINE
    )
]


@pytest.mark.parametrize(("name", "hours"), ESTIMATED)
def test_core_hours_at_the_defaults_are_in_proportion_to_the_committed_runs(name, hours):
    expected = work(get(f"trask2018.{name}")()) * hours_for_work(measured_by(name))
    assert hours == pytest.approx(expected, rel=0.06, abs=0.05)


@pytest.mark.parametrize(("command", "hours"), NIGHT)
def test_core_hours_of_a_night_are_those_of_the_committed_runs_or_in_proportion(command, hours):
    name = command.split()[0]
    expected = work(study_of(command)) * hours_for_work(measured_by(name))
    assert hours == pytest.approx(expected, rel=0.06, abs=0.05)


def test_core_hours_add_up():
    text = " ".join(README.read_text("utf-8").split())
    assert len(ESTIMATED) == 14
    assert len(NIGHT) == 14
    defaults = sum(hours for _, hours in ESTIMATED)
    assert f"about {defaults:.0f} core-hours; a third of them are those of `table4`" in text
    assert dict(ESTIMATED)["table4"] / defaults == pytest.approx(1 / 3, abs=0.04)
    night = sum(hours for _, hours in NIGHT)
    assert f"take about {night:.0f}, and so a night of {night / 2:.0f} hours on two cores" in text
    average = sum(
        work(study_of(command)) * average_hours_for_work(measured_by(command.split()[0]))
        for command, _ in NIGHT
    )
    assert f"at the average of all seeds it would be {average:.0f}" in text


def test_what_part_of_the_programs_the_dnc_is():
    runs = json.loads((RESULTS / "figure4.json").read_text("utf-8"))["runs"]
    hours = {
        run["command"].split("--models ")[1].split(" --")[0]: run["core_hours"]
        for run in runs
        if "--seeds 4 " in run["command"]
    }
    assert 1 / 4 < hours["DNC"] / sum(hours.values()) < 1 / 3
    assert "more than a quarter of it is the DNC" in page("words_programs")
