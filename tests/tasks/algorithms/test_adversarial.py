"""Adversarial inputs are what their kinds say."""

from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from torchalu.tasks import algorithm, algorithm_names
from torchalu.tasks.algorithms.kinds import alternating

SUMS = ["badd", "dadd", "qadd", "badd3"]
PRODUCTS = ["bmul", "dmul", "qmul"]
TWO = [*SUMS, *PRODUCTS, "bsub", "compare"]


def operands(name, kind, length=12):
    task = algorithm(name)
    sign = next(symbol for symbol in task.alphabet if not symbol.isdigit())
    return [text.split(sign) for text in task.adversarial(length)[kind]]


def base_of(name):
    return {"d": 10, "q": 4}.get(name[0], 2)


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize("length", [1, 2, 3, 4, 20, 2000])
def test_inputs_of_the_length_and_always_the_same(name, length):
    task = algorithm(name)
    kinds = task.adversarial(length)
    assert kinds == task.adversarial(length)
    for texts in kinds.values():
        assert 1 <= len(texts) == len(set(texts)) <= 12
        assert {task.length_of(text) for text in texts} == {length}
    if length > 1:
        assert sum(map(len, kinds.values())) >= 10


@pytest.mark.parametrize("name", [*SUMS, "badd_unaligned"])
def test_carries_run_through_all_digits(name):
    largest = str(base_of(name) - 1)
    for parts in operands(name, "carry"):
        value = sum(int(part[::-1], base_of(name)) for part in parts)
        assert value in (base_of(name) ** 12, base_of(name) ** 11)
        assert any(part.count(largest) >= 11 for part in parts)
    values = [parts for parts in operands(name, "carry") if largest * 12 in parts]
    assert len(values) >= 2


def test_carries_of_increments():
    task = algorithm("increment")
    assert [task.solve(text) for text in task.adversarial(4)["carry"]] == ["00001", "00010"]


def test_borrows_run_through_all_digits():
    for first, second in operands("bsub", "borrow"):
        assert int(first[::-1], 2) in (0, 2**11)
        assert second in ("1" + "0" * 11, "1" * 12)


@pytest.mark.parametrize("name", PRODUCTS)
def test_carries_of_products(name):
    base = base_of(name)
    largest = base**12 - 1
    values = [{int(part[::-1], base) for part in parts} for parts in operands(name, "carry")]
    assert {largest, base + 1} in values
    assert {largest, largest - 1} in values


@pytest.mark.parametrize("name", PRODUCTS)
def test_runs_of_all_sizes_in_both_operands_of_products(name):
    parts = [part for pair in operands(name, "runs", length=2000) for part in pair]
    assert len(parts) == 20
    assert {*"".join(parts)} == {"0", str(base_of(name) - 1)}
    sizes = [len([*group]) for part in parts for _, group in groupby(part)]
    assert min(sizes) == 1
    assert max(sizes) > 500  # of digits that are drawn one by one, hardly ever above 20


@pytest.mark.parametrize("name", TWO)
def test_kinds_of_operands(name):
    base, largest = base_of(name), str(base_of(name) - 1)
    words = {2: ("ones", "two"), 4: ("threes", "four"), 10: ("nines", "ten")}[base]
    assert all(set(part) == {largest} for parts in operands(name, words[0]) for part in parts)
    for parts in operands(name, f"powers_of_{words[1]}"):
        assert all(part.count("1") == 1 and part.count("0") == 11 for part in parts)
    for parts in operands(name, "zero"):
        assert "0" * 12 in parts
    for parts in operands(name, "symmetric"):
        assert len(set(parts)) == 1
    for parts in operands(name, "sparse"):
        assert all(9 <= part.count("0") < 12 for part in parts)
    for parts in operands(name, "alternating"):
        assert all(part in ("0" + largest) * 7 for part in parts)


def test_decimal_twos():
    assert ["2" + "0" * 11] * 2 in operands("dmul", "symmetric")
    assert ["0" * 11 + "2"] * 2 in operands("dmul", "symmetric")


