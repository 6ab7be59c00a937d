"""Merging runs into committed results: what is read again, refused, and said to have made them."""

import json
import math
from collections.abc import Mapping
from contextlib import contextmanager

import polars as pl
import pytest

from torchalu.cli import main, outcome_tables, results
from torchalu.cli.outcome_tables import read_outcomes
from torchalu.cli.provenance import digests_of
from torchalu.experiments import Runs, get
from torchalu.train import JSON, Chunk, Cost, Part, RunFolder, encode

NAN, INF = math.nan, math.inf


class Toy:
    """A study whose outcomes are given."""

    name, keys, extent = "tests.toy", ("model", "seed"), frozenset({"settings"})

    def __init__(self, outcomes: pl.DataFrame, configuration: Mapping[str, JSON]):
        self.outcomes, self.configuration = outcomes, configuration

    def chunks(self):
        return [Chunk("only")]

    def run(self, chunk, scratch, report):
        return Part(pl.DataFrame(), self.outcomes)

    def summarize(self, outcomes):
        return {"toy": outcomes.group_by("model", maintain_order=True).agg(seeds=pl.len())}


def rows(*seeds, model="NAU", **columns):
    return pl.DataFrame({"model": [model] * len(seeds), "seed": list(seeds), **columns})


@pytest.fixture
def merge(tmp_path):
    """Merges outcomes, by a run of their own with a configuration, and gives the notes of it."""
    numbers = iter(range(100))

    def call(outcomes, configuration=None, *, replace=False, command="some"):
        study = Toy(outcomes, configuration or {"steps": 20})
        path = tmp_path / f"run{next(numbers)}"
        with RunFolder(path, study) as folder:
            part = study.run(Chunk("only"), path, print)
            folder.write("only", encode(part), Cost(1.0, 1.0, "here", "a core", "a set"))
            results.merge(folder, tmp_path / "res", command, replace=replace)
        return json.loads((tmp_path / "res" / "toy.json").read_text())["runs"]

    return call


def settings(steps, *models):
    return {"settings": [{"labels": {"model": model}, "steps": steps} for model in models]}


def commands(runs):
    return [run["command"] for run in runs]


def test_lists_of_a_run_that_diverged_are_read_again(merge, tmp_path):
    there = rows(0, 1, loss=[NAN, 0.5], losses=[[1.0, INF, -INF, NAN], [0.5]])
    merge(there)
    merge(there)
    merge(rows(2, loss=[0.25], losses=[[0.25, 0.125]]))
    path = tmp_path / "res" / "toy_seeds.csv"
    assert "[1.0, Infinity, -Infinity, NaN]" in path.read_text()
    read = read_outcomes(path, there, ["model", "seed"])
    assert read.head(2).equals(there)
    assert read["losses"].to_list()[2] == [0.25, 0.125]


def test_lists_are_kept_where_those_of_the_run_are_empty(merge, tmp_path):
    there = rows(0, losses=[[0.5, NAN]])
    merge(there)
    merge(rows(1, losses=[[]]))
    read = read_outcomes(tmp_path / "res" / "toy_seeds.csv", there, ["model", "seed"])
    assert read.equals(rows(0, 1, losses=[[0.5, NAN], []]))


@pytest.mark.parametrize("cell", ["[0.5", "3", "abc", '"[""a""]"', "[" * 100_000])
def test_cells_that_hold_no_list(merge, tmp_path, cell):
    merge(rows(0, losses=[[0.5]]))
    path = tmp_path / "res" / "toy_seeds.csv"
    path.write_text(f"model,seed,losses\nNAU,0,{cell}\n")
    with pytest.raises(ValueError, match=r"toy_seeds.csv' is no table .*; restore it"):
        merge(rows(0, losses=[[0.5]]))


