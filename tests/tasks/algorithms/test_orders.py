"""Inputs with their operands in each order."""

import itertools

import numpy as np
import pytest

from torchalu.tasks import algorithm, algorithm_names

COMMUTATIVE = ("badd", "bmul", "dadd", "dmul", "qadd", "qmul", "badd3", "badd_unaligned")


@pytest.mark.parametrize("name", algorithm_names())
def test_all_orders_have_the_same_answer_and_need_the_same_symbols(name):
    task = algorithm(name)
    for text in task.sample(6, 50, np.random.default_rng(0)):
        orders = task.orders(text)
        assert orders[0] == text
        assert len({*orders}) == len(orders)
        assert {task.solve(order) for order in orders} == {task.solve(text)}
        assert {task.symbols(task.length_of(order)) for order in orders} == {
            task.symbols(task.length_of(text))
        }
    assert (len(task.orders(task.example)) > 1) == (name in COMMUTATIVE)


def test_operands_come_in_each_order_once():
    assert algorithm("bmul").orders("10*11") == ["10*11", "11*10"]
    assert algorithm("bmul").orders("11*11") == ["11*11"]
    assert algorithm("badd_unaligned").orders("1+110") == ["1+110", "110+1"]
    three = ["+".join(order) for order in itertools.permutations(("100", "110", "001"))]
    assert algorithm("badd3").orders("100+110+001") == three
    assert algorithm("badd3").orders("10+10+01") == ["10+10+01", "10+01+10", "01+10+10"]


def test_what_is_no_input():
    with pytest.raises(ValueError, match="symbol '\\+' at position 2"):
        algorithm("bmul").orders("11+01")
