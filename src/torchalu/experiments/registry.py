"""Experiments by name."""

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

_MODULES = {
    "madsen2020.tables": ("table1", "table2", "table6"),
    "madsen2020.noise": ("noise", "noise_table1"),
    "madsen2020.correlation": ("correlated", "correlated_table1"),
    "madsen2020.figures": ("figure3", "figure7", "figure8"),
    "madsen2020.penalties": ("figure10", "figure11", "figure12"),
    "madsen2020.gates": ("figure9", "table5"),
    "madsen2020.loss_surface": ("figure2",),
    "madsen2020.single_module": ("single_module",),
    "madsen2020.without_training": ("closed_form",),
    "madsen2020.sequential_mnist": ("figure4", "figure13", "figure14", "figure15"),
    "lowe2022.parity_experiments": ("figure4", "parity"),
    "lowe2022.bach": ("bach",),
    "lowe2022.mnist": ("figure5",),
    "lowe2022.cifar": ("figure6",),
    "lowe2022.transfer": ("table1",),
    "lowe2022.search": ("search",),
    "lowe2022.covertype": ("covertype",),
    "kaiser2016.table1": ("table1",),
    "kaiser2016.algorithms": ("algorithms", "decimal"),
    "kaiser2016.grid": ("grid",),
    "kaiser2016.ablations": ("ablations",),
    "kaiser2016.ensemble": ("ensemble",),
    "kaiser2016.noise": ("noise",),
    "kaiser2016.orders": ("orders",),
    "kaiser2016.starts": ("starts",),
    "kaiser2016.in_use": ("steps", "levels"),
    "kaiser2016.searched": ("counterexamples",),
    "kaiser2016.traces": ("traces",),
    "trask2018.identity": ("figure1", "table5"),
    "trask2018.arithmetic": ("table1", "table6", "table7", "table8", "table9"),
    "trask2018.digits": ("table2", "table10", "table2_search", "perception"),
    "trask2018.parity": ("table4", "table4_search"),
    "trask2018.words": ("table3", "table11", "figure3"),
    "trask2018.programs": ("figure4", "figure4_search", "figure6"),
    "trask2018.grid_world": ("figure5", "grid_world", "grid_world_search"),
}

_PLACES = {
    f"{module.split('.')[0]}.{function}": (f"torchalu.experiments.{module}", function)
    for module, functions in _MODULES.items()
    for function in functions
}

_INCLUDED = {
    "madsen2020.table6": ("madsen2020.table2",),
    "madsen2020.figure3": ("madsen2020.table2", "madsen2020.figure7"),
    "madsen2020.figure8": ("madsen2020.table2", "madsen2020.table6"),
}


def names() -> list[str]:
    """The names of all experiments, a paper and a table or figure of it.

    Example:
        >>> [name for name in names() if name.startswith("madsen2020.table")]
        ['madsen2020.table1', 'madsen2020.table2', 'madsen2020.table5', 'madsen2020.table6']
    """
    return sorted(_PLACES, key=_natural)


def get(name: str) -> Callable[..., Any]:
    """The function that makes the study of an experiment from its options.

    Args:
        name: one of `names()`.

    Returns:
        A function with typed arguments, all of which have defaults; it gives a
        `torchalu.train.Study`.

    Raises:
        ValueError: there is no experiment of this name; the message holds the nearest one.

    Example:
        >>> from torchalu.experiments import Runs
        >>> study = get("madsen2020.table1")(Runs(seeds=2))
        >>> study.name, len(study.chunks())
        ('madsen2020.table1', 2)
    """
    if name not in _PLACES:
        short = {place.split(".")[-1]: place for place in reversed(_PLACES)}
        near = get_close_matches(name, [*_PLACES, *short], n=1, cutoff=0.0)[0]
        raise ValueError(
            f"there is no experiment {name!r}; the nearest name is {short.get(near, near)!r}, "
            "and `torchalu run --list` shows all"
        )
    module, function = _PLACES[name]
    return getattr(import_module(module), function)


def included(name: str) -> tuple[str, ...]:
    """Experiments that have settings in common with another, which counts their outcomes too.

    Args:
        name: one of `names()`.

    Example:
        >>> included("madsen2020.figure3")
        ('madsen2020.table2', 'madsen2020.figure7')
    """
    return _INCLUDED.get(name, ())


def including(name: str) -> tuple[str, ...]:
    """Experiments whose tables count the outcomes of one, too.

    Args:
        name: one of `names()`.

    Example:
        >>> including("madsen2020.figure7")
        ('madsen2020.figure3',)
    """
    return tuple(other for other, parts in _INCLUDED.items() if name in parts)


def _natural(name: str) -> tuple[str, str, int]:
    """Sorts figure10 after figure2."""
    letters = name.rstrip("0123456789")
    return letters, "", int(name[len(letters) :] or 0)
