"""The grid world against a world written out, a search, and gymnasium's own checks."""

import itertools
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from torchalu.tasks import GRID_ACTIONS, GridRules, GridWorlds
from torchalu.tasks.grid_world import ENVIRONMENT, GridWorldTime

STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1), "PASS": (0, 0)}


class PlainWorld:
    """One episode, by rows and columns."""

    def __init__(self, agent, target, instruction, size=5, timeout=40):
        self.agent, self.target = divmod(agent, size), divmod(target, size)
        self.instruction, self.size, self.timeout, self.time = instruction, size, timeout, 0

    def step(self, action):
        row, column = (
            place + change for place, change in zip(self.agent, STEPS[action], strict=True)
        )
        if 0 <= row < self.size and 0 <= column < self.size:
            self.agent = row, column
        self.time += 1
        arrived = self.agent == self.target
        late = abs(self.time - self.instruction)
        reward = max(0, 1 - late / self.instruction) if arrived else 0
        return reward, arrived, not arrived and self.time == self.timeout


def distance(agent, target, size=5):
    (row, column), (to_row, to_column) = divmod(agent, size), divmod(target, size)
    return abs(row - to_row) + abs(column - to_column)


def test_transitions_are_those_of_a_plain_world_and_of_the_environment():
    random = np.random.default_rng(0)
    worlds = GridWorlds(8, seed=1)
    environment = GridWorldTime()
    ends = {"arrived": 0, "timed_out": 0}

    def plain(world):
        start = worlds.agents[world], worlds.targets[world], worlds.instructions[world]
        return PlainWorld(*map(int, start))

    plains = [plain(world) for world in range(8)]
    options = {n: int(getattr(worlds, f"{n}s")[0]) for n in ("agent", "target", "instruction")}
    environment.reset(options=options)
    for _ in range(400):
        actions = random.choice(5, 8, p=[0.1, 0.1, 0.1, 0.1, 0.6])
        seen = environment.step(actions[0])
        step = worlds.step(actions)
        for world, action in enumerate(actions):
            reward, arrived, timed_out = plains[world].step(GRID_ACTIONS[action])
            assert step.rewards[world] == pytest.approx(reward)
            assert step.arrived[world] == arrived
            assert step.timed_out[world] == timed_out
            if world == 0:
                assert seen[1:4] == (step.rewards[0], arrived, timed_out)
            if arrived or timed_out:
                ends["arrived" if arrived else "timed_out"] += 1
                assert step.ended[world]
                assert worlds.times[world] == 0
                plains[world] = plain(world)
                if world == 0:
                    options = {
                        n: int(getattr(worlds, f"{n}s")[0])
                        for n in ("agent", "target", "instruction")
                    }
                    seen = environment.reset(options=options)
            else:
                assert divmod(int(worlds.agents[world]), 5) == plains[world].agent
        assert np.array_equal(seen[0]["image"], step.view.images[0])
        assert np.array_equal(seen[0]["instruction"], step.view.instructions[0])
    assert min(ends.values()) > 10


def test_the_start_of_a_world_follows_from_seed_world_and_episode():
    def starts(count, seed=1):
        worlds = GridWorlds(count, seed=seed)
        seen = []
        for _ in range(100):
            seen.append((int(worlds.agents[0]), int(worlds.targets[0]), int(worlds.episodes[0])))
            worlds.step(np.arange(count) % 4)
        return seen

    assert starts(1) == starts(5)
    assert starts(1) != starts(1, seed=2)


def test_starts_are_uniform():
    worlds = GridWorlds(6000, seed=3)
    pairs = np.bincount(worlds.agents * 25 + worlds.targets, minlength=625).reshape(25, 25)
    assert not np.diag(pairs).any()
    off = pairs[~np.eye(25, dtype=bool)]
    assert off.var() == pytest.approx(10, rel=0.2)  # that of a Poisson law
    assert sorted(set(worlds.instructions.tolist())) == list(range(5, 13))
    assert np.bincount(worlds.instructions)[5:].min() > 650


