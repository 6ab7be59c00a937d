"""A learned algorithm: what it answers, how it is measured, its states and films."""

import dataclasses
import resource

import numpy as np
import pytest
import torch
from PIL import Image

from exact_copy import copying_module, exact_copy, untrained
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU
from torchalu.tasks import StringFileTask, algorithm
from torchalu.zoo import RANDOM, Card, LearnedAlgorithm, shades


def argmax_by_hand(learned, text):
    """The likeliest symbols of one string, encoded by hand, as characters."""
    task = learned.task
    n = task.symbols(task.length_of(text))
    numbers = [task.alphabet.index(symbol) + 1 for symbol in text] + [0] * (n - len(text))
    logits = learned.module.eval()(torch.tensor([numbers]), torch.tensor([n]), torch.tensor([n]))
    return "".join(("␀" + task.alphabet)[k] for k in logits[0].argmax(-1).tolist())


@pytest.mark.parametrize("name", ["badd", "copy", "duplicate", "bsub", "compare"])
def test_run_is_the_module_s_argmax_cut_to_the_answer(name):
    task = algorithm(name)
    learned = untrained(task)
    for text in task.sample(4, 20, np.random.default_rng(0)):
        whole, answer = argmax_by_hand(learned, text), learned.run(text)
        assert whole.startswith(answer)
        assert not whole[len(answer) :].strip("␀" + (task.alphabet[0] if task.filled else ""))


def test_answers_do_not_depend_on_what_is_run_beside(monkeypatch):
    learned = untrained(algorithm("badd"))
    texts = [
        text
        for length in (3, 1, 7, 3)
        for text in learned.task.sample(length, 5, np.random.default_rng(length))
    ]
    alone = [learned.run(text) for text in texts]
    assert len(set(alone)) > 5
    assert learned.run(texts) == alone
    monkeypatch.setattr("torchalu.zoo.learned_algorithm._SYMBOLS_AT_ONCE", 8)
    assert learned.run(texts) == alone
    assert learned.run([]) == []


def test_dropout_is_off():
    module = DiagonalNeuralGPU(4, maps=6, dropout=0.5).train()
    learned = LearnedAlgorithm(module, algorithm("badd"))
    assert len({learned.run("1101011+0111001") for _ in range(5)}) == 1


def test_a_module_that_copies_is_right_on_all_strings():
    learned = exact_copy()
    assert learned.run("0011010") == "0011010"
    for length in (1, 20, 200):
        accuracy = learned.evaluate(length, count=50)
        assert (accuracy.right, accuracy.count, accuracy.digits) == (50, 50, 1.0)
        assert accuracy.interval[0] == pytest.approx(1 / (1 + 1.959963984540054**2 / 50))
        assert accuracy.interval[1] == 1
    for kind, accuracy in learned.evaluate_adversarial(20).items():
        assert accuracy.rate == 1, kind
    assert set(learned.evaluate_adversarial(20)) == set(algorithm("copy").adversarial(20))


def test_a_copy_is_no_reverse():
    learned = LearnedAlgorithm(copying_module(), algorithm("reverse"))
    texts = learned.test_strings(8, count=200, seed=3)
    right = sum(text == text[::-1] for text in texts)
    assert 0 < right < 50
    accuracy = learned.evaluate(8, count=200, seed=3)
    assert accuracy.right == right
    assert accuracy.failures == [k for k, text in enumerate(texts) if text != text[::-1]]


def test_an_untrained_module_is_wrong():
    assert untrained(algorithm("badd")).evaluate(20, count=50).rate == 0


def test_test_strings_follow_from_the_seed_alone():
    learned = exact_copy()
    first = learned.test_strings(30, 5, seed=1)
    torch.manual_seed(5)
    assert learned.test_strings(30, 5, seed=1) == first
    assert not set(learned.test_strings(30, 5, seed=2)) & set(first)
    plain = np.random.default_rng(1)
    assert not set(learned.task.sample(30, 5, plain)) & set(first)


