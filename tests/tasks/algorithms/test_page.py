"""The page's table says of each task what the task does."""

import re
from pathlib import Path

import pytest

from torchalu.tasks import CarryTask, algorithm, algorithm_names

PAGE = (Path(__file__).parents[3] / "docs" / "algorithm_tasks.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if "|" in line
]
TASKS = {row[0].strip("`"): row for row in ROWS if len(row) == 5 and row[0].startswith("`")}


def test_each_task_has_a_row():
    assert tuple(TASKS) == algorithm_names()


@pytest.mark.parametrize("name", TASKS)
def test_a_row_shows_the_example_the_answer_and_n(name):
    task = algorithm(name)
    _, text, answer, symbols, _ = TASKS[name]
    assert text.strip("`") == task.example
    assert answer.strip("`") == task.solve(task.example)
    slope, offset = re.fullmatch(r"(\d*)d(?: \+ (\d+))?", symbols).groups()
    assert task.size == (int(slope or 1), int(offset or 0))


def test_tasks_with_carries_are_named():
    named = {name for row in ROWS if len(row) == 2 for name in re.findall("`(.+?)`", row[0])}
    assert named == {name for name in algorithm_names() if isinstance(algorithm(name), CarryTask)}
