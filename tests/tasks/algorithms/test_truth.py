"""The truth of each task against Python's own integers, decimals and strings."""

import dataclasses
import decimal
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchalu.tasks import algorithm, algorithm_names

LENGTHS = st.integers(1, 70)
BITS = st.text("01", min_size=1, max_size=70)


def written(value, digits, base=2):
    """Least significant digit first."""
    return np.base_repr(value, base).zfill(digits)[::-1] if value < 2**62 else big(value, digits)


def big(value, digits):
    return bin(value)[2:].zfill(digits)[::-1]


def numbers(digits, base=2, count=2):
    return st.lists(st.integers(0, base**digits - 1), min_size=count, max_size=count)


@st.composite
def operands(draw, base=2, count=2, most=70):
    digits = draw(st.integers(1, most))
    return digits, draw(numbers(digits, base, count))


def text_of(digits, values, sign, base=2):
    return sign.join(written(value, digits, base) for value in values)


@given(operands())
def test_binary_addition(case):
    digits, (a, b) = case
    answer = algorithm("badd").solve(text_of(digits, [a, b], "+"))
    assert answer == big(a + b, digits + 1)


@given(operands())
def test_binary_multiplication(case):
    digits, (a, b) = case
    answer = algorithm("bmul").solve(text_of(digits, [a, b], "*"))
    assert answer == big(a * b, 2 * digits)


@pytest.mark.parametrize(("kind", "base"), [("d", 10), ("q", 4)])
@given(data=st.data())
def test_other_bases(kind, base, data):
    digits, (a, b) = data.draw(operands(base, most=15))
    total = algorithm(f"{kind}add").solve(text_of(digits, [a, b], "+", base))
    assert len(total) == digits + 1
    assert int(total[::-1], base) == a + b
    product = algorithm(f"{kind}mul").solve(text_of(digits, [a, b], "*", base))
    assert len(product) == 2 * digits
    assert int(product[::-1], base) == a * b


def test_decimal_numbers_longer_than_python_converts_at_once():
    rng = np.random.default_rng(0)
    a, b = ("".join(map(str, rng.integers(10, size=5001))) for _ in range(2))
    with decimal.localcontext(decimal.Context(prec=10010, Emax=20000)):
        first, second = decimal.Decimal(a[::-1]), decimal.Decimal(b[::-1])
        total, product = format(first + second, "f"), format(first * second, "f")
    assert algorithm("dadd").solve(f"{a}+{b}") == total.zfill(5002)[::-1]
    assert algorithm("dmul").solve(f"{a}*{b}") == product.zfill(10002)[::-1]


def test_base_four_is_two_bits_a_digit():
    task = algorithm("qmul")
    rng = np.random.default_rng(1)
    (text,) = task.sample(3000, 1, rng)
    bits = {"0": "00", "1": "10", "2": "01", "3": "11", "*": "*"}
    widened = "".join(bits[symbol] for symbol in text)
    answer = "".join(bits[symbol] for symbol in task.solve(text))
    assert answer == algorithm("bmul").solve(widened)


@given(operands())
def test_subtraction_is_in_twos_complement(case):
    digits, (a, b) = case
    answer = algorithm("bsub").solve(text_of(digits, [a, b], "-"))
    assert len(answer) == digits + 1
    weights = [2**place for place in range(digits)] + [-(2**digits)]
    assert sum(w for w, digit in zip(weights, answer, strict=True) if digit == "1") == a - b


@given(operands())
def test_comparison(case):
    digits, (a, b) = case
    answer = algorithm("compare").solve(text_of(digits, [a, b], "?"))
    assert answer == ("<" if a < b else ">" if a > b else "=")


def test_comparison_of_equal_numbers():
    assert algorithm("compare").solve("0110?0110") == "="


@given(operands(count=3))
def test_three_operands(case):
    digits, values = case
    answer = algorithm("badd3").solve(text_of(digits, values, "+"))
    assert answer == big(sum(values), digits + 2)


@given(BITS, BITS)
def test_unaligned_operands(first, second):
    answer = algorithm("badd_unaligned").solve(f"{first}+{second}")
    total = int(first[::-1], 2) + int(second[::-1], 2)
    assert answer == big(total, max(len(first), len(second)) + 1)


@given(BITS)
def test_increment(bits):
    assert algorithm("increment").solve(bits) == big(int(bits[::-1], 2) + 1, len(bits) + 1)


@given(BITS, st.data())
def test_shift_puts_zeros_in_front(bits, data):
    places = data.draw(st.integers(0, len(bits)))
    answer = algorithm("shift").solve(bits + "<" * places)
    assert answer == "0" * places + bits + "0" * (len(bits) - places)


@given(LENGTHS, st.integers(2, 4), st.data())
def test_expression_as_python_has_it(digits, count, data):
    values = data.draw(numbers(digits, 2, count))
    signs = data.draw(st.text("+*", min_size=count, max_size=count))
    parts = [s + written(v, digits) for s, v in zip(signs, values, strict=True)]
    text = "".join(parts)[1:]
    python = re.sub("[01]+", lambda match: str(int(match[0][::-1], 2)), text)
    assert algorithm("expression").solve(text) == big(eval(python), 4 * digits)


