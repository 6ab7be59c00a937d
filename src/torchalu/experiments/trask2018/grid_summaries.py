"""From the outcomes of all agents to the tables that are shown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from torchalu.evaluate import t_interval, wilson
from torchalu.experiments.trask2018.picks import TOLERATED, picks
from torchalu.experiments.trask2018.published_grid_world import PUBLISHED_REACH
from torchalu.tasks import GridRules

DOES_WELL = 0.9
"""The part of the optimal return from which on an agent does well."""

_GOAL = PUBLISHED_REACH["NAC"]
_CHOSEN_FIRST = {"by": ["validation_reward", "seed"], "descending": [True, False]}
_ACTING = ["model", "actions"]


def grid_world_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Figure 5, how far each agent holds, and which to pick.

    Args:
        outcomes: of all chunks of `grid_world`.

    Returns:
        `grid_world`, a row a model, way to act and instruction; `grid_world_reach`, a row a model
        and way to act; and `grid_world_picks`, a row a way to act.
    """
    return {
        "grid_world": by_instruction(outcomes),
        "grid_world_reach": reach(outcomes),
        "grid_world_picks": which_to_pick(outcomes),
    }


def by_instruction(outcomes: pl.DataFrame) -> pl.DataFrame:
    """What the seeds of each agent are paid under each instruction.

    Args:
        outcomes: a row a model, way to act, instruction and seed.

    Returns:
        A row a model, way to act and instruction: `seeds`; the mean reward over them with its
        95% interval, cut off at 0 and 1, and the median; `best_reward`, that of the best seed;
        `chosen_seed`, the one that validates best, and its `chosen_reward`; the means of
        `arrived`, `on_time` and `arrival_time`; and `optimal_return`.

    Example:
        >>> rows = {"model": ["LSTM"] * 2, "actions": ["greedy"] * 2, "instruction": [8, 8]}
        >>> rows |= {"seed": [0, 1], "reward": [0.5, 0.7], "validation_reward": [0.6, 0.5]}
        >>> rows |= {"arrived": [1.0, 1.0], "on_time": [0.5, 0.5], "arrival_time": [9.0, 8.0]}
        >>> table = by_instruction(pl.DataFrame(rows | {"optimal_return": [1.0, 1.0]}))
        >>> table.select("reward_mean", "chosen_reward", "best_reward").row(0)
        (0.6, 0.5, 0.7)
    """
    groups = [*_ACTING, "instruction"]
    table = (
        outcomes.sort(**_CHOSEN_FIRST)
        .group_by(groups, maintain_order=True)
        .agg(
            pl.col("reward"),
            seeds=pl.len(),
            reward_median=pl.col("reward").median(),
            best_reward=pl.col("reward").max(),
            chosen_seed=pl.col("seed").first(),
            chosen_reward=pl.col("reward").first(),
            arrived=pl.col("arrived").mean(),
            on_time=pl.col("on_time").mean(),
            arrival_time=pl.col("arrival_time").mean(),
            optimal_return=pl.col("optimal_return").first(),
        )
        .sort(groups)
    )
    means = [t_interval(values, bounds=(0, 1)) for values in table["reward"].to_list()]
    return table.select(
        *groups,
        "seeds",
        pl.Series("reward_mean", [one.mean for one in means], pl.Float64),
        pl.Series("reward_low", [one.low for one in means], pl.Float64),
        pl.Series("reward_high", [one.high for one in means], pl.Float64),
        pl.exclude(*groups, "seeds", "reward"),
    )


def reach(outcomes: pl.DataFrame) -> pl.DataFrame:
    """How far beyond the instructions of the training each agent holds.

    An agent reaches T if it does well, which is 90% of the optimal return, under all instructions
    from the greatest of the training up to T; if it does not under that one, it reaches the one
    before. Nothing is said of agents that were not tested under each of them, up to the paper's T
    (of those that the paper has not, up to that of its NAC).

    Args:
        outcomes: a row a model, way to act, instruction and seed.

    Returns:
        A row a model and way to act: `seeds`; `published`, the paper's T, null where it has none;
        the T of the seed that validates best, `chosen`, of the `best` seed, of the `median` one
        and the `least`; how many seeds get as far as the paper's, `reached`, with the rate's 95%
        interval; and the mean reward under instructions of the training, `training_reward`.

    Example:
        >>> rows = {"model": ["LSTM"] * 3, "actions": ["greedy"] * 3, "seed": [0] * 3}
        >>> rows |= {"instruction": [12, 13, 14], "reward": [1.0, 0.95, 0.8]}
        >>> rows |= {"validation_reward": [1.0] * 3, "optimal_return": [1.0] * 3}
        >>> reach(pl.DataFrame(rows)).select("published", "chosen", "reached").row(0)
        (13, 13, 1)
    """
    seeds = _by_seed(outcomes)
    table = (
        seeds.group_by(_ACTING, maintain_order=True)
        .agg(
            seeds=pl.len(),
            published=pl.col("published").first(),
            chosen=pl.col("reach").first(),
            best=pl.col("reach").max(),
            median=pl.col("reach").median(),
            least=pl.col("reach").min(),
            reached=(pl.col("reach") >= pl.col("published")).sum(),
            training_reward=pl.col("training_reward").mean(),
        )
        .with_columns(
            reached=pl.when(pl.col("published").is_not_null(), pl.col("least").is_not_null()).then(
                pl.col("reached")
            )
        )
        .sort(_ACTING)
    )
    return _with_interval(table)