def test_seeds_trained_otherwise_are_not_pooled_where_no_setting_is_named(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    command = ["run", "trask2018.table6", "--models", "NAU", "--operations", "add", "--quiet"]
    command += ["--rows", "10", "--results", "res", "--evaluate-every", "10"]
    first = ["--learning-rates", "0.01", "--seeds", "1", "--out"]
    assert main([*command, *first, "a", "--steps", "20"]) == 0
    more = [*first[:-1], "--first-seed", "1", "--out"]
    assert main([*command, *more, "b", "--steps", "200"]) == 2
    message = capsys.readouterr().err
    assert "has outcomes by `torchalu run trask2018.table6" in message
    assert "with other settings, and one table cannot hold both" in message
    assert main([*command, *more, "c", "--steps", "20", "--together", "1"]) == 0
    assert pl.read_csv(tmp_path / "res" / "table6_seeds.csv")["seed"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("name", "amount", "other"),
    [
        ("trask2018.table5", {"models": ("ReLU",)}, {}),
        ("trask2018.table8", {"models": ("NAC",), "operations": ("add",)}, {}),
        ("madsen2020.figure2", {"eps": (0.1,)}, {"points": 3}),
        ("kaiser2016.traces", {}, {"length": 3}),
    ],
)
def test_one_digest_is_of_all_but_how_much_is_done(name, amount, other):
    study = get(name)
    assert study().extent <= study().configuration.keys()
    digests = digests_of(study())
    assert list(digests) == ["{}"]
    assert digests_of(study(**amount)) == digests
    if other:
        assert digests_of(study(**other)) != digests


@pytest.mark.parametrize("noted", [{}, {"settings": {}}])
def test_runs_whose_way_of_training_was_not_noted_are_not_refused(merge, tmp_path, noted):
    (run,) = merge(rows(0, loss=[0.5]), {"steps": 20})
    assert list(run.pop("settings")) == ["{}"]
    (tmp_path / "res" / "toy.json").write_text(json.dumps({"runs": [run | noted]}))
    assert len(merge(rows(1, loss=[0.25]), {"steps": 200})) == 2


def test_a_run_that_ends_otherwise_is_trained_otherwise(merge, tmp_path):
    described = settings(20, "NAU")
    ends = {"settle": 500, "stall": None, "give_up": None, "team": 8}
    runs = merge(rows(0, loss=[0.5]), described | ends)
    assert runs[0]["ends"] == {"settle": 500, "stall": None}
    assert runs[0]["settings"] == merge(rows(0, loss=[0.5]), described)[0]["settings"]
    path = tmp_path / "res" / "toy.json"
    path.write_text(json.dumps({"runs": runs}))
    for other, which in (
        ({"stall": 100}, "stall None, not 100"),
        ({"settle": None}, "settle 500, not None"),
        ({"settle": 9, "stall": 100}, "settle 500, not 9; stall None, not 100"),
    ):
        said = rf"with other settings \({which}\), and one table cannot hold both"
        with pytest.raises(ValueError, match=said):
            merge(rows(1, loss=[0.5]), described | ends | other)
    merge(rows(1, loss=[0.5]), described | ends | {"give_up": 100, "team": 16})
    merge(rows(0, model="NMU", loss=[0.5]), settings(20, "NMU") | ends | {"stall": 100})
    for run in runs:
        del run["ends"]
    path.write_text(json.dumps({"runs": runs}))  # as an earlier version has left it
    merge(rows(2, loss=[0.5]), described | ends | {"stall": 100})


def test_digests_of_native_studies_do_not_depend_on_what_ends_a_run():
    """They are those of results that are committed."""
    study = get("madsen2020.correlated")
    digests = digests_of(study())
    assert digests['{"model": "NAC*,NMU", "operation": "mul"}'] == "4fe958b3"
    assert digests_of(study(Runs(stall=1_000_000, team=16, seeds=5))) == digests


def test_a_column_that_the_run_lacks_is_not_lost_unasked(merge, tmp_path):
    merge(rows(0, 1, loss=[0.5, 0.5], formula=["x + y", None], fit_seconds=[1.0, 2.0]))
    runs = merge(rows(1, loss=[0.5]))
    read = pl.read_csv(tmp_path / "res" / "toy_seeds.csv")
    assert read["formula"].to_list() == ["x + y", None]
    with pytest.raises(ValueError, match="other outcomes for 1 of the run's 1 rows"):
        merge(rows(0, loss=[0.5]))
    merge(rows(0, loss=[0.5]), replace=True)
    assert len(runs) == 1


def test_only_runs_with_rows_are_said_to_have_made_the_numbers(merge):
    """One of whose models a row is kept stays; one without any goes, and one merged long ago."""
    merge(rows(0, 1, loss=[0.5, 0.5]), settings(20, "NAU"), command="a")
    both = pl.concat([rows(2, loss=[0.5]), rows(0, model="NMU", loss=[0.5])])
    assert commands(merge(both, settings(20, "NAU", "NMU"), command="b")) == ["a", "b"]
    anew = rows(0, 1, 2, loss=[0.1, 0.1, 0.1])
    runs = merge(anew, settings(200, "NAU"), replace=True, command="c")
    assert commands(runs) == ["b", "c"]
    assert list(runs[0]["settings"]) == ['{"model": "NMU"}']


def test_a_run_whose_rows_are_all_replaced_has_made_none(merge):
    merge(rows(0, 1, loss=[0.5, 0.5]), settings(20, "NAU"), command="a")
    merge(rows(0, model="NMU", loss=[0.5]), settings(20, "NMU"), command="b")
    more = settings(20, "NAU") | {"seeds": 3}
    anew = rows(0, 1, 2, loss=[0.1, 0.1, 0.1])
    assert commands(merge(anew, more, replace=True, command="c")) == ["b", "c"]


def test_a_run_whose_seeds_are_all_replaced_has_made_none(merge):
    def of(first, last, *models):
        return settings(20, *models) | {"seeds": [first, last]}

    merge(rows(0, 1, loss=[0.5, 0.5]), of(0, 1, "NAU"), command="a")
    merge(rows(2, 3, loss=[0.5, 0.5]), of(2, 3, "NAU"), command="b")
    both = pl.concat([rows(0, loss=[0.1]), rows(0, model="NMU", loss=[0.1])])
    runs = merge(both, of(0, 0, "NAU", "NMU"), replace=True, command="c")
    assert commands(runs) == ["a", "b", "c"]  # seed 1 is by the first
    assert [run["seeds"] for run in runs] == [[0, 1], [2, 3], [0, 0]]
    both = pl.concat([rows(0, 1, loss=[0.1] * 2), rows(0, 1, model="NMU", loss=[0.1] * 2)])
    runs = merge(both, of(0, 1, "NAU", "NMU"), replace=True, command="d")
    assert commands(runs) == ["b", "d"]


def test_a_run_that_replaces_all_rows_has_made_them_alone(merge, tmp_path):
    merge(rows(0, 1, loss=[0.5, 0.5]), settings(20, "NAU"), command="a")
    path = tmp_path / "res" / "toy.json"
    note = json.loads(path.read_text())
    del note["runs"][0]["settings"]  # as an earlier version has left it
    path.write_text(json.dumps(note))
    anew = rows(0, 1, loss=[0.1, 0.1])
    with pytest.raises(ValueError, match="other settings, or trained beside other seeds; give"):
        merge(anew, settings(200, "NAU"), command="b")
    assert commands(merge(anew, settings(200, "NAU"), replace=True, command="b")) == ["b"]


@pytest.mark.parametrize("note", [None, '{"runs": []}', '{"runs": {}}'])
def test_rows_of_which_nothing_says_how_they_were_trained_are_not_pooled(merge, tmp_path, note):
    merge(rows(0, loss=[0.5]), {"steps": 20})
    path, seeds = tmp_path / "res" / "toy.json", tmp_path / "res" / "toy_seeds.csv"
    path.unlink()
    if note is not None:
        path.write_text(note)
    before = seeds.read_bytes()
    with pytest.raises(ValueError, match=r"toy_seeds.csv' is there, but .*toy.json'.* restore it"):
        merge(rows(5, loss=[0.25]), {"steps": 400})
    study = Toy(rows(5), {"steps": 400})
    with pytest.raises(ValueError, match=r"toy_seeds.csv' is there, but .*toy.json'.* restore it"):
        results.check_settings(study, tmp_path / "res")
    assert seeds.read_bytes() == before


def test_what_made_rows_is_noted_before_they_are_written(merge, tmp_path, monkeypatch):
    write, names = results.write_atomic, []

    def noted(path, content):
        names.append(path.name)
        write(path, content)

    for module in (results, outcome_tables):
        monkeypatch.setattr(module, "write_atomic", noted)
    merge(rows(0, loss=[0.5]))
    assert names == ["toy.json", "toy_seeds.csv", "toy.csv"]


def test_a_run_that_names_no_command_made_nothing(merge, tmp_path):
    merge(rows(0, loss=[0.5]))
    (tmp_path / "res" / "toy.json").write_text('{"runs": [{"configuration": "x"}]}')
    with pytest.raises(ValueError, match=r"toy.json' does not say what made the results"):
        merge(rows(1, loss=[0.5]))


def test_folders_that_are_none_are_named_before_anything_is_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    command = ["run", "madsen2020.table2", "--models", "NMU", "--quiet", "--steps", "100"]
    (tmp_path / "link").symlink_to("nowhere/sub")
    for name, there in (("file", "file"), ("file/sub", "file"), ("link", "link")):
        assert main([*command, "--out", "r", "--results", name]) == 2
        problem = f"--results is '{name}', but '{there}' is no folder; name another"
        assert problem in capsys.readouterr().err
    for command_with_out in (["data", "mnist"], ["algorithm", "train", "copy", "--quiet"]):
        assert main([*command_with_out, "--out", "file"]) == 2
        assert "--out is 'file', but 'file' is no folder; name another" in capsys.readouterr().err
    assert main([*command, "--out", "r", "--results", "more/res", "--seeds", "0"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[:-4], "its last line is cut off"),
        (lambda text: text.replace("NAU,2,0.25\n", ""), "has 2 outcomes, but .*toy.json' says 3"),
        (lambda text: text + "NAU,2,0.25\n", "has 2 lines for what is one outcome each, such as"),
    ],
)
def test_outcomes_that_were_lost_or_doubled_are_not_summed_up(merge, tmp_path, damage, said):
    merge(rows(0, 1, 2, loss=[0.5, 0.75, 0.25]))
    path = tmp_path / "res" / "toy_seeds.csv"
    path.write_text(damage(path.read_text()))
    left = path.read_text()
    with pytest.raises(ValueError, match=rf"toy_seeds.csv' .*{said}.*; restore it"):
        merge(rows(3, loss=[0.5]))
    assert path.read_text() == left


