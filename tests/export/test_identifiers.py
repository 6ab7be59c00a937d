"""Identifiers are legal, different and stable."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchalu.export.identifiers import RESERVED, check_function_name, identifiers

NAMES = st.one_of(
    st.text(max_size=6),
    st.sampled_from([*sorted(RESERVED), "a b", "a_b", "a-b", "a_b_2", "x_", "t1", "é", "e"]),
    st.text("ab_ -2", max_size=4),
)


@given(names=st.lists(NAMES, unique=True, max_size=20), taken=st.sets(NAMES, max_size=3))
def test_legal_and_different(names, taken):
    mapping = identifiers(names, taken)
    assert list(mapping) == names
    assert len(set(mapping.values())) == len(names)
    for name, word in mapping.items():
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", word)
        assert word not in RESERVED
        assert word not in taken
        if name == word:
            continue
        unchanged = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,59}", name)
        assert not unchanged or name in RESERVED or name in taken


def test_long_names_stay_apart():
    first, second = "a" * 200, "a" * 201
    assert len(set(identifiers([first, second]).values())) == 2


@pytest.mark.parametrize("name", ["", "1", "a b", "double", "lambda", "log", "main", "_f", "é", 3])
def test_function_names_that_are_refused(name):
    with pytest.raises(ValueError, match="name is"):
        check_function_name(name)
