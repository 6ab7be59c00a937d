"""Samples: of the right length and law, and accepted by the truth."""

from collections import Counter
from itertools import pairwise, product, takewhile

import numpy as np
import pytest
from scipy.stats import chisquare

from torchalu.tasks import CarryTask, algorithm, algorithm_names
from torchalu.tasks.algorithms.laws import spread_runs

CARRYING = [name for name in algorithm_names() if isinstance(algorithm(name), CarryTask)]


def uniform(found, outcomes):
    """Whether counts over all outcomes look uniform; a fixed seed settles the answer."""
    counts, outcomes = Counter(found), list(outcomes)
    assert set(counts) <= set(outcomes)
    return chisquare([counts[outcome] for outcome in outcomes]).pvalue > 1e-3


def longest_carry(*operands, base=2):
    """The most places in a row that a sum carries out of, worked out digit by digit."""
    length = max(map(len, operands))
    carry = run = longest = 0
    for place in range(length):
        carry += sum(int(digits[place]) for digits in operands if place < len(digits))
        carry //= base
        run = run + 1 if carry else 0
        longest = max(longest, run)
    return longest


def longest_borrow(first, second):
    borrow = run = longest = 0
    for a, b in zip(first, second, strict=True):
        borrow = int(a) - int(b) - borrow < 0
        run = run + 1 if borrow else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize("length", [1, 2, 3, 8, 33])
def test_samples_are_inputs_of_their_length(name, length):
    task = algorithm(name)
    texts = task.sample(length, 50, np.random.default_rng(length))
    assert len(texts) == 50
    assert {task.length_of(text) for text in texts} == {length}
    for text in texts:
        n, answer = task.symbols(length), task.solve(text)
        assert len(text) <= n
        assert len(answer) <= task.answer_symbols(length) <= n
        assert len(answer) == task.answer_symbols(length) or not task.filled
    assert task.lengths(task.symbols(length)) == length
    assert task.lengths(task.symbols(length) - 1) == length - 1


@pytest.mark.parametrize("name", algorithm_names())
def test_strings_to_test_on_are_those_of_any_sample(name):
    task = algorithm(name)
    found = [draw(2, 50, np.random.default_rng(1)) for draw in (task.sample, task.sample_tests)]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", algorithm_names())
def test_samples_follow_from_the_generator(name):
    task = algorithm(name)
    first, again, other = (task.sample(30, 4, np.random.default_rng(s)) for s in (1, 1, 2))
    assert first == again
    assert first != other
    assert task.sample(30, 0, np.random.default_rng(1)) == []
    assert list(task.sample_lengths(3)) == [1, 2, 3]
    assert task.split() == (task, task)


@pytest.mark.parametrize(
    ("name", "length"),
    [
        *((name, 4) for name in ("copy", "reverse", "duplicate", "sort", "increment")),
        *((name, 2) for name in ("badd", "bmul", "bsub", "compare")),
        *((name, 1) for name in ("badd3", "qadd", "dmul")),
    ],
)
def test_samples_are_uniform(name, length):
    task = algorithm(name)
    texts = task.sample(length, 5000, np.random.default_rng(0))
    symbols = sorted(set("".join(texts)) & set("0123456789"))
    sign = next((symbol for symbol in texts[0] if symbol not in "0123456789"), "")
    operands = texts[0].count(sign) + 1 if sign else 1
    numbers = ["".join(digits) for digits in product(symbols, repeat=length)]
    outcomes = [sign.join(parts) for parts in product(numbers, repeat=operands)]
    assert uniform(texts, outcomes)


def test_lengths_of_unaligned_operands_are_uniform():
    texts = algorithm("badd_unaligned").sample(4, 5000, np.random.default_rng(0))
    pairs = [tuple(map(len, text.split("+"))) for text in texts]
    assert uniform(pairs, [p for p in product(range(1, 5), repeat=2) if max(p) == 4])
    assert uniform(
        [text for text in texts if len(text) == 6 and text[1] == "+"],
        [f"{a}+{''.join(b)}" for a in "01" for b in product("01", repeat=4)],
    )