def test_measuring_writes_on_the_card():
    learned = LearnedAlgorithm(copying_module(), algorithm("reverse"))
    card = learned.measure([8, 3], count=40)
    assert learned.card == card
    assert [(entry.length, entry.count) for entry in card.accuracy] == [(3, 40), (8, 40)]
    assert card.accuracy[1].right == learned.evaluate(8, 40).right
    for entry in card.failures:
        assert all(text != text[::-1] for text in entry.failed)
        assert 1 <= len(entry.failed) <= 3
    again = learned.measure([8], count=20, adversarial=False)
    assert [(entry.length, entry.count) for entry in again.accuracy] == [(3, 40), (8, 20)]
    kept = [entry for entry in card.failures if (entry.length, entry.kind) != (8, RANDOM)]
    found = [entry for entry in again.failures if (entry.length, entry.kind) != (8, RANDOM)]
    assert kept == found


def test_long_strings_that_went_wrong_are_drawn_again():
    learned = LearnedAlgorithm(copying_module(), algorithm("reverse"))
    card = Card.from_json(learned.measure([150], count=7, seed=5).to_json())
    texts = {RANDOM: learned.test_strings(150, 7, seed=5), **learned.adversarial(150)}
    assert len(card.failures) > 1
    for entry in card.failures:
        wrong = [text for text in texts[entry.kind] if text != text[::-1]]
        assert (entry.failed, len(entry.failed_at)) == ((), len(wrong[:3]))
        assert learned.failed_strings(entry) == wrong[:3]
    short = learned.measure([8], count=7).failures[0]
    assert learned.failed_strings(short) == list(short.failed) != []
    older = dataclasses.replace(card.failures[0], failed_at=())
    with pytest.raises(
        ValueError, match=r"strings wrong and does not say which; measure length 150"
    ):
        learned.failed_strings(older)
    unknown = dataclasses.replace(card.failures[0], drawn_by=())
    with pytest.raises(ValueError, match="measured has no drawn_by"):
        learned.failed_strings(unknown)
    for changes in ({"kind": "nonsense"}, {"kind": "palindrome", "count": 7000}):
        foreign = dataclasses.replace(card.failures[0], **changes)
        with pytest.raises(ValueError, match=r"'reverse' has \d of length 150; measure again"):
            learned.failed_strings(foreign)


def test_the_card_is_about_uniform_strings_whatever_the_task_draws(tmp_path):
    carrying = algorithm("badd", long_carries=1.0)
    learned = LearnedAlgorithm(untrained(carrying).module, carrying)
    (entry,) = learned.measure([100], count=20, adversarial=False).accuracy
    learned.save(tmp_path / "badd.safetensors")
    again = LearnedAlgorithm.load(tmp_path / "badd.safetensors")
    assert learned.card == again.card
    texts = again.test_strings(100, 20)
    assert learned.failed_strings(entry) == again.failed_strings(entry) == texts[:3]
    assert learned.test_strings(100, 20) != texts


@pytest.mark.parametrize("text", [123, None, {"1"}, b"1"])
def test_what_is_no_text(text):
    with pytest.raises(TypeError, match=r"text is .*; give a string, such as '0011'"):
        exact_copy().run(text)
    with pytest.raises(TypeError, match=r"text holds .* at position 1; give a list of strings"):
        exact_copy().run(["01", text])


@pytest.mark.parametrize("value", ["3", 2.5, True, None])
def test_what_is_no_integer(value):
    learned = exact_copy()
    for call in (learned.evaluate, learned.evaluate_adversarial, learned.test_strings):
        with pytest.raises(TypeError, match=f"length is {value!r}; give a positive integer"):
            call(value)
    with pytest.raises(TypeError, match=f"count is {value!r}; give a positive integer"):
        learned.evaluate(3, value)
    with pytest.raises(TypeError, match=f"seed is {value!r}; give an integer, 0 or more"):
        learned.evaluate(3, 1, value)


def test_states_go_from_the_embedding_to_the_module_s_last_state():
    learned = untrained(algorithm("badd"))
    states = list(learned.states("10+01"))
    assert len(states) == 6
    assert {tuple(state.shape) for state in states} == {(5, 1, 6)}
    symbols, n = torch.tensor([[2, 1, 3, 1, 2]]), torch.tensor([5])
    torch.testing.assert_close(states[-1], learned.module.unroll(symbols, n, n).state[0].detach())
    torch.testing.assert_close(states[0], learned.module.embed(symbols, n)[0])


