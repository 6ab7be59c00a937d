"""`torchalu algorithm run --check`: whether answers agree with the operands in each order."""

import pytest

from exact_copy import exact_copy, untrained
from torchalu.cli import main
from torchalu.cli.algorithm import _agreement
from torchalu.tasks import algorithm


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exact_copy().save("copy.safetensors")
    untrained(algorithm("badd3")).save("badd3.safetensors")


def lines(capsys, *arguments):
    """What a command prints."""
    assert main(["algorithm", "run", *arguments, "--check"]) == 0
    return capsys.readouterr().out.splitlines()


def test_answers_that_agree(capsys):
    assert lines(capsys, "bmul", "1101*1011") == [
        algorithm("bmul").solve("1101*1011"),
        "the same answer with the operands in each order",
    ]


def test_answers_that_do_not(capsys):
    text = "110+010+001"
    learned = untrained(algorithm("badd3"))
    answers = learned.answers(text)
    assert list(answers) == learned.task.orders(text)
    assert answers == {order: learned.run(order) for order in answers}
    first, *others = (answer.ljust(20, "␀") for answer in answers.values())
    most = max(sum(a != b for a, b in zip(first, other, strict=True)) for other in others)
    assert most > 0
    answer, said = lines(capsys, "badd3.safetensors", text)
    assert answer == answers[text]
    assert said == (
        f"another answer with the operands in another order, by up to {most} symbols: "
        "one at least is wrong"
    )


def test_one_symbol_of_two_answers():
    said = "another answer with the operands in another order, by {}: one at least is wrong"
    assert _agreement(["0110", "0111"]) == said.format("1 symbol")
    assert _agreement(["0110", "011"]) == said.format("1 symbol")
    assert _agreement(["0110", "1001"]) == said.format("4 symbols")


@pytest.mark.parametrize(("name", "text"), [("copy.safetensors", "0110"), ("bmul", "110*110")])
def test_one_order(name, text, capsys):
    assert lines(capsys, name, text)[1] == "nothing to compare: the operands have one order"
