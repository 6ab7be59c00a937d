"""Run every benchmark: print the table, write benchmarks/latest.json.

python -m benchmarks [NAME ...]      names: trainer, sweep, nmu_operator, needle, logic, neural_gpu
python -m benchmarks cuda            those of a CUDA device, into benchmarks/cuda.json
"""

import importlib
import json
import platform
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.row import Row
from torchalu.engine import instruction_set
from torchalu.train import cores, processor

NAMES = ("trainer", "sweep", "nmu_operator", "needle", "logic", "neural_gpu")
CUDA_NAMES = ("trainer_cuda", "logic_cuda", "neural_gpu_cuda")


def machine() -> dict[str, str | int]:
    """What the figures were taken on."""
    return {
        "processor": processor(),
        "cores": cores(),
        "instruction_set": instruction_set(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def device() -> dict[str, str | None]:
    """The CUDA device that they were taken on."""
    return {"device": torch.cuda.get_device_name(), "cuda": torch.version.cuda}


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    return "-" if value is None else f"{value:.3g}"


def show(rows: list[Row]) -> None:
    """The table on standard output."""
    table = Table(title=f"{machine()['processor']}, {instruction_set()}")
    titles = "benchmark", "unit", "ours", "baseline", "floor", "ratio", "to the floor", "target"
    for title in titles:
        table.add_column(title, justify="left" if title == "benchmark" else "right")
    for row in rows:
        table.add_row(
            row.name + (f"\n  [dim]against {row.baseline_name}[/dim]" if row.baseline_name else ""),
            row.unit,
            number(row.ours),
            number(row.baseline),
            number(row.floor),
            number(row.ratio),
            number(row.floor_ratio),
            row.target,
        )
    Console().print(table)


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all."""
    on_cuda = names == ["cuda"]
    unknown = set() if on_cuda else set(names) - {*NAMES}
    if unknown:
        choices = ", ".join((*NAMES, "or cuda alone"))
        sys.exit(f"no benchmark named {', '.join(sorted(unknown))}; choose from {choices}")
    rows = [
        row
        for name in (CUDA_NAMES if on_cuda else names or NAMES)
        for row in importlib.import_module(f"benchmarks.{name}").benchmark()
    ]
    show(rows)
    results = [
        {
            "name": row.name,
            "unit": row.unit,
            "ours": row.ours,
            "baseline": row.baseline,
            "baseline_name": row.baseline_name,
            "floor": row.floor,
            "ratio": row.ratio,
            "target": row.target,
        }
        for row in rows
    ]
    document = {"command": "make bench", "machine": machine(), "results": results}
    if on_cuda:
        document |= {"command": "python -m benchmarks cuda", "machine": machine() | device()}
    path = Path(__file__).with_name("cuda.json" if on_cuda else "latest.json")
    path.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