@pytest.fixture
def cut_off(monkeypatch):
    """Within it a merge ends before it writes outcomes, or before it writes anything after them."""
    write = results.write_atomic

    @contextmanager
    def call(*, written=False):
        def killed(path, content):
            if path.name == "toy_seeds.csv" and not written:
                raise KeyboardInterrupt
            write(path, content)
            if path.name == "toy_seeds.csv":
                raise KeyboardInterrupt

        with monkeypatch.context() as context:
            context.setattr(results, "write_atomic", killed)
            with pytest.raises(KeyboardInterrupt):
                yield

    return call


def test_a_merge_that_was_cut_off_between_its_files_is_made_again(merge, tmp_path, cut_off):
    merge(rows(0, loss=[0.5]))
    with cut_off():
        merge(rows(1, 2, loss=[0.75, 0.25]))
    folder = tmp_path / "res"
    assert json.loads((folder / "toy.json").read_text())["outcomes"] == 3
    merge(rows(1, 2, loss=[0.75, 0.25]))
    assert (folder / "toy_seeds.csv").read_text().splitlines()[1:] == [
        "NAU,0,0.5",
        "NAU,1,0.75",
        "NAU,2,0.25",
    ]
    note = json.loads((folder / "toy.json").read_text())
    assert (note["outcomes"], note.keys()) == (3, {"outcomes", "runs"})


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("written", "made"), [(False, ["a", "c"]), (True, ["a", "b", "c"])])
def test_what_made_rows_that_a_cut_off_merge_did_not_write_is_forgotten(
    merge, cut_off, written, made, replace
):
    """Though another merge follows, and not the same again."""
    merge(rows(0, loss=[0.5]), settings(20, "NAU"), command="a")
    with cut_off(written=written):
        merge(rows(1, loss=[0.75]), settings(20, "NAU", "NMU"), command="b", replace=replace)
    runs = merge(rows(2, loss=[0.25]), settings(20, "NAU", "NALU"), command="c")
    assert commands(runs) == made


