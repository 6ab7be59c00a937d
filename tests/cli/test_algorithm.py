"""`torchalu algorithm`: from a task to a checkpoint, its answers, its accuracy and its film."""

import json
import re
import signal
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from rich.console import Console
from safetensors.torch import load_file

from exact_copy import copying_module, exact_copy, untrained
from torchalu.cli import algorithm_progress, main
from torchalu.cli.algorithm_result import failure_lines, measured_grid
from torchalu.cli.algorithm_train import Train, _longest
from torchalu.experiments import get
from torchalu.tasks import algorithm, algorithm_names, read_task_file
from torchalu.train.algorithms import AlgorithmProgress
from torchalu.zoo import LearnedAlgorithm, Measurement, shelf

TINY = ["algorithm", "train", "copy", "--length", "4", "--maps", "6", "--steps", "30"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def copy(tmp_path):
    """A checkpoint that is right."""
    exact_copy().save("copy.safetensors")
    return "copy.safetensors"


@pytest.fixture
def wrong(tmp_path):
    """A checkpoint that copies where it should reverse."""
    LearnedAlgorithm(copying_module(), algorithm("reverse")).save("reverse.safetensors")
    return "reverse.safetensors"


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """A zoo with one algorithm in it."""
    (tmp_path / "weights").mkdir()
    shelf.put(exact_copy(), tmp_path / "weights")
    monkeypatch.setattr(shelf, "_FOLDER", tmp_path / "weights")


def refused(capsys, status, *parts):
    """Whether a command ended in one message, with status 2."""
    message = capsys.readouterr().err
    assert status == 2
    assert message.startswith("torchalu: ")
    assert message.count("\n") == 1
    for part in parts:
        assert part in message


def rows(text):
    """The cells of the lines of a table that begin with a length."""
    lines = (line.split() for line in text.splitlines())
    return [cells for cells in lines if cells and cells[0].isdigit()]


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


def test_run_prints_the_answer_and_writes_the_film(copy, tmp_path, capsys):
    assert main(["algorithm", "run", copy, "0110"]) == 0
    assert capsys.readouterr().out == "0110\n"
    assert main(["algorithm", "run", copy, "0110", "--film", "out.gif"]) == 0
    assert capsys.readouterr().out == "0110\nwrote out.gif\n"
    with Image.open(tmp_path / "out.gif") as film:
        assert film.n_frames == 5


def test_eval_of_what_is_right(copy, capsys):
    assert main(["algorithm", "eval", copy, "--length", "3", "50", "--count", "20"]) == 0
    found = rows(capsys.readouterr().out)
    interval = ["83.9", "to", "100.0%"]
    assert found == [
        [length, "random", "20", "of", "20", "100.0%", *interval] for length in ("3", "50")
    ]


def test_eval_of_what_is_wrong_lists_failures(wrong, capsys):
    options = ["--length", "6", "--adversarial", "--seed", "1"]
    assert main(["algorithm", "eval", wrong, *options]) == 0
    out = capsys.readouterr().out
    learned = LearnedAlgorithm.load(wrong)
    texts = {"random": learned.test_strings(6, 100, 1), **learned.task.adversarial(6)}
    right = {kind: sum(t == t[::-1] for t in some) for kind, some in texts.items()}
    assert {row[1]: (int(row[2]), int(row[4])) for row in rows(out)} == {
        kind: (right[kind], len(some)) for kind, some in texts.items()
    }
    failures = [line for line in out.splitlines() if " gives " in line]
    assert len(failures) == sum(min(3, len(some) - right[kind]) for kind, some in texts.items())
    text = next(text for text in texts["random"] if text != text[::-1])
    places = [place for place in range(6) if text[place] != text[::-1][place]]
    assert failures[0] == (
        f"random, length 6: {text} gives {text}, right is {text[::-1]} "
        f"({len(places)} wrong, the first at position {places[0]})"
    )


def test_eval_searches_for_what_is_wrong(copy, wrong, capsys):
    assert main(["algorithm", "eval", wrong, "--length", "9", "--search", "50", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    line, *failures = [line for line in out.splitlines() if line.startswith("search, length 9: ")]
    counts = re.fullmatch(
        r".*: (\d+) of (\d+) new strings wrong, (\d+) of (\d+) neighbors of the hardest; "
        r"least margin (-[\d.]+)",
        line,
    )
    new_wrong, new, near_wrong, near = map(int, counts.groups()[:4])
    assert 0.8 * new < new_wrong < new <= 50  # one in 32 random ones is a palindrome; more in runs
    assert 0.8 * near < near_wrong <= near <= 8 * 40
    texts = [failure.split()[3] for failure in failures]
    assert len(texts) == 3
    assert all(len(text) == 9 and text != text[::-1] for text in texts)
    assert main(["algorithm", "eval", copy, "--length", "30", "--search", "40"]) == 0
    assert re.search(
        r"search, length 30: 0 of \d\d new strings wrong, 0 of \d+ neighbors of the hardest; "
        r"least margin [\d.]+\n",
        capsys.readouterr().out,
    )


def test_of_long_failures_the_first_wrong_symbol_is_shown(wrong):
    learned = LearnedAlgorithm.load(wrong)
    text = "0" * 100 + "01" + "0" * 98
    (line,) = failure_lines(learned, "here", [text])
    assert line == (
        f"here: {'0' * 60}... gives ...{'0' * 23}1{'0' * 36}..., right is "
        f"...{'0' * 20}1{'0' * 39}... (2 wrong, the first at position 98)"
    )
    assert learned.run(text) == text


def test_an_answer_whose_filling_alone_is_wrong():
    learned: Any = SimpleNamespace(task=algorithm("badd"), run=lambda texts: ["10011"])
    lines = failure_lines(learned, "here", ["1101+0111"])
    assert lines == ["here: 1101+0111 is right but for the symbols behind it"]


def test_names_in_the_zoo(zoo, capsys):
    assert main(["algorithm", "run", "copy", "011"]) == 0
    assert capsys.readouterr().out == "011\n"
    assert main(["algorithm", "list"]) == 0
    listed = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert listed.pop("task") == "zoo"
    assert listed == dict.fromkeys(algorithm_names(), "-") | {"copy": "yes"}
    refused(
        capsys,
        main(["algorithm", "run", "kopy", "011"]),
        "the zoo has no 'kopy', but 'copy'",
        "torchalu algorithm train TASK",
    )


def test_an_example_of_each_task(capsys):
    assert main(["algorithm", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    for name, line in zip(algorithm_names(), lines, strict=True):
        task = algorithm(name)
        assert line.split()[0] == name
        assert line.split()[-2:] == [task.example, task.solve(task.example)]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["train", "bad"], ["no task called 'bad'", "'badd'"]),
        (["train", "none.csv"], ["no such file: 'none.csv'"]),
        (["train", "badd", "--maps", "7"], ["maps is 7"]),
        (["train", "badd", "--maps", "0"], ["--maps is 0; allowed: 1 or more"]),
        (["train", "badd", "--length", "0"], ["--length is 0"]),
        (["train", "badd", "--steps", "0"], ["--steps is 0"]),
        (["train", "badd", "--attempts", "0"], ["--attempts is 0; allowed: 1 or more"]),
        (["train", "badd", "--seeds", "0"], ["--seeds is 0"]),
        (["train", "badd", "--seed", "-1"], ["--seed is -1; allowed: 0 or more"]),
        (["train", "badd", "--device", "gpu"], ["device is 'gpu'", "give cpu, or cuda with a GPU"]),
        (["train", "badd", "--length", "100000"], ["GiB are free"]),
        (
            ["train", "badd", "--length", str(10**11)],
            [
                f"--length is {10**11}, which needs {2 * 10**11 + 1} symbols",
                "GiB are free",
                "--length",
            ],
        ),
        (["train", "badd", "--maps", "3000000"], ["maps 3000000, which takes", "GiB are free"]),
        (["train", "table.csv"], ["'table' has 1 row", "to validate on", "add rows"]),
        (["run", "none.safetensors", "1"], ["'none.safetensors' does not exist", "zoo"]),
        (["run", "a/b", "1"], ["'a/b' does not exist"]),
        (["run", ".", "1"], ["'.' is a folder"]),
        (["run", "table.csv", "1"], ["'table.csv' is no learned algorithm"]),
        (["run", "CHECKPOINT", ""], ["it is empty"]),
        (["run", "CHECKPOINT", "0120"], ["symbol '2' at position 2"]),
        (["run", "CHECKPOINT", "01", "--film", "a.mp4"], ["does not end in .gif"]),
        (["run", "CHECKPOINT", "01" * 999, "--film", "a.gif"], ["at most"]),
        (["eval", "CHECKPOINT", "--length", "0"], ["length is 0"]),
        (["eval", "CHECKPOINT", "--length", str(10**13)], [f"length is {10**13} and", "GiB are"]),
        (["eval", "CHECKPOINT", "--length", "3", "--count", str(10**15)], [f"count {10**15}"]),
        (["eval", "CHECKPOINT", "--length", "3", "--count", "0"], ["count is 0"]),
        (["eval", "CHECKPOINT", "--length", "3", "--seed", "-1"], ["seed is -1"]),
        (["eval", "CHECKPOINT", "--length", "3", "--search", "-1"], ["--search is -1"]),
        (
            ["eval", "CHECKPOINT", "--length", "3", "--search", str(10**15)],
            [f"--search is {10**15}, which takes", "GiB are free"],
        ),
        (
            ["train", "table.csv", "--length", "3"],
            ["--length is 3, and the longest input in 'table.csv' has 2 symbols; allowed: 1 to 2"],
        ),
        (["eval", "CHECKPOINT", "--length", "3", "--task", "none.csv"], ["no such file"]),
        (
            ["eval", "CHECKPOINT", "--length", "3", "--task", "table.csv"],
            ["task given has 'table'"],
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_one_message_for_bad_input(arguments, parts, copy, tmp_path, capsys):
    (tmp_path / "table.csv").write_text("input,output\n01,10\n")
    arguments = [copy if word == "CHECKPOINT" else word for word in arguments]
    refused(capsys, main(["algorithm", *arguments]), *parts)


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


def test_what_was_measured_is_printed_before_a_search(copy, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("torchalu.evaluate.find_counterexamples", interrupted)
    assert main(["algorithm", "eval", copy, "--length", "3", "--search", "5", "--quiet"]) == 130
    assert rows(capsys.readouterr().out)[0][0] == "3"


def test_other_options_in_the_same_folder(capsys):
    assert main([*TINY, "--quiet"]) == 0
    arguments = [*TINY, "--maps", "9", "--quiet"]
    refused(capsys, main(arguments), "runs/copy/seed-0", "give another folder")


def test_an_untrained_checkpoint_counts_nothing_right(capsys):
    untrained(algorithm("badd")).save("badd.safetensors")
    assert main(["algorithm", "eval", "badd.safetensors", "--length", "20"]) == 0
    assert rows(capsys.readouterr().out)[0][2:6] == ["0", "of", "100", "0.0%"]


@pytest.mark.parametrize("command", ["train", "run", "eval", "list"])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["algorithm", command, "--help"])
    assert ended.value.code == 0
    assert f"torchalu algorithm {command}" in capsys.readouterr().out
