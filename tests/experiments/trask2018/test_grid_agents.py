"""Agents in the grid world: what they see, how they play, what they are paid, that they learn."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from torchalu.experiments.trask2018.grid_agent import UNITS, GridAgent
from torchalu.experiments.trask2018.grid_episodes import Episodes, all_starts, gumbel, play
from torchalu.experiments.trask2018.grid_study import measured
from torchalu.experiments.trask2018.grid_training import (
    GridTraining,
    actor_critic_loss,
    train_agent,
)
from torchalu.tasks import GRID_ACTIONS, GridRules, GridWorlds

SHORT = GridRules(instructions=(1, 3), timeout=6)


def agent(model="LSTM", **sizes):
    return replace(GridTraining(core_size=16, unit_size=4), **sizes).agent(model, seed=0)


class Clockwork(nn.Module):
    """Reads the picture, goes when it has to and waits before; all it keeps is the time left."""

    def encode(self, images):
        return torch.stack([self.place(images, color) for color in ((160,) * 3, (220, 30, 30))], 1)

    @staticmethod
    def place(images, color):
        centers = images[:, 6::11, 6::11]
        return (
            (centers == torch.tensor(color, dtype=torch.uint8)).all(-1).flatten(1).int().argmax(1)
        )

    def initial_state(self, worlds):
        return (torch.zeros(worlds, 1),)

    def forward(self, places, instructions, state):
        left = torch.where(instructions > 0, instructions, state[0])
        own, goal = (torch.stack((cell // 5, cell % 5), 1) for cell in places.T)
        down, right = (goal - own).T
        names = [
            "PASS" if abs(y) + abs(x) < time else
            ("DOWN" if y > 0 else "UP") if y else ("RIGHT" if x > 0 else "LEFT")
            for y, x, time in zip(down.tolist(), right.tolist(), left[:, 0].tolist(), strict=True)
        ]  # fmt: skip
        logits = torch.eye(len(GRID_ACTIONS))[[GRID_ACTIONS.index(name) for name in names]]
        return logits, torch.zeros(len(names)), (left - 1,)


@pytest.mark.parametrize("instruction", [5, 8, 12, 30])
def test_who_does_all_that_can_be_done_is_paid_the_optimal_return(instruction):
    rules = GridRules()
    worlds = all_starts(rules, (instruction,))
    assert len({*zip(worlds.agents.tolist(), worlds.targets.tolist(), strict=True)}) == 600
    row = measured(play(Clockwork(), worlds), instruction, rules)
    assert row["reward"] == pytest.approx(rules.optimal_return(instruction), abs=1e-12)
    assert row["reward"] == pytest.approx(row["optimal_return"], abs=1e-12)
    assert row["arrived"] == 1
    near = sum(abs(a // 5 - b // 5) + abs(a % 5 - b % 5) <= instruction
               for a in range(25) for b in range(25) if a != b)  # fmt: skip
    assert row["on_time"] == near / 600


@pytest.mark.parametrize("model", UNITS)
def test_episodes_are_those_that_gymnasium_plays_one_by_one(model):
    """Every picture is looked at anew here, and no world knows of another."""
    own = agent(model)
    worlds = GridWorlds(6, GridRules(timeout=12), seed=3)
    starts = list(zip(worlds.agents, worlds.targets, worlds.instructions, strict=True))
    noise = gumbel(12, 6, torch.Generator().manual_seed(0))
    episodes = play(own, worlds, noise)
    environment = gymnasium.make(
        "torchalu.tasks.grid_world:torchalu/GridWorldTime-v0", timeout=12, disable_env_checker=True
    )
    for world, start in enumerate(starts):
        names = ("agent", "target", "instruction")
        seen, _ = environment.reset(options=dict(zip(names, map(int, start), strict=True)))
        state, rows = own.initial_state(1), episodes.worlds == world
        logits, actions = episodes.logits[rows], episodes.actions[rows].tolist()
        for time, action in enumerate(actions):
            features = own.encode(torch.from_numpy(seen["image"])[None])
            scores, _, state = own(features, torch.from_numpy(seen["instruction"])[None], state)
            torch.testing.assert_close(scores[0], logits[time], rtol=1e-4, atol=1e-5)
            assert action == (logits[time] + noise[time, world]).argmax()
            seen, reward, arrived, timed_out, info = environment.step(action)
            assert (arrived or timed_out) == (time == len(actions) - 1)
        assert (reward, arrived) == (episodes.rewards[world], episodes.arrived[world])
        assert info["time"] == episodes.ends[world] == len(actions)


def test_the_noise_draws_actions_as_often_as_the_softmax_has_it():
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5])
    noise = gumbel(40, 500, torch.Generator().manual_seed(0))
    rates = (logits + noise).argmax(-1).flatten().bincount(minlength=5) / 20_000
    torch.testing.assert_close(rates, logits.softmax(0), rtol=0, atol=0.01)


def test_the_loss_is_that_of_the_equation():
    logits, values = torch.tensor([[0.0, 1.0, 2.0, 0.0, 0.5]] * 3), torch.tensor([0.1, 0.2, 0.3])
    episodes = Episodes(
        logits, values, torch.tensor([2, 0, 1]), worlds=np.array([0, 1, 0]),
        times=np.array([0, 0, 1]), rewards=np.array([0.8, 0.0]), arrived=np.array([True, False]),
        ends=np.array([2, 1]),
    )  # fmt: skip
    chances = np.exp(logits[0].double().numpy())
    chances /= chances.sum()
    entropy = -(chances * np.log(chances)).sum()
    advantages = np.array([0.9 * 0.8, 0.0, 0.8]) - [0.1, 0.2, 0.3]
    taken = np.log(chances[[2, 0, 1]])
    expected = (-taken * advantages + advantages**2 / 2 - 0.03 * entropy).mean()
    loss = actor_critic_loss(episodes, discount=0.9, entropy=0.03)
    assert loss.item() == pytest.approx(expected, rel=1e-6)


def test_no_gradient_of_the_policy_reaches_the_critic():
    own = agent()
    noise = gumbel(6, 4, torch.Generator().manual_seed(0))
    episodes = play(own, GridWorlds(4, SHORT), noise)
    still = episodes._replace(values=episodes.values.detach())
    actor_critic_loss(still, 0.99, 0.01).backward()
    assert own.critic.weight.grad is None
    assert own.actor.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("model", [name for name, unit in UNITS.items() if unit is not None])
def test_what_the_unit_holds_goes_into_the_lstm_and_follows_its_equation(model):
    own = agent(model)
    features, seen = torch.zeros(2, 256), torch.tensor([[7.0], [5.0]])
    start = tuple(torch.randn(2, part.shape[1]) for part in own.initial_state(2))
    hidden, _, numbers = start
    weight = own.unit.effective_weight()
    if own.summing:
        expected = numbers + torch.cat((seen, hidden), 1) @ weight.T
    else:
        expected = torch.cat((seen, hidden, numbers), 1) @ weight.T
    logits, _, state = own(features, seen, start)
    torch.testing.assert_close(state[2], expected)
    gradient = torch.autograd.grad(logits.sum(), own.unit.parameters(), allow_unused=True)
    assert all(part is not None and part.abs().sum() > 0 for part in gradient)


@pytest.mark.usefixtures("meta_device")
@pytest.mark.parametrize("model", UNITS)
def test_an_agent_is_where_it_is_trained(model):
    """All that it works with lies on its device, or it would not act."""
    own = agent(model, device="meta")
    features = own.encode(torch.zeros(3, 56, 56, 3, dtype=torch.uint8, device="meta"))
    told = torch.zeros(3, 1, device="meta")
    logits, values, state = own(features, told, own.initial_state(3))
    assert {part.device.type for part in (logits, values, *state)} == {"meta"}


@pytest.mark.parametrize("model", UNITS)
def test_each_agent_overfits_two_starts(model):
    own = agent(model)
    optimizer = torch.optim.Adam(own.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)

    def worlds():
        both = GridWorlds(16, SHORT)
        for world in range(16):
            both.place(world, *((0, 1, 1), (24, 22, 3))[world % 2])
        return both

    for _ in range(60):
        optimizer.zero_grad()
        actor_critic_loss(play(own, worlds(), gumbel(6, 16, generator)), 0.99, 0.01).backward()
        optimizer.step()
    with torch.no_grad():
        assert play(own, worlds()).rewards.mean() > 0.8


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"worlds": 0}, "worlds is 0"),
        ({"discount": 1.5}, "discount is 1.5"),
        ({"entropy": -1.0}, "entropy is -1.0"),
        ({"optimizer": "sgd"}, "optimizer is 'sgd'"),
        ({"updates": 0}, "steps is 0"),
        ({"instruction_time": "never"}, "instruction_time is 'never'"),
        ({"device": "nowhere"}, "device is 'nowhere'"),
    ],
)
def test_numbers_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        GridTraining(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(("GRU",), "model is 'GRU'; choose from LSTM"), (("LSTM", 0), "core_size is 0"),
     (("NAC", 8, 0), "unit_size is 0")],
)  # fmt: skip
def test_agents_that_cannot_be_built_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        GridAgent(*wrong)


FEW = GridTraining(
    updates=4, worlds=3, learning_rate=0.01, evaluate_every=4, validation_episodes=4,
    core_size=16, unit_size=4,
)  # fmt: skip


def test_updates_are_those_of_a_loop_over_fresh_worlds_at_a_falling_rate(tmp_path):
    own, expected = (FEW.agent("NAC", seed=2) for _ in range(2))
    result = train_agent(own, FEW, 2, tmp_path, lambda done: None)
    optimizer = torch.optim.Adam(expected.parameters())
    generator = torch.Generator().manual_seed(2)
    for step in range(4):
        word = np.random.SeedSequence([2, 0, step]).generate_state(1, np.uint64)[0]
        worlds, noise = GridWorlds(3, GridRules(), seed=int(word)), gumbel(40, 3, generator)
        optimizer.param_groups[0]["lr"] = 0.01 * (1 - step / 4)
        optimizer.zero_grad()
        actor_critic_loss(play(expected, worlds, noise), 0.99, 0.01).backward()
        nn.utils.clip_grad_norm_(expected.parameters(), 1.0)
        optimizer.step()
    for name, value in expected.state_dict().items():
        torch.testing.assert_close(result.last_state[name], value)


def test_a_trained_agent_holds_its_best_parameters(tmp_path):
    training = replace(FEW, updates=12, evaluate_every=1)
    own = training.agent("LSTM", seed=0)
    result = train_agent(own, training, 0, tmp_path, lambda done: None)
    best = result.records.sort("validation_reward", "step", descending=[True, False])
    assert result.best_step == best["step"][0] < result.steps
    state = own.state_dict()
    assert all(torch.equal(state[name], value) for name, value in result.best_state.items())
    assert any(not torch.equal(state[name], value) for name, value in result.last_state.items())


def test_the_error_of_the_reward_is_that_of_its_mean():
    rules = GridRules()
    episodes = play(Clockwork(), all_starts(rules, (5,)))
    error = measured(episodes, 5, rules)["reward_error"]
    assert error == pytest.approx(stats.sem(episodes.rewards), rel=1e-12)
