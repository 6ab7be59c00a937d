"""Numbers that experiments of Trask et al. 2018 refuse before a run folder is begun."""

import shlex

import pytest

from torchalu.cli import main

RATE = "give a finite number above 0"
RATES = "give finite numbers above 0"
FACTOR = "give a finite number, 0 or more"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *(
            (f"{name} --learning-rate {rate}", f"learning_rate is {rate}; {RATE}")
            for name in ("table2", "perception", "table4", "table5", "grid_world")
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
                *("table3", "figure4", "figure6", "table6", "table8"),
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
        ("figure6 --hidden 0", "hidden holds 0; give positive integers"),
        ("figure4 --registers 4 0", "registers holds 0; give positive integers"),
        ("figure4 --nesting 3 1", "nesting is (3, 1); give (least, most), 1 <= least <= most"),
        ("figure4 --nesting 1 2000", "so that float32 holds the sum of 2001 of them"),
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
