"""`torchalu algorithm train`: from a task to a checkpoint."""

import json
import signal

import pytest
from rich.console import Console
from safetensors.torch import load_file

from algorithm_commands import TINY, rows
from exact_copy import copying_module
from refusals import refused
from torchalu.cli import algorithm_progress, main
from torchalu.cli.algorithm_result import measured_grid
from torchalu.cli.algorithm_train import Train, _longest
from torchalu.experiments import get
from torchalu.tasks import algorithm, read_task_file
from torchalu.train.algorithms import AlgorithmProgress
from torchalu.zoo import LearnedAlgorithm, Measurement

pytestmark = pytest.mark.usefixtures("here")


def test_train_writes_a_checkpoint_that_runs(tmp_path, capsys):
    assert main(TINY) == 0
    done = capsys.readouterr()
    assert "wrote runs/copy/copy.safetensors" in done.out
    assert "seed 0, step 30" in done.out
    learned = LearnedAlgorithm.load("runs/copy/copy.safetensors")
    assert learned.task == algorithm("copy")
    assert learned.module.configuration()["maps"] == 6
    assert len(learned.run("0110")) <= 4
    card = json.loads((tmp_path / "runs/copy/copy.json").read_text())
    assert card["command"] == (
        "torchalu algorithm train copy --form diagonal --length 4 --maps 6 --steps 30 --attempts 4 "
        "--seed 0 --seeds 1"
    )
    assert (card["seed"], card["steps"], card["seeds_tried"]) == (0, 30, 1)
    assert {entry["length"] for entry in card["measured"]} == {4, 20}
    for entry in card["measured"]:
        if entry["kind"] == "random":
            assert entry["right"] == learned.evaluate(entry["length"], 100).right
    assert [cells[:2] for cells in rows(done.out)][:2] == [["4", "random"], ["20", "random"]]


def test_the_same_command_again_writes_the_same_bytes(tmp_path):
    found = []
    for _ in range(2):
        assert main([*TINY, "--quiet"]) == 0
        folder = tmp_path / "runs" / "copy"
        found.append([(folder / f"copy.{end}").read_bytes() for end in ("safetensors", "json")])
    assert found[0] == found[1]
    assert LearnedAlgorithm.load("runs/copy/copy.safetensors").module.noise == 0.5


def test_the_best_of_several_seeds_is_kept(tmp_path, capsys):
    tiny = [*TINY, "--steps", "10"]
    assert main([*tiny, "--seeds", "3", "--out", "here"]) == 0
    card = LearnedAlgorithm.load("here/copy.safetensors").card
    assert card.seeds_tried == 3
    assert f"{card.seeds_generalizing} of 3 seeds" in capsys.readouterr().out
    alone = []
    for seed in range(3):
        assert main([*tiny, "--seed", str(seed), "--out", f"alone{seed}", "--quiet"]) == 0
        alone.append(load_file(f"alone{seed}/copy.safetensors"))
    best = load_file("here/copy.safetensors")
    assert all((best[name] == alone[card.seed][name]).all() for name in best)


