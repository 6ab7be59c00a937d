"""What the page on benchmarks says of goals is what the committed results say."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = json.loads((ROOT / "benchmarks" / "latest.json").read_text("utf-8"))


def test_a_twelfth_of_the_packages_xnor_is_less_than_relu():
    rows = [row for row in RESULTS["results"] if row["name"].startswith("xnor_ail")]
    baselines = {row["baseline_name"].partition(",")[0]: row["baseline"] for row in rows}
    assert baselines["pytorch-logit-logic"] / 12 < baselines["torch.relu"]


def test_a_processor_without_avx512():
    document = json.loads((ROOT / "benchmarks" / "avx2.json").read_text("utf-8"))
    assert document["machine"]["instruction_set"] == "avx2"
    ratios = {
        (row["name"].partition(",")[0], row["baseline_name"].partition(",")[0]): row["ratio"]
        for row in document["results"]
        if row["ratio"] and not row["name"].startswith("trainer")
    }
    page = " ".join((ROOT / "docs" / "benchmarks.md").read_text("utf-8").split())
    peer = "pytorch-logit-logic"
    ail = [round(ratios[f"{name}_ail", peer]) for name in ("and", "or", "xnor")]
    assert f"AND and OR AIL are {ail[0]} and {ail[1]} times faster than" in page
    assert f"XNOR AIL {ail[2]} times" in page
    exact = [ratios[f"logit_{name}", peer] for name in ("and", "or", "xnor")]
    assert f"the exact functions {min(exact):.1f} to {max(exact):.1f} times" in page
    slower = [1 / ratios[f"{name}_ail", "torch.relu"] for name in ("and", "xnor")]
    assert f"take {slower[0]:.1f} and {slower[1]:.1f} times as long as" in page
    steps = [row["ratio"] for row in document["results"] if row["name"].startswith("trainer")]
    assert f"the trainer is {steps[0]:.0f} and {steps[1]:.0f} times faster" in page


def test_a_gpu():
    document = json.loads((ROOT / "benchmarks" / "cuda.json").read_text("utf-8"))
    rows = {row["name"]: row for row in document["results"]}
    assert document["machine"]["device"] == "NVIDIA H200"
    page = " ".join((ROOT / "docs" / "benchmarks.md").read_text("utf-8").split())
    steps = [row for name, row in rows.items() if name.startswith("trainer")]
    ratios = [row["ratio"] for row in steps]
    assert f"is {min(ratios):.1f} to {max(ratios):.1f} times as fast as on the 16 cores" in page
    took = {
        row["name"].split(", ")[1]: row["ours"] for row in reversed(steps)
    }  # not hidden size 10
    said = f"takes {took['NMU']:.0f} ns for a NAU and an NMU, and {took['NALU']:.0f} for two NALU"
    assert f"20 ns a step and seed is missed: it {said} layers" in page
    slower = [
        1 / row["ratio"] for row in document["results"] if row["baseline_name"] == "torch.relu"
    ]
    assert f"takes {min(slower):.1f} to {max(slower):.1f} times as long as `torch.relu`" in page
    floors = {name: row["ours"] / row["floor"] for name, row in rows.items() if row["floor"]}
    training = "bmul: a training step of 9 bins of 32 strings"
    assert f"A training step of products is {floors[training]:.0f} times that" in page
    one, many = (floors[f"{count} x 4001 symbols: a step of inference"] for count in (1, 32))
    assert f"symbols are {one:.1f} times the floor one at a time, and {many:.1f} times 32" in page
    few, full = (floors[f"{count} x 41 symbols: 41 steps there and back"] for count in (32, 512))
    said = (
        f"forward and back are {few:.0f} times the floor, and those of 512 strings {full:.1f} times"
    )
    assert said in page
    other = " ".join((ROOT / "docs" / "kaiser2016.md").read_text("utf-8").split())
    row = rows[training]
    assert (
        f"takes {row['ours']:.0f} ms where torch's own operations take {row['baseline']:.0f}"
        in other
    )
    assert f"{row['ratio']:.1f} times as long, and of the {row['ours']:.0f} the" in other
    assert f"the multiplications would take {row['floor']:.1f}:" in other
    single = rows["1 x 4001 symbols: a step of inference"]
    assert (
        f"4001 symbols takes {single['ours']:.3f} ms, {one:.1f} times the floor, one of 32" in other
    )
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    first = steps[0]
    said = f"takes {first['ours']:.0f} ns a replica, {first['ratio']:.1f} times as fast as on the"
    assert f"{said} 16 cores" in readme
    assert document["machine"]["cores"] == 16
