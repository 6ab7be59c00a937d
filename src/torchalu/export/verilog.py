"""Layers of gates as a Verilog module."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

from torch import nn

from torchalu.export.bits import TRANSPARENT, leaves
from torchalu.export.identifiers import check_function_name, identifiers
from torchalu.export.module_numbers import check_holds_numbers
from torchalu.export.own_forward import check_forward
from torchalu.export.terms import check_finite
from torchalu.export.truth_table import check_inputs
from torchalu.nn import GroupSum, LogicGates

_BITS_A_LINE = 8
_NEXT_LINE = "\n        + "

_GATES = (
    "1'b0",
    "{a} & {b}",
    "{a} & ~{b}",
    "{a}",
    "~{a} & {b}",
    "{b}",
    "{a} ^ {b}",
    "{a} | {b}",
    "~({a} | {b})",
    "~({a} ^ {b})",
    "~{b}",
    "{a} | ~{b}",
    "~{a}",
    "~{a} | {b}",
    "~({a} & {b})",
    "1'b1",
)

_WORDS_2005 = """
always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign
default defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule
endprimitive endspecify endtable endtask event for force forever fork function generate genvar
highz0 highz1 if ifnone incdir include initial inout input instance integer join large liblist
library localparam macromodule medium module nand negedge nmos nor noshowcancelled not notif0
notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup pulsestyle_ondetect
pulsestyle_onevent rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1
scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task
time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire vectored wait wand
weak0 weak1 while wire wor xnor xor
"""
_WORDS_SYSTEM_VERILOG = """
alias always_comb always_ff always_latch assert assume before bind bins binsof bit break byte
chandle class clocking const constraint context continue cover covergroup coverpoint cross dist do
endclass endclocking endgroup endinterface endpackage endprogram endproperty endsequence enum
expect export extends extern final first_match foreach forkjoin iff ignore_bins illegal_bins import
inside int interface intersect join_any join_none local logic longint matches modport new null
package packed priority program property protected pure rand randc randcase randsequence ref return
sequence shortint shortreal solve static string struct super tagged this throughout timeprecision
timeunit type typedef union unique var virtual void wait_order wildcard with within
accept_on checker endchecker eventually global implements implies interconnect let nettype nexttime
reject_on restrict s_always s_eventually s_nexttime s_until s_until_with soft strong sync_accept_on
sync_reject_on unique0 until until_with untyped weak
"""
KEYWORDS = frozenset([*_WORDS_2005.split(), *_WORDS_SYSTEM_VERILOG.split()])
"""The reserved words of Verilog-2005 and SystemVerilog-2017."""


def to_verilog(model: nn.Module, name: str = "circuit", names: Sequence[str] | None = None) -> str:
    """Write layers of gates as a combinational Verilog module.

    Every gate becomes the `assign` of a wire, layer by layer, as its likeliest one of the 16;
    gates that no output needs are left for the synthesis to remove. The ports:

    - `x`, a vector of all inputs; or, with `names`, one port for each input, under a legal name
      where its own is not, as a comment at the top says;
    - `out`, a vector of the last layer's gates; or, behind :class:`torchalu.nn.GroupSum`,
      `count0`, `count1`, ...: how many gates of each group are true, not divided by the
      temperature; and `label`: the number of the largest count, the first of equal ones.

    Args:
        model: :class:`torchalu.nn.LogicGates` and, as the last layer, `GroupSum`, in a
            `Sequential`; `Identity`, `Dropout` and `Flatten` may stand between.
        name: the module's name.
        names: the names of the inputs.

    Returns:
        The text of a Verilog-2005 file.

    Raises:
        TypeError: the model has another layer, or names are no strings.
        ValueError: `name` is not a legal name, names are not as many as inputs or not all
            different, the layers do not fit, or a weight is not finite or on the device `meta`.

    Source:
        Ours. That a trained network of gates is a circuit is Petersen et al. 2022, section 3.

    Example:
        >>> import torch
        >>> adder = LogicGates(2, 2, connections=torch.tensor([[0, 0], [1, 1]]))
        >>> _ = adder.weight.data.copy_(torch.eye(16)[[6, 1]])
        >>> print(to_verilog(adder, "half_adder", ["a", "b"]))
        // Layers of gates: 2.
        // a: "a"
        // b: "b"
        module half_adder(
            input wire a,
            input wire b,
            output wire [1:0] out
        );
            wire [1:0] layer0;
            assign layer0[0] = a ^ b;
            assign layer0[1] = a & b;
            assign out = layer0;
        endmodule
        <BLANKLINE>
    """
    check_function_name(name)
    layers, groups = _split(model)
    taken = _taken(layers, groups)
    words = None if names is None else _words(names, layers, {*taken, name})
    if name in taken:
        raise ValueError(f"name is {name!r}, which the text uses; choose another, such as 'gates'")
    last, width = f"layer{len(layers) - 1}", layers[-1].out_features
    if words is None:
        sources = [f"x[{index}]" for index in range(layers[0].in_features)]
        ports = [f"input wire {_range(len(sources))} x"]
    else:
        sources = list(words.values())
        ports = [f"input wire {word}" for word in sources]
    body = list(_gate_lines(layers, sources))
    if groups is None:
        ports.append(f"output wire {_range(width)} out")
        body.append(f"assign out = {last};")
    else:
        ports += _count_ports(width // groups, groups)
        body += _count_lines(last, width // groups, groups)
    head = [f"// Layers of gates: {', '.join(str(layer.out_features) for layer in layers)}."]
    head += [f"// {word}: {json.dumps(column)}" for column, word in (words or {}).items()]
    listed = ",\n".join(f"    {port}" for port in ports)
    lines = [*head, f"module {name}(", listed, ");", *(f"    {line}" for line in body)]
    return "\n".join([*lines, "endmodule", ""])


def _split(model: nn.Module) -> tuple[list[LogicGates], int | None]:
    """The layers of gates, and into how many groups the last one is summed, if it is."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is {type(model).__name__}; allowed: a torch.nn.Module")
    check_holds_numbers("model", model)
    for layer in leaves(model):
        check_forward(layer, (LogicGates, GroupSum, nn.Sequential, *TRANSPARENT))
        if isinstance(layer, nn.Flatten) and layer.start_dim != 1:
            raise ValueError(
                f"model has Flatten(start_dim={layer.start_dim}), which joins rows; allowed: 1"
            )
    layers = [layer for layer in leaves(model) if not isinstance(layer, TRANSPARENT)]
    last = layers[-1] if layers else None
    groups = last.num_groups if isinstance(last, GroupSum) else None
    gates: list[LogicGates] = []
    for layer in layers if groups is None else layers[:-1]:
        if not isinstance(layer, LogicGates):
            raise TypeError(
                f"model has the layer {type(layer).__name__}; allowed: LogicGates, and GroupSum as "
                "the last layer, in a Sequential"
            )
        check_finite(layer, layer.weight)
        gates.append(layer)
    if not gates:
        raise TypeError(
            f"model is {type(model).__name__} without LogicGates; allowed: some of them"
        )
    for before, after in pairwise(gates):
        if before.out_features != after.in_features:
            raise ValueError(
                f"a layer of {before.out_features} gates comes before one of {after.in_features} "
                "inputs; allowed: the same number"
            )
    if groups is not None and gates[-1].out_features % groups:
        raise ValueError(f"{gates[-1].out_features} gates are no multiple of {groups} groups")
    return gates, groups


