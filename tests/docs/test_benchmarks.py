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
