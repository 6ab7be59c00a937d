"""One line of the table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A measured figure with what it is compared with."""

    name: str
    unit: str
    ours: float
    baseline: float | None
    baseline_name: str
    floor: float | None
    target: str

    @property
    def ratio(self) -> float | None:
        """How many times the baseline takes what ours takes."""
        return None if self.baseline is None else self.baseline / self.ours

    @property
    def floor_ratio(self) -> float | None:
        """How many times ours takes what the floor takes."""
        return None if self.floor is None else self.ours / self.floor
