"""Real tables that come with the package; their sources stand in the README beside them."""

from __future__ import annotations

import io
from importlib import resources

import polars as pl


def load_table(name: str) -> pl.DataFrame:
    """Loads a table that comes with the package.

    Args:
        name: `"kepler"` (axes and periods of planets, asteroids and comets) or `"boyle"` (volume
            and pressure of air, 1662).

    Returns:
        The table as it is shipped, text columns included.

    Raises:
        ValueError: if there is no table of that name; it lists those there are.

    Source:
        `README.md` in this folder: each value's source, units and caveats.

    Example:
        >>> load_table("boyle").head(2).rows()
        [(48, 29.125), (46, 30.5625)]
        >>> load_table("newton")
        Traceback (most recent call last):
        ...
        ValueError: no table called 'newton'; allowed: 'boyle', 'kepler'
    """
    folder = resources.files(__name__)
    names = sorted(
        entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv")
    )
    if name not in names:
        raise ValueError(f"no table called {name!r}; allowed: {', '.join(map(repr, names))}")
    return pl.read_csv(io.BytesIO((folder / f"{name}.csv").read_bytes()))