def test_what_made_rows_is_not_lost_where_their_replacement_is_cut_off(merge, tmp_path, cut_off):
    merge(rows(0, loss=[0.5]), settings(20, "NAU"), command="a")
    with cut_off():
        merge(rows(0, loss=[0.25]), settings(30, "NAU"), command="b", replace=True)
    runs = merge(rows(1, loss=[0.75]), settings(20, "NAU", "NMU"), command="c")
    assert commands(runs) == ["a", "c"]
    assert [len(run["settings"]) for run in runs] == [1, 2]
    assert "NAU,0,0.5" in (tmp_path / "res" / "toy_seeds.csv").read_text()


def test_what_ends_a_run_is_looked_at_before_it_is_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["run", "madsen2020.table2", "--models", "NMU", "--operations", "mul"]
    command += ["--steps", "200", "--seeds", "1", "--quiet", "--results", "res"]
    assert main([*command, "--out", "one"]) == 0
    other = [*command, "--first-seed", "1", "--settle", "None", "--out", "two"]
    assert main(other) == 2
    assert "settle 500000, not None" in capsys.readouterr().err
    (tmp_path / "res" / "table2_seeds.csv").unlink()
    assert main([*command, "--first-seed", "1", "--out", "two"]) == 2
    assert "table2_seeds.csv' is not there, but" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()


