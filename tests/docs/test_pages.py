"""The pages name what the package has: units, public names, options, and one version."""

import dataclasses
import tomllib
from pathlib import Path

import pytest
import yaml

import torchalu
from torchalu import engine, evaluate, export, functional, nn, sweep, train
from torchalu.cli import Fit, Run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text("utf-8")
    for path in [*DOCS.glob("*.md"), *DOCS.glob("units/*.md")]
}
UNITS = [
    name
    for name in nn.__all__
    if isinstance(getattr(nn, name), type)
    and issubclass(getattr(nn, name), nn.Unit)
    and getattr(nn, name) is not nn.Unit
]


@pytest.mark.parametrize("unit", UNITS)
def test_each_unit_has_a_page_of_its_own(unit):
    titles = [text.splitlines()[0] for name, text in PAGES.items() if name.startswith("units/")]
    assert titles.count(f"# {unit}") == 1
    page = next(text for text in PAGES.values() if text.startswith(f"# {unit}\n"))
    for part in ("## When to use it", "## When it fails", f"```{{bibtex}} {unit}"):
        assert part in page
    assert f".. autoclass:: torchalu.nn.{unit}" in page


@pytest.mark.parametrize(
    "room",
    [engine, evaluate, export, functional, nn, sweep, train],
    ids=lambda room: room.__name__,
)
def test_each_public_name_is_in_the_reference(room):
    text = "\n".join(PAGES.values())
    shown = {line.split()[-1] for line in text.splitlines() if line.startswith(".. auto")}
    missing = [
        name
        for name in room.__all__
        if f"{room.__name__}.{name}" not in shown and f"torchalu.{name}" not in shown
    ]
    assert missing == []


@pytest.mark.parametrize("command", [Fit, Run])
def test_each_option_of_a_command_is_on_the_page(command):
    page = PAGES["command_line.md"]
    options = [field.name for field in dataclasses.fields(command) if field.name != "table"]
    assert [name for name in options if f"`--{name}" not in page] == []


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project["version"] == torchalu.__version__ == citation["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
