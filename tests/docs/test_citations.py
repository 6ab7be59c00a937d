"""Each paper that the code or the documentation goes by is in the bibliography."""

import re
import unicodedata
from pathlib import Path

import pytest

from torchalu.cli.cite import entries

ROOT = Path(__file__).parents[2]
CITED = re.compile(
    r"([A-Z][\w'-]+)"  # the first author
    r"(?: et al\.|(?:, [A-Z]\w+)*(?: et al\.|\s+(?:&|and)\s+[A-Z]\w+)),?\s+\(?((?:19|20)\d\d)\b"
)
SPELLED_OUT = {"Schloer": "Schlor"}


def plain(name):
    """A name without accents, as BibTeX or as Unicode has them."""
    name = re.sub(r"\\\W|[{}]", "", name.replace(r"{\L}", "L"))
    name = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in name if not unicodedata.combining(letter))


def field(entry, name):
    return re.search(rf"^  {name} += \{{(.*)\}}", entry, flags=re.M)[1]


def citations():
    """First author and year of each paper that is named by both, and a file that names it."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    package = [path for kind in ("*.py", "*.md") for path in (ROOT / "src").rglob(kind)]
    found = {}
    for path in [*package, *pages, ROOT / "README.md"]:
        for name, year in CITED.findall(path.read_text(encoding="utf-8")):
            found.setdefault((plain(name), year), path.name)
    return found


@pytest.mark.parametrize(("author", "year"), sorted(citations()))
def test_cited_papers_are_in_the_bibliography(author, year):
    known = {
        (plain(field(entry, "author")).split(",")[0], field(entry, "year"))
        for entry in entries().values()
    }
    assert (SPELLED_OUT.get(author, author), year) in known, citations()[author, year]


def test_the_best_known_papers_are_found():
    assert {("Trask", "2018"), ("Segui", "2015"), ("Jim", "1996")} <= citations().keys()
