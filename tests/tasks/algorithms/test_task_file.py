"""Tasks from files: what is read, and one clear error for each way to fail."""

import pickle
import re
from collections import Counter

import numpy as np
import pytest

from torchalu.tasks import DataError, StringFileTask, decode, encode, read_task_file
from torchalu.tasks.algorithms import task_file


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write(text, name="swap.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def many(write, count=1000):
    rows = [f"{number:010b}" for number in range(count)]
    return write("input,output\n" + "".join(f"{row},{row[::-1]}\n" for row in rows))


def test_reads_the_examples(write):
    task = read_task_file(write("input,output\nab,ba\nabc,cba\nc,c\nab,ba\n"))
    assert task.name == "swap"
    assert task.alphabet == "abc"
    assert dict(task.rows) == {"ab": "ba", "abc": "cba", "c": "c"}
    assert task.solve("abc") == "cba"
    assert task.sample_lengths(2) == (1, 2)
    assert task.adversarial(2) == {}
    assert not task.filled
    batch = encode(task, ["abc", "c"])
    assert batch.inputs.tolist() == [[1, 2, 3], [3, 0, 0]]
    assert batch.targets.tolist() == [[3, 2, 1], [3, 0, 0]]
    assert decode(task, batch.targets[0]) == "cba"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("input\toutput\na,b\tb\n", "a.tsv"),
        ('\ufeffinput,output\r\n"a,b",b\r\n', "a.csv"),
        ('output,note,input\nb,x,"a,b"', "a.CSV"),
        ('\n\ninput,output\n\n"a,b",b\n\n', "a.csv"),
    ],
)
def test_reads_the_usual_variants(write, text, name):
    assert dict(read_task_file(write(text, name)).rows) == {"a,b": "b"}


def test_any_characters_are_taken_as_they_are(write):
    task = read_task_file(write('input,output\n x,"🦉\nß"\n"a""b",\n'))
    assert dict(task.rows) == {" x": "🦉\nß", 'a"b': ""}
    assert task.alphabet == '\n "abxß🦉'
    batch = encode(task, [" x", 'a"b'])
    assert [decode(task, row) for row in batch.targets] == ["🦉\nß", ""]


@pytest.mark.parametrize(
    ("needs", "size"),
    [
        ({1: 1, 2: 2, 7: 3}, (1, 0)),
        ({1: 2, 2: 3, 7: 8}, (1, 1)),
        ({1: 2, 3: 6, 4: 8}, (2, 0)),
        ({2: 3, 3: 5, 4: 7}, (2, -1)),
        ({1: 3, 2: 5, 3: 7}, (2, 1)),
        ({5: 10}, (2, 0)),
        ({5: 6}, (1, 1)),
        ({1: 1, 2: 4, 3: 9}, (3, 0)),
    ],
)
def test_the_line_of_lengths(write, needs, size):
    rows = "".join(f"{'a' * length},{'b' * n}\n" for length, n in needs.items())
    task = read_task_file(write("input,output\n" + rows))
    assert task.size == size
    for text, answer in task.rows.items():
        assert task.symbols(len(text)) >= max(len(text), len(answer))
    assert all(task.symbols(length) >= length for length in range(1, 50))


def test_samples_are_rows_of_the_length_all_alike(write):
    task = read_task_file(write("input,output\na,b\nb,a\nab,ba\nba,ab\nbb,aa\n"))
    texts = task.sample(2, 3000, np.random.default_rng(0))
    counts = Counter(texts)
    assert set(counts) == {"ab", "ba", "bb"}
    assert all(abs(count - 1000) < 100 for count in counts.values())
    with pytest.raises(ValueError, match=r"length is 3, and no row of 'swap' .* lengths: 1, 2"):
        task.sample(3, 1, np.random.default_rng(0))


def test_strings_to_test_on_are_rows_once_each(write):
    task = read_task_file(write("input,output\na,b\nb,a\nab,ba\nba,ab\nbb,aa\n"))
    drawn = Counter()
    for seed in range(600):
        texts = task.sample_tests(2, 2, np.random.default_rng(seed))
        assert len(texts) == len({*texts}) == 2
        drawn.update(texts)
    assert set(drawn) == {"ab", "ba", "bb"}
    assert all(abs(count - 400) < 50 for count in drawn.values())
    assert sorted(task.sample_tests(2, 9, np.random.default_rng(0))) == ["ab", "ba", "bb"]
    with pytest.raises(ValueError, match="length is 3, and no row of 'swap'"):
        task.sample_tests(3, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="count is -1; give an integer, 0 or more"):
        task.sample_tests(2, -1, np.random.default_rng(0))


