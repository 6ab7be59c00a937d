"""Table 1: binary addition and multiplication, by Neural GPUs and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from torchalu.experiments.kaiser2016.baselines import (
    LSTMLearner,
    StackLearner,
    TransformerLearner,
)
from torchalu.experiments.kaiser2016.learner import Learner, NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.published import TABLE1
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.kaiser2016.summaries import beside_published, failures
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import choose
from torchalu.tasks import AlgorithmicTask, algorithm
from torchalu.train.algorithms import AlgorithmTraining

TASKS = ("badd", "bmul")
MODELS = ("improved", "original", "stack_rnn", "lstm_attention", "transformer")
NEURAL_GPUS = ("improved", "original")
"""The models whose every failure is listed."""
UNFILLED = ("original", "lstm_attention")
"""The models that learn answers as the paper has them, by default."""
STACK_TASKS = ("badd", "badd_unaligned")
"""The tasks of the stack RNN."""
LENGTHS = (20, 25, 100, 200, 2000)
_SEEDS = Seeds(5)


class Table1Study(AlgorithmStudy):
    """Accuracies by length, and the paper's beside them."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The paper's table again, and what it is made of.

        Args:
            outcomes: of all chunks.

        Returns:
            `table1`, a row a task and length with the rates of the best seeds in percent;
            `table1_lengths`, a row a model too, with intervals; `table1_adversarial` and
            `table1_learning`; `table1_failures`, where each seed of a Neural GPU is wrong.
        """
        tables = super().summarize(outcomes)
        lengths = tables.pop("table1")
        wide = beside_published(lengths, TABLE1)
        gpus = outcomes.filter(pl.col("model").is_in(NEURAL_GPUS))
        wrong = failures(gpus, ["task", "model"])
        return {"table1": wide, "table1_lengths": lengths, **tables, "table1_failures": wrong}


def table1(
    seeds: SeedOptions = _SEEDS,
    *,
    tasks: tuple[str, ...] = TASKS,
    models: tuple[str, ...] = MODELS,
    lengths: tuple[int, ...] = LENGTHS,
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
    filled: bool | None = None,
    steps: int | None = None,
    end_after: int | None = None,
    device: str = "cpu",
) -> Table1Study:
    """Table 1: binary addition and multiplication, trained to 20 bits, tested up to 2000.

    Args:
        seeds: of each model and task.
        tasks: names of tasks, as `torchalu.tasks.algorithm` takes them.
        models: "improved" and "original" Neural GPU, "stack_rnn" (sums alone), "lstm_attention",
            "transformer".
        lengths: bits of an operand in the tests.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.
        filled: whether answers are filled with zeros up to the length of the input; the paper's
            are not, and by default those of its original form and of the LSTM are not either.
        steps: at most, in place of each model's own number.
        end_after: evaluations in a row with all validation strings right that end a run, 0 for
            none; in place of each model's own number.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, or no task that a
            model can learn.

    Source:
        Kaiser & Sutskever 2016, section 3.1 and table 1. Departures: see `docs/kaiser2016.md`.

    Example:
        >>> study = table1(Seeds(2), tasks=("badd",), models=("improved", "stack_rnn"))
        >>> [chunk.name for chunk in study.chunks()][1:3]
        ['badd-stack_rnn-seed0', 'badd-improved-seed1']
    """
    strings = Strings(lengths, count, long_count, adversarial)
    settings = [
        AlgorithmSetting(
            {"task": name, "model": model},
            task,
            learner(model, task, steps, end_after, device),
            strings,
        )
        for name, model in pairs(tasks, models)
        for task in (algorithm(name, filled=filled_for(model, filled)),)
    ]
    return Table1Study("kaiser2016.table1", settings, seeds)


def pairs(tasks: tuple[str, ...], models: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each task with each model that can learn it.

    Args:
        tasks: their names.
        models: some of `MODELS`.

    Raises:
        ValueError: a model that is unknown, or none that can learn any of the tasks.

    Example:
        >>> pairs(("badd", "bmul"), ("stack_rnn",))
        [('badd', 'stack_rnn')]
    """
    choose("models", models, MODELS)
    found = [
        (name, model)
        for name in tasks
        for model in models
        if model != "stack_rnn" or name in STACK_TASKS
    ]
    if tasks and models and not found:
        raise ValueError(
            f"tasks is {tasks}, and the only model 'stack_rnn' is for {' and '.join(STACK_TASKS)} "
            "alone; give one of these, or another model"
        )
    return found


def filled_for(model: str, filled: bool | None) -> bool | None:
    """Whether a model's answers are filled with zeros.

    Args:
        model: one of `MODELS`.
        filled: what was asked for; None leaves it to the model, and that to the task.

    Example:
        >>> filled_for("original", None), filled_for("improved", None)
        (False, None)
    """
    return False if filled is None and model in UNFILLED else filled


def learner(
    model: str,
    task: AlgorithmicTask,
    steps: int | None = None,
    end_after: int | None = None,
    device: str = "cpu",
) -> Learner:
    """A model of table 1 with its training.

    Args:
        model: one of `MODELS`.
        task: what it is to learn.
        steps: at most, in place of its own number.
        end_after: evaluations in a row with all validation strings right that end a run, 0 for
            none; in place of its own number.
        device: where to train.

    Raises:
        ValueError: a name that is unknown, or a number of steps that is not positive.

    Example:
        >>> learner("transformer", algorithm("badd"), steps=100).numbers.steps
        100
    """
    choose("models", (model,), MODELS)
    given = {"steps": steps, "end_after": end_after}
    changes = {name: value for name, value in given.items() if value is not None}
    recipes: dict[str, Callable[[AlgorithmicTask], AlgorithmTraining]] = {
        "improved": AlgorithmTraining.improved,
        "original": AlgorithmTraining.original,
    }
    if model in recipes:
        return NeuralGPULearner(replace(recipes[model](task), **changes), device)
    others = {
        "stack_rnn": StackLearner,
        "lstm_attention": LSTMLearner,
        "transformer": TransformerLearner,
    }
    made = others[model](device=device)
    return replace(made, numbers=replace(made.numbers, **changes))
