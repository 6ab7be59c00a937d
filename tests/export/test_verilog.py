"""Circuits against the networks they come from: read line by line, and run by Icarus Verilog."""

import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from torchalu.export import to_sympy, to_verilog
from torchalu.nn import GroupSum, LogicGates


def network(widths, groups=None, seed=0, **options):
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = [
        LogicGates(i, o, generator=generator, **options) for i, o in pairwise(widths)
    ]
    if groups:
        layers.append(GroupSum(groups, 3.0))
    return nn.Sequential(*layers).eval().requires_grad_(False)


def random_bits(rows, inputs, seed=1):
    return torch.rand(rows, inputs, generator=torch.Generator().manual_seed(seed)) > 0.5


def run_text(text, inputs):
    """The values of all wires of a circuit, by numpy: its assignments are Python's too."""
    values = {word: np.asarray(column) for word, column in inputs.items()}
    rows = len(next(iter(values.values())))
    lines = re.findall(r"assign (layer\d+\[\d+\]) = (.*);", text)
    assert lines
    for target, expression in lines:
        words = set(re.findall(r"[A-Za-z]\w*(?:\[\d+\])?", expression.replace("1'b", "")))
        legal = {word: re.sub(r"\W", "_", word) for word in words}
        scope = {legal[word]: values[word] for word in words}
        for word in sorted(words, key=len, reverse=True):
            expression = expression.replace(word, legal[word])
        python = re.sub(r"1'b([01])", r"const[\1]", expression)
        const = [np.zeros(rows, bool), np.ones(rows, bool)]
        values[target] = eval(python, {"const": const}, scope)
    return values


def label_by_text(text, values):
    """The counts of a circuit and its label, by numpy, from the values of its wires."""
    numbers = {}
    for count, terms in re.findall(r"assign (count\d+) = ([^;]*);", text):
        numbers[count] = sum(values[word].astype(int) for word in re.split(r"[\s+]+", terms))

    def number(word):
        constant = re.fullmatch(r"\d+'d(\d+)", word)
        return numbers[word] if constant is None else int(constant[1])

    for target, expression in re.findall(r"(?:wire \[\d+:0\]|assign) (\w+) = (.*);", text):
        choice = re.fullmatch(r"(\S+) > (\S+) \? (\S+) : (\S+)", expression)
        if choice is not None:
            left, right, yes, no = map(number, choice.groups())
            numbers[target] = np.where(left > right, yes, no)
        elif target not in numbers:
            numbers[target] = number(expression)
    return numbers


@pytest.mark.parametrize(("groups", "size"), [(2, 1), (3, 7), (10, 17)])
def test_text_counts_and_labels(groups, size):
    model = network([12, 90, groups * size], groups)
    bits, text = random_bits(300, 12), to_verilog(model)
    numbers = label_by_text(text, run_text(text, {f"x[{i}]": bits[:, i] for i in range(12)}))
    counts = model[:-1](bits.float()).reshape(300, groups, size).sum(-1).long()
    found = np.stack([numbers[f"count{group}"] for group in range(groups)], 1)
    assert np.array_equal(found, counts.numpy())
    assert np.array_equal(numbers["label"], counts.numpy().argmax(1))
    assert len(set(numbers["label"].tolist())) > 1


@pytest.mark.parametrize("seed", range(4))
def test_text_is_the_network(seed):
    model = network([9, 40, 30, 20], seed=seed)
    bits = random_bits(200, 9)
    values = run_text(to_verilog(model), {f"x[{i}]": bits[:, i] for i in range(9)})
    outputs = np.stack([values[f"layer2[{i}]"] for i in range(20)], 1)
    assert np.array_equal(outputs, model(bits.float()).numpy() == 1)


def test_each_gate_has_its_text():
    layer = LogicGates(2, 16, connections=torch.tensor([[0], [1]]).expand(2, 16))
    layer.weight.data.copy_(torch.eye(16))
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    values = run_text(to_verilog(layer), {"x[0]": rows[:, 0], "x[1]": rows[:, 1]})
    for gate in range(16):
        assert values[f"layer0[{gate}]"].tolist() == [
            bool(gate >> (3 - row) & 1) for row in range(4)
        ]


