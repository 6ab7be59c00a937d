"""Section 3.2 and beyond: the other tasks, trained to 41 symbols and tested up to 4001."""

from __future__ import annotations

from dataclasses import replace

from torchalu.arguments import check_positive_integers
from torchalu.experiments.kaiser2016.learner import NeuralGPULearner
from torchalu.experiments.kaiser2016.measuring import Strings
from torchalu.experiments.kaiser2016.study import AlgorithmSetting, AlgorithmStudy
from torchalu.experiments.kaiser2016.table1 import TASKS, filled_for, learner, pairs
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.tasks import AlgorithmicTask, algorithm, algorithm_names
from torchalu.train.algorithms import AlgorithmTraining

OTHERS = tuple(name for name in algorithm_names() if name not in (*TASKS, "dmul"))
SYMBOLS = (41, 401, 4001)
_SEEDS, _ONE = Seeds(3), Seeds(1)


def algorithms(
    seeds: SeedOptions = _SEEDS,
    *,
    tasks: tuple[str, ...] = OTHERS,
    models: tuple[str, ...] = ("improved",),
    symbols: tuple[int, ...] = SYMBOLS,
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
    steps: int | None = None,
    end_after: int | None = None,
    device: str = "cpu",
) -> AlgorithmStudy:
    """Section 3.2: copying, reversing, duplicating, sorting, and all other tasks.

    Args:
        seeds: of each task and model.
        tasks: names of tasks, as `torchalu.tasks.algorithm` takes them.
        models: as in table 1, whose rule settles which answers are filled with zeros.
        symbols: lengths of the test strings; each task is tested at its greatest length that
            needs no more.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.
        steps: at most, in place of each model's own number.
        end_after: as in table 1.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown, or no task that a
            model can learn.

    Source:
        Kaiser & Sutskever 2016, section 3.2, which trains up to 41 symbols and tests up to 4001.

    Example:
        >>> study = algorithms(Seeds(1), tasks=("copy", "duplicate"))
        >>> [setting.strings.lengths for setting in study.settings]
        [(41, 401, 4001), (20, 200, 2000)]
    """
    settings = []
    for name, model in pairs(tasks, models):
        task = algorithm(name, filled=filled_for(model, None))
        settings.append(
            AlgorithmSetting(
                {"task": name, "model": model},
                task,
                learner(model, task, steps, end_after, device),
                Strings(lengths_within(task, symbols), count, long_count, adversarial),
            )
        )
    return AlgorithmStudy("kaiser2016.algorithms", settings, seeds)


def decimal(
    seeds: SeedOptions = _ONE,
    *,
    tasks: tuple[str, ...] = ("dmul",),
    maps: tuple[int, ...] = (192,),
    symbols: tuple[int, ...] = (21,),
    lengths: tuple[int, ...] = (5, 10, 20, 25, 100),
    count: int = 1000,
    long_count: int = 100,
    adversarial: bool = True,
    steps: int = 10_000,
    device: str = "cpu",
) -> AlgorithmStudy:
    """Section 4: decimal multiplication, which the paper did not manage to learn.

    Args:
        seeds: of each setting.
        tasks: names of tasks.
        maps: of the improved form; multiples of 3.
        symbols: the longest training strings.
        lengths: digits of an operand in the tests.
        count: random strings of each length.
        long_count: the same where they have more than 1000 symbols.
        adversarial: whether the adversarial strings of each length are tested too.
        steps: at most.
        device: where to train, such as "cuda".

    Raises:
        ValueError: a number that is out of its range, a name that is unknown.

    Source:
        Kaiser & Sutskever 2016, section 4: "we did not manage to learn long decimal
        multiplication"; Freivalds & Liepins 2017, section 5, for 192 maps.

    Example:
        >>> [chunk.name for chunk in decimal(symbols=(21, 41)).chunks()]
        ['dmul-192-21-seed0', 'dmul-192-41-seed0']
    """
    strings = Strings(lengths, count, long_count, adversarial)
    settings = []
    for name in tasks:
        task = algorithm(name)
        for number in maps:
            check_positive_integers(maps=number)
            for most in symbols:
                training = _short(AlgorithmTraining.improved(task), number, most, steps)
                settings.append(
                    AlgorithmSetting(
                        {"task": name, "maps": number, "training_symbols": most},
                        task,
                        NeuralGPULearner(training, device),
                        strings,
                    )
                )
    return AlgorithmStudy("kaiser2016.decimal", settings, seeds)


def lengths_within(task: AlgorithmicTask, symbols: tuple[int, ...]) -> tuple[int, ...]:
    """The greatest lengths of a task that need no more than so many symbols.

    Args:
        task: whose lengths they are.
        symbols: for each length.

    Raises:
        ValueError: the task has no strings so short.

    Example:
        >>> lengths_within(algorithm("badd"), (41, 401))
        (20, 200)
    """
    lengths = [task.lengths(most) for most in symbols]
    if not all(lengths):
        raise ValueError(f"symbols is {symbols}, and {task.name} needs more; give greater ones")
    return tuple(sorted({*lengths}))


def _short(training: AlgorithmTraining, maps: int, symbols: int, steps: int) -> AlgorithmTraining:
    """One attempt with other maps, which set the learning rate, and bins up to so many symbols."""
    bins = (*(size for size in training.bins if size < symbols), symbols)
    rate = training.learning_rate * training.maps / maps
    return replace(
        training,
        maps=maps,
        learning_rate=rate,
        bins=bins,
        bins_per_step=3,
        attempts=1,
        steps=steps,
    )
