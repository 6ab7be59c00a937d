"""The baselines: one step against loops over single numbers, padding, and that they can learn."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from torchalu.experiments.kaiser2016.answering import checked_lengths
from torchalu.experiments.kaiser2016.lstm_attention import LSTMAttention
from torchalu.experiments.kaiser2016.places import places_in_numbers
from torchalu.experiments.kaiser2016.stack_rnn import StackRNN, change_stacks
from torchalu.experiments.kaiser2016.transformer import AbacusTransformer
from torchalu.train import seeded

PLUS = 3
RATES = {"lstm": 0.03, "stack": 0.1, "transformer": 0.01}
BUILD = {
    "lstm": lambda: LSTMAttention(4, size=16, layers=2),
    "stack": lambda: StackRNN(4, hidden=20, stacks=3),
    "transformer": lambda: AbacusTransformer(4, (PLUS,), size=32, layers=2, positions=40),
}


def network(name, seed=0):
    with seeded(seed):
        return BUILD[name]()


def additions(count=8, digits=4, seed=0):
    """Sums, digit by digit, the lowest first; symbols 1 and 2 are the digits 0 and 1."""
    rng = np.random.default_rng(seed)
    length = 2 * digits + 1
    symbols, targets = (np.zeros((count, length), np.int64) for _ in range(2))
    for row in range(count):
        a, b = (int(number) for number in rng.integers(0, 2**digits, 2))
        bits = [[number >> k & 1 for k in range(length)] for number in (a, b, a + b)]
        symbols[row] = [
            *(bit + 1 for bit in bits[0][:digits]),
            PLUS,
            *(bit + 1 for bit in bits[1][:digits]),
        ]
        targets[row] = [bit + 1 for bit in bits[2]]
    return torch.from_numpy(symbols), torch.from_numpy(targets)


@pytest.mark.parametrize("name", BUILD)
def test_each_baseline_overfits_a_batch_and_then_writes_it_by_itself(name):
    module = network(name)
    symbols, targets = additions(4, digits=2)
    optimizer = torch.optim.Adam(module.parameters(), lr=RATES[name])
    for _ in range(300):
        loss = cross_entropy(module(symbols, targets=targets).flatten(0, 1), targets.flatten())
        if loss < 0.02:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.02
    if name == "stack":
        module.discrete = False
    module.eval()
    assert module(symbols).argmax(-1).equal(targets)


@pytest.mark.parametrize("name", BUILD)
@pytest.mark.parametrize("forced", [False, True])
def test_padding_changes_nothing(name, forced):
    module = network(name).double().eval()
    generator = torch.Generator().manual_seed(1)
    symbols = torch.randint(1, 4, (3, 9), generator=generator)
    answers = torch.randint(0, 4, (3, 9), generator=generator)
    lengths = torch.tensor([9, 5, 1])
    symbols = torch.where(torch.arange(9) < lengths[:, None], symbols, 0)
    together = module(symbols, lengths, answers if forced else None)
    for row, length in enumerate(lengths.tolist()):
        alone = slice(row, row + 1), slice(0, length)
        logits = module(symbols[alone], None, answers[alone] if forced else None)
        torch.testing.assert_close(together[alone], logits, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", BUILD)
def test_answers_read_back_are_what_teacher_forcing_gives(name):
    module = network(name).eval()
    symbols, _ = additions(4)
    written = module(symbols)
    forced = module(symbols, targets=written.argmax(-1))
    torch.testing.assert_close(written, forced, rtol=1e-4, atol=1e-5)
    assert not written.requires_grad
    assert forced.requires_grad


@pytest.mark.parametrize("name", BUILD)
def test_an_answer_follows_from_what_stands_before_it_alone(name):
    module = network(name).eval()
    symbols, targets = additions(2)
    other = targets.clone()
    other[:, 4:] = 1 + (other[:, 4:] % 2)
    first, second = (module(symbols, targets=given) for given in (targets, other))
    torch.testing.assert_close(first[:, :5], second[:, :5], rtol=0, atol=1e-6)
    assert not torch.allclose(first[:, 5:], second[:, 5:])


def test_attention_is_the_formula_index_by_index():
    module = network("lstm").double()
    symbols = torch.tensor([[1, 2, 3, 1], [2, 1, 0, 0]])
    lengths = torch.tensor([4, 2])
    state = module.read(symbols, lengths)
    query = torch.randn(2, 16, generator=torch.Generator().manual_seed(2)).double()
    found = module.attend(state, query)
    key, asked, score = (
        layer.weight.detach().numpy() for layer in (module.key, module.query, module.score)
    )
    memory = state.memory.detach().numpy()
    for row in range(2):
        length = int(lengths[row])
        scores = []
        for i in range(length):
            score_i = 0.0
            for k in range(16):
                inner = sum(key[k, c] * memory[row, i, c] for c in range(16))
                inner += sum(asked[k, c] * query[row, c].item() for c in range(16))
                score_i += score[0, k] * math.tanh(inner)
            scores.append(math.exp(score_i))
        for c in range(16):
            mean = sum(s * memory[row, i, c] for i, s in enumerate(scores)) / sum(scores)
            assert found[row, c].item() == pytest.approx(mean, abs=1e-12)


def test_the_decoder_starts_where_the_encoder_ended_and_reads_the_context():
    module = network("lstm").double()
    symbols = torch.tensor([[1, 2, 3, 0]])
    outputs, (hidden, cells) = module.encoder(module.embedding(symbols[:, :3]))
    state = module.read(symbols, torch.tensor([3]))
    torch.testing.assert_close(torch.stack(state.hidden), hidden)
    torch.testing.assert_close(torch.stack(state.cells), cells)
    torch.testing.assert_close(state.memory[:, :3], outputs)
    assert state.context.abs().max() == 0
    _, after = module.answer(state, torch.tensor([4]))
    _, same = module.answer(after, torch.tensor([1]))
    _, other = module.answer(
        after._replace(context=torch.zeros_like(after.context)), torch.tensor([1])
    )
    assert not torch.allclose(same.hidden[0], other.hidden[0])


def test_the_papers_sizes_make_about_200_thousand_parameters():
    module = LSTMAttention(4)
    assert [cell.hidden_size for cell in module.decoder] == [64, 64, 64]
    assert 150_000 < sum(parameter.numel() for parameter in module.parameters()) < 250_000


def test_stacks_change_as_the_formula_says_index_by_index():
    rng = np.random.default_rng(0)
    stacks, values = rng.normal(size=(2, 3, 6)), rng.uniform(size=(2, 3))
    actions = rng.dirichlet(np.ones(3), size=(2, 3))
    found = change_stacks(*(torch.from_numpy(array) for array in (stacks, actions, values)))
    for b in range(2):
        for k in range(3):
            push, pop, keep = actions[b, k]
            for i in range(6):
                above = values[b, k] if i == 0 else stacks[b, k, i - 1]
                below = stacks[b, k, i + 1] if i < 5 else -1.0
                expected = push * above + pop * below + keep * stacks[b, k, i]
                assert found[b, k, i].item() == pytest.approx(expected, abs=1e-14)


def test_a_stack_rnn_step_is_the_formula_index_by_index():
    module = network("stack").double()
    stacks = torch.rand(2, 3, 7, dtype=torch.float64)
    logits, after = module.answer(stacks, torch.tensor([1, 2]))
    table, top, action, value, output = (
        layer.weight.detach().numpy()
        for layer in (module.embedding, module.top, module.action, module.value, module.output)
    )
    for b, symbol in enumerate((1, 2)):
        tops = [stacks[b, k, q].item() for k in range(3) for q in range(2)]
        units = [
            1 / (1 + math.exp(-table[symbol, i] - sum(top[i, j] * tops[j] for j in range(6))))
            for i in range(20)
        ]
        for i in range(4):
            expected = sum(output[i, j] * units[j] for j in range(20))
            assert logits[b, i].item() == pytest.approx(expected, abs=1e-12)
        for k in range(3):
            raw = [sum(action[3 * k + a, j] * units[j] for j in range(20)) for a in range(3)]
            push, pop, keep = np.exp(raw) / np.exp(raw).sum()
            pushed = 1 / (1 + math.exp(-sum(value[k, j] * units[j] for j in range(20))))
            expected = push * pushed + pop * stacks[b, k, 1].item() + keep * tops[2 * k]
            assert after[b, k, 0].item() == pytest.approx(expected, abs=1e-12)


def test_discrete_stacks_do_one_thing_at_a_time():
    module = network("stack").double().eval()
    stacks = torch.rand(4, 3, 7, dtype=torch.float64)
    _, after = module.answer(stacks, torch.tensor([1, 2, 3, 4]))
    popped = torch.cat([stacks[..., 1:], torch.full((4, 3, 1), -1.0)], -1)
    for row in range(4):
        for stack in range(3):
            one_of = (popped[row, stack], stacks[row, stack])
            pushed = after[row, stack, 1:].equal(stacks[row, stack, :-1])
            assert pushed or any(after[row, stack].equal(choice) for choice in one_of)
    module.train()
    _, mixed = module.answer(stacks, torch.tensor([1, 2, 3, 4]))
    assert not torch.allclose(mixed, after)


def test_stacks_are_as_high_as_they_need_to_be():
    """A second copy with far more room answers with the same numbers."""
    module = network("stack").double()
    symbols, targets = additions(2, digits=6)
    usual = module(symbols, targets=targets)
    room = module.depth
    module.read, read = (
        (lambda s, n: torch.nn.functional.pad(read(s, n), (0, 40), value=-1.0)),
        module.read,
    )
    assert room == 2
    torch.testing.assert_close(module(symbols, targets=targets), usual, rtol=0, atol=1e-14)


def test_gradients_of_a_stack_rnn_are_cut():
    module = StackRNN(4, hidden=5, stacks=2, clip=1e-3)
    values = torch.ones(3, requires_grad=True)
    module._clipped(values * 1.0).mul(torch.tensor([2.0, -2.0, 5e-4])).sum().backward()
    torch.testing.assert_close(values.grad, torch.tensor([1e-3, -1e-3, 5e-4]))


def test_places_count_from_the_first_digit_of_each_number():
    rng = np.random.default_rng(3)
    symbols = rng.integers(0, 6, (20, 30))
    found = places_in_numbers(torch.from_numpy(symbols), torch.tensor([3, 5])).numpy()
    for row, line in enumerate(symbols):
        place = 0
        for column, symbol in enumerate(line):
            place = 0 if symbol in (0, 3, 5) else place + 1
            assert found[row, column] == place


def test_offsets_move_all_places_of_a_string_and_nothing_else():
    module = network("transformer")
    symbols, targets = additions(2)
    offsets = torch.tensor([0, 7])
    moved = module(symbols, targets=targets, offsets=offsets)
    plain = module(symbols, targets=targets)
    torch.testing.assert_close(moved[0], plain[0])
    assert not torch.allclose(moved[1], plain[1])
    with torch.no_grad():
        places = module.place.weight[1:]
        places.copy_(places.roll(-7, 0).clone())
    torch.testing.assert_close(module(symbols, targets=targets)[1], moved[1])


def test_every_offset_is_drawn_and_follows_from_the_seed():
    module = network("transformer")
    symbols = torch.full((400, 3), 1)
    seen = []
    module.forward = lambda symbols, lengths, targets, offsets: seen.append(offsets)  # type: ignore
    for seed in (5, 5, 6):
        module.taught(symbols, torch.full((400,), 3), symbols, seed)
    assert seen[0].equal(seen[1])
    assert not seen[0].equal(seen[2])
    assert set(torch.cat(seen).tolist()) == set(range(40))


def test_places_start_on_a_circle():
    """The product of two depends on how far they are apart alone, around the end too."""
    weight = network("transformer").place.weight.detach().double()
    assert weight[0].abs().max() == 0
    products = weight[1:] @ weight[1:].T
    for apart in range(40):
        along = torch.stack([products[i, (i + apart) % 40] for i in range(40)])
        torch.testing.assert_close(along, along[:1].expand(40), rtol=0, atol=1e-5)
    torch.testing.assert_close(products.diagonal(), torch.ones(40).double(), rtol=0, atol=1e-5)


def test_digits_beyond_the_table_share_its_last_place():
    """A longer table that goes on with the last place of a shorter one tells them no better."""
    module, longer = network("transformer"), AbacusTransformer(4, (PLUS,), 32, 2, positions=50)
    weights = module.state_dict()
    repeated = weights["place.weight"][-1:].expand(10, -1)
    weights["place.weight"] = torch.cat([weights["place.weight"], repeated])
    longer.load_state_dict(weights)
    symbols = torch.ones(1, 45, dtype=torch.int64)
    logits = module(symbols, targets=symbols)
    torch.testing.assert_close(longer(symbols, targets=symbols), logits, rtol=0, atol=0)
    with torch.no_grad():
        longer.place.weight[45] = longer.place.weight[3]
    assert not torch.allclose(longer(symbols, targets=symbols)[0, 44], logits[0, 44])


def test_an_answer_starts_at_the_place_before_the_first():
    """Without it nothing would tell which of the places is the first of a string."""
    module = network("transformer").double()
    symbols, targets = additions(2)
    plain = module(symbols, targets=targets)
    with torch.no_grad():
        module.place.weight[module.positions] = module.place.weight[3]
    changed = module(symbols, targets=targets)
    assert ((changed - plain).abs().amax(-1) > 1e-6).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LSTMAttention(1), "num_symbols is 1; give 2 or more"),
        (lambda: LSTMAttention(4, layers=0), "layers is 0; give a positive integer"),
        (lambda: StackRNN(4, stacks=0), "stacks is 0; give a positive integer"),
        (lambda: StackRNN(4, clip=0.0), "clip is 0.0; give a positive number"),
        (lambda: AbacusTransformer(4, size=30), "size is 30; give a positive multiple of the 4"),
        (lambda: AbacusTransformer(4, positions=0), "positions is 0; give a positive integer"),
        (lambda: AbacusTransformer(4, (4,)), r"separators is \(4,\); give symbols from 1 to 3"),
        (
            lambda: network("transformer")(torch.tensor([[1]]), offsets=torch.tensor([1])),
            "give them with targets alone",
        ),
        (lambda: checked_lengths(torch.tensor([[4]]), None, 4), r"\[4, 4\]; allowed: 0 to 3"),
        (lambda: checked_lengths(torch.zeros(0, 3).long(), None, 4), "neither of them 0"),
        (
            lambda: checked_lengths(torch.tensor([[1, 2]]), torch.tensor([3]), 4),
            "give one length a string, from 1 to 2",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