def test_film(tmp_path):
    learned = untrained(algorithm("badd"))
    learned.film("110+011", tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 8
        for number, state in enumerate(learned.states("110+011")):
            film.seek(number)
            page = np.asarray(film.convert("L"))
            assert page[9 + 8, 56 + 12] == shades(state)[0, 0]


def test_the_state_of_a_copy_is_black_and_white(tmp_path):
    learned = exact_copy()
    learned.film("01", tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        page = np.asarray(film.convert("L"))
    first, second = page[9 + 16 * 7 + 8, 56 + 12], page[9 + 16 * 7 + 8, 56 + 36]
    assert (first, second) == (0, 128)


@pytest.mark.parametrize("form", [NeuralGPU, DiagonalNeuralGPU])
def test_both_forms(form, tmp_path):
    learned = LearnedAlgorithm(form(4, maps=6), algorithm("badd"))
    assert len(list(learned.states("1+0"))) == 4
    learned.film("1+0", tmp_path / "film.gif")
    assert learned.evaluate(5, count=3).count == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("12+01", "'2' at position 1 is not in the alphabet '01+'"),
        ("11", "operands"),
        (["11+00", "x"], "'x' at position 0"),
    ],
)
def test_what_is_no_input_is_named(text, message):
    learned = untrained(algorithm("badd"))
    with pytest.raises(ValueError, match="is no input of 'badd'") as caught:
        learned.run(text)
    assert message in str(caught.value)
    if isinstance(text, str):
        with pytest.raises(ValueError, match="is no input of 'badd'"):
            next(learned.states(text))


def test_strings_longer_than_memory_allows(monkeypatch):
    learned = exact_copy()
    monkeypatch.setattr("torchalu.evaluate.memory.free_bytes", lambda device: 10_000)
    with pytest.raises(ValueError, match=r"text needs 1000 symbols, which takes about .* GiB"):
        learned.run("01" * 500)
    with pytest.raises(ValueError, match="GiB are free"):
        learned.evaluate(1000, count=1)


@pytest.mark.parametrize(("length", "count"), [(10**13, 1), (3, 10**15), (10**11, 10)])
def test_strings_that_are_not_drawn_for_want_of_memory(length, count):
    learned = exact_copy()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for call in (learned.evaluate, learned.measure, learned.test_strings):
        lengths = [length] if call == learned.measure else length
        with pytest.raises(ValueError, match=f"length is {length} and count {count}, which takes"):
            call(lengths, count)
    if length > 3:
        with pytest.raises(ValueError, match="GiB are free"):
            learned.evaluate_adversarial(length)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_a_film_that_is_too_long(tmp_path):
    with pytest.raises(ValueError, match="film a string of at most"):
        exact_copy().film("01" * 1000, tmp_path / "film.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("length", "count", "seed"), [(0, 1, 0), (5, 0, 0), (5, 1, -1)])
def test_bad_numbers(length, count, seed):
    with pytest.raises(ValueError, match=r"(length|count|seed) is"):
        exact_copy().evaluate(length, count, seed)


def test_module_task_and_card_must_agree():
    with pytest.raises(ValueError, match="build it with num_symbols=4"):
        LearnedAlgorithm(copying_module(), algorithm("badd"))
    card = exact_copy().card
    with pytest.raises(ValueError, match="card has task = 'copy'"):
        LearnedAlgorithm(copying_module(), algorithm("reverse"), card)
    other = Card("copy", "DiagonalNeuralGPU", {"maps": 1})
    with pytest.raises(ValueError, match="card has configuration"):
        LearnedAlgorithm(copying_module(), algorithm("copy"), other)


def test_a_task_of_one_s_own():
    rows = {"ab": "ba", "abc": "cba"}
    task = StringFileTask(
        name="own", title="rows", alphabet="abc", example="ab", size=(1, 0), rows=rows
    )
    learned = LearnedAlgorithm(copying_module(4), task)
    assert learned.run("cab") == "cab"
    accuracy = learned.evaluate(3, count=5)
    assert (accuracy.right, accuracy.count) == (0, 1)
    assert learned.evaluate_adversarial(3) == {}
    with pytest.raises(ValueError, match="no row of 'own' has an input so long"):
        learned.evaluate(4)


def test_a_card_may_be_older_than_an_option():
    learned = exact_copy()
    configuration = dict(learned.card.configuration)
    assert configuration.pop("levels") == 0
    older = dataclasses.replace(learned.card, configuration=configuration)
    assert LearnedAlgorithm(learned.module, learned.task, older).card == older
    learned.module.levels = 2
    with pytest.raises(ValueError, match="card has configuration"):
        LearnedAlgorithm(learned.module, learned.task, older)
