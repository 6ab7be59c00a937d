"""Results as tables of Markdown: activations compared, and any table as it is."""

import re

import polars as pl


def comparison_markdown(table: pl.DataFrame) -> str:
    """Activations compared, the most accurate first: the best in bold, its equals in italics.

    Example:
        >>> row = {"network": "mlp", "activation": "or_ail", "label": "OR AIL", "n": 3}
        >>> row |= {"mean": 0.98, "sd": 0.001, "p_best": None, "p_baseline": 0.00004}
        >>> row |= {"marks": "best above", "width": 8, "parameters": 12345}
        >>> print(comparison_markdown(pl.DataFrame([row])))
        | network | activation | accuracy | n | p, best | p, ReLU | parameters |
        | :-- | :-- | --: | --: | --: | --: | --: |
        | mlp | **OR AIL** | 98.00 ± 0.10% | 3 | – | 4.0e-5 | 12,345 |
    """
    within = table.columns[: table.columns.index("activation")]
    names = [*within, "activation", "accuracy", "n", "p, best", "p, ReLU", "parameters"]
    lines = [
        "| " + " | ".join(names) + " |",
        "| :-- " * (len(within) + 1) + "| --: " * 5 + "|",
    ]
    order = [*within, "mean"]
    for row in table.sort(order, descending=[False] * len(within) + [True]).iter_rows(named=True):
        label = row["label"]
        if "best" in row["marks"]:
            label = f"**{label}**"
        elif "tied" in row["marks"]:
            label = f"*{label}*"
        spread = "" if row["sd"] is None else f" ± {100 * row['sd']:.2f}"
        cells = [
            *(str(row[name]) for name in within),
            label,
            f"{100 * row['mean']:.2f}{spread}%",
            str(row["n"]),
            scientific(row["p_best"]),
            scientific(row["p_baseline"]),
            "–" if row["parameters"] is None else f"{row['parameters']:,}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_markdown(table: pl.DataFrame) -> str:
    """A table with all its columns, numbers with three digits, strings as they are.

    Example:
        >>> row = {"law": "a*b*|c|", "learning_rate": 0.012345, "draws": 20, "decay": 1.2e-6}
        >>> print(table_markdown(pl.DataFrame([row])))
        | law | learning rate | draws | decay |
        | :-- | --: | --: | --: |
        | a\\*b\\*\\|c\\| | 0.0123 | 20 | 1.2e-06 |
    """
    kinds = [" :-- " if kind == pl.String else " --: " for kind in table.dtypes]
    lines = [
        "| " + " | ".join(name.replace("_", " ") for name in table.columns) + " |",
        "|" + "|".join(kinds) + "|",
    ]
    for row in table.iter_rows():
        lines.append("| " + " | ".join(map(_cell, row)) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    """A value of a table, a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else escaped(str(value))


def escaped(text: str) -> str:
    r"""A text of which Markdown shows each character.

    Example:
        >>> print(escaped("NAC*,sigma"))
        NAC\*,sigma
    """
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def scientific(value: float | None) -> str:
    """Two digits and a power of ten.

    Example:
        >>> scientific(4.2e-7), scientific(0.25), scientific(None)
        ('4.2e-7', '0.25', '–')
    """
    if value is None:
        return "–"
    if value == 0 or value >= 0.01:
        return f"{value:.2g}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"
