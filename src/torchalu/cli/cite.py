"""`torchalu cite`: BibTeX entries of the papers behind units, methods and baselines."""

from __future__ import annotations

import difflib
import re
from importlib import resources

_UNITS = {
    "NAC": ("trask2018nalu",),
    "NACMul": ("trask2018nalu", "madsen2020nau"),
    "NALU": ("trask2018nalu",),
    "GatedNAUNMU": ("madsen2020nau",),
    "NAU": ("madsen2020nau",),
    "NMU": ("madsen2020nau",),
    "INALU": ("schloer2020inalu",),
    "SNMU": ("mistry2022snmu", "madsen2020nau"),
    "NMRU": ("mistry2022division", "madsen2020nau"),
    "RealNPU": ("heim2020npu",),
    "NPU": ("heim2020npu",),
    **{
        f"{operator}{form}": ("lowe2022ail",)
        for operator in ("AND", "OR", "XNOR")
        for form in ("AIL", "IL")
    },
    "LogicActivation": ("lowe2022ail",),
    "SignedGeomean": ("lowe2022ail",),
    "MaxOut": ("goodfellow2013maxout",),
    "MinOut": ("goodfellow2013maxout",),
    "LogicGates": ("petersen2022gates", "petersen2024convolutional"),
    "GroupSum": ("petersen2022gates",),
    "NeuralGPU": ("kaiser2016neuralgpu",),
    "DiagonalNeuralGPU": ("freivalds2017improving", "kaiser2016neuralgpu"),
}


def entries() -> dict[str, str]:
    """All BibTeX entries that come with the package, by their key.

    Example:
        >>> entries()["heim2020npu"].splitlines()[0]
        '@inproceedings{heim2020npu,'
    """
    text = (resources.files("torchalu") / "references.bib").read_text(encoding="utf-8")
    parts = [part.strip() for part in re.split(r"^(?=@)", text, flags=re.M) if part.strip()]
    return {re.split("[{,]", part, maxsplit=2)[1]: part for part in parts}


def cite(names: tuple[str, ...]) -> str:
    """The entries for some units, each once, or all entries.

    Args:
        names: units, in upper or lower case, or keys of entries; all entries if there are none.

    Returns:
        The entries, with an empty line between them.

    Raises:
        ValueError: if a name is neither a unit nor a key, with the nearest one.

    Example:
        >>> cite(("nau", "NMU")).splitlines()[0]
        '@inproceedings{madsen2020nau,'
    """
    known = entries()
    keys = {key.lower(): (key,) for key in known}
    keys |= {unit.lower(): cited for unit, cited in _UNITS.items()}
    chosen: dict[str, str] = {}
    for name in names:
        if name.lower() not in keys:
            near = difflib.get_close_matches(name.lower(), keys, n=1, cutoff=0.0)[0]
            shown = next((unit for unit in _UNITS if unit.lower() == near), near)
            raise ValueError(
                f"no unit called {name!r}; did you mean {shown!r}? Units: {', '.join(_UNITS)}; "
                f"papers: {', '.join(known)}"
            )
        chosen |= {key: known[key] for key in keys[name.lower()]}
    return "\n\n".join((chosen if names else known).values())
