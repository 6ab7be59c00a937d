"""Which strings the networks are tested on, and what is counted."""

import pytest
from torch import nn

from torchalu.experiments.kaiser2016.measuring import Strings, measure_strings, read_failed
from torchalu.tasks import AlgorithmicTask, algorithm, encode
from torchalu.train import Stopped

BADD = algorithm("badd")


class Exact(nn.Module):
    """Answers as the task does, but for strings with a wrong sign of its choosing."""

    def __init__(self, task: AlgorithmicTask, wrong=()):
        super().__init__()
        self.task, self.wrong, self.calls = task, set(wrong), 0

    def forward(self, symbols, lengths):
        self.calls += 1
        characters = "?" + self.task.alphabet
        texts = ["".join(characters[k] for k in row if k) for row in symbols.tolist()]
        targets = encode(self.task, texts).targets
        for row, text in enumerate(texts):
            if text in self.wrong:
                targets[row, 0] = 0
        return nn.functional.one_hot(targets, len(characters)).float()


def test_strings_are_the_same_each_time_and_as_many_as_asked_for():
    strings = Strings((20, 600), count=30, long_count=7)
    once, again = (list(strings.sets(BADD)) for _ in range(2))
    assert once == again
    sizes = {(kind, length): len(texts) for kind, length, texts in once}
    assert sizes["random", 20] == 30
    assert sizes["random", 600] == 7
    kinds = BADD.adversarial(20)
    assert {kind for kind, length in sizes if length == 20} == {"random", *kinds}
    assert {kind for kind, length in sizes if length == 600} == {"random", *BADD.adversarial(600)}
    assert all(BADD.length_of(text) == length for _, length, texts in once for text in texts)


def test_no_string_of_the_tests_is_drawn_like_those_of_training():
    """Streams differ, so that at 20 bits no string is drawn twice but by chance."""
    from torchalu.train.algorithms import LengthBins, TrainingStrings

    tested = {text for kind, _, texts in Strings((20,)).sets(BADD) for text in texts}
    drawn = TrainingStrings(BADD, LengthBins(BADD, bins=(41,), batch=500), seed=0)(0)[0].inputs
    characters = "?" + BADD.alphabet
    trained = {"".join(characters[k] for k in row if k) for row in drawn.tolist()}
    assert not tested & {text for text in trained if len(text) == 41}


def test_an_exact_network_gets_all_strings_and_its_errors_are_counted():
    strings = Strings((3, 20), count=50)
    rows = measure_strings(Exact(BADD), BADD, strings)
    assert all(row["right"] == row["count"] and row["digits"] == 1 for row in rows)
    assert all(row["failed"] == "" for row in rows)
    sets = list(strings.sets(BADD))
    wrong = sets[-1][2][0]
    rows = measure_strings(Exact(BADD, [wrong]), BADD, strings)
    for row, (kind, length, texts) in zip(rows, sets, strict=True):
        assert (row["strings"], row["length"]) == (kind, length)
        assert row["count"] - row["right"] == texts.count(wrong)
    assert wrong in rows[-1]["failed"].split()


def test_of_long_strings_the_place_is_kept():
    strings = Strings((3, 40), count=50)
    sets = {(kind, length): texts for kind, length, texts in strings.sets(BADD)}
    wrong = [sets["random", 40][17], sets["random", 3][4]]
    rows = {
        (row["strings"], row["length"]): row
        for row in measure_strings(Exact(BADD, wrong), BADD, strings)
    }
    assert rows["random", 40]["failed"] == "#17"
    assert read_failed(rows["random", 40]["failed"]) == ((), (17,))
    texts, places = read_failed(rows["random", 3]["failed"])
    assert (set(texts), places) == ({wrong[1]}, ())


@pytest.mark.usefixtures("every_step_reports")
def test_measuring_goes_on_where_it_was_broken_off(tmp_path):
    strings, done = Strings((3, 20), count=10), []

    def stop(fraction):
        done.append(fraction)
        if len(done) == 3:
            raise Stopped("enough")

    first = Exact(BADD)
    with pytest.raises(Stopped):
        measure_strings(first, BADD, strings, folder=tmp_path, report=stop)
    second = Exact(BADD)
    rows = measure_strings(second, BADD, strings, folder=tmp_path, report=done.append)
    assert rows == measure_strings(Exact(BADD), BADD, strings)
    assert (first.calls, first.calls + second.calls) == (3, len(rows) + 1)
    assert done == sorted(done)
    assert done[-1] == 1


@pytest.mark.parametrize("content", ["", "{}", "[3]", '[{"right": 1', "[" * 10_000])
def test_measurements_that_cannot_be_read_are_set_aside(tmp_path, content):
    strings = Strings((3,), count=10)
    (tmp_path / "measured.json").write_text(content)
    with pytest.warns(UserWarning, match=r"measured.json' cannot be read .* 'measured.json.broken"):
        rows = measure_strings(Exact(BADD), BADD, strings, folder=tmp_path)
    assert rows == measure_strings(Exact(BADD), BADD, strings)
    assert (tmp_path / "measured.json.broken").read_text() == content


def test_longer_strings_are_not_tried_where_none_was_right():
    strings = Strings((3, 9, 20), count=10)
    nines = [text for kind, length, texts in strings.sets(BADD) if length == 9 for text in texts]
    network = Exact(BADD, nines)
    rows = measure_strings(network, BADD, strings)
    tried = {length: [row for row in rows if row["length"] == length] for length in (3, 9, 20)}
    assert network.calls == len(tried[3]) + len(tried[9])
    assert all(row["right"] == row["count"] for row in tried[3])
    assert all(row["right"] == 0 and row["digits"] > 0.9 for row in tried[9])
    whole = measure_strings(Exact(BADD), BADD, Strings((20,), count=10))
    assert [row["count"] for row in tried[20]] == [row["count"] for row in whole]
    assert all(row["right"] == 0 and row["digits"] is None for row in tried[20])


def test_strings_that_a_network_cannot_take_are_left_out():
    rows = measure_strings(Exact(BADD), BADD, Strings((3, 20), count=5), most_symbols=40)
    assert {row["length"] for row in rows} == {3}
