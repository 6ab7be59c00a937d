"""`torchalu run`: from the name of an experiment to its tables, and one message for bad input."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
import torch

from refusals import refused
from torchalu import experiments
from torchalu.cli import main, results
from torchalu.cli.merge_checks import check_same
from torchalu.cli.outcome_tables import csv_text, read_outcomes
from torchalu.cli.run import _read
from torchalu.engine import instruction_set
from torchalu.experiments import Runs, get
from torchalu.train import RunFolder
from warp_training import emulate

TINY = ["run", "madsen2020.table1", "--steps", "2000"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Runs a small experiment, with other options at the end."""
    monkeypatch.chdir(tmp_path)

    def call(*options):
        return main([*TINY, *map(str, options)])

    return call


def test_tables_are_printed_and_written(tiny, tmp_path, capsys):
    assert tiny("--seeds", 2, "--models", "NMU", "NALU") == 0
    out = capsys.readouterr().out
    folder = tmp_path / "runs" / "madsen2020.table1"
    summary = pl.read_csv(folder / "summary" / "table1.csv")
    assert summary["model"].to_list() == ["NALU", "NMU"]
    assert summary["seeds"].to_list() == [2, 2]
    assert "wrote runs/madsen2020.table1/summary/table1.csv" in out
    for word in ("NMU", "NALU", "solved", "4 runs", "core-hours"):
        assert word in out


def test_the_same_command_again_does_nothing_new(tiny, tmp_path):
    assert tiny("--seeds", 1, "--out", "here", "--quiet") == 0
    parts = {path: path.stat().st_mtime_ns for path in (tmp_path / "here" / "parts").iterdir()}
    assert tiny("--seeds", 1, "--out", "here", "--quiet", "--workers", 1) == 0
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    assert len(json.loads((tmp_path / "here" / "environment.json").read_text())) == 2


def test_quiet(tiny, capsys):
    assert tiny("--seeds", 1, "--models", "NMU", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_results_are_merged_by_key(tiny, tmp_path):
    res = tmp_path / "res"
    assert tiny("--seeds", 3, "--out", "a", "--models", "NMU", "--results", "res", "--quiet") == 0
    first = (res / "table1_seeds.csv").read_text()
    more = ("--seeds", 2, "--first-seed", 2, "--models", "NMU", "NALU", "--results", "res")
    assert tiny(*more, "--out", "b", "--quiet") == 0
    rows = pl.read_csv(res / "table1_seeds.csv")
    keys = [("NALU", 2), ("NALU", 3), ("NMU", 0), ("NMU", 1), ("NMU", 2), ("NMU", 3)]
    assert rows.select("model", "seed").rows() == keys
    assert set(first.splitlines()) < set((res / "table1_seeds.csv").read_text().splitlines())
    assert pl.read_csv(res / "table1.csv")["seeds"].to_list() == [2, 4]
    runs = json.loads((res / "table1.json").read_text())["runs"]
    assert [run["rows"] for run in runs] == [3, 4]
    assert runs[0]["command"].endswith("--out a --models NMU --results res --quiet")
    assert all(run["core_hours"] > 0 and run["processor"] and run["date"] for run in runs)
    assert all(run["instruction_set"] == instruction_set() for run in runs)
    assert not any("device" in run or "device_hours" in run for run in runs)


def test_results_of_a_gpu_say_which_and_how_long_it_worked(tiny, tmp_path, monkeypatch):
    emulate(monkeypatch)
    monkeypatch.setattr("torchalu.engine.device.gpu", lambda: "the emulated one")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"the GPU of {device}")
    run = ("--seeds", 1, "--models", "NMU", "--steps", 20, "--device", "cuda", "--quiet")
    assert tiny(*run, "--results", "res", "--out", "here") == 0
    (made,) = json.loads((tmp_path / "res" / "table1.json").read_text())["runs"]
    assert made["device"] == "the GPU of cuda"
    (entry,) = json.loads((tmp_path / "here" / "environment.json").read_text())
    assert entry["device"] == "the GPU of cuda"
    assert entry["seconds"] > 0
    assert made["device_hours"] == pytest.approx(entry["seconds"] / 3600, abs=1e-6)


