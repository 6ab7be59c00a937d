"""The learned algorithms that a study is about, a chunk each."""

from __future__ import annotations

from collections.abc import Sequence

from torchalu.experiments.kaiser2016.stored import weights_digest
from torchalu.train import JSON, Chunk
from torchalu.zoo import LearnedAlgorithm
from torchalu.zoo import find as find_algorithm


class Checkpoints:
    """Learned algorithms by the names of the tasks that they have learned.

    Args:
        names: in the zoo, or files.

    Raises:
        ValueError: there is no such checkpoint, none is given, or two have learned the same task.
        OSError: a file cannot be read.

    Example:
        >>> checkpoints = Checkpoints(("copy", "sort"))
        >>> [chunk.name for chunk in checkpoints.chunks()]
        ['copy', 'sort']
        >>> checkpoints.load("sort").run("0110")
        '0011'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {find_algorithm(name).task.name: name for name in names}
        if not self._names or len(self._names) < len(names):
            raise ValueError(
                f"checkpoints is {list(names)}, which have learned {sorted(self._names)}; give one "
                "or more, each of another task"
            )

    def load(self, task: str) -> LearnedAlgorithm:
        """The one that has learned a task.

        Args:
            task: its name.
        """
        return find_algorithm(self._names[task])

    def chunks(self) -> list[Chunk]:
        """One for each, with the name of its task."""
        return [Chunk(task, 1.0) for task in self._names]

    def weights(self) -> dict[str, JSON]:
        """The digest of the weights of each, by its task."""
        return {task: weights_digest(self.load(task).module) for task in self._names}
