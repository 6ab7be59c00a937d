"""How an agent of the grid world is trained: a synchronous advantage actor-critic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn

from torchalu.arguments import check_from_zero, check_positive, check_positive_integers
from torchalu.experiments.settings_study import check_device
from torchalu.experiments.trask2018.grid_agent import GridAgent
from torchalu.experiments.trask2018.grid_episodes import Episodes, gumbel, play
from torchalu.tasks import GridRules, GridWorlds
from torchalu.tasks.grid_rules import InstructionTime
from torchalu.train import Report, TrainingConfiguration, TrainingResult, fit, seeded

OptimizerName: TypeAlias = Literal["rmsprop", "adam"]

_TRAINING, _VALIDATION = 0, 1  # streams of starts
_VALUE_FACTOR = 0.5  # of the critic's loss
_OPTIMIZERS = {
    "rmsprop": partial(torch.optim.RMSprop, alpha=0.99, eps=1e-5),
    "adam": torch.optim.Adam,
}


@dataclass(frozen=True)
class GridTraining:
    """Numbers of the agents and of their training.

    Args:
        updates: optimizer steps, each after an episode in every world.
        worlds: side by side.
        learning_rate: at the start; it falls to 0 in a straight line.
        entropy: the factor of the policy's entropy.
        discount: of a reward, per unit of time.
        clip_norm: of the gradient.
        optimizer: "rmsprop" or "adam".
        evaluate_every: updates from one validation to the next.
        validation_episodes: how many, each time the same.
        instruction_time: whether T is seen at the "start" alone, or "always".
        core_size: of the LSTM.
        unit_size: outputs of the arithmetic unit.
        device: where the agent lies, such as "cuda"; the worlds stay on the CPU.

    Raises:
        ValueError: a number that is out of its range, an unknown word, a device that is not there.

    Source:
        Mnih et al. 2016, section 4 and 5.1: advantages, entropy, RMSProp, a falling learning
        rate. Departures: see `actor_critic_loss`.

    Example:
        >>> GridTraining(discount=2.0)
        Traceback (most recent call last):
        ValueError: discount is 2.0; give a number from 0 to 1
    """

    updates: int = 10_000
    worlds: int = 32
    learning_rate: float = 1e-3
    entropy: float = 0.01
    discount: float = 0.99
    clip_norm: float = 1.0
    optimizer: OptimizerName = "adam"
    evaluate_every: int = 200
    validation_episodes: int = 256
    instruction_time: InstructionTime = "start"
    core_size: int = 128
    unit_size: int = 8
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_positive_integers(worlds=self.worlds, validation_episodes=self.validation_episodes)
        check_positive(learning_rate=self.learning_rate)
        check_from_zero(entropy=self.entropy)
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount is {self.discount}; give a number from 0 to 1")
        if self.optimizer not in _OPTIMIZERS:
            allowed = ", ".join(get_args(OptimizerName))
            raise ValueError(f"optimizer is {self.optimizer!r}; choose from {allowed}")
        check_device(self.device)
        self.configuration(seed=0)
        self.rules()

    def configuration(self, seed: int) -> TrainingConfiguration:
        """The numbers of the training loop.

        Args:
            seed: of the training.
        """
        return TrainingConfiguration(
            steps=self.updates,
            learning_rate=self.learning_rate,
            clip_norm=self.clip_norm,
            evaluate_every=self.evaluate_every,
            checkpoint_every=self.evaluate_every,
            seed=seed,
        )

    def rules(self) -> GridRules:
        """Those of the paper, T from 5 to 12."""
        return GridRules(instruction_time=self.instruction_time)

    def agent(self, model: str, seed: int) -> GridAgent:
        """An agent with the start of one seed.

        Args:
            model: its name.
            seed: settles the start.
        """
        with seeded(seed):
            agent = GridAgent(model, self.core_size, self.unit_size)
        return agent.to(self.device)


class Batch(NamedTuple):
    """What a step of the training plays.

    Attributes:
        worlds: at the start of an episode each.
        noise: by which the actions are drawn.
    """

    worlds: GridWorlds
    noise: Tensor


def actor_critic_loss(episodes: Episodes, discount: float, entropy: float) -> Tensor:
    r"""The loss of an advantage actor-critic, over whole episodes.

    .. math:: \mathrm{mean}\Bigl(-\log \pi(a_t)(R_t - V_t) + \tfrac12 (R_t - V_t)^2
              - \beta H(\pi)\Bigr), \qquad R_t = \gamma^{t_{end} - t - 1} r

    No gradient goes through the advantage R - V of the first term.

    Args:
        episodes: that were played.
        discount: gamma.
        entropy: beta.

    Source:
        Mnih et al. 2016, section 4 and supplement, algorithm S3. Departures: (1) synchronous:
        many worlds and one learner, instead of many learners; (2) an episode is at most 40 steps
        long and paid at its end alone, so that the n-step return is taken to the end, and no
        value stands in for the rest; (3) the mean, where the paper adds up.

    Example:
        >>> worlds = GridWorlds(2)
        >>> episodes = play(GridAgent("LSTM"), worlds, gumbel(40, 2, torch.Generator()))
        >>> actor_critic_loss(episodes, 0.99, 0.01).requires_grad
        True
    """
    left = episodes.ends[episodes.worlds] - episodes.times - 1
    returns = torch.from_numpy(discount**left * episodes.rewards[episodes.worlds])
    advantages = returns.to(episodes.values) - episodes.values
    logs = episodes.logits.log_softmax(-1)
    taken = logs.gather(-1, episodes.actions[:, None]).squeeze(-1)
    uncertainty = -(logs.exp() * logs).sum(-1)
    actor = taken * advantages.detach() + entropy * uncertainty
    return (_VALUE_FACTOR * advantages.square() - actor).mean()


def train_agent(
    agent: GridAgent, training: GridTraining, seed: int, folder: Path | None, report: Report
) -> TrainingResult:
    """Train an agent; it holds its best parameters afterwards.

    The best are those that are paid most on validation episodes, whose instructions are those of
    the training.

    Args:
        agent: with its start.
        training: the numbers.
        seed: of all random numbers.
        folder: for checkpoints, from which a training that was broken off goes on.
        report: takes the fraction that is done.
    """
    rules = training.rules()

    def sample(step: int, generator: torch.Generator) -> Batch:
        worlds = GridWorlds(training.worlds, rules, seed=_stream(seed, _TRAINING, step))
        return Batch(worlds, gumbel(rules.timeout, training.worlds, generator))

    def loss(module: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(module, GridAgent)
        return actor_critic_loss(play(module, *batch), training.discount, training.entropy)

    def evaluate(module: nn.Module) -> dict[str, float]:
        assert isinstance(module, GridAgent)
        worlds = GridWorlds(training.validation_episodes, rules, seed=_stream(seed, _VALIDATION, 0))
        paid = play(module, worlds).rewards.mean().item()
        return {"validation_loss": rules.max_reward - paid, "validation_reward": paid}

    result = fit(
        agent, sample, loss, training.configuration(seed),
        evaluate=evaluate, optimizer=_OPTIMIZERS[training.optimizer], folder=folder,
        schedule=lambda step: 1 - step / training.updates,
        report=lambda step: report(step / training.updates),
    )  # fmt: skip
    agent.load_state_dict(result.best_state)
    return result


def _stream(seed: int, *numbers: int) -> int:
    """A seed of its own for each sequence of numbers."""
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])