def test_outcomes_of_table_2_count_in_table_6(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("--steps", "2000", "--operations", "mul", "--results", "res", "--quiet")
    run = ("--seeds", "3", "--models", "NMU", "NALU")
    assert main(["run", "madsen2020.table2", *run, *options]) == 0
    gated = ("--seeds", "2", "--models", "Gated NAU/NMU", "NMU")
    assert main(["run", "madsen2020.table6", *gated, *options]) == 0
    table = pl.read_csv(tmp_path / "res" / "table6.csv")
    seeds = dict(table.select("model", "seeds").iter_rows())
    assert seeds == {"Gated NAU/NMU": 2, "NALU": 3, "NMU": 3}
    rows = pl.read_csv(tmp_path / "res" / "table6_seeds.csv")
    assert set(rows["model"]) == {"Gated NAU/NMU", "NMU"}
    more = ("--seeds", "1", "--first-seed", "3", "--models", "NMU", "--out", "more")
    assert main(["run", "madsen2020.table2", *more, *options]) == 0
    table = pl.read_csv(tmp_path / "res" / "table6.csv")
    assert dict(table.select("model", "seeds").iter_rows())["NMU"] == 4


def test_outcomes_count_in_a_figure_under_its_labels(tmp_path, monkeypatch):
    """The setting of table 2 in each row of panels, and the NMU of figure 7 of any hidden size."""
    monkeypatch.chdir(tmp_path)
    options = ("--steps", "2000", "--results", "res", "--quiet")
    more = ("--hidden-sizes", "2", "3", "--models", "NMU", "NMU, no W clamp", "--seeds", "2")
    assert main(["run", "madsen2020.figure7", *more, *options]) == 0
    first = ("--hidden-sizes", "3", "--ranges", "U[0,1]", "--models", "NMU", "--seeds", "1")
    assert main(["run", "madsen2020.figure3", *first, *options]) == 0
    path = tmp_path / "res" / "figure3.csv"
    labels = ["varied", "hidden_size", "interpolation_range"]
    in_both = {("hidden_size", 2, "U[1,2]"): 2, ("interpolation_range", 2, "U[1,2]"): 2}
    rest = {("hidden_size", 3, "U[1,2]"): 2, ("interpolation_range", 2, "U[0,1]"): 1}
    table = pl.read_csv(path)
    assert set(table["model"]) == {"NMU"}
    assert {row[:3]: row[3] for row in table.select(*labels, "seeds").rows()} == in_both | rest
    alone = ("--operations", "add", "mul", "--models", "NMU", "--first-seed", "1", "--seeds", "2")
    assert main(["run", "madsen2020.table2", *alone, *options]) == 0
    table = pl.read_csv(path)
    three = dict.fromkeys(in_both, 3)
    assert {row[:3]: row[3] for row in table.select(*labels, "seeds").rows()} == three | rest
    assert pl.read_csv(tmp_path / "res" / "figure3_seeds.csv").height == 2


ALIKE = {
    "table2": ("--operations", "mul"),
    "table6": ("--operations", "mul"),
    "figure3": ("--hidden-sizes", "2", "--ranges", "U[1,2]"),
    "figure7": ("--hidden-sizes", "2"),
    "figure8": ("--input-sizes", "100", "--overlap-ratios", "0.5", "--subset-ratios", "0.25"),
}


@pytest.mark.parametrize(
    "names",
    [
        ("table2", "table6"),
        ("table6", "table2"),
        ("table2", "figure3"),
        ("figure3", "figure7"),
        ("figure8", "table6"),
    ],
)
def test_outcomes_that_count_in_one_table_were_trained_alike(names, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ("--models", "NMU", "--seeds", "1", "--quiet", "--results", "res")
    first = ["run", f"madsen2020.{names[0]}", *options, *ALIKE[names[0]]]
    assert main([*first, "--steps", "1000"]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()}
    other = ["run", f"madsen2020.{names[1]}", *options, *ALIKE[names[1]]]
    other += ["--steps", "2000", "--first-seed", "1"]
    refused(capsys, main(other), f"{names[0]}_seeds.csv", "one table cannot hold both")
    refused(capsys, main([*other, "--replace"]), "one table cannot hold both")
    assert not list(tmp_path.rglob(f"*{names[1]}/parts/*")), "refused before it is trained"
    assert {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()} == before


def test_results_of_the_same_run_again_change_nothing(tiny, tmp_path):
    options = ("--seeds", 2, "--models", "NMU", "--results", "res", "--quiet")
    assert tiny(*options) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()}
    assert tiny(*options) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()} == before


def test_other_results_are_not_replaced_unasked(tiny, tmp_path, capsys):
    options = ("--models", "NMU", "--results", "res", "--quiet")
    assert tiny("--seeds", 3, "--out", "a", *options) == 0
    path = tmp_path / "res" / "table1_seeds.csv"
    pl.read_csv(path).with_columns(pl.selectors.float() + 1).write_csv(path)
    before = path.read_bytes()
    other = ("--seeds", 2, "--settle", 1000, "--out", "b")
    refused(capsys, tiny(*other, *options), "one table cannot hold both", "--replace")
    refused(capsys, tiny(*other, *options, "--replace"), "one table cannot hold both")
    assert not (tmp_path / "b").exists()
    ends = ("--seeds", 2, "--steps", 500, "--out", "d")
    refused(capsys, tiny(*ends, *options, "--replace"), "one table cannot hold both")
    assert not (tmp_path / "d").exists()
    all_of_them = ("--seeds", 3, *other[2:-1], "c")
    refused(
        capsys, tiny(*all_of_them, *options), "other outcomes for 3 of the run's 3", "--replace"
    )
    assert path.read_bytes() == before
    assert tiny(*all_of_them, *options, "--replace") == 0
    after = path.read_bytes().splitlines()
    assert len(after) == 4
    assert sum(line in before.splitlines() for line in after) == 1  # the head
    assert json.loads((tmp_path / "res" / "table1.json").read_text())["outcomes"] == 3