def test_shifts_and_expressions_are_uniform():
    rng = np.random.default_rng(0)
    shifts = algorithm("shift").sample(3, 5000, rng)
    numbers = ["".join(bits) for bits in product("01", repeat=3)]
    assert uniform(shifts, [n + "<" * marks for n in numbers for marks in range(4)])
    texts = algorithm("expression").sample(1, 9000, rng)
    signs = ["".join(c for c in text if c in "+*") for text in texts]
    assert uniform(map(len, signs), [1, 2, 3])
    assert uniform([s for s in signs if len(s) == 3], map("".join, product("+*", repeat=3)))
    pairs = [text for text in texts if len(text) == 3]
    assert uniform(pairs, map("".join, product("01", "+*", "01")))


def test_patterns_of_all_sizes_half_of_them_found():
    task = algorithm("search")
    texts = task.sample(64, 4000, np.random.default_rng(0))
    sequences, patterns = zip(*(text.split("?") for text in texts), strict=True)
    assert uniform([s[:4] for s in sequences], map("".join, product("01", repeat=4)))
    sizes = np.array([len(pattern) for pattern in patterns])
    edges = np.array([1, 2, 4, 8, 16, 32, 65])
    found = np.histogram(sizes, edges)[0]
    expected = len(texts) * np.diff(np.log(edges)) / np.log(65)
    assert chisquare(found, expected).pvalue > 1e-3
    long = [p in s for s, p in zip(sequences, patterns, strict=True) if len(p) >= 16]
    assert 0.4 < np.mean(long) < 0.6


@pytest.mark.parametrize("name", ["badd", "dadd", "qadd", "badd3", "badd_unaligned", "increment"])
@pytest.mark.parametrize("length", [1, 2, 7, 40])
def test_all_long_carries_are_long(name, length):
    task = algorithm(name, long_carries=1)
    base = len(set(task.alphabet) - {"+"})
    for text in task.sample(length, 300, np.random.default_rng(0)):
        operands = [text, "1"] if name == "increment" else text.split("+")
        assert longest_carry(*operands, base=base) >= length / 2, text


@pytest.mark.parametrize("name", ["badd", "dadd", "qadd"])
@pytest.mark.parametrize("length", [1, 2, 7, 40])
def test_absent_carries_would_go_as_far(name, length):
    """Behind two zeros, which stop any carry, all digits of the run add up to base - 1."""
    task = algorithm(name, absent_carries=1)
    base = len(set(task.alphabet) - {"+"})
    for text in task.sample(length, 300, np.random.default_rng(0)):
        first, second = text.split("+")
        whole = [int(a) + int(b) == base - 1 for a, b in zip(first, second, strict=True)]
        ends = [i for i in range(length) if first[i] == second[i] == "0"]
        runs = [len(list(takewhile(bool, whole[i + 1 :]))) for i in ends]
        assert max(runs) + 1 >= length / 2, text


def test_all_long_borrows_are_long():
    for text in algorithm("bsub", long_carries=1).sample(40, 300, np.random.default_rng(0)):
        assert longest_borrow(*text.split("-")) >= 20, text


@pytest.mark.parametrize("name", ["badd", "qadd", "bsub", "compare"])
def test_half_of_the_long_carries_have_runs_of_equal_digits(name):
    task = algorithm(name, long_carries=1)
    texts = task.sample(40, 2000, np.random.default_rng(0))
    sign = texts[0][40]
    # One of the two operands, whose order is random in sums, is 0 and base - 1 by turns.
    changes = np.array(
        [min(sum(a != b for a, b in pairwise(o)) for o in text.split(sign)) for text in texts]
    )
    few = np.mean(changes <= 8)  # of uniform bits 20 on average, with a deviation of 3
    assert abs(few - 0.5) < 0.05


def test_long_comparisons_agree_in_the_upper_half():
    for text in algorithm("compare", long_carries=1).sample(40, 300, np.random.default_rng(0)):
        first, second = text.split("?")
        assert first[20:] == second[20:]