@given(BITS, st.data())
def test_search_as_the_regular_expression_finds_it(bits, data):
    pattern = data.draw(st.text("01", min_size=1, max_size=min(len(bits), 4)))
    starts = {match.start() for match in re.finditer(f"(?={pattern})", bits)}
    expected = "".join("1" if place in starts else "0" for place in range(len(bits)))
    assert algorithm("search").solve(f"{bits}?{pattern}") == expected


@given(BITS)
def test_sequences(bits):
    assert algorithm("copy").solve(bits) == bits
    assert algorithm("reverse").solve(bits) == "".join(reversed(bits))
    assert algorithm("duplicate").solve(bits) == bits * 2
    assert algorithm("sort").solve(bits) == "".join(sorted(bits))


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("badd", "1010+0111", "11001"),  # 5 + 14 = 19
        ("bmul", "0110*0101", "00111100"),  # 6 * 10 = 60
        ("duplicate", "0011", "00110011"),
        ("sort", "10110010", "00001111"),
    ],
)
def test_the_papers_examples(name, text, answer):
    assert algorithm(name).solve(text) == answer


@pytest.mark.parametrize("name", algorithm_names())
def test_each_task_has_an_example_that_it_takes(name):
    task = algorithm(name)
    assert task.name == name
    assert set(task.solve(task.example)) <= set(task.alphabet)


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", "is empty"),
        ("01x01", "symbol 'x' at position 2 is not in the alphabet"),
        ("１０", "symbol '１' at position 0"),
        ("0 1", "symbol ' ' at position 1"),
        ("#", "symbol '#' at position 0"),
    ],
)
def test_errors_name_what_is_wrong(name, text, parts):
    task = algorithm(name)
    with pytest.raises(ValueError, match="is no input of") as caught:
        task.solve(text)
    for part in (parts, repr(name), task.title, repr(task.example)):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("badd", "1101", "1 operands and not 2"),
        ("badd", "1+1+1", "3 operands and not 2"),
        ("badd", "+1", "an operand is empty"),
        ("badd", "11+1", "2 and 1 digits"),
        ("badd3", "1+1", "2 operands and not 3"),
        ("badd_unaligned", "11+", "an operand is empty"),
        ("compare", "1<1?111", "not made of digits alone"),
        ("shift", "<<", "not one number"),
        ("shift", "1<1", "not one number"),
        ("shift", "1<<", "2 marks and 1 digits"),
        ("expression", "1", "1 operands and not 2 to 4"),
        ("expression", "1+1+1+1+1", "5 operands and not 2 to 4"),
        ("expression", "1+*1", "1 at least"),
        ("expression", "1+11", "the same number"),
        ("search", "0110", "one sequence"),
        ("search", "01?1?1", "one sequence"),
        ("search", "?1", "one sequence"),
        ("search", "01?011", "pattern has 3 symbols, the sequence 2"),
    ],
)
def test_malformed_texts(name, text, why):
    for call in (algorithm(name).solve, algorithm(name).length_of):
        with pytest.raises(ValueError, match=re.escape(why)):
            call(text)


def test_a_long_text_is_shortened_in_the_message():
    with pytest.raises(ValueError, match="not in the alphabet") as caught:
        algorithm("copy").solve("0" * 100_000 + "2")
    assert len(str(caught.value)) < 400
    assert "position 100000" in str(caught.value)


def test_unknown_names():
    with pytest.raises(ValueError, match="no task called 'bad'; did you mean 'badd'"):
        algorithm("bad")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "copy", "long_carries": 0.5}, "'copy' has no long carries; badd, bmul"),
        ({"name": "badd", "long_carries": 1.5}, "long_carries is 1.5"),
        ({"name": "badd", "long_carries": -0.5}, "long_carries is -0.5"),
        (
            {"name": "copy", "absent_carries": 0.5},
            "absent_carries is 0.5 and 'copy' has no absent carries; badd, dadd, qadd have",
        ),
        (
            {"name": "bmul", "absent_carries": 0.5},
            "absent_carries is 0.5 and 'bmul' has no absent carries; badd, dadd, qadd have",
        ),
        ({"name": "badd", "absent_carries": 1.5}, "absent_carries is 1.5; give a number"),
        (
            {"name": "badd", "long_carries": 0.75, "absent_carries": 0.5},
            "absent_carries is 0.5 and long_carries 0.75; give shares that are 1 together",
        ),
        ({"name": "copy", "filled": True}, "answers of 'copy' are no numbers"),
    ],
)
def test_options_out_of_bounds(arguments, message):
    with pytest.raises(ValueError, match=message):
        algorithm(**arguments)


def test_a_share_without_a_law_is_refused_wherever_it_comes_from():
    with pytest.raises(ValueError, match=r"absent_carries is 0\.5 and 'bmul' has no law for it"):
        dataclasses.replace(algorithm("bmul"), absent_carries=0.5)
