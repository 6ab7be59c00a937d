"""Names as people write them."""

import difflib
from collections.abc import Mapping
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
    proper = {_letters(known): known for known in table}
    if _letters(name) not in proper:
        near = difflib.get_close_matches(_letters(name), proper, n=1, cutoff=0.0)[0]
        raise ValueError(f"no {kind} called {name!r}; did you mean {proper[near]!r}?")
    return table[proper[_letters(name)]]


def _letters(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