def test_experiments_of_one_last_name_are_not_mixed(merge, tmp_path, monkeypatch, capsys):
    merge(rows(0, loss=[0.5]), command="torchalu run others.toy --seeds 1")
    path = tmp_path / "res" / "toy.json"
    path.write_text(path.read_text().replace('"study": "tests.toy",', ""))  # as earlier versions
    with pytest.raises(ValueError, match=r"has outcomes of others\.toy, and those of tests\.toy"):
        merge(rows(1, loss=[0.5]))
    monkeypatch.chdir(tmp_path)
    command = ["run", "madsen2020.table6", "--models", "NAU", "--operations", "add"]
    command += ["--steps", "200", "--seeds", "1", "--quiet", "--results", "six"]
    assert main([*command, "--out", "one"]) == 0
    made = tmp_path / "six" / "table6.json"
    made.write_text(made.read_text().replace("madsen2020.table6", "trask2018.table6"))
    assert main([*command, "--first-seed", "1", "--out", "two"]) == 2
    assert "has outcomes of trask2018.table6, and those of" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()
    command[1] = "madsen2020.table2"  # in which those of madsen2020.table6 would count
    assert main([*command, "--first-seed", "1", "--out", "three"]) == 0
    assert "NAU,add,1" in (tmp_path / "six" / "table2.csv").read_text()


def test_a_part_that_is_there_twice_is_not_merged(merge):
    with pytest.raises(ValueError, match=r"run0' has \{'model': 'NAU', 'seed': 3\S* .*twice"):
        merge(rows(3, 4, 3))


def test_replacing_looks_at_rows_of_other_seeds_where_seeds_are_a_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["run", "trask2018.table5", "--models", "NAC", "--seeds", "1", "--quiet"]
    command += ["--results", "res", "--replace"]
    assert main([*command, "--steps", "100", "--out", "one"]) == 0
    assert main([*command, "--steps", "150", "--first-seed", "1", "--out", "two"]) == 2
    assert not (tmp_path / "two").exists()
    assert main([*command, "--steps", "150", "--out", "three"]) == 0