def test_seeds_of_other_settings_are_not_pooled(tiny, tmp_path, capsys):
    options = ("--models", "NMU", "--results", "res", "--quiet")
    assert tiny("--seeds", 2, "--out", "a", *options) == 0
    other = ("--seeds", 1, "--first-seed", 2, "--interpolation-range", 0, 2, "--out", "b")
    refused(capsys, tiny(*other, *options), "with other settings", "name another folder")
    assert not (tmp_path / "b").exists()
    assert pl.read_csv(tmp_path / "res" / "table1.csv")["seeds"].to_list() == [2]


def test_other_settings_are_refused_before_they_are_trained(tiny, tmp_path, capsys):
    options = ("--models", "NMU", "--results", "res", "--quiet")
    assert tiny("--seeds", 1, "--out", "a", *options) == 0
    other = ("--seeds", 1, "--interpolation-range", 0, 2, "--out", "b", *options)
    refused(capsys, tiny(*other), "with other settings", "--replace")
    assert not (tmp_path / "b").exists()
    assert tiny(*other, "--replace") == 0
    assert tiny(*other) == 0


def test_merges_at_the_same_time_lose_nothing(tiny, tmp_path):
    folders = []
    for seed in range(4):
        assert tiny("--seeds", 1, "--first-seed", seed, "--models", "NMU", "--out", seed) == 0
        study = get("madsen2020.table1")(
            Runs(seeds=1, first_seed=seed, steps=2000), models=("NMU",)
        )
        folders.append(RunFolder(str(seed), study))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: results.merge(run, tmp_path / "res", "some"), folders))
    assert pl.read_csv(tmp_path / "res" / "table1.csv")["seeds"].to_list() == [4]
    assert len(json.loads((tmp_path / "res" / "table1.json").read_text())["runs"]) == 4


def test_columns_without_a_value_and_seconds_do_not_hinder_a_merge(tmp_path):
    """All formulas of a run may be missing, and no two runs take equally long."""
    there = pl.DataFrame({"seed": [0, 1], "formula": ["a", None], "seconds": [1.0, 2.0]})
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(there))
    mine = pl.DataFrame({"seed": [1], "formula": [None], "seconds": [3.0]})
    read = read_outcomes(path, mine, ["seed"])
    assert read.equals(there)
    check_same(path, read, mine, ["seed"])


def test_list_behind_a_name_runs_nothing(tiny, tmp_path, capsys):
    assert main(["run", "madsen2020.table1", "--list"]) == 0
    assert "madsen2020.table2" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_tables_are_not_made_without_the_outcomes_of_other_runs(tiny, tmp_path, capsys):
    options = ("--models", "NMU", "--results", "res", "--quiet")
    assert tiny("--seeds", 2, "--out", "a", *options) == 0
    (tmp_path / "res" / "table1_seeds.csv").unlink()
    before = {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()}
    more = ("--seeds", 1, "--first-seed", 2, "--out", "b", *options)
    refused(capsys, tiny(*more, "--replace"), "table1_seeds.csv' is not there", "begin anew")
    assert {path.name: path.read_bytes() for path in (tmp_path / "res").iterdir()} == before
    assert tiny("--seeds", 2, "--out", "a", *options) == 0
    assert pl.read_csv(tmp_path / "res" / "table1_seeds.csv").height == 2


def test_lists_go_through_csv(tmp_path):
    rows = pl.DataFrame(
        {"seed": [0, 1, 2], "losses": [[0.1, 1 / 3], [], None], "steps": [[1], [2, 3], []]},
        schema_overrides={"steps": pl.List(pl.Int64)},
    )
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(rows))
    assert read_outcomes(path, rows, ["seed"]).equals(rows)


def test_floats_of_each_seed_keep_their_digits(tiny, tmp_path):
    assert tiny("--seeds", 2, "--models", "NMU", "--out", "a", "--results", "res", "--quiet") == 0
    study = get("madsen2020.table1")(Runs(seeds=2, steps=2000), models=("NMU",))
    with RunFolder("a", study) as folder:
        outcomes = folder.outcomes()
    rows = pl.read_csv(tmp_path / "res" / "table1_seeds.csv", schema=outcomes.schema)
    assert rows.equals(outcomes)