def simulate(folder, text, ports, outputs, bits):
    """The outputs for each row of bits, as whole numbers, from Icarus Verilog."""
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus Verilog (iverilog) is not installed, and it runs the circuits")
    inputs = bits.shape[1]
    results = "".join(
        f"    wire [63:0] r{i}; assign r{i}[63:{w}] = 0;\n" for i, (_, w) in enumerate(outputs)
    )
    wires = "".join(f", .{port}(r{i}[{width - 1}:0])" for i, (port, width) in enumerate(outputs))
    shown = ", ".join(f"r{i}" for i in range(len(outputs)))
    bench = f"""
module bench;
    reg [{inputs - 1}:0] rows [0:{len(bits) - 1}];
    reg [{inputs - 1}:0] x;
    integer i;
{results}
    circuit dut({ports}{wires});
    initial begin
        $readmemb("rows.txt", rows);
        for (i = 0; i < {len(bits)}; i = i + 1) begin
            x = rows[i]; #1; $display("{" ".join(["%0d"] * len(outputs))}", {shown});
        end
    end
endmodule
"""
    (folder / "circuit.v").write_text(text, encoding="ascii")
    (folder / "bench.v").write_text(bench, encoding="ascii")
    lines = ["".join(str(int(bit)) for bit in reversed(row)) for row in bits.tolist()]
    (folder / "rows.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    command = ["iverilog", "-g2005", "-Wall", "-o", "bench", "circuit.v", "bench.v"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "circuit.v" not in built.stderr
    ran = subprocess.run(
        ["vvp", "-n", "bench"], cwd=folder, capture_output=True, text=True, check=True
    )
    return [[int(word) for word in line.split()] for line in ran.stdout.splitlines()]


def test_circuit_runs_on_all_inputs(tmp_path):
    model = network([8, 28, 40, 12], connections="unique")
    bits = torch.arange(256)[:, None] >> torch.arange(8) & 1
    got = simulate(tmp_path, to_verilog(model), ".x(x)", [("out", 12)], bits)
    expected = (model(bits.float()).long() << torch.arange(12)).sum(1, keepdim=True)
    assert got == expected.tolist()


@pytest.mark.parametrize(("groups", "size"), [(1, 5), (2, 1), (3, 7), (10, 17)])
def test_classifier_runs_with_its_counts_and_label(tmp_path, groups, size):
    model = network([12, 90, groups * size], groups)
    bits = random_bits(150, 12)
    counts = model[:-1](bits.float()).reshape(150, groups, size).sum(-1)
    outputs = [(f"count{group}", size.bit_length()) for group in range(groups)]
    outputs.append(("label", max(1, (groups - 1).bit_length())))
    got = simulate(tmp_path, to_verilog(model), ".x(x)", outputs, bits)
    first = [row.index(max(row)) for row in counts.tolist()]
    assert got == [
        [*map(int, row), label] for row, label in zip(counts.tolist(), first, strict=True)
    ]
    assert groups == 1 or any(row.count(max(row)) > 1 for row in counts.tolist())


AWKWARD = ["wire", "x", "x[0]", "a b", "a_b", "layer0", "*/ \n endmodule", "größe", "out", ""]


def test_awkward_names_run(tmp_path):
    model = network([len(AWKWARD), 30, 8])
    text = to_verilog(model, names=AWKWARD)
    words = re.findall(r"input wire (\w+)", text)
    assert len(set(words)) == len(AWKWARD)
    bits = random_bits(60, len(AWKWARD))
    ports = ", ".join(f".{word}(x[{i}])" for i, word in enumerate(words))
    got = simulate(tmp_path, text, ports, [("out", 8)], bits)
    expected = (model(bits.float()).long() << torch.arange(8)).sum(1, keepdim=True)
    assert got == expected.tolist()
    values = run_text(text, {word: bits[:, i] for i, word in enumerate(words)})
    assert np.array_equal(values["layer1[7]"], model(bits.float())[:, 7].numpy() == 1)


def test_layers_that_compute_nothing_are_skipped():
    gates = network([4, 6], seed=2)
    dressed = nn.Sequential(nn.Flatten(), nn.Sequential(nn.Dropout(), gates[0]), nn.Identity())
    assert to_verilog(dressed) == to_verilog(gates)


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (nn.Linear(2, 2), {}, TypeError, "the layer Linear; allowed: LogicGates"),
        (nn.Sequential(GroupSum(2), LogicGates(2, 2)), {}, TypeError, "the layer GroupSum"),
        (nn.Sequential(GroupSum(2)), {}, TypeError, "without LogicGates"),
        (nn.Sequential(), {}, TypeError, "the layer Sequential"),
        ("gates", {}, TypeError, "model is str"),
        (nn.Sequential(LogicGates(2, 3), LogicGates(2, 1)), {}, ValueError, "layer of 3 gates"),
        (nn.Sequential(LogicGates(2, 3), GroupSum(2)), {}, ValueError, "no multiple of 2 groups"),
        (LogicGates(2, 1), {"name": "2x"}, ValueError, "name is '2x'"),
        (LogicGates(2, 1), {"name": "module"}, ValueError, "name is 'module'"),
        (LogicGates(2, 1), {"name": "layer0"}, ValueError, "name is 'layer0'"),
        (LogicGates(2, 1), {"names": ["a"]}, ValueError, "allowed: 2, one for each input"),
        (LogicGates(2, 1), {"names": ["a", "a"]}, ValueError, "'a' twice"),
    ],
)
def test_bad_arguments(model, options, error, message):
    with pytest.raises(error, match=message):
        to_verilog(model, **options)


class Negated(nn.Sequential):
    def forward(self, input):
        return 1 - super().forward(input)


def test_a_stack_with_a_forward_of_its_own_is_not_taken_for_its_layers():
    model = Negated(LogicGates(2, 1))
    with pytest.raises(TypeError, match="Negated"):
        to_verilog(model)
    with pytest.raises(TypeError, match="Negated"):
        to_sympy(nn.Sequential(model), ["a", "b"])


@pytest.mark.parametrize("word", ["checker", "let", "strong", "weak", "soft", "until"])
def test_words_of_later_standards(word):
    text = to_verilog(LogicGates(2, 1), "circuit", [word, "b"])
    assert f"input wire {word}_" in text


def test_a_layer_that_computes_something_else_is_no_circuit():
    class Flipped(nn.Identity):
        def forward(self, input):
            return 1 - input

    class NotGates(LogicGates):
        def forward(self, input):
            return 1 - super().forward(input)

    hooked = nn.Sequential(LogicGates(2, 1))
    hooked.register_forward_hook(lambda module, input, output: 1 - output)
    for model, word in (
        (nn.Sequential(LogicGates(2, 1), Flipped()), "Flipped with another forward"),
        (NotGates(2, 1), "NotGates with another forward"),
        (hooked, "Sequential with a forward hook"),
    ):
        with pytest.raises(TypeError, match=word):
            to_verilog(model)
    with pytest.raises(ValueError, match=r"model has Flatten\(start_dim=0\), which joins rows"):
        to_verilog(nn.Sequential(LogicGates(2, 1), nn.Flatten(0)))
    assert to_verilog(nn.Sequential(nn.Flatten(), LogicGates(2, 1)))