def test_quiet(capsys):
    assert main([*TINY, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_progress_by_length(monkeypatch, capsys):
    monkeypatch.setattr("torchalu.train.loop._REPORT_SECONDS", 0)
    assert main([*TINY, "--seeds", "2"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("copy, seed")]
    assert [line.split(",")[1] for line in lines] == [
        " seed 0: step 30 of 30",
        " seed 1: step 30 of 30",
    ]
    assert all("strings right by length  4: " in line for line in lines)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_it_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    calls = []

    def interrupt(seed, progress):
        calls.append(progress.step)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("torchalu.train.loop._REPORT_SECONDS", 0)
    with monkeypatch.context() as patch:
        patch.setattr(algorithm_progress, "_nothing", interrupt)
        assert main([*TINY, "--quiet"]) == 130
    message = capsys.readouterr().err
    assert "the same command goes on from runs/copy" in message
    assert calls == [1, 2, 3]
    assert (tmp_path / "runs/copy/seed-0/checkpoint.safetensors").exists()
    assert not (tmp_path / "runs/copy/copy.safetensors").exists()
    steps = []
    monkeypatch.setattr(algorithm_progress, "_nothing", lambda _, now: steps.append(now.step))
    assert main([*TINY, "--quiet"]) == 0
    assert steps[0] == 5
    assert main([*TINY, "--quiet", "--out", "unbroken"]) == 0
    unbroken = load_file("unbroken/copy.safetensors")
    for name, value in load_file("runs/copy/copy.safetensors").items():
        assert (value == unbroken[name]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_original_form():
    assert main([*TINY, "--form", "cgru", "--steps", "3", "--quiet"]) == 0
    learned = LearnedAlgorithm.load("runs/copy/copy.safetensors")
    assert learned.card.form == "NeuralGPU"
    assert learned.module.parameter_sets == 6  # they become one later
    assert not learned.task.filled


@pytest.mark.parametrize(("form", "filled"), [("diagonal", True), ("cgru", False)])
def test_answers_to_sums_are_filled_as_in_the_papers(form, filled):
    """With zeros by Freivalds & Liepins; with padding by Kaiser & Sutskever, as in table 1."""
    few = ["--form", form, "--steps", "2", "--length", "2", "--maps", "6", "--quiet"]
    assert main(["algorithm", "train", "badd", *few]) == 0
    assert LearnedAlgorithm.load("runs/badd/badd.safetensors").task.filled is filled
    setting = get("kaiser2016.table1")(
        tasks=("badd",), models=("improved" if form == "diagonal" else "original",)
    ).settings[0]
    assert setting.task.filled is filled


def test_a_task_of_one_s_own(tmp_path, capsys):
    texts = [f"{n:05b}".translate(str.maketrans("01", "xy")) for n in range(32)]
    table = "".join(f"{text},{text[::-1]}\n" for text in texts)
    (tmp_path / "flip.csv").write_text("input,output\n" + table)
    train = ["algorithm", "train", "flip.csv", "--maps", "6", "--steps", "3", "--out", "out"]
    assert main(train) == 0
    assert rows(capsys.readouterr().out)[0][:2] == ["5", "validation"]
    assert main(["algorithm", "run", "out/flip.safetensors", "xyxyxyx"]) == 0
    answer = capsys.readouterr().out.strip()
    assert set(answer) <= set("xy␀")
    evaluate = ["algorithm", "eval", "out/flip.safetensors", "--length", "5"]
    refused(capsys, main(evaluate), "task of your own, 'flip'", "--task FILE")
    assert main([*evaluate, "--task", "flip.csv", "--count", "7"]) == 0
    out = capsys.readouterr().out
    kind, _, _, count = rows(out)[0][1:5]
    assert (kind, count) == ("random", "7")
    assert "--adversarial" not in out
    assert main([*evaluate, "--task", "flip.csv", "--adversarial"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("--adversarial adds nothing: flip is a task of your own")


def test_what_looks_like_markup_is_shown_as_it_is(tmp_path, capsys):
    name = "sort[v2][bold]"
    rows = "".join(f"{number:05b},{number:05b}\n" for number in range(32))
    (tmp_path / f"{name}.csv").write_text("input,output\n" + rows)
    train = ["algorithm", "train", f"{name}.csv", "--maps", "6", "--steps", "2", "--out", "out"]
    assert main(train) == 0
    assert name in capsys.readouterr().out.splitlines()[0]
    console = Console(width=80, color_system=None)
    with console.capture() as shown:
        grid = algorithm_progress.training_grid(
            read_task_file(f"{name}.csv"), 0, AlgorithmProgress(1, 2, 0, 0)
        )
        console.print(grid)
        console.print(measured_grid("[/x]", [Measurement(3, 1, 1, "[/y]")]))
    assert all(text in shown.get() for text in (f"{name}, seed 0", "[/x]", "[/y]"))


def test_rows_are_tried_once_at_most(tmp_path, capsys):
    table = "".join(f"{number:05b},{number:05b}\n" for number in range(20, 27))
    (tmp_path / "rows.csv").write_text("input,output\n" + table)
    task = read_task_file("rows.csv")
    LearnedAlgorithm(copying_module(), task).save("rows.safetensors")
    evaluate = ["algorithm", "eval", "rows.safetensors", "--task", "rows.csv", "--length", "5"]
    assert main(evaluate) == 0
    low = f"{100 / (1 + 1.959963984540054**2 / 7):.1f}"
    cells = ["5", "random", "7", "of", "7", "100.0%", low, "to", "100.0%"]
    assert rows(capsys.readouterr().out) == [cells]


def test_by_default_the_recipe_s_lengths_are_trained():
    for name, form, longest in (
        ("copy", "diagonal", 21),
        ("copy", "cgru", 41),
        ("badd", "diagonal", 41),
    ):
        train, task = Train(name, form=form), algorithm(name)
        recipe = train._recipe(task)
        length = _longest(task, recipe)
        bins = train._training(task, recipe, length).bins
        assert (task.symbols(length), bins) == (longest, tuple(range(2, longest + 1)))
        if form == "diagonal":
            assert bins == recipe.bins
    short = Train("copy", length=1)
    assert short._training(algorithm("copy"), short._recipe(algorithm("copy")), 1).bins == (1,)


def test_a_folder_in_use(tmp_path, capsys):
    from torchalu.train.lock import FolderLock

    (tmp_path / "out").mkdir()
    lock = FolderLock(tmp_path / "out" / "lock")
    refused(capsys, main([*TINY, "--out", "out"]), "is in use by process")
    lock.release()


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(capsys):
    assert main([*TINY, "--quiet"]) == 0
    with open("runs/copy/seed-0/checkpoint.safetensors", "r+b") as file:
        file.truncate(100)
    capsys.readouterr()
    assert main([*TINY, "--quiet"]) == 0
    shown = capsys.readouterr().err
    assert shown.startswith("torchalu: 'runs/copy/seed-0/checkpoint.safetensors' is no checkpoint")
    assert shown.count("\n") == 1


def test_other_options_in_the_same_folder(capsys):
    assert main([*TINY, "--quiet"]) == 0
    arguments = [*TINY, "--maps", "9", "--quiet"]
    refused(capsys, main(arguments), "runs/copy/seed-0", "give another folder")