@pytest.mark.parametrize("name", ["table1_seeds.csv", "table1.json"])
@pytest.mark.parametrize("content", [b"", b"{}", b"a,b\n1,2\n", b"\xff\x00", b"[" * 100_000])
def test_results_that_cannot_be_read(tiny, tmp_path, capsys, name, content):
    options = ("--seeds", 1, "--models", "NMU", "--results", "res", "--quiet")
    assert tiny(*options) == 0
    (tmp_path / "res" / name).write_bytes(content)
    refused(capsys, tiny(*options), name, "restore it, or name another folder")
    assert (tmp_path / "res" / name).read_bytes() == content


def test_list(capsys):
    assert main(["run", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == experiments.names()
    assert all(len(line.split()) > 2 for line in lines)


def test_the_fields_of_runs_are_options_like_any_other():
    """Also of a default of its own: table 1 has 200,000 steps."""
    line = "--seeds 3 --first-seed 1 --settle None --give-up 1000000 --team 16 --models NMU --quiet"
    study, options = _read("madsen2020.table1", get("madsen2020.table1"), line.split())
    assert study.runs == Runs(3, 1, steps=200_000, settle=None, give_up=1_000_000, team=16)
    assert [setting.steps for setting in study.settings] == [200_000]
    assert options.quiet


def test_help_of_an_experiment(capsys):
    with pytest.raises(SystemExit) as end:
        main(["run", "madsen2020.table2", "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    for option in ("--seeds", "--give-up", "--operations", "--out", "--engine", "--results"):
        assert option in out


def test_unknown_experiment(capsys):
    status = main(["run", "madsen2020.tabel2"])
    refused(capsys, status, "'madsen2020.tabel2'", "'madsen2020.table2'", "--list")


def test_no_experiment(capsys):
    refused(capsys, main(["run"]), "torchalu run madsen2020.table1", "--list")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--seeds", "0"], ["seeds is 0"]),
        (["--seeds", "-3"], ["seeds is -3"]),
        (["--steps", "0"], ["steps is 0"]),
        (["--first-seed", "-1"], ["first_seed is -1"]),
        (["--give-up", "0"], ["give_up is 0"]),
        (["--models", "NUM"], ["'NUM'"]),
        (["--workers", "0"], ["workers is 0"]),
        (["--address", "auto"], ["address is 'auto'"]),
    ],
)
def test_options_out_of_bounds(tiny, tmp_path, capsys, options, parts):
    refused(capsys, tiny(*options), *parts)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("options", [["--seed", "3"], ["--seeds", "many"], ["--engine", "slurm"]])
def test_options_that_do_not_parse(tiny, tmp_path, options):
    with pytest.raises(SystemExit) as end:
        tiny(*options)
    assert end.value.code == 2
    assert os.listdir(tmp_path) == []


def test_folder_of_another_configuration(tiny, capsys):
    assert tiny("--seeds", 1, "--models", "NMU", "--quiet") == 0
    status = tiny("--seeds", 2, "--models", "NMU", "--quiet")
    refused(capsys, status, "runs/madsen2020.table1", "seeds is [0, 0] there, [0, 1] here")
    status = tiny("--seeds", 1, "--models", "NMU", "--interpolation-range", 0, 2, "--quiet")
    refused(capsys, status, "settings.0.", "interpolation_range is [1.0, 2.0] there, [0.0, 2.0] ")
    status = tiny("--seeds", 1, "--models", "NALU", "NMU", "--quiet")
    first = 'settings.0.labels.model is "NMU" there, "NALU" here'
    refused(capsys, status, "settings has a length of 1 there, 2 here", first)


def test_folder_in_use(tiny, capsys):
    study = get("madsen2020.table1")(Runs(seeds=1, steps=2000))
    with RunFolder("runs/madsen2020.table1", study):
        refused(capsys, tiny("--seeds", 1), f"in use by process {os.getpid()}")


def test_folder_is_a_file(tiny, tmp_path, capsys):
    (tmp_path / "file").touch()
    refused(capsys, tiny("--seeds", 1, "--out", "file"), "'file' is no folder")


def test_a_gpu_that_is_not_there_is_named_before_a_folder_is_made(
    tiny, tmp_path, monkeypatch, capsys
):
    def none():
        raise RuntimeError("device is 'cuda', but there is no GPU; give device='cpu'")

    monkeypatch.setattr("torchalu.engine.device.gpu", none)
    refused(capsys, tiny("--device", "cuda"), "there is no GPU; give device='cpu'")
    assert not list(tmp_path.iterdir())
