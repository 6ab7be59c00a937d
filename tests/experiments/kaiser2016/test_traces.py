"""Where signals are, of a module whose state says them."""

import polars as pl
import pytest
import torch

from torchalu.experiments.kaiser2016.traces import SIGNALS, sum_signals, traces
from torchalu.nn import DiagonalNeuralGPU
from torchalu.tasks import algorithm
from torchalu.zoo import LearnedAlgorithm


def a_module_that_keeps_its_input():
    """Its last map holds 1 for the digit 1, and its update gate never lets anything in."""
    module = DiagonalNeuralGPU(4, maps=3, dropout=0.0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.input_weight[2, 2] = 1.0
        module.gate_bias[...] = 5.0
    return module


def test_signals_are_those_of_whole_numbers():
    rng = torch.Generator().manual_seed(1)
    bits = torch.randint(2, (40, 2, 9), generator=rng)
    texts = ["+".join("".join(map(str, row.tolist())) for row in pair) for pair in bits]
    signals = sum_signals(texts)
    weights = 2 ** torch.arange(9)
    for pair, total, carries in zip(bits, signals["sum"], signals["carry"], strict=True):
        first, second = (int((row * weights).sum()) for row in pair)
        assert int((torch.from_numpy(total) * weights).sum()) == (first + second) % 2**9
        for digit in range(9):
            below = 2**digit
            assert carries[digit] == (first % below + second % below) // below


def test_digits_that_stay_are_found_where_they_are(tmp_path):
    path = tmp_path / "badd.safetensors"
    LearnedAlgorithm(a_module_that_keeps_its_input(), algorithm("badd")).save(path)
    study = traces(str(path), length=4, count=300)
    (chunk,) = study.chunks()
    done = []
    outcomes = study.run(chunk, tmp_path, done.append).outcomes
    assert done[-1] == 1
    assert outcomes.height == len(SIGNALS) * 4 * 10
    for name, start in (("first", 0), ("second", 5)):
        rows = outcomes.filter(pl.col("signal") == name)
        assert rows["position"].to_list() == [start + digit for digit in rows["digit"]]
        assert rows["correlation"].to_list() == pytest.approx([1.0] * rows.height)
        assert rows["direction"].unique().to_list() == ["stays"]
    assert outcomes.filter(signal="sum", digit=3)["correlation"].max() < 0.4
    tables = study.summarize(outcomes)
    assert tables["traces_maps"].to_dicts() == [
        {"signal": name, "direction": "stays", "held": 40, "of": 40, "maps": "2"}
        for name in ("first", "second")
    ]
    assert study.configuration == traces(str(path), length=4, count=300).configuration


def test_wrong_arguments_are_named(tmp_path):
    path = tmp_path / "copy.safetensors"
    LearnedAlgorithm(DiagonalNeuralGPU(3, maps=3), algorithm("copy")).save(path)
    with pytest.raises(ValueError, match="has learned copy; give a DiagonalNeuralGPU that has"):
        traces(str(path))
    with pytest.raises(ValueError, match="count is 1; give 2 or more"):
        traces(str(path), count=1)
