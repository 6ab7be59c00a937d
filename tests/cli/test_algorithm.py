"""`torchalu algorithm`: answers and films of what is learned, what there is, and bad input."""

import pytest
from PIL import Image

from refusals import refused
from torchalu.cli import main
from torchalu.tasks import algorithm, algorithm_names

pytestmark = pytest.mark.usefixtures("here")


def test_run_prints_the_answer_and_writes_the_film(copy, tmp_path, capsys):
    assert main(["algorithm", "run", copy, "0110"]) == 0
    assert capsys.readouterr().out == "0110\n"
    assert main(["algorithm", "run", copy, "0110", "--film", "out.gif"]) == 0
    assert capsys.readouterr().out == "0110\nwrote out.gif\n"
    with Image.open(tmp_path / "out.gif") as film:
        assert film.n_frames == 5


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


@pytest.mark.parametrize("command", ["train", "run", "eval", "list"])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["algorithm", command, "--help"])
    assert ended.value.code == 0
    assert f"torchalu algorithm {command}" in capsys.readouterr().out
