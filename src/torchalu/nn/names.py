"""Names as people write them."""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeVar

Value = TypeVar("Value")


def find(name: str, table: Mapping[str, Value], kind: str) -> Value:
    """What a table holds under a name, whatever its case and however its words are joined.

    Args:
        name: what somebody wrote.
        table: what there is, by its proper name.
        kind: what the table lists, for the error.

    Raises:
        TypeError: `name` is no string.
        ValueError: there is no such name; the error gives the nearest one.

    Example:
        >>> find("Leaky-ReLU", {"leaky_relu": 1, "relu": 2}, "activation")
        1
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of an {kind} is {name!r}; give a string")
    if name in table:
        return table[name]
    proper = {_letters(known): known for known in table}
    if _letters(name) not in proper:
        raise ValueError(f"no {kind} called {name!r}; did you mean {_nearest(name, table)!r}?")
    return table[proper[_letters(name)]]


@lru_cache(maxsize=1024)  # a deep network looks for its activations again and again
def _letters(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _words(name: str) -> str:
    """The letters and digits of a name, word by word in the order of the alphabet."""
    return "".join(sorted(re.split(r"[\W_]+", name.lower())))


def _nearest(name: str, names: Iterable[str]) -> str:
    """The name that is most alike, be its words in another order; of equals by its letters."""

    def likeness(known: str) -> tuple[float, float]:
        letters, words = (
            SequenceMatcher(None, form(known), form(name)).ratio() for form in (_letters, _words)
        )
        return max(letters, words), letters

    return max(names, key=likeness)