def test_a_picture_shows_agent_and_target():
    image = GridRules().draw(np.array([7]), np.array([23]))[0].astype(int)
    assert image.shape == (56, 56, 3)
    red, green, blue = np.moveaxis(image, -1, 0)
    gray = (red == green) & (green == blue) & (red > 100)
    reddish = (red > 100) & (green < 60) & (blue < 60)
    for shown, cell in ((gray, 7), (reddish, 23)):
        rows, columns = np.nonzero(shown)
        assert len(rows) == 100
        assert (rows.mean() // 11.2, columns.mean() // 11.2) == divmod(cell, 5)
        assert np.ptp(rows) == np.ptp(columns) == 9
    assert image[~(gray | reddish)].max() < 60


@pytest.mark.parametrize("instruction", [1, 2, 4])
def test_the_optimal_return_is_that_of_all_sequences_of_actions(instruction):
    rules = GridRules(size=2, instructions=(1, 1), timeout=5)
    best = []
    for agent, target in itertools.permutations(range(4), 2):
        returns = [0]
        for actions in itertools.product(STEPS, repeat=5):
            world = PlainWorld(agent, target, instruction, size=2, timeout=5)
            for action in actions:
                reward, arrived, _ = world.step(action)
                if arrived:
                    returns.append(reward)
                    break
        best.append(max(returns))
    assert rules.optimal_return(instruction) == pytest.approx(np.mean(best))


@pytest.mark.parametrize("instruction", [1, 3, 5, 7, 8, 12, 30, 40])
def test_the_optimal_return_waits_or_goes_straight(instruction):
    paid = [
        max(0, 1 - max(0, distance(agent, target) - instruction) / instruction)
        for agent, target in itertools.permutations(range(25), 2)
    ]
    assert GridRules().optimal_return(instruction) == pytest.approx(np.mean(paid))


def test_eight_is_the_least_instruction_that_can_always_be_met():
    assert GridRules().optimal_return(8) == 1
    assert GridRules().optimal_return(7) < 1


@pytest.mark.parametrize("moment", ["start", "always"])
def test_when_the_instruction_is_seen(moment):
    worlds = GridWorlds(1, GridRules(instruction_time=moment))
    assert worlds.reset(instruction=17).instructions.tolist() == [[17]]
    step = worlds.step(np.array([GRID_ACTIONS.index("PASS")]))
    assert step.view.instructions.tolist() == [[17 if moment == "always" else 0]]


def test_reset_sets_the_instruction_of_all_episodes():
    worlds = GridWorlds(4, GridRules(instructions=(2, 3), timeout=20))
    worlds.reset(instruction=19)
    for _ in range(50):
        assert worlds.instructions.tolist() == [19] * 4
        worlds.step(np.array([0, 1, 2, 3]))
    worlds.reset()
    assert set(worlds.instructions.tolist()) <= {2, 3}


@pytest.mark.parametrize("options", [{}, {"size": 3, "timeout": 15, "instruction_time": "always"}])
def test_gymnasium_s_own_checks(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = gymnasium.make(ENVIRONMENT, render_mode="rgb_array", **options)
        check_env(environment.unwrapped)
        _, start = environment.reset(seed=5)
        assert environment.reset(seed=5)[1] == start
        starts = [tuple(environment.reset()[1].values()) for _ in range(20)]
        assert len(set(starts)) > 10
        observation, *_ = environment.step(environment.action_space.sample())
        assert np.array_equal(environment.render(), observation["image"])


def test_importing_the_tasks_needs_no_gymnasium():
    program = "import sys, torchalu.tasks; sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_gymnasium_the_error_names_the_extra():
    program = (
        "import sys\nsys.modules['gymnasium'] = None\n"
        "try:\n    import torchalu.tasks.grid_world\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "pip install 'torchalu[grid]'" in done.stdout


def test_wrong_arguments_are_named():
    for wrong, message in (
        ({"size": 1}, "size is 1; give 2 or more"),
        ({"instructions": (5, 41)}, r"instructions is \(5, 41\); .* timeout = 40"),
        ({"instructions": (0, 4)}, r"instructions is \(0, 4\)"),
        ({"max_reward": 0}, "max_reward is 0"),
        ({"instruction_time": "never"}, "instruction_time is 'never'; choose from start, always"),
    ):
        with pytest.raises(ValueError, match=message):
            GridRules(**wrong)
    with pytest.raises(ValueError, match="instruction is 41; give an integer from 1 to timeout"):
        GridRules().optimal_return(41)
    with pytest.raises(ValueError, match="count is 0"):
        GridWorlds(0)
    worlds = GridWorlds(2)
    for actions in ([0], [0, 5], [0.5, 1]):
        with pytest.raises(ValueError, match="give 2 integers from 0 to 4: UP, DOWN, LEFT, RIGHT"):
            worlds.step(np.array(actions))
    with pytest.raises(ValueError, match="agent is 3 and target 3; give different cells from 0"):
        worlds.place(0, 3, 3, 8)
    with pytest.raises(ValueError, match="render_mode is 'human'"):
        GridWorldTime(render_mode="human")
    with pytest.raises(ValueError, match="options has 'T'; choose from agent, target, instruction"):
        GridWorldTime().reset(options={"T": 5})


def test_the_cell_that_is_not_given_is_drawn_among_the_others():
    world = GridWorldTime()
    for name, other in (("agent", "target"), ("target", "agent")):
        drawn = [world.reset(seed=seed, options={name: 12})[1][other] for seed in range(300)]
        assert set(drawn) == set(range(25)) - {12}
    for cell in (12.7, "3", -1, 25):
        with pytest.raises(ValueError, match=f"agent is {cell} and target 3; give different cells"):
            world.reset(options={"agent": cell, "target": 3})