def _words(names: Sequence[str], layers: Sequence[LogicGates], taken: set[str]) -> dict[str, str]:
    """A legal port for each input, by its name."""
    names, inputs = check_inputs(names), layers[0].in_features
    if len(names) != inputs:
        raise ValueError(f"names has {len(names)} entries; allowed: {inputs}, one for each input")
    return identifiers(names, taken=taken)


def _taken(layers: Sequence[LogicGates], groups: int | None) -> set[str]:
    """The identifiers that the text uses, and those that Verilog reserves."""
    wires = {f"layer{number}" for number in range(len(layers))}
    counted = {f"{word}{g}" for word in ("count", "top", "best") for g in range(groups or 0)}
    return {"x", "out", "label", *wires, *counted, *KEYWORDS}


def _range(width: int) -> str:
    """The indices of a vector."""
    return f"[{width - 1}:0]"


def _gate_lines(layers: Sequence[LogicGates], sources: Sequence[str]) -> Iterator[str]:
    """A wire for each gate."""
    for number, layer in enumerate(layers):
        target = f"layer{number}"
        yield f"wire {_range(layer.out_features)} {target};"
        wired = zip(layer.gates().tolist(), *layer.connections.tolist(), strict=True)
        for index, (gate, first, second) in enumerate(wired):
            text = _GATES[gate].format(a=sources[first], b=sources[second])
            yield f"assign {target}[{index}] = {text};"
        sources = [f"{target}[{index}]" for index in range(layer.out_features)]


def _count_ports(size: int, groups: int) -> list[str]:
    """A port for the count of each group, and one for the largest."""
    counts = [f"output wire {_range(size.bit_length())} count{g}" for g in range(groups)]
    return [*counts, f"output wire {_range(_label_bits(groups))} label"]


def _count_lines(source: str, size: int, groups: int) -> Iterator[str]:
    """The count of each group, and the number of the first largest one."""
    for group in range(groups):
        bits = [f"{source}[{index}]" for index in range(group * size, (group + 1) * size)]
        rows = [
            " + ".join(bits[start : start + _BITS_A_LINE]) for start in range(0, size, _BITS_A_LINE)
        ]
        yield f"assign count{group} = {_NEXT_LINE.join(rows)};"
    top, best = _range(size.bit_length()), _range(_label_bits(groups))
    yield f"wire {top} top0 = count0;"
    yield f"wire {best} best0 = {_label_bits(groups)}'d0;"
    for group in range(1, groups):
        more = f"count{group} > top{group - 1}"
        number = f"{_label_bits(groups)}'d{group}"
        yield f"wire {top} top{group} = {more} ? count{group} : top{group - 1};"
        yield f"wire {best} best{group} = {more} ? {number} : best{group - 1};"
    yield f"assign label = best{groups - 1};"


def _label_bits(groups: int) -> int:
    """How many bits the number of a group takes."""
    return max(1, (groups - 1).bit_length())
