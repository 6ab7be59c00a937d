"""The needle: a product of two sums, hidden among many columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torchalu.tasks.table import Table


@dataclass(frozen=True)
class Needle:
    """What a needle table hides: (sum of `first`) x (sum of `second`), out of `columns` columns.

    Args:
        columns: number of columns.
        width: columns in each sum.
        shared: columns that are in both sums.
        seed: which columns they are.

    Raises:
        ValueError: if the sums do not fit into the columns.

    Source:
        Madsen & Johansen 2020 (arXiv:2001.05016), section 4.1: the static task with 100 inputs,
        subset ratio 0.25 and overlap 0.5. Departures: the columns stand at random positions and
        not in two adjacent runs; 13 of 25 are shared, there 12.

    Example:
        >>> needle = Needle(seed=3)
        >>> len(needle.first), len(needle.second), len(set(needle.first) & set(needle.second))
        (25, 25, 13)
    """

    columns: int = 100
    width: int = 25
    shared: int = 13
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.shared <= self.width or self.width < 1:
            raise ValueError(
                f"shared is {self.shared} and width {self.width}; allowed: 0 <= shared <= width "
                "and a width of 1 or more"
            )
        used = 2 * self.width - self.shared
        if used > self.columns:
            raise ValueError(
                f"columns is {self.columns}; allowed: at least 2 * width - shared = {used}; "
                "add columns, or make the sums narrower"
            )

    @property
    def first(self) -> tuple[int, ...]:
        """Columns of the first sum, in order."""
        return tuple(sorted(self._drawn()[: self.width]))

    @property
    def second(self) -> tuple[int, ...]:
        """Columns of the second sum, in order."""
        start = self.width - self.shared
        return tuple(sorted(self._drawn()[start : start + self.width]))

    def _drawn(self) -> list[int]:
        """The columns in the order in which they were drawn: overlapping runs are the sums."""
        return np.random.default_rng(self.seed).permutation(self.columns).tolist()

    def sample(
        self,
        rows: int,
        low: float,
        high: float,
        *,
        noise: float = 0.0,
        seed: int = 0,
    ) -> Table:
        """Draws a table.

        Args:
            rows: number of rows.
            low: smallest input.
            high: largest input; inputs are uniform in between.
            noise: standard deviation of the noise on the target, relative to the target.
            seed: of inputs and noise; it does not change which columns are summed.

        Returns:
            The table: `x0`, `x1`, ... and the target `y`.

        Raises:
            ValueError: if the range is empty, or the noise or the number of rows negative.

        Example:
            >>> table = Needle(columns=4, width=2, shared=1).sample(5, 1.0, 2.0, seed=1)
            >>> table.X.shape, table.y.shape
            ((5, 4), (5,))
        """
        if rows < 1 or not low < high or noise < 0:
            raise ValueError(
                f"rows={rows}, low={low}, high={high}, noise={noise}; allowed: rows of 1 or more, "
                "low < high, noise of 0 or more"
            )
        generator = np.random.default_rng((self.seed, seed))
        X = generator.uniform(low, high, (rows, self.columns))
        y = X[:, self.first].sum(axis=1) * X[:, self.second].sum(axis=1)
        return Table(X, y * (1 + noise * generator.standard_normal(rows)))
