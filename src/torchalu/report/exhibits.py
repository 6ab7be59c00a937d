"""The tables and figures of the papers by name: what each is about and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = (
    Literal["rates", "sweep", "gates", "surfaces", "counts"]
    | Literal["accuracies", "ranking", "correlations", "successes", "networks", "table"]
    | Literal["lengths", "traces", "identity", "returns", "extrapolation", "curves"]
)


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a paper.

    Attributes:
        title: what it is about.
        kind: what is drawn: success rates, measures against what is varied, histograms of gates,
            loss surfaces, counts over a grid; accuracies against parameters or in their order,
            correlations of features, successes against the size of the task, networks with their
            weights, strings that are right against their length, positions of signals against
            steps, errors against a number that is to be given back, rewards against the
            instruction, errors against the length of series, digits that match against steps, or
            nothing but the table.
        experiment: what it is made by, where it is not the experiment of its own name.
    """

    title: str
    kind: Kind
    experiment: str | None = None


EXHIBITS = {
    "table1": Exhibit("(x₁ + x₂) · (x₁ + x₂ + x₃ + x₄)", "rates"),
    "table2": Exhibit("ten models on ×, + and −", "rates"),
    "table5": Exhibit("gated units on × and +", "rates", experiment="figure9"),
    "table6": Exhibit("eleven models on six operations", "rates"),
    "figure2": Exhibit("loss surface of the NAC with two weights", "surfaces"),
    "figure3": Exhibit("hidden size and interpolation range", "sweep"),
    "figure4": Exhibit("sequential MNIST, product", "sweep"),
    "figure7": Exhibit("ablation of the NMU", "sweep"),
    "figure8": Exhibit("input size, overlap and subset size", "sweep"),
    "figure9": Exhibit("values of the gate; table 5", "gates"),
    "figure10": Exhibit("sparsity weight of the NAU on +", "sweep"),
    "figure11": Exhibit("sparsity weight of the NAU on −", "sweep"),
    "figure12": Exhibit("sparsity weight of the NMU on ×", "sweep"),
    "figure13": Exhibit("sequential MNIST, sum", "sweep"),
    "figure14": Exhibit("sequential MNIST, sum, NAU without $R_z$", "sweep", experiment="figure13"),
    "figure15": Exhibit(
        "sequential MNIST, product, NMU without $R_z$", "sweep", experiment="figure4"
    ),
    "noise": Exhibit("tables 2 and 6 again, targets with 1% noise", "rates"),
    "noise_table1": Exhibit("table 1 again, targets with 1% noise", "rates"),
    "correlated": Exhibit("tables 2 and 6 again, correlated inputs", "rates"),
    "correlated_table1": Exhibit("table 1 again, correlated inputs", "rates"),
    "single_module": Exhibit("one unit, 2 and 10 inputs, nine ranges", "counts"),
    "closed_form": Exhibit("table 6 without a network", "table"),
    "lowe2022.figure4": Exhibit("parity of four logits", "networks"),
    "lowe2022.figure4_readings": Exhibit(
        "what was read off, and how accurate the networks are", "table", experiment="figure4"
    ),
    "lowe2022.parity": Exhibit("parity of up to 32 bits", "successes"),
    "lowe2022.bach": Exhibit("is it Bach?", "ranking"),
    "lowe2022.bach_independence": Exhibit(
        "correlations of paired features", "correlations", experiment="bach"
    ),
    "lowe2022.figure5": Exhibit("MLP and CNN on MNIST", "accuracies"),
    "lowe2022.figure6": Exhibit("residual network on CIFAR", "accuracies"),
    "lowe2022.table1": Exhibit("transfer from a frozen encoder", "ranking"),
    "lowe2022.covertype": Exhibit("Covertype, with boosted trees", "accuracies"),
    "lowe2022.search": Exhibit("hyperparameters, by random search", "table"),
    "kaiser2016.table1": Exhibit("binary addition and multiplication, up to 2000 bits", "table"),
    "kaiser2016.table1_lengths": Exhibit(
        "whole strings right by length", "lengths", experiment="table1"
    ),
    "kaiser2016.table1_learning": Exhibit("how many seeds learn", "table", experiment="table1"),
    "kaiser2016.table1_adversarial": Exhibit("adversarial strings", "table", experiment="table1"),
    "kaiser2016.table1_failures": Exhibit("what each seed gets wrong", "table", "table1"),
    "kaiser2016.algorithms": Exhibit("all other tasks, up to 4001 symbols", "lengths"),
    "kaiser2016.algorithms_learning": Exhibit(
        "how many seeds learn", "table", experiment="algorithms"
    ),
    "kaiser2016.algorithms_adversarial": Exhibit(
        "adversarial strings", "table", experiment="algorithms"
    ),
    "kaiser2016.decimal": Exhibit("decimal multiplication", "table"),
    "kaiser2016.grid": Exhibit("a grid of settings of the original form", "table"),
    "kaiser2016.ablations_learning": Exhibit(
        "methods left out in turn", "table", experiment="ablations"
    ),
    "kaiser2016.ablations": Exhibit("methods left out in turn", "table"),
    "kaiser2016.ensemble": Exhibit("networks that answer together", "table"),
    "kaiser2016.orders": Exhibit("whether answers agree with operands in each order", "table"),
    "kaiser2016.starts": Exhibit("the best of several starts, chosen on long strings", "table"),
    "kaiser2016.starts_choices": Exhibit("which start was chosen", "table", experiment="starts"),
    "kaiser2016.noise": Exhibit("what noise a network bears, and how far it holds", "table"),
    "kaiser2016.steps": Exhibit("how many steps more than symbols an algorithm takes", "table"),
    "kaiser2016.levels": Exhibit("how many levels the state is rounded to", "table"),
    "kaiser2016.counterexamples": Exhibit("wrong strings that a search finds", "table"),
    "kaiser2016.traces": Exhibit("where digits and carries are", "traces"),
    "kaiser2016.traces_maps": Exhibit("which maps keep what", "table", experiment="traces"),
    "trask2018.table5": Exhibit("the identity function, -1000 to 1000", "table"),
    "trask2018.figure1": Exhibit(
        "the identity function, -20 to 20", "identity", experiment="table5"
    ),
    "trask2018.table5_picks": Exhibit("which unit to pick", "table", experiment="table5"),
    "trask2018.table6": Exhibit("arithmetic on 100 inputs", "table"),
    "trask2018.table7": Exhibit(
        "the same, in percent of a random start", "table", experiment="table6"
    ),
    "trask2018.table7_picks": Exhibit("which unit to pick", "table", experiment="table6"),
    "trask2018.table8": Exhibit("arithmetic over time", "table"),
    "trask2018.table9": Exhibit(
        "the same, in percent of a random start", "table", experiment="table8"
    ),
    "trask2018.table9_picks": Exhibit("which unit to pick", "table", experiment="table8"),
    "trask2018.table3": Exhibit("numbers in words: mean absolute errors", "table"),
    "trask2018.table3_picks": Exhibit("which network to pick", "table", experiment="table3"),
    "trask2018.table3_words": Exhibit(
        "figure 3: answers word by word", "table", experiment="table3"
    ),
    "trask2018.table3_rules": Exhibit("a rule for each word", "table", experiment="table3"),
    "trask2018.table3_search": Exhibit(
        "settings of table 3, on validation numbers", "table", experiment="table3"
    ),
    "trask2018.figure4": Exhibit("programs, up to four digits", "curves"),
    "trask2018.figure4_digits": Exhibit("what is right", "table", experiment="figure4"),
    "trask2018.figure4_picks": Exhibit("which unit to pick", "table", experiment="figure4"),
    "trask2018.figure4_search": Exhibit("settings of figure 4, on validation programs", "table"),
    "trask2018.figure6": Exhibit("sums, up to four digits", "curves"),
    "trask2018.figure6_digits": Exhibit("what is right", "table", experiment="figure6"),
    "trask2018.figure6_picks": Exhibit("which unit to pick", "table", experiment="figure6"),
    "trask2018.grid_world": Exhibit("figure 5: to arrive at time T in a grid world", "returns"),
    "trask2018.grid_world_reach": Exhibit(
        "the greatest T with which agents do well", "table", experiment="grid_world"
    ),
    "trask2018.grid_world_picks": Exhibit("which agent to pick", "table", "grid_world"),
    "trask2018.grid_world_search": Exhibit("learning rate and entropy of the agents", "table"),
    "trask2018.table2": Exhibit("digits counted and added up, series up to 1000", "extrapolation"),
    "trask2018.table2_count": Exhibit("mean absolute errors, counting", "table", "table2"),
    "trask2018.table2_sum": Exhibit("mean absolute errors, addition", "table", "table2"),
    "trask2018.table10_count": Exhibit("mean square errors, counting", "table", "table2"),
    "trask2018.table10_sum": Exhibit("mean square errors, addition", "table", "table2"),
    "trask2018.table2_laws": Exhibit("what snapped units say", "table", "table2"),
    "trask2018.table2_picks": Exhibit("which model to pick", "table", "table2"),
    "trask2018.table2_search": Exhibit("settings of table 2, on validation digits", "table"),
    "trask2018.perception": Exhibit("laws behind images: sums and products", "table"),
    "trask2018.perception_errors": Exhibit(
        "errors of units that say laws", "extrapolation", "perception"
    ),
    "trask2018.perception_picks": Exhibit("which unit to pick", "table", "perception"),
    "trask2018.table4": Exhibit("how many digits in a picture are even", "table"),
    "trask2018.table4_picks": Exhibit("which last layer to pick", "table", "table4"),
    "trask2018.table4_search": Exhibit("settings of table 4, on validation digits", "table"),
}
"""Of Madsen & Johansen 2020 where no paper is named, and beyond; as the experiments are named."""
