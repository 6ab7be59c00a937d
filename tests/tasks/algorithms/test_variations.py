"""Inputs made of others: they are inputs, near those given, or in runs of the law's sizes."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from torchalu.tasks import algorithm, algorithm_names
from torchalu.tasks.algorithms import StringFileTask, in_runs, neighbors


def differing(text, other):
    """At how many places two texts of a length differ."""
    return sum(a != b for a, b in zip(text, other, strict=True))


@pytest.mark.parametrize("name", algorithm_names())
def test_neighbors_and_runs_are_inputs_of_the_length(name):
    task, rng = algorithm(name), np.random.default_rng(0)
    length = task.sample_lengths(12)[-1]
    given = task.sample(length, 40, rng)
    near, runs = neighbors(task, given, length, 200, rng), in_runs(task, given, length, rng)
    assert near
    assert runs or name == "expression"  # a run through its brackets leaves no expression
    for made in (near, runs):
        assert len(set(made)) == len(made)
        assert all(task.length_of(text) == length for text in made)
        assert all(task.solve(text) for text in made)


def test_neighbors_differ_in_one_to_four_symbols_of_those_that_they_are_made_of():
    task, rng = algorithm("dmul"), np.random.default_rng(1)
    given = task.sample(20, 2, rng)
    made = neighbors(task, given, 20, 3000, rng)
    changes = [min(differing(text, old) for old in given) for text in made]
    counts = np.bincount(changes, minlength=5)
    assert counts[0] == 0
    assert len(counts) == 5
    # uniform in 1..4 places, each of which gets another digit in nine of ten cases
    expected = np.zeros(5)
    for places in range(1, 5):
        for changed in range(places + 1):
            expected[changed] += binom.pmf(changed, places, 0.9) / 4
    more = counts[2:], expected[2:]  # of which hardly any is made twice
    assert np.allclose(more[0] / more[0].sum(), more[1] / more[1].sum(), atol=0.04)
    assert not set(made) & set(given)


def test_each_of_those_given_serves():
    task, rng = algorithm("copy"), np.random.default_rng(2)
    given = ["0" * 40, "1" * 40]
    ones = [text.count("1") for text in neighbors(task, given, 40, 100, rng)]
    assert sum(n <= 4 for n in ones) > 20
    assert sum(n >= 36 for n in ones) > 20
    assert all(n <= 4 or n >= 36 for n in ones)


def test_sizes_of_runs_follow_their_law():
    """With symbols that never repeat by chance, each run is as long as it was drawn."""
    alphabet = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))
    task = algorithm("copy")
    wide = type(task)(**{**vars(task), "alphabet": alphabet})
    rng = np.random.default_rng(3)
    texts = in_runs(wide, wide.sample(30, 4000, rng), 30, rng)
    sizes = []
    for text in texts:
        switches = [0, *(at for at in range(1, 30) if text[at] != text[at - 1]), 30]
        sizes.append(switches[1])  # the first run is not cut
    observed = np.bincount(sizes, minlength=31)[1:30]
    at = np.arange(1, 31)
    law = np.log((at[:29] + 1) / at[:29]) / np.log(30)  # floor(30 ** u)
    kept = law * len(texts) >= 5
    expected = law[kept] / law[kept].sum() * observed[kept].sum()
    assert chisquare(observed[kept], expected).pvalue > 1e-3


def test_signs_stay_where_all_inputs_have_them():
    task, rng = algorithm("bmul"), np.random.default_rng(4)
    made = in_runs(task, task.sample(20, 200, rng), 20, rng)
    assert len(made) > 100
    assert all(text[20] == "*" for text in made)


def test_a_files_strings_have_no_neighbors_but_its_own():
    rows = {"00": "a", "01": "b", "11": "a"}
    task = StringFileTask(
        name="own", title="mine", alphabet="01ab", example="00", size=(1, 0), rows=rows
    )
    rng = np.random.default_rng(6)
    assert set(neighbors(task, ["00"], 2, 100, rng)) == {"01", "11"}
    assert set(in_runs(task, ["00", "01", "11"] * 20, 2, rng)) <= set(rows)


def test_no_texts_have_none():
    task, rng = algorithm("bmul"), np.random.default_rng(5)
    assert neighbors(task, [], 20, 10, rng) == []
    assert neighbors(task, ["1*1"], 1, 0, rng) == []
    assert in_runs(task, [], 20, rng) == []


def test_what_is_no_text_no_name_and_no_generator():
    task = algorithm("badd")
    with pytest.raises(TypeError, match=r"text is 1101; give a string, such as '"):
        task.solve(1101)
    with pytest.raises(TypeError, match=r"name is 5; give the name of a task"):
        algorithm(5)
    with pytest.raises(TypeError, match=r"filled is 'no'; give True, False or None"):
        algorithm("badd", filled="no")
    with pytest.raises(TypeError, match=r"rng is 0; give a generator, such as numpy"):
        task.sample(4, 2, 0)