def which_to_pick(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Which agent to pick for instructions beyond those of the training.

    Args:
        outcomes: as of `reach`.

    Returns:
        A row a way to act, as `picks` gives it: `reached` counts the seeds that get as far as the
        paper's agent with the NAC; errors are the median part of the optimal return that is lost
        under instructions from beyond the training up to there, of which 10% can be lived with;
        null without a test of each of them. Beside the pick stands the NAC as the paper has it,
        which does not sum.
    """
    cells = (
        _by_seed(outcomes)
        .group_by(_ACTING, maintain_order=True)
        .agg(
            seeds=pl.len(),
            reached=pl.when(pl.col("lost").is_not_null().any()).then(
                (pl.col("reach") >= _GOAL).sum()
            ),
            median_lost=pl.col("lost").median(),
        )
        .with_columns(holds=pl.col("median_lost") <= TOLERATED)
        .sort(_ACTING)
    )
    return picks(cells, ["actions"], "median_lost", ["NAC"], count="reached")


def search_tables(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What the seeds of each setting are paid on validation episodes, the best setting first.

    Args:
        outcomes: of all chunks of `grid_world_search`.

    Example:
        >>> rows = {"model": ["LSTM"] * 2, "learning_rate": [1e-3] * 2, "entropy": [0.0, 0.01]}
        >>> rows |= {"seed": [0, 0], "validation_reward": [0.5, 0.9]}
        >>> search_tables(pl.DataFrame(rows))["grid_world_search"]["entropy"].to_list()
        [0.01, 0.0]
    """
    labels: Sequence[str] = ["model", "learning_rate", "entropy"]
    table = outcomes.group_by(labels).agg(
        seeds=pl.len(),
        validation_mean=pl.col("validation_reward").mean(),
        validation_least=pl.col("validation_reward").min(),
        validation_best=pl.col("validation_reward").max(),
    )
    order = ["model", "validation_mean", "learning_rate", "entropy"]
    return {"grid_world_search": table.sort(order, descending=[False, True, False, False])}


def _by_seed(outcomes: pl.DataFrame) -> pl.DataFrame:
    """How far each seed gets, and what it loses beyond the training, the best by validation first.

    The part of the optimal return that is `lost` is under instructions as far as the paper's NAC.
    """
    number = pl.col("instruction")
    least, most = GridRules().instructions
    badly = pl.col("reward") < DOES_WELL * pl.col("optimal_return")
    failed = number.filter(badly & (number >= most))
    trained, beyond = number.is_between(least, most), number.is_between(most + 1, _GOAL)
    published = pl.col("model").replace_strict(PUBLISHED_REACH, default=None, return_dtype=pl.Int64)

    def tested(goal: pl.Expr) -> pl.Expr:
        """Whether each instruction from the greatest of the training up to a goal was."""
        return number.filter(number.is_between(most, goal)).n_unique() == goal.first() - most + 1

    lost = 1 - (pl.col("reward") / pl.col("optimal_return")).filter(beyond).mean()
    return (
        outcomes.with_columns(published=published)
        .group_by([*_ACTING, "seed"], maintain_order=True)
        .agg(
            pl.col("validation_reward", "published").first(),
            training_reward=pl.col("reward").filter(trained).mean(),
            reach=pl.when(tested(pl.col("published").fill_null(_GOAL))).then(
                pl.coalesce(failed.min() - 1, number.max())
            ),
            lost=pl.when(tested(pl.lit(_GOAL))).then(lost),
        )
        .sort(**_CHOSEN_FIRST)
    )


def _with_interval(table: pl.DataFrame) -> pl.DataFrame:
    """The rate of seeds that reached as far as the paper's, with Wilson's interval."""
    intervals = [
        (None, None) if reached is None else wilson(reached, seeds)
        for reached, seeds in table.select("reached", "seeds").iter_rows()
    ]
    return table.with_columns(
        reached_rate=pl.col("reached") / pl.col("seeds"),
        reached_low=pl.Series([low for low, _ in intervals], dtype=pl.Float64),
        reached_high=pl.Series([high for _, high in intervals], dtype=pl.Float64),
    )
