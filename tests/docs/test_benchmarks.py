"""What the page on benchmarks says of goals is what the committed results say."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = json.loads((ROOT / "benchmarks" / "latest.json").read_text("utf-8"))


def test_a_twelfth_of_the_packages_xnor_is_less_than_relu():
    rows = [row for row in RESULTS["results"] if row["name"].startswith("xnor_ail")]
    baselines = {row["baseline_name"].partition(",")[0]: row["baseline"] for row in rows}
    assert baselines["pytorch-logit-logic"] / 12 < baselines["torch.relu"]