def test_the_split_does_not_follow_the_order(write):
    task = read_task_file(many(write))
    training, validation = task.split(0.2)
    assert training.rows.keys() | validation.rows.keys() == task.rows.keys()
    assert not training.rows.keys() & validation.rows.keys()
    assert 150 < len(validation.rows) < 250
    assert training.alphabet == validation.alphabet == task.alphabet
    assert training.size == validation.size == task.size
    turned = StringFileTask(
        name="other",
        title=task.title,
        alphabet=task.alphabet,
        example=task.example,
        size=task.size,
        rows=dict(reversed(list(task.rows.items())[:500])),
    )
    assert turned.split(0.2)[1].rows.keys() == validation.rows.keys() & turned.rows.keys()
    with pytest.raises(ValueError, match="in none of the rows"):
        training.solve(next(iter(validation.rows)))


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_split_needs_a_share(write, share):
    with pytest.raises(ValueError, match=r"validation is .*; give a share between 0 and 1"):
        read_task_file(many(write, 10)).split(share)


def test_a_split_needs_rows(write):
    with pytest.raises(ValueError, match=r"'swap' has 1 row, and about 10% .* add rows"):
        read_task_file(many(write, 1)).split()


def test_without_rows_texts_are_still_encoded():
    task = StringFileTask(
        name="swap", title="an input of swap.csv", alphabet="ab", example="ab", size=(1, 1)
    )
    assert encode(task, ["abb"], targets=False).inputs.tolist() == [[1, 2, 2, 0]]
    with pytest.raises(ValueError, match=r"text 'abb' is no input of 'swap'.* none of the rows"):
        task.solve("abb")
    with pytest.raises(ValueError, match="none, as there are no rows"):
        task.sample(1, 1, np.random.default_rng(0))


def test_pickles(write):
    task = read_task_file(many(write, 20))
    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize("alphabet", ["", "aba"])
def test_an_alphabet_has_each_character_once(alphabet):
    with pytest.raises(ValueError, match=f"alphabet is '{alphabet}'"):
        StringFileTask(name="a", title="a", alphabet=alphabet, example="a", size=(1, 0))


@pytest.mark.parametrize("size", [(0, 5), (1, -1), (-1, 9)])
def test_a_line_has_room_for_each_length(size):
    with pytest.raises(ValueError, match="a slope of at least 1"):
        StringFileTask(name="a", title="a", alphabet="a", example="a", size=size)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["no rows"]),
        ("\n\n", ["no rows"]),
        ("input,output\n", ["no rows"]),
        ("a,output\nx,y\n", ["line 1: 0 columns are called 'input'", "['a', 'output']"]),
        ("input,Output\nx,y\n", ["line 1: 0 columns are called 'output'"]),
        ("input;output\nx;y\n", ["['input;output']", "commas"]),
        ("input,output,input\nx,y,z\n", ["2 columns are called 'input'"]),
        ("input,output\na,b\nc\n", ["line 3: 1 cells where the header names 2"]),
        ("input,output\na,b\n\nc,d,e\n", ["line 4: 3 cells where the header names 2"]),
        ('input,output\n"a\nb",b\nc\n', ["line 4: 1 cells"]),
        ("input,output\na,b\n,c\n", ["line 3: the input is empty"]),
        ("input,output\na,b\nc,c\na,c\n", ["line 4: the input of line 2 again"]),
        ("input,output\na,b\nb,␀\n", ["line 3: '␀' stands for padding"]),
        ('input,output\na,"b\n', ["line 2: unexpected end of data"]),
        (f"input,output\n{'a' * 200_000},b\n", ["line 2: field larger than field limit"]),
        (b"input,output\na,b\n\xff,c\n", ["line 3: byte 0xff is not UTF-8"]),
        (b"\xff\xfei\0n\0", ["line 1: byte 0xff is not UTF-8"]),
        (
            "input,output\na,b\n" + "".join(f"{chr(0x4E00 + i)},c\n" for i in range(300)),
            ["line 256: the file has more than 256 different characters"],
        ),
    ],
)
def test_errors(write, text, parts):
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_task_file(path)
    pattern = ".*".join(map(re.escape, [repr(str(path)), *parts]))
    assert re.search(pattern, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_cannot_be_read(tmp_path, write, monkeypatch):
    with pytest.raises(DataError, match=r"ends in '\.txt'; allowed: \.csv"):
        read_task_file(write("input,output\na,b\n", "a.txt"))
    with pytest.raises(FileNotFoundError, match=r"no such file: .*a\.csv"):
        read_task_file(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_task_file(tmp_path / "b.csv")
    monkeypatch.setattr(task_file, "_LARGEST", 10)
    with pytest.raises(DataError, match="has 17 bytes; allowed: 10"):
        read_task_file(write("input,output\na,b\n"))


@pytest.mark.parametrize(
    ("rows", "size", "message"),
    [
        ({"ab": "a1"}, (1, 0), "rows has the answer 'a1' to 'ab'; allowed: inputs of at least one"),
        ({"zz": "a"}, (1, 0), "rows has the answer 'a' to 'zz'"),
        ({"": "a"}, (1, 0), "rows has the answer 'a' to ''"),
        ({"ab": "aba"}, (1, 0), "size (1, 0) gives them room for 2 symbols; give a larger one"),
    ],
)
def test_rows_that_cannot_be_encoded(rows, size, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StringFileTask(name="x", title="x", alphabet="ab", example="a", size=size, rows=rows)
