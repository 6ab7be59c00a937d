"""Programs against Python's own evaluation, and against the grammar."""

import ast

import pytest
import torch

from torchalu.tasks import (
    PROGRAM_SYMBOLS,
    Programs,
    encode_programs,
    evaluate_program,
)

ALLOWED = (
    *(ast.Expression, ast.BinOp, ast.IfExp, ast.Compare, ast.Constant),
    *(ast.Add, ast.Sub, ast.Lt, ast.Gt, ast.UnaryOp, ast.USub),
)


def parsed(program):
    """The program as Python sees it, if it has nothing but what the grammar has."""
    tree = ast.parse(" ".join(map(str, program)), mode="eval")
    assert all(isinstance(node, ALLOWED) for node in ast.walk(tree))
    assert all(type(n.value) is int for n in ast.walk(tree) if isinstance(n, ast.Constant))
    return tree


def by_python(program):
    return eval(compile(parsed(program), "program", "eval"))


def operations(program):
    """The operations of a program, counted by Python's parser."""
    return sum(isinstance(node, ast.BinOp | ast.IfExp) for node in ast.walk(parsed(program)))


@pytest.mark.parametrize("numbers", [(0, 100), (100, 1000), (1000, 10_000), (-50, 50)])
def test_programs_evaluate_as_in_python(numbers):
    for program in Programs(nesting=(1, 4), number_range=numbers, seed=7).sample(0, 500):
        assert evaluate_program(program) == by_python(program)


def test_programs_have_the_operations_that_they_should():
    for count in (1, 2, 5):
        programs = Programs(nesting=(count, count)).sample(0, 50)
        assert {operations(program) for program in programs} == {count}
    mixed = [operations(program) for program in Programs(nesting=(1, 3)).sample(0, 3000)]
    for count in (1, 2, 3):
        assert mixed.count(count) == pytest.approx(1000, abs=120)  # 4.6 standard deviations


def test_operations_comparisons_and_places_are_drawn_with_equal_chance():
    programs = Programs(nesting=(1, 1)).sample(0, 3000)
    for symbol, expected in (("+", 1000), ("-", 1000), ("if", 1000), ("<", 500), (">", 500)):
        assert sum(symbol in program for program in programs) == pytest.approx(expected, abs=120)
    nested = Programs(("if",), nesting=(2, 2)).sample(0, 2000)
    starts = {"body": 1, "left": 3, "right": 5, "else": 7}
    places = [[p[start] == "(" for p in nested] for start in starts.values()]
    for place in places:
        assert sum(place) == pytest.approx(500, abs=90)
    assert sum(map(sum, places)) == 2000


@pytest.mark.parametrize("numbers", [(0, 100), (100, 1000), (1000, 10_000)])
def test_numbers_are_uniform_on_their_range(numbers):
    low, high = numbers
    programs = Programs(("add",), (1, 1), numbers).sample(0, 3000)
    values = torch.tensor([[p[1], p[3]] for p in programs], dtype=torch.float64)
    assert low <= values.min()
    assert values.max() < high
    width = high - low
    assert values.mean().item() == pytest.approx((low + high - 1) / 2, abs=width * 0.02)
    assert values.std().item() == pytest.approx(width / 12**0.5, rel=0.04)


def test_the_addition_of_two_integers():
    task = Programs(("add",), nesting=(1, 1), seed=5)
    batch = task.batch(3, 64)
    assert [PROGRAM_SYMBOLS[i] for i in batch.symbols[0]] == ["(", "<number>", "+", "<number>", ")"]
    assert torch.equal(batch.targets[:, 0], batch.values[:, 1] + batch.values[:, 3])
    assert batch.lengths.eq(5).all()


def test_a_batch_can_be_read_back():
    task = Programs(nesting=(1, 4), number_range=(1000, 10_000), seed=2)
    batch = task.batch(9, 64)
    assert batch.symbols.shape == batch.values.shape == (64, int(batch.lengths.max()))
    for row, program in enumerate(task.sample(9, 64)):
        length = int(batch.lengths[row])
        symbols = [PROGRAM_SYMBOLS[i] for i in batch.symbols[row, :length]]
        values = batch.values[row, :length].int().tolist()
        read = [v if s == "<number>" else s for s, v in zip(symbols, values, strict=True)]
        assert tuple(read) == program
        assert not batch.symbols[row, length:].any()
        assert not batch.values[row, length:].any()
        assert batch.targets[row].item() == by_python(program)


def test_a_batch_follows_from_seed_and_step():
    first, same, other = Programs(seed=1), Programs(seed=1), Programs(seed=2)
    assert first.sample(4) == same.sample(4)
    assert first.sample(4) != first.sample(5)
    assert first.sample(4) != other.sample(4)


@pytest.mark.parametrize(
    "program",
    [
        (),
        ("(", 1, "+", 2),
        (1, ")"),
        ("(", 1, "*", 2, ")"),
        ("(", 1, "+", ")"),
        ("(", 1, "if", 2, "<", 3, ")"),
        (1, 2),
        ("(", ")"),
    ],
    ids=str,
)
def test_what_is_no_program(program):
    with pytest.raises(ValueError, match="see Programs for what a program is made of"):
        evaluate_program(program)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"operations is \('mul',\); give some of add, sub, if"):
        Programs(("mul",))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="operations is"):
        Programs(())
    with pytest.raises(ValueError, match=r"nesting is \(0, 2\)"):
        Programs(nesting=(0, 2))
    with pytest.raises(ValueError, match=r"number_range is \(5, 5\)"):
        Programs(number_range=(5, 5))
    with pytest.raises(ValueError, match="so that float32 holds the sum of 4 of them"):
        Programs(number_range=(0, 10**7))
    with pytest.raises(ValueError, match="seed is -1"):
        Programs(seed=-1)
    with pytest.raises(ValueError, match="batch_size 0"):
        Programs().batch(0, 0)
    with pytest.raises(ValueError, match="step is -1"):
        Programs().batch(-1)
    with pytest.raises(ValueError, match="programs is empty"):
        encode_programs([])
    most = 2**24
    assert encode_programs([(most,), ("(", most, "-", most, ")")]).targets.tolist() == [[most], [0]]
    for program in ((most + 1,), (10**400,), ("(", most, "+", most, ")")):
        with pytest.raises(
            ValueError, match=r"programs\[1\] has or comes to .*16777216 in magnitude"
        ):
            encode_programs([(1,), program])
