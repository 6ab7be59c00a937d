"""What experiments of Trask et al. 2018 refuse before a run folder is begun."""

import json
import re
import shlex
from pathlib import Path

import pytest

from torchalu.cli import main
from torchalu.cli.results import check_settings
from torchalu.cli.run import _read
from torchalu.experiments import get

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "trask2018"
EXPERIMENTS = ROOT / "src" / "torchalu" / "experiments" / "trask2018"
PAGES = [*(ROOT / "docs" / "trask2018").glob("*.md"), EXPERIMENTS / "README.md"]

RATE = "give a finite number above 0"
RATES = "give finite numbers above 0"
FACTOR = "give a finite number, 0 or more"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *(
            (f"{name} --learning-rate {rate}", f"learning_rate is {rate}; {RATE}")
            for name in (
                *("table2", "perception", "table4", "table5", "grid_world"),
                *("figure4", "figure6"),
            )
            for rate in ("-1.0", "0.0", "nan", "inf")
        ),
        *(
            (f"{name} --penalty {factor}", f"penalty is {factor}; {FACTOR}")
            for name in ("table2", "table3", "table4")
            for factor in ("-1.0", "nan", "inf")
        ),
        *(
            (f"{name} --learning-rates 0.01 {rate}", f"learning_rates holds {rate}; {RATES}")
            for name in (
                *("table2_search", "table4_search", "grid_world_search"),
                *("table3", "figure4_search", "table6", "table8"),
            )
            for rate in ("-1.0", "nan", "inf")
        ),
        ("table6 --learning-rates 0.1 0.1", "learning_rates holds 0.1 twice; give each once"),
        ("table6 --learning-rates", f"learning_rates is empty; {RATES}"),
        ("table2_search --hidden-sizes 0", "hidden_sizes holds 0; give positive integers"),
        ("table4_search --batch-sizes 0", "batch_sizes holds 0; give positive integers"),
        ("grid_world_search --entropies -1", "entropies holds -1.0; give finite numbers"),
        ("table3 --layers 0 4", "layers holds (0, 4); give pairs of positive integers"),
        ("table3 --depths 3", "depths holds 3; give some of (1, 2)"),
        ("table3 --split-seed -1", "split_seed is -1; give an integer, 0 or more"),
        ("figure6 --hidden 0", "hidden is 0; give a positive integer"),
        ("figure4_search --registers 4 0", "registers holds 0; give positive integers"),
        ("figure4 --nesting 3 1", "nesting is (3, 1); give (least, most), 1 <= least <= most"),
        ("figure4 --nesting 1 2000", "so that float32 holds the sum of 2001 of them"),
        *(
            (f"table2_search --{option}", f"this search has no use for; {remedy}")
            for option, remedy in (
                ("learning-rate 0.1", "give learning_rates"),
                ("output softmax", "give outputs"),
                ("dropout", "give dropouts"),
                ("no-keep-state", "give keep_states"),
                ("hidden-size 16", "give hidden_sizes"),
                ("settle-epochs 5", "leave it out"),
            )
        ),
        *(
            (f"table4_search --{option}", f"this search has no use for; {remedy}")
            for option, remedy in (
                ("learning-rate 0.1", "give learning_rates"),
                ("batch-size 32", "give batch_sizes"),
                ("test-pictures 100", "leave it out"),
            )
        ),
        ("grid_world_search --entropy 0.1", "entropy is 0.1, which this search has no use for"),
        ("table5 --together 0", "together is 0; give a positive integer"),
    ],
)
def test_numbers_out_of_range_are_refused_before_a_folder_is_begun(
    tmp_path, monkeypatch, capsys, command, message
):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *shlex.split(f"trask2018.{command}")]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def study_of(command):
    """What a command that starts with `torchalu run` trains, and how it is carried out."""
    name, *options = shlex.split(command)[2:]
    return _read(name, get(name), options)


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "table6", "table8", "figure6"])
def test_defaults_are_not_merged_into_committed_results_of_fewer_steps(
    tmp_path, monkeypatch, capsys, name
):
    monkeypatch.chdir(tmp_path)
    assert main(["run", f"trask2018.{name}", "--results", str(RESULTS)]) == 2
    assert "with other settings" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_committed_commands_can_be_given_again():
    for path in RESULTS.glob("*.json"):
        for run in json.loads(path.read_text())["runs"]:
            study, options = study_of(run["command"])
            if not options.replace:
                check_settings(study, RESULTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_the_pages_are_not_refused_on_a_checkout(page):
    shown = re.findall(r"^\$ (torchalu run trask2018\..*)$", page.read_text("utf-8"), re.MULTILINE)
    for command in shown:
        study, options = study_of(command)
        if options.results is not None:
            check_settings(study, ROOT / options.results)
