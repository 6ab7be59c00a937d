"""Files of learned algorithms: the same bits back, and one message for each file that is not so."""

import json
import struct
import tracemalloc

import pytest
import torch
from safetensors.torch import load, save

from exact_copy import exact_copy, untrained
from torchalu.nn import DiagonalNeuralGPU, NeuralGPU, NeuralGPUBase
from torchalu.tasks import StringFileTask, algorithm
from torchalu.train.algorithms import AlgorithmTraining
from torchalu.train.checksum import content_sum
from torchalu.zoo import AlgorithmFileError, LearnedAlgorithm, learn, put

NO_NAMES = (
    "", ".", "..", "../../x", "/x/y", "a\\b", "a\0b", "a\x1b[2Jb", "a\nb", "\ud800", 101 * "é",
)  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """A sound file."""
    path = tmp_path / "badd.safetensors"
    untrained(algorithm("badd")).save(path)
    return path


def parts(path):
    """Head and tensors of a file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["torchalu"]), load(data)


def forge(path, change=None, *, tensors=None, signed=True, **head):
    """Writes a file with another content, and by default with the sum that goes with it."""
    found, values = parts(path)
    found |= head
    values |= tensors or {}
    if change is not None:
        change(found, values)
    if signed:
        found.pop("sha256", None)
        found["sha256"] = content_sum(found, values)
    path.write_bytes(save(values, {"torchalu": json.dumps(found)}))


def refused(path, *words):
    """Checks that a file is refused with one message that names it, the words and a remedy."""
    with pytest.raises(AlgorithmFileError) as caught:
        LearnedAlgorithm.load(path)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert message.startswith(repr(str(path)))
    assert "; " in message
    for word in words:
        assert word in message
    return message


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "module",
    [
        DiagonalNeuralGPU(4, maps=9, dropout=0.3, parameter_sets=2),
        NeuralGPU(4, maps=5, width=3, layers=3, kernel_size=5, cutoff=False, initial_scale=1.1),
    ],
    ids=["diagonal", "cgru"],
)
def test_the_same_bits_come_back(module, dtype, tmp_path):
    learned = LearnedAlgorithm(module.to(dtype), algorithm("badd"))
    learned.measure([3], count=5)
    learned.save(tmp_path / "a.safetensors")
    before = torch.random.get_rng_state()
    again = LearnedAlgorithm.load(tmp_path / "a.safetensors")
    assert torch.equal(torch.random.get_rng_state(), before)
    assert type(again.module) is type(module)
    assert again.module.configuration() == module.configuration()
    assert not again.module.training
    assert again.task == learned.task
    assert again.card == learned.card
    state = module.state_dict()
    assert list(again.module.state_dict()) == list(state)
    for name, value in again.module.state_dict().items():
        assert value.dtype == dtype
        assert torch.equal(value, state[name])
    symbols = torch.tensor([[2, 1, 3, 1, 2]])
    assert torch.equal(again.module(symbols), module.eval()(symbols))
    again.save(tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_a_loaded_module_can_be_trained_on(path):
    learned = LearnedAlgorithm.load(path)
    learned.module(torch.tensor([[1, 3, 1]])).sum().backward()
    assert learned.module.gate_weight.grad is not None


def test_tasks_come_back(tmp_path):
    own = StringFileTask(
        name="badd", title="rows", alphabet="é☃b", example="b", size=(2, -1), rows={"b": "é"}
    )
    for task in (algorithm("badd", filled=False), own):
        untrained(task).save(tmp_path / "a.safetensors")
        again = LearnedAlgorithm.load(tmp_path / "a.safetensors").task
        for name in ("name", "alphabet", "size", "filled", "example", "title"):
            assert getattr(again, name) == getattr(task, name)
        assert type(again) is type(task)
    with pytest.raises(ValueError, match="there are no rows"):
        LearnedAlgorithm.load(tmp_path / "a.safetensors").evaluate(1)
    other = StringFileTask(
        name="x", title="x", alphabet="b☃", example="b", size=(1, 0), rows={"bb": "☃☃"}
    )
    again = LearnedAlgorithm.load(tmp_path / "a.safetensors", other)
    assert (again.task.name, again.task.alphabet, again.task.solve("bb")) == ("badd", "é☃b", "☃☃")


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"alphabet": "b€", "rows": {"b": "€"}}, "'€'"),
        ({"alphabet": "b", "size": (2, 0), "rows": {"bb": "bbbb"}}, "room for 3"),
    ],
)
def test_rows_that_do_not_fit_an_own_task(changed, word, tmp_path):
    fields = {"name": "own", "title": "rows", "example": "b", "size": (2, -1)}
    untrained(StringFileTask(**fields, alphabet="éb")).save(tmp_path / "a.safetensors")
    with pytest.raises(AlgorithmFileError, match=r"a\.safetensors") as caught:
        LearnedAlgorithm.load(tmp_path / "a.safetensors", StringFileTask(**fields | changed))
    assert word in str(caught.value)


def test_the_package_s_task_is_not_another(path):
    assert LearnedAlgorithm.load(path, algorithm("badd", long_carries=0.5)).task.long_carries == 0.5
    with pytest.raises(
        AlgorithmFileError, match="of a task with name 'badd', and the task given has 'bmul'"
    ):
        LearnedAlgorithm.load(path, algorithm("bmul"))


def test_a_line_break_may_be_a_symbol_of_a_task(tmp_path):
    task = StringFileTask(name="own", title="rows", alphabet="\nb", example="b\n", size=(1, 0))
    untrained(task).save(tmp_path / "a.safetensors")
    assert LearnedAlgorithm.load(tmp_path / "a.safetensors").task == task


@pytest.mark.parametrize("name", NO_NAMES)
def test_nothing_is_put_beside_its_folder(name, tmp_path):
    task = StringFileTask(name=name, title="rows", alphabet="b", example="b", size=(1, 0))
    (tmp_path / "in").mkdir()
    with pytest.raises(ValueError, match=r"the name of the task is .*give another name"):
        put(untrained(task), tmp_path / "in")
    with pytest.raises(ValueError, match="the name of the task is"):
        learn(task, AlgorithmTraining(), tmp_path / "in" / "new")
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        LearnedAlgorithm.load(tmp_path / "none.safetensors")


def test_every_cut_is_found(path):
    data = path.read_bytes()
    for size in (0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        refused(path, "copy the file again")


def test_every_flipped_bit_is_found(path):
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), 97):
        for bit in (1, 64):
            data[place] ^= bit
            path.write_bytes(data)
            refused(path)
            data[place] ^= bit
    path.write_bytes(data)
    LearnedAlgorithm.load(path)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04\x95pickle",
        b"PK\x03\x04" + bytes(100),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2**40) + b"{" * 1000,
        struct.pack("<Q", 60_000) + b"[" * 60_000,
    ],
)
def test_other_files(path, data):
    path.write_bytes(data)
    refused(path, "is no learned algorithm")


def test_safetensors_of_something_else(path):
    path.write_bytes(save({"weight": torch.zeros(3)}))
    refused(path, "is no learned algorithm")
    path.write_bytes(save({"weight": torch.zeros(3)}, {"torchalu": "[1]"}))
    refused(path, "is no learned algorithm")
    path.write_bytes(save({"weight": torch.zeros(3)}, {"torchalu": "[" * 100_000}))
    refused(path, "is no learned algorithm")


def test_a_header_that_claims_much(path):
    entry = {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}
    header = json.dumps({"weight": entry, "__metadata__": {"torchalu": "{}"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(64))
    tracemalloc.start()
    refused(path, "is no learned algorithm")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_file_larger_than_any(path, monkeypatch):
    monkeypatch.setattr("torchalu.zoo.algorithm_file._MOST_BYTES", 100)
    refused(path, "allowed: 100")


def test_a_change_without_its_sum(path):
    forge(path, signed=False, tensors={"output_bias": torch.ones(4)})
    refused(path, "was changed after it was written")
    untrained(algorithm("badd")).save(path)
    forge(path, lambda head, _: head["task"].update(alphabet="10+"), signed=False)
    refused(path, "was changed after it was written")
    untrained(algorithm("badd")).save(path)
    forge(path, lambda head, _: head.pop("sha256"), signed=False)
    refused(path, "was changed after it was written")


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_values_that_are_not_finite(path, value):
    forge(path, tensors={"output_bias": torch.tensor([0, value, 0, 0])})
    refused(path, "'output_bias' has values that are NaN or infinite", "train the algorithm again")


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.bfloat16, torch.bool])
def test_dtypes(path, dtype):
    forge(path, tensors={"output_bias": torch.zeros(4, dtype=dtype)})
    refused(path, "its weights are of")


@pytest.mark.parametrize(
    "tensors",
    [{"output_bias": torch.zeros(5)}, {"gate_weight": torch.zeros(1)}, {"more": torch.zeros(1)}],
)
def test_shapes(path, tensors):
    forge(path, tensors=tensors)
    (name,) = tensors
    refused(path, f"holds {name!r} with the shape {list(tensors[name].shape)}")


def test_a_missing_tensor(path):
    forge(path, lambda _, tensors: tensors.pop("output_bias"))
    refused(path, "holds 'output_bias' with the shape None")


@pytest.mark.parametrize("form", ["LSTM", "os.system", "NeuralGPUBase", 3, None, ["NeuralGPU"]])
def test_forms(path, form):
    forge(path, form=form)
    refused(path, f"holds a {form!r}; known: DiagonalNeuralGPU, NeuralGPU")


@pytest.mark.parametrize(
    "change",
    [
        {"maps": 9},
        {"maps": 7},
        {"maps": -6},
        {"maps": 6.5},
        {"maps": "6"},
        {"maps": 10**30},
        {"maps": 65_535},
        {"maps": None},
        {"maps": [6]},
        {"dropout": 2.0},
        {"num_symbols": 5},
        {"kernel_size": 2},
        {"no_such": 1},
        {"device": "cpu"},
        {"parameter_sets": 65_536},
    ],
    ids=str,
)
def test_configurations(path, change):
    forge(path, lambda head, _: head["configuration"].update(change))
    refused(path, "configuration")


@pytest.mark.parametrize("configuration", [None, [], "maps", 3])
def test_what_is_no_configuration(path, configuration):
    forge(path, configuration=configuration)
    refused(path, "configuration")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"alphabet": "01*"}, "alphabet '01*'"),
        ({"alphabet": "01+-"}, "alphabet"),
        ({"name": "no_such"}, "which this version of torchalu has not"),
        ({"name": "bmul"}, "bmul"),
        ({"size": [3, 1]}, "size"),
        ({"size": [2]}, "size"),
        ({"size": [0, 1]}, "size"),
        ({"size": [2, True]}, "size"),
        ({"filled": 1}, "filled"),
        ({"alphabet": 3}, "alphabet"),
        ({"own": True, "alphabet": ""}, "alphabet"),
        ({"own": True, "alphabet": "aab"}, "alphabet"),
        ({"own": True, "alphabet": "ab"}, "symbols"),
        ({"more": 1}, "says nothing of a task"),
        ({"own": True, "size": [2, 10**400]}, "the size of its task is beyond 67108864"),
        ({"own": True, "size": [2**27, 0]}, "the size of its task is beyond 67108864"),
        ({"own": True, "title": "\x1b]0;owned\x07"}, "the title of its task has characters"),
        ({"own": True, "example": "1\x1b[2J"}, "the example of its task has characters"),
        *(({"own": True, "name": name}, "the name of the task is") for name in NO_NAMES),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_tasks(path, change, word):
    forge(path, lambda head, _: head["task"].update(change))
    refused(path, "does not fit", word)


@pytest.mark.parametrize("task", [None, "badd", []])
def test_what_is_no_task(path, task):
    forge(path, task=task)
    refused(path, "says nothing of a task")


@pytest.mark.parametrize("card", [None, 3, "", "{}", "[]", '{"measured": 3}', "[" * 100_000])
def test_what_is_no_card(path, card):
    forge(path, card=card)
    refused(path, "no card of a learned algorithm")


@pytest.mark.parametrize(
    "change",
    [
        {"task": "bmul"},
        {"configuration": {"maps": 3}},
        {"form": "NeuralGPU"},
        {"steps": "many"},
        {"seeds_generalizing": 2},
        {"measured": [{"length": 3, "count": 2, "right": 5, "kind": "random", "failed": []}]},
        {"measured": [{"length": 3}]},
        {"measured": [{"length": 3, "count": 10**400, "right": 5, "kind": "x", "failed": []}]},
        {"measured": [{"length": 10**400, "count": 5, "right": 5, "kind": "x", "failed": []}]},
        {"measured": [{"length": 3, "count": 2, "right": 2, "kind": "\x1b[2J", "failed": []}]},
        {"seeds_tried": 10**400},
        {"seconds": float("inf")},
        {"more": 1},
    ],
    ids=str,
)
def test_cards(path, change):
    found, _ = parts(path)
    card = json.loads(found["card"]) | change
    forge(path, card=json.dumps(card))
    refused(path, "card")


@pytest.mark.parametrize("format", [None, "torchalu.algorithm/2", 1])
def test_formats(path, format):
    forge(path, format=format)
    refused(path, "is of format", "use the version that wrote it")


def test_nothing_is_written_that_could_not_be_read(tmp_path):
    learned = exact_copy()
    with pytest.raises(ValueError, match=r"ends in \.safetensors"):
        learned.save(tmp_path / "a.pt")
    with torch.no_grad():
        learned.module.output_bias[0] = torch.nan
    with pytest.raises(ValueError, match="'output_bias' has values that are NaN"):
        learned.save(tmp_path / "a.safetensors")
    half = LearnedAlgorithm(DiagonalNeuralGPU(3, maps=6).bfloat16(), algorithm("copy"))
    with pytest.raises(ValueError, match=r"weights are of torch\.bfloat16"):
        half.save(tmp_path / "a.safetensors")

    class Other(DiagonalNeuralGPU):
        pass

    with pytest.raises(TypeError, match="module is a Other; a file takes DiagonalNeuralGPU or"):
        LearnedAlgorithm(Other(3, maps=6), algorithm("copy")).save(tmp_path / "a.safetensors")
    with pytest.raises(OSError, match="none"):
        exact_copy().save(tmp_path / "none" / "a.safetensors")
    assert not list(tmp_path.iterdir())
    assert issubclass(Other, NeuralGPUBase)
