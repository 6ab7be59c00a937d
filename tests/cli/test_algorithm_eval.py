"""`torchalu algorithm eval`: the accuracy by length, and what is wrong."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from algorithm_commands import rows
from exact_copy import untrained
from torchalu.cli import main
from torchalu.cli.algorithm_result import failure_lines
from torchalu.tasks import algorithm
from torchalu.zoo import LearnedAlgorithm

pytestmark = pytest.mark.usefixtures("here")


def test_eval_of_what_is_right(copy, capsys):
    assert main(["algorithm", "eval", copy, "--length", "3", "50", "--count", "20"]) == 0
    found = rows(capsys.readouterr().out)
    interval = ["83.9", "to", "100.0%"]
    assert found == [
        [length, "random", "20", "of", "20", "100.0%", *interval] for length in ("3", "50")
    ]


def test_eval_of_what_is_wrong_lists_failures(wrong, capsys):
    options = ["--length", "6", "--adversarial", "--seed", "1"]
    assert main(["algorithm", "eval", wrong, *options]) == 0
    out = capsys.readouterr().out
    learned = LearnedAlgorithm.load(wrong)
    texts = {"random": learned.test_strings(6, 100, 1), **learned.task.adversarial(6)}
    right = {kind: sum(t == t[::-1] for t in some) for kind, some in texts.items()}
    assert {row[1]: (int(row[2]), int(row[4])) for row in rows(out)} == {
        kind: (right[kind], len(some)) for kind, some in texts.items()
    }
    failures = [line for line in out.splitlines() if " gives " in line]
    assert len(failures) == sum(min(3, len(some) - right[kind]) for kind, some in texts.items())
    text = next(text for text in texts["random"] if text != text[::-1])
    places = [place for place in range(6) if text[place] != text[::-1][place]]
    assert failures[0] == (
        f"random, length 6: {text} gives {text}, right is {text[::-1]} "
        f"({len(places)} wrong, the first at position {places[0]})"
    )


def test_eval_searches_for_what_is_wrong(copy, wrong, capsys):
    assert main(["algorithm", "eval", wrong, "--length", "9", "--search", "50", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    line, *failures = [line for line in out.splitlines() if line.startswith("search, length 9: ")]
    counts = re.fullmatch(
        r".*: (\d+) of (\d+) new strings wrong, (\d+) of (\d+) neighbors of the hardest; "
        r"least margin (-[\d.]+)",
        line,
    )
    new_wrong, new, near_wrong, near = map(int, counts.groups()[:4])
    assert 0.8 * new < new_wrong < new <= 50  # one in 32 random ones is a palindrome; more in runs
    assert 0.8 * near < near_wrong <= near <= 8 * 40
    texts = [failure.split()[3] for failure in failures]
    assert len(texts) == 3
    assert all(len(text) == 9 and text != text[::-1] for text in texts)
    assert main(["algorithm", "eval", copy, "--length", "30", "--search", "40"]) == 0
    assert re.search(
        r"search, length 30: 0 of \d\d new strings wrong, 0 of \d+ neighbors of the hardest; "
        r"least margin [\d.]+\n",
        capsys.readouterr().out,
    )


def test_of_long_failures_the_first_wrong_symbol_is_shown(wrong):
    learned = LearnedAlgorithm.load(wrong)
    text = "0" * 100 + "01" + "0" * 98
    (line,) = failure_lines(learned, "here", [text])
    assert line == (
        f"here: {'0' * 60}... gives ...{'0' * 23}1{'0' * 36}..., right is "
        f"...{'0' * 20}1{'0' * 39}... (2 wrong, the first at position 98)"
    )
    assert learned.run(text) == text


def test_an_answer_whose_filling_alone_is_wrong():
    learned: Any = SimpleNamespace(task=algorithm("badd"), run=lambda texts: ["10011"])
    lines = failure_lines(learned, "here", ["1101+0111"])
    assert lines == ["here: 1101+0111 is right but for the symbols behind it"]


def test_what_was_measured_is_printed_before_a_search(copy, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("torchalu.evaluate.find_counterexamples", interrupted)
    assert main(["algorithm", "eval", copy, "--length", "3", "--search", "5", "--quiet"]) == 130
    assert rows(capsys.readouterr().out)[0][0] == "3"


def test_an_untrained_checkpoint_counts_nothing_right(capsys):
    untrained(algorithm("badd")).save("badd.safetensors")
    assert main(["algorithm", "eval", "badd.safetensors", "--length", "20"]) == 0
    assert rows(capsys.readouterr().out)[0][2:6] == ["0", "of", "100", "0.0%"]