def test_comparisons_that_one_digit_decides():
    places = set()
    for first, second in operands("compare", "one_digit"):
        (place,) = [i for i in range(12) if first[i] != second[i]]
        places.add(place)
    assert places == {0, 6, 11}


def test_unaligned_carries_have_operands_of_other_lengths():
    sizes = {tuple(map(len, parts)) for parts in operands("badd_unaligned", "carry")}
    assert {(12, 1), (1, 12), (12, 6), (6, 12), (12, 12)} == sizes


@pytest.mark.parametrize("name", ["copy", "reverse", "duplicate", "sort"])
@pytest.mark.parametrize("alphabet", ["01", "abcdef"])
@pytest.mark.parametrize("length", [7, 8])
def test_kinds_of_sequences(name, alphabet, length):
    kinds = replace(algorithm(name), alphabet=alphabet).adversarial(length)
    low, high = alphabet[0], alphabet[-1]
    assert kinds["all_equal"] == [low * length, high * length]
    for text in kinds["alternating"]:
        assert {a + b for a, b in pairwise(text)} == {low + high, high + low}
    for text in kinds["one_different"]:
        assert sorted((text.count(low), text.count(high))) == [1, length - 1]
    assert len(kinds["one_different"]) == 6
    assert all(list(text) == sorted(text) for text in kinds["sorted"])
    assert all(list(text) == sorted(text, reverse=True) for text in kinds["reverse_sorted"])
    assert all(text == text[::-1] for text in kinds["symmetric"])


def test_kinds_of_searches():
    task = algorithm("search")
    kinds = task.adversarial(10)
    found = {kind: [task.solve(text) for text in texts] for kind, texts in kinds.items()}
    assert found["all_equal"] == ["1" * 10, "1" * 5 + "0" * 5]
    assert set(found["absent"]) == {"0" * 10}
    assert found["whole"] == ["1" + "0" * 9]
    assert all(answer[0] == "1" for answer in found["first"])
    assert found["last"][0] == "0" * 9 + "1"
    assert found["last"][1][5] == "1"
    assert set(found["one_different"]) == {"0" * 10}
    assert found["alternating"] == ["1010100000"] * 2


def test_kinds_of_shifts():
    kinds = algorithm("shift").adversarial(10)
    assert not any("<" in text for text in kinds["no_shift"])
    assert all(text.count("<") == 1 for text in kinds["one_place"])
    assert all(text.count("<") == 10 for text in kinds["full_shift"])
    assert all(text.strip("<") == "1" * 10 for text in kinds["ones"])
    assert all(text.count("1") == 1 for text in kinds["powers_of_two"])
    assert all("1" not in text for text in kinds["zero"])
    for length in (9, 10):
        kinds = algorithm("shift").adversarial(length)
        numbers = {text.strip("<") for text in kinds["symmetric"]}
        assert {text.count("<") for text in kinds["symmetric"]} == {0, length // 2, length}
        assert numbers == {number[::-1] for number in numbers}
        assert all(text.count("1") == 3 for text in kinds["sparse"])


def test_kinds_of_expressions():
    kinds = algorithm("expression").adversarial(10)
    parts = {kind: [t.replace("*", "+").split("+") for t in kinds[kind]] for kind in kinds}
    assert all(set(part) == {"1"} for row in parts["ones"] for part in row)
    assert all(row[0] == "0" * 10 for row in parts["zero"])
    assert all(len(set(row)) == 1 for row in parts["symmetric"])
    assert all(part == "0" * 9 + "1" for row in parts["powers_of_two"] for part in row)
    assert all(set(row) <= set(alternating(10, 2)) for row in parts["alternating"])
    assert all("+" in text and "*" in text for text in kinds["precedence"])
    assert all(part.count("1") == 3 for row in parts["sparse"] for part in row)
    assert {len(row) for row in parts["sparse"]} == {3, 4}
    assert kinds["carry"][0] == "1111111111+1000000000"
