"""Whole-string accuracy against strings answered one by one, and memory that does not suffice."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from torchalu import kernels
from torchalu.evaluate import (
    OutputEnsemble,
    check_memory,
    free_bytes,
    string_accuracy,
    unroll_bytes,
)
from torchalu.kernels import recurrence_forms
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU
from torchalu.tasks import algorithm, encode

BADD = algorithm("badd")
RNG = np.random.default_rng(1)
TEXTS = ["0+0", "0+1", "1+0", "1+1", *BADD.sample(7, 3, RNG), *BADD.sample(3, 5, RNG)]
TEXTS += [*BADD.sample(7, 2, RNG), *BADD.sample(12, 1, RNG)]


class Answers(nn.Module):
    """Knows all answers, but for a symbol of some texts, and notes what it is asked."""

    def __init__(self, task, texts, wrong=()):
        super().__init__()
        self.known, self.asked = {}, []
        for number, text in enumerate(texts):
            batch = encode(task, [text])
            answer = batch.targets[0].clone()
            if number in wrong:
                place = (5 * number) % len(answer)
                answer[place] = 3 - answer[place].clamp(1, 2)
            self.known[tuple(batch.inputs[0].tolist())] = answer

    def forward(self, symbols, lengths):
        self.asked.append((tuple(symbols.shape), (self.training, torch.is_grad_enabled())))
        assert (lengths == symbols.shape[1]).all()
        answers = torch.stack([self.known[tuple(row)] for row in symbols.tolist()])
        return 5.0 * nn.functional.one_hot(answers, 4).double()


def test_strings_with_one_wrong_symbol_are_failures_in_their_places():
    module = Answers(BADD, TEXTS, wrong=(0, 5, 13))
    accuracy = string_accuracy(module, BADD, TEXTS)
    assert accuracy.failures == [0, 5, 13]
    assert (accuracy.right, accuracy.count) == (12, 15)
    assert accuracy.rate == 12 / 15
    expected = stats.binomtest(12, 15).proportion_ci(method="wilson")
    assert accuracy.interval == pytest.approx((expected.low, expected.high))
    symbols = sum(BADD.symbols(BADD.length_of(text)) for text in TEXTS)
    assert accuracy.digits == pytest.approx((symbols - 3) / symbols)
    sure, wrong = np.log(1 + 3 * np.exp(-5.0)), np.log(3 + np.exp(5.0))
    assert accuracy.loss == pytest.approx(((symbols - 3) * sure + 3 * wrong) / symbols)
    assert accuracy.margins.tolist() == [-5 if n in {0, 5, 13} else 5 for n in range(15)]


def test_a_margin_is_that_of_the_place_where_it_is_least():
    class Random(nn.Module):
        def forward(self, symbols, lengths):
            rows = [
                np.random.default_rng(row).normal(size=(len(row), 4)) for row in symbols.tolist()
            ]
            return torch.from_numpy(np.stack(rows))

    accuracy = string_accuracy(Random(), BADD, TEXTS)
    for text, margin, correct in zip(TEXTS, accuracy.margins, accuracy.correct, strict=True):
        batch = encode(BADD, [text])
        logits = Random()(batch.inputs, batch.lengths)[0].numpy()
        least = [
            row[t] - np.delete(row, t).max()
            for row, t in zip(logits, batch.targets[0], strict=True)
        ]
        assert margin == min(least)
        assert correct == (margin > 0)


def test_strings_of_a_length_run_together_without_padding_as_far_as_they_fit():
    module = Answers(BADD, TEXTS).train()
    done = []
    accuracy = string_accuracy(
        module, BADD, TEXTS, batch_symbols=31, progress=lambda *now: done.append(now)
    )
    assert accuracy.rate == 1
    shapes = [shape for shape, _ in module.asked]
    assert shapes == [(4, 3), (4, 7), (1, 7), (2, 15), (2, 15), (1, 15), (1, 25)]
    assert {modes for _, modes in module.asked} == {(False, False)}
    assert done == [(4, 15), (8, 15), (9, 15), (11, 15), (13, 15), (14, 15), (15, 15)]
    assert module.training


def test_a_neural_gpu_answers_as_it_does_one_by_one():
    module = DiagonalNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(2)).double()
    expected = []
    for text in TEXTS:
        batch = encode(BADD, [text])
        expected.append((module.eval()(batch.inputs).argmax(-1) == batch.targets)[0])
    accuracy = string_accuracy(module, BADD, TEXTS)
    assert accuracy.correct.tolist() == [bool(row.all()) for row in expected]
    assert accuracy.digits == torch.cat(expected).double().mean().item()


def test_no_strings_and_wrong_ones_are_named():
    module = Answers(BADD, TEXTS)
    with pytest.raises(ValueError, match="texts is empty; give at least one string"):
        string_accuracy(module, BADD, [])
    with pytest.raises(ValueError, match="symbol 'x' at position 1 is not in the alphabet"):
        string_accuracy(module, BADD, ["1x+1"])
    with pytest.raises(ValueError, match="batch_symbols is 0; give a positive integer"):
        string_accuracy(module, BADD, TEXTS, batch_symbols=0)


def test_strings_that_memory_does_not_suffice_for_are_refused_before_any_runs(monkeypatch):
    module = Answers(BADD, TEXTS)
    monkeypatch.setattr("torchalu.evaluate.memory.free_bytes", lambda device: 1000)
    with pytest.raises(
        ValueError,
        match=r"texts holds a string of 25 symbols, which takes about 6.\de-05 GiB, and 9.3e-07 GiB"
        " are free; give shorter strings",
    ):
        string_accuracy(module, BADD, TEXTS)
    assert module.asked == []


def test_a_batch_shrinks_to_the_memory_that_is_free(monkeypatch):
    module = Answers(BADD, TEXTS)
    free = 5 * unroll_bytes(module, 1, 7)
    monkeypatch.setattr("torchalu.evaluate.strings.free_bytes", lambda device: free)
    string_accuracy(module, BADD, TEXTS)
    assert [shape for shape, _ in module.asked][1:3] == [(2, 7), (2, 7)]


@pytest.mark.parametrize(
    "module", [NeuralGPU(4, maps=6, dropout=0.1), DiagonalNeuralGPU(4, maps=24)]
)
def test_the_estimate_is_above_what_the_form_in_torch_keeps_and_not_far(monkeypatch, module):
    monkeypatch.setattr(kernels, "unroll", recurrence_forms.unroll)
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        logits = module.train()(torch.ones(8, 20, dtype=torch.long), seed=0)
    parameters = {p.untyped_storage().data_ptr() for p in module.parameters()}
    taken = sum(t.untyped_storage().nbytes() for p, t in kept.items() if p not in parameters)
    assert logits.shape == (8, 20, 4)
    estimate = unroll_bytes(module, 8, 20, training=True)
    assert taken < estimate < 4 * taken


def test_memory_that_is_free_is_known():
    assert 1 << 20 < free_bytes(torch.device("cpu")) < 1 << 50
    check_memory(1, torch.device("cpu"), "length is 1")


def test_an_ensemble_answers_with_the_mean_of_probabilities():
    generator = torch.Generator().manual_seed(0)
    modules = [DiagonalNeuralGPU(4, maps=6, generator=generator).double() for _ in range(3)]
    symbols = encode(BADD, TEXTS).inputs
    lengths = encode(BADD, TEXTS).lengths
    ensemble = OutputEnsemble(modules).eval()
    mean = np.mean(
        [module.eval()(symbols, lengths).softmax(-1).detach().numpy() for module in modules], 0
    )
    answer = ensemble(symbols, lengths).detach()
    np.testing.assert_allclose(answer.exp().numpy(), mean, rtol=1e-12)
    assert ensemble.configuration() == modules[0].configuration()
    assert string_accuracy(ensemble, BADD, TEXTS).count == 15
    with pytest.raises(ValueError, match="modules is empty"):
        OutputEnsemble([])


def test_each_part_is_left_in_its_mode():
    module = nn.ModuleDict({"copy": nn.Dropout(), "frozen": nn.Dropout().eval()})
    module.forward = lambda symbols, lengths: nn.functional.one_hot(symbols, 8).float()
    string_accuracy(module, algorithm("copy"), ["01"])
    assert [part.training for part in module.children()] == [True, False]


def test_logits_that_are_no_numbers_are_wrong():
    class Sick(nn.Module):
        def forward(self, symbols, lengths):
            logits = nn.functional.one_hot(symbols, 3).double()
            logits[symbols == 2] = torch.nan
            return logits

    accuracy = string_accuracy(Sick(), algorithm("copy"), ["000", "010"])
    assert accuracy.correct.tolist() == [True, False]
    assert accuracy.digits == 5 / 6
    assert accuracy.margins[0] == 1
    assert np.isnan(accuracy.margins[1])