def test_products_with_long_carries_have_long_runs_and_few_digits():
    texts = algorithm("dmul", long_carries=1).sample(60, 500, np.random.default_rng(0))
    operands = [operand for text in texts for operand in text.split("*")]
    sparse = sum(operand.count("0") > 50 for operand in operands)
    runs = sum(set(o) == {"0", "9"} and o.count("0") <= 50 for o in operands)
    nines = [o.count("9") / 60 for o in operands if o.count("0") <= 50 and len(set(o)) > 2]
    assert 200 < sparse < 300
    assert 180 < runs < 300
    # The others are uniform, with a tenth of nines, or dense, with any share above that.
    assert 430 < len(nines) < 570
    assert 0.05 < np.quantile(nines, 0.25) < 0.15
    assert 0.4 < np.quantile(nines, 0.75) < 0.65
    switches = [sum(a != b for a, b in pairwise(o)) for o in operands if set(o) == {"0", "9"}]
    assert 2 < np.mean(switches) < 4


@pytest.mark.parametrize("length", [3, 20, 200])
def test_the_logarithm_of_the_size_of_a_run_is_uniform(length):
    digits = spread_runs((5000, length), 4, np.random.default_rng(0))
    assert set(np.unique(digits)) == {0, 3}
    assert abs((digits[:, 0] == 0).mean() - 0.5) < 0.03
    first = (digits == digits[:, :1]).cumprod(1).sum(1)
    sizes = np.arange(1, length)
    expected = 5000 * np.log1p(1 / sizes) / np.log(length)
    found = np.bincount(first, minlength=length)[1:]
    grouped = np.minimum(sizes - 1, 9)  # the long ones together, of which there are few each
    found, expected = (np.bincount(grouped, weights=each) for each in (found, expected))
    assert chisquare(found, expected).pvalue > 1e-3


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_share_of_long_carries(share):
    task = algorithm("badd", long_carries=share)
    texts = task.sample(40, 2000, np.random.default_rng(0))
    long = np.mean([longest_carry(*text.split("+")) >= 20 for text in texts])
    assert abs(long - share) < 0.04


def test_the_shares_of_long_and_absent_carries():
    uniform = algorithm("badd").sample(40, 2000, np.random.default_rng(0))
    task = algorithm("badd", long_carries=0.3, absent_carries=0.2)
    texts = task.sample(40, 2000, np.random.default_rng(0))
    pairs = [list(zip(*text.split("+"), strict=True)) for text in texts]
    differ = ["".join("01"[a != b] for a, b in pair) for pair in pairs]
    far = np.array([max(map(len, digits.split("0"))) >= 19 for digits in differ])
    long = np.array([longest_carry(*text.split("+")) >= 20 for text in texts])
    assert abs(np.mean(long) - 0.3) < 0.04
    assert abs(np.mean(far & ~long) - 0.2) < 0.04
    assert abs(np.mean([a == b for a, b in zip(texts, uniform, strict=True)]) - 0.5) < 0.04


@pytest.mark.parametrize("name", CARRYING)
def test_samples_with_long_carries_are_inputs_too(name):
    task = algorithm(name, long_carries=0.5)
    for length in (1, 2, 9):
        texts = task.sample(length, 100, np.random.default_rng(0))
        assert {task.length_of(text) for text in texts} == {length}
        assert texts != algorithm(name).sample(length, 100, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["badd", "copy"])
def test_bad_arguments(name):
    task, rng = algorithm(name), np.random.default_rng(0)
    for call in (task.symbols, task.adversarial, lambda length: task.sample(length, 1, rng)):
        with pytest.raises(ValueError, match="length is 0; give a positive integer"):
            call(0)
        for length in ("3", 2.5, True):
            with pytest.raises(TypeError, match=f"length is {length!r}; give a positive integer"):
                call(length)
    with pytest.raises(ValueError, match="count is -1"):
        task.sample(1, -1, rng)
    with pytest.raises(TypeError, match=r"count is 1\.5; give an integer, 0 or more"):
        task.sample(1, 1.5, rng)  # pyright: ignore[reportArgumentType]
    assert task.lengths(0) == 0
