"""Figure 4, parity of four, and beyond it parity of up to 32 bits: learned, then read off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from torchalu.evaluate import t_interval, wilson
from torchalu.experiments.lowe2022.activations import BASELINE, FIGURE4, check_activations, label
from torchalu.experiments.lowe2022.hyperparameters import Hyperparameters, chosen
from torchalu.experiments.lowe2022.networks import mlp, mlp_parameters
from torchalu.experiments.lowe2022.parity import FOUR_LOGITS, BitLaw, bits, even, even_formula
from torchalu.experiments.lowe2022.sizing import nearest_widths
from torchalu.experiments.lowe2022.study import ClassificationSetting, ClassificationStudy
from torchalu.experiments.lowe2022.training import ClassificationOptions, ClassificationRuns
from torchalu.experiments.setting import check_positive, choose
from torchalu.export import certify_logic, to_logic
from torchalu.nn import activation, features_multiple

SIZES = (2, 4, 8, 12, 16, 24, 32)

_FOUR, _FOUR_WIDTHS = 4, (4, 2)
_FIGURE4 = ClassificationRuns(seeds=20, epochs=50, batch_size=128)
_PARITY = ClassificationRuns(
    seeds=10, epochs=20, batch_size=256, learning_rate=0.01, weight_decay=0.0
)


class Figure4Study(ClassificationStudy):
    """Parity of four logits; beside the accuracies, what was read off and the best networks."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Accuracies and comparisons, what was read off, and the networks that the figure draws.

        Args:
            outcomes: of all chunks.

        Returns:
            The table `figure4`; `figure4_readings`: for all seeds of each activation, and for those
            of which the same was read off by the same method, the mean test accuracy with its 95%
            interval, the least and the greatest; and `figure4_networks`: a row a weight or bias
            (then `from` is null) of the seed of each activation with the highest validation
            accuracy, of equals the one with the lowest training loss, and its formula.
        """
        best = outcomes.sort(
            "validation_accuracy", "training_loss", descending=[True, False]
        ).unique("activation", keep="first", maintain_order=True)
        rows = [row for run in best.sort("activation").iter_rows(named=True) for row in _drawn(run)]
        return super().summarize(outcomes) | {
            "figure4_readings": pl.DataFrame(_readings(outcomes), infer_schema_length=None),
            "figure4_networks": pl.DataFrame(rows),
        }


class ParityStudy(ClassificationStudy):
    """Parity of several numbers of bits, and how often it was learned and read off."""

    def summarize(self, outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """How often parity was learned and read off, with Wilson's intervals.

        Args:
            outcomes: of all chunks.

        Returns:
            A table `parity`, a row an activation, law and number of inputs: `solved` counts the
            seeds whose network is right on all inputs that were tried, `read` those of which the
            formula that was read off is the parity; and the mean accuracy.
        """
        rows = []
        keys = ["activation", "law", "inputs"]
        for (name, law, inputs), runs in outcomes.group_by(keys, maintain_order=True):
            text = label(str(name)) if law == "mixed" else f"{label(str(name))}, {law} bits"
            row = {"activation": name, "law": law, "inputs": inputs, "seeds": runs.height}
            for measure in ("solved", "read"):
                count = int(runs[measure].sum())
                low, high = wilson(count, runs.height)
                row |= {measure: count, f"{measure}_rate": count / runs.height}
                row |= {f"{measure}_low": low, f"{measure}_high": high}
            row |= {"accuracy_mean": runs["accuracy"].mean(), "label": text}
            rows.append(row | {"parameters": runs["parameters"][0]})
        return {"parity": pl.DataFrame(rows).sort(keys, descending=[False, True, False])}


def figure4(
    runs: ClassificationOptions = _FIGURE4, *, activations: tuple[str, ...] = FIGURE4
) -> Figure4Study:
    """Figure 4: the parity of four logits, by an MLP of four and two hidden neurons.

    The widths count neurons before the activation: with XNOR AIL the layers take 4, 2 and 1
    features, and one solution is the XNOR of two XNORs.

    Args:
        runs: seeds, epochs and hyperparameters.
        activations: their names, as `torchalu.nn.activation` takes them.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Lowe et al. 2022, section 4.1. Departures: see `docs/lowe2022.md`.

    Example:
        >>> [setting.parameters for setting in figure4().settings]
        [33, 28]
    """
    activations = check_activations(activations)
    settings = [
        replace(
            four_logits_setting(
                name, chosen("four_logits", name, runs.learning_rate, runs.weight_decay)
            ),
            observe=_observe_four,
        )
        for name in activations
    ]
    return Figure4Study("lowe2022.figure4", settings, runs)


def four_logits_setting(name: str, hyperparameters: Hyperparameters) -> ClassificationSetting:
    """The MLP of figure 4 on the parity of four logits.

    Args:
        name: of the activation.
        hyperparameters: of its training.

    Example:
        >>> four_logits_setting("xnor_ail", Hyperparameters()).labels
        {'activation': 'xnor_ail'}
    """
    network = partial(mlp, _FOUR, _FOUR_WIDTHS, 1, name)
    return ClassificationSetting({"activation": name}, network, hyperparameters, FOUR_LOGITS)


def parity(
    runs: ClassificationOptions = _PARITY,
    *,
    activations: tuple[str, ...] = ("relu", "xnor_ail", "xnor_il"),
    sizes: tuple[int, ...] = SIZES,
    laws: tuple[BitLaw, ...] = ("mixed", "fair"),
) -> ParityStudy:
    """Parity of n bits, learned from examples and read off; beyond the paper.

    A network has n neurons in its first layer, half as many in the next, and so on down to two,
    before the activation; those of ReLU have the widths in these proportions with which it comes
    nearest to as many parameters as XNOR AIL has.

    Args:
        runs: seeds, epochs of 1000 batches each, and hyperparameters.
        activations: their names, as `torchalu.nn.activation` takes them.
        sizes: numbers of inputs.
        laws: of the training inputs, "mixed" or "fair", as of `FreshBits`; networks are judged
            on fair bits.

    Raises:
        ValueError: a count that is not positive, fewer than 2 inputs, a name that is unknown.

    Example:
        >>> study = parity(activations=("relu", "xnor_ail"), sizes=(8,), laws=("mixed",))
        >>> [setting.parameters for setting in study.settings]
        [98, 100]
    """
    activations = check_activations(activations)
    check_positive("sizes", sizes)
    choose("laws", laws, get_args(BitLaw))
    settings = [
        ClassificationSetting(
            {"activation": name, "law": law, "inputs": inputs},
            partial(mlp, inputs, _widths(inputs, name), 1, name),
            chosen("parity", name, runs.learning_rate, runs.weight_decay),
            bits(inputs, law),
            observe=_observe_bits,
        )
        for inputs in sizes
        for law in laws
        for name in activations
    ]
    return ParityStudy("lowe2022.parity", settings, runs)


def read_off(network: nn.Module, inputs: int, seed: int) -> dict[str, Any]:
    """Whether a network is the parity of its inputs, and what is read off it.

    Args:
        network: takes -1 and 1.
        inputs: how many.
        seed: of the random inputs, where there are too many to try all.

    Returns:
        `accuracy`, the share of the inputs on which it is right: of all, or of 100,000 random
        ones where there are more than 20; `solved`, whether that is 1; `read`, whether the
        formula that is read off is the parity; and that `formula`, as text, with the `method`.

    Example:
        >>> read_off(nn.Sequential(nn.Linear(1, 1, bias=False)), 1, seed=0)["method"]
        'structure'
    """
    names = [f"x{place + 1}" for place in range(inputs)]
    generator = torch.Generator().manual_seed(seed)
    truth = certify_logic(network, even_formula(names), names, generator=generator)
    found: dict[str, Any] = {"accuracy": truth.share, "solved": truth.exact}
    try:
        reading = to_logic(network, names, generator=generator)
    except ValueError:
        return found | {"read": False, "formula": None, "method": None}
    task = certify_logic(_even_logit, list(reading.formulas), names, generator=generator)
    method = reading.certificate.method
    return found | {"read": task.exact, "formula": str(reading.formulas[0]), "method": method}


def _widths(inputs: int, name: str) -> tuple[int, ...]:
    """The widths of a network: a tree's, or ReLU's with as many parameters."""
    widths = [2 * -(-inputs // 2)]
    while widths[-1] > 2:
        widths.append(2 * -(-widths[-1] // 4))
    if name != BASELINE:
        multiple = features_multiple(activation(name))
        return tuple(multiple * -(-width // multiple) for width in widths)
    wanted = mlp_parameters(inputs, widths, 1, "xnor_ail")
    return nearest_widths(widths, wanted, lambda found: mlp_parameters(inputs, found, 1, name))


def _even_logit(inputs: Float[Tensor, "rows inputs"]) -> Float[Tensor, " rows"]:
    """The task itself, as a model."""
    return 2 * even(inputs).double() - 1


def _observe_four(
    setting: ClassificationSetting,  # noqa: ARG001
    seed: int,
    network: nn.Module,
) -> dict[str, Any]:
    """What is read off, and all weights in a row."""
    found = read_off(network, _FOUR, seed)
    weights = parameters_to_vector(network.parameters()).tolist()
    return {**found, "weights": weights}


def _observe_bits(setting: ClassificationSetting, seed: int, network: nn.Module) -> dict[str, Any]:
    """What is read off, the formula only where it is the parity: others may be pages long."""
    found = read_off(network, int(setting.labels["inputs"]), seed)
    return found if found["read"] else found | {"formula": None}


def _readings(outcomes: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """A row for all seeds of an activation, then for those that were read off alike."""
    for (name,), runs in outcomes.sort("activation").group_by("activation", maintain_order=True):
        yield _reading(str(name), "all", None, runs)
        order = runs.sort("read", "method", descending=[True, False])
        for (read, method), part in order.group_by("read", "method", maintain_order=True):
            yield _reading(str(name), "parity" if read else "another", method, part)


def _reading(name: str, formula: str, method: object, runs: pl.DataFrame) -> dict[str, Any]:
    """Test accuracies of some seeds of an activation."""
    accuracies = runs["test_accuracy"].to_list()
    mean, low, high = t_interval(accuracies, bounds=(0, 1))
    row = {"activation": label(name), "formula": formula, "method": method, "seeds": runs.height}
    row |= {"accuracy_mean": mean, "accuracy_low": low, "accuracy_high": high}
    return row | {"accuracy_least": min(accuracies), "accuracy_greatest": max(accuracies)}


def _drawn(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of one network: layer by layer, each weight and bias."""
    network = mlp(_FOUR, _FOUR_WIDTHS, 1, run["activation"])
    vector_to_parameters(torch.tensor(run["weights"]), network.parameters())
    layers = [layer for layer in network if isinstance(layer, nn.Linear)]
    name = {"activation": run["activation"]}
    common = {
        "seed": run["seed"],
        "accuracy": run["test_accuracy"],
        "formula": run["formula"],
        "label": label(run["activation"]),
    }
    rows = []
    for number, layer in enumerate(layers):
        for place, (weights, bias) in enumerate(
            zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
        ):
            sources = [*enumerate(weights), (None, bias)]
            rows += [
                {**name, "layer": number, "to": place, "from": source, "weight": weight, **common}
                for source, weight in sources
            ]
    return rows
