"""A module that has learned a task on strings, ready to be run, measured, filmed and kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import overload

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from torchalu.arguments import check_integers_from_zero, check_positive_integers, check_texts
from torchalu.evaluate import (
    StringAccuracy,
    check_memory,
    free_bytes,
    string_accuracy,
    unroll_bytes,
)
from torchalu.evaluate.strings import check_strings
from torchalu.nn import NeuralGPUBase
from torchalu.tasks import AlgorithmicTask, StringFileTask, decode, encode
from torchalu.zoo.algorithm_file import read_algorithm, refuse, write_algorithm
from torchalu.zoo.card import RANDOM, Card, Measurement
from torchalu.zoo.film import check_film, check_film_size, write_film
from torchalu.zoo.random_strings import draw, drawn_by, uniform
from torchalu.zoo.task_description import describe, recall

_SYMBOLS_AT_ONCE = 1 << 14


class LearnedAlgorithm:
    """A module with the task it has learned.

    Args:
        module: a Neural GPU; it is put in evaluation mode.
        task: what it has learned.
        card: how it was trained and what was measured; an empty one if left out.

    Raises:
        ValueError: the module has another number of symbols than the task, or the card is of
            another task, form or configuration.

    Attributes:
        module: the module.
        task: the task.
        card: the card.

    Source:
        Kaiser & Sutskever 2016: every string takes as many steps as it has symbols, padding up
        to the length of input and answer included, whatever strings are run beside it.

    Example:
        >>> from torchalu.nn import DiagonalNeuralGPU
        >>> from torchalu.tasks import algorithm
        >>> untrained = DiagonalNeuralGPU(4, maps=6, generator=torch.Generator().manual_seed(0))
        >>> learned = LearnedAlgorithm(untrained, algorithm("badd"))
        >>> len(learned.run("1101+0111")) <= 9
        True
    """

    def __init__(
        self, module: NeuralGPUBase, task: AlgorithmicTask, card: Card | None = None
    ) -> None:
        if module.num_symbols != len(task.alphabet) + 1:
            raise ValueError(
                f"module has {module.num_symbols} symbols, and the task {task.name!r} "
                f"{len(task.alphabet) + 1}, padding included; build it with num_symbols="
                f"{len(task.alphabet) + 1}"
            )
        empty = Card(task.name, type(module).__name__, module.configuration())
        now = None if card is None else _with_later_options(card, module)
        for name in ("task", "form", "configuration") if card is not None else ():
            if getattr(now, name) != getattr(empty, name):
                raise ValueError(
                    f"card has {name} = {getattr(card, name)!r}, and the module and its task have "
                    f"{getattr(empty, name)!r}; give the card of this algorithm, or None"
                )
        self.module = module.eval()
        self.task = task
        self.card = empty if card is None else card

    @overload
    def run(self, text: str) -> str: ...

    @overload
    def run(self, text: list[str]) -> list[str]: ...

    def run(self, text: str | list[str]) -> str | list[str]:
        """What the algorithm answers; it need not be right.

        Args:
            text: an input of the task, or several.

        Returns:
            The answer, or a list of them. A symbol that is wrong behind the end of the right
            answer is shown; the padding or the zeros that belong there are not.

        Raises:
            TypeError: it is neither a text nor a list of texts.
            ValueError: a text is empty, has a symbol outside the alphabet or another form; or it
                is longer than the memory allows, with an estimate.
        """
        if not isinstance(text, str | list | tuple):
            raise TypeError(f"text is {text!r}; give a string, such as {self.task.example!r}")
        texts = [text] if isinstance(text, str) else text
        check_texts("text", texts)
        by_symbols: dict[int, list[int]] = {}
        for number, one in enumerate(texts):
            by_symbols.setdefault(self.symbols(one), []).append(number)
        answers = [""] * len(texts)
        for numbers in by_symbols.values():
            found = self._answers([texts[number] for number in numbers])
            for number, answer in zip(numbers, found, strict=True):
                answers[number] = answer
        return answers[0] if isinstance(text, str) else answers

    def answers(self, text: str) -> dict[str, str]:
        """What the algorithm answers with the operands of a sum or product in each order.

        The operands pass through the module each in another way, so that one that is mostly right
        seldom errs in all orders alike: where the answers differ, one at least is wrong; where they
        agree, they are hardly ever wrong.

        Args:
            text: an input of the task.

        Returns:
            The answers by input, that given first; of a task whose inputs have one order, or of
            equal operands, there is one.

        Raises:
            ValueError: as in `run`.

        Source:
            Blum, Luby & Rubinfeld 1993: a program tests itself by what its answers to related
            questions have in common.

        Example:
            >>> from torchalu.zoo import load
            >>> load("bmul").answers("110*011")
            {'110*011': '010010', '011*110': '010010'}
        """
        orders = self.task.orders(text)
        return dict(zip(orders, self.run(orders), strict=True))

    def symbols(self, text: str) -> int:
        """The number of symbols that a text takes, and of steps but for `extra_steps`.

        Args:
            text: an input of the task.

        Raises:
            ValueError: it is no input of the task.
        """
        return self.task.symbols(self.task.length_of(text))

    def evaluate(self, length: int, count: int = 1000, seed: int = 0) -> StringAccuracy:
        """The share of random strings that are right as a whole.

        Args:
            length: of the operands, or of the string, as the task counts it.
            count: how many strings; of a task of your own its rows, each once at most.
            seed: of their random numbers, which no training uses.

        Raises:
            TypeError: a number is no integer.
            ValueError: a length or count that is not positive, a negative seed, a task whose
                truth is not at hand, or more memory than there is, with an estimate.
        """
        return string_accuracy(self.module, self.task, self.test_strings(length, count, seed))

    def test_strings(self, length: int, count: int = 1000, seed: int = 0) -> list[str]:
        """The random strings that `evaluate` tries, in the order of its result.

        Args:
            length: as in `evaluate`.
            count: as in `evaluate`.
            seed: as in `evaluate`.

        Raises:
            TypeError: as in `evaluate`.
            ValueError: as in `evaluate`.
        """
        self._check_draw(length, count, seed)
        return draw(self.task, length, count, drawn_by(length, seed))

    def adversarial(self, length: int) -> dict[str, list[str]]:
        """The strings that `evaluate_adversarial` tries, by kind.

        Args:
            length: as in `evaluate`.

        Raises:
            TypeError: as in `evaluate`.
            ValueError: as in `evaluate`.
        """
        check_positive_integers(length=length)
        self._check_memory(length, 1)
        return self.task.adversarial(length)

    def failed_strings(self, measured: Measurement) -> list[str]:
        """The first strings that went wrong in a measurement, three at most; long ones drawn again.

        Args:
            measured: an entry of the card.

        Raises:
            ValueError: the entry does not say which strings went wrong, or how they were drawn, or
                is of other strings than this task has; or as in `evaluate`.

        Example:
            >>> from torchalu.nn import DiagonalNeuralGPU
            >>> from torchalu.tasks import algorithm
            >>> learned = LearnedAlgorithm(DiagonalNeuralGPU(4, maps=6), algorithm("badd"))
            >>> entry = learned.measure([100], count=5).accuracy[0]
            >>> entry.failed_at, [len(text) for text in learned.failed_strings(entry)]
            ((0, 1, 2), [201, 201, 201])
        """
        if not measured.names_failures:
            raise ValueError(
                f"measured has {measured.count - measured.right} strings wrong and does not say "
                f"which; measure length {measured.length} again"
            )
        if not measured.failed_at:
            return list(measured.failed)
        if measured.kind != RANDOM:
            texts = self.adversarial(measured.length).get(measured.kind, [])
        elif measured.drawn_by:
            self._check_memory(measured.length, measured.count)
            task = uniform(self.task)
            texts = draw(task, measured.length, measured.count, measured.drawn_by)
        else:
            raise ValueError("measured has no drawn_by, so its strings are unknown; measure again")
        if len(texts) != measured.count:
            raise ValueError(
                f"measured is of {measured.count} strings of the kind {measured.kind!r}, and "
                f"{self.task.name!r} has {len(texts)} of length {measured.length}; measure again"
            )
        return [*measured.failed, *(texts[place] for place in measured.failed_at)]

    def evaluate_adversarial(self, length: int) -> dict[str, StringAccuracy]:
        """The share that is right of the strings on which learned algorithms fail first.

        Args:
            length: as in `evaluate`.

        Returns:
            By kind of string, as the task names them.

        Raises:
            TypeError: as in `evaluate`.
            ValueError: as in `evaluate`.
        """
        return {
            kind: string_accuracy(self.module, self.task, texts)
            for kind, texts in self.adversarial(length).items()
        }

    def measure(
        self, lengths: Sequence[int], count: int = 1000, seed: int = 0, *, adversarial: bool = True
    ) -> Card:
        """Measures, and writes the result on the card.

        Its random strings are uniform, whatever share of long carries the task draws elsewhere.

        Args:
            lengths: each is measured; what the card says of another length or kind stays.
            count: random strings of each length.
            seed: as in `evaluate`.
            adversarial: whether the adversarial strings are tried too.

        Returns:
            The new card.

        Raises:
            TypeError: as in `evaluate`.
            ValueError: as in `evaluate`.
        """
        measured = {(entry.length, entry.kind): entry for entry in self.card.measured}
        for length in lengths:
            self._check_draw(length, count, seed)
            numbers = drawn_by(length, seed)
            strings = {RANDOM: draw(uniform(self.task), length, count, numbers)}
            strings |= self.adversarial(length) if adversarial else {}
            for kind, texts in strings.items():
                result = string_accuracy(self.module, self.task, texts)
                by = numbers if kind == RANDOM else ()
                measured[length, kind] = Measurement.of(length, kind, texts, result, by)
        order = sorted(measured, key=lambda key: (key[0], key[1] != RANDOM, key[1]))
        entries = tuple(measured[key] for key in order)
        self.card = dataclasses.replace(self.card, measured=entries)
        return self.card

    def states(self, text: str) -> Iterator[Float[Tensor, "length width maps"]]:
        """The mental image of a string before the first step, after it, and so on to the last.

        Args:
            text: an input of the task.

        Raises:
            ValueError: it is no input of the task.
        """
        symbols, lengths = self._encoded([text])
        for state in self.module.states(symbols, lengths):
            yield state[0]

    def film(self, text: str, path: str | Path) -> None:
        """Writes a film of the mental image, a frame a step, as an animated GIF.

        Args:
            text: an input of the task.
            path: the file, which ends in .gif; an existing one is replaced.

        Raises:
            ValueError: the text is no input of the task, or too long for a film; another ending.
            OSError: the file cannot be written.
            ImportError: Pillow is missing (extra `images`).
        """
        check_film(path)
        symbols = self.symbols(text)
        steps = symbols + self.module.extra_steps
        check_film_size(self.module.width * self.module.maps, symbols, steps)
        write_film(path, self.states(text), text, self.run(text), steps=steps)

    def save(self, path: str | Path) -> None:
        """Writes module, task and card into one safetensors file, whole or not at all.

        Args:
            path: the file, which ends in .safetensors; an existing one is replaced.

        Raises:
            ValueError: another ending, weights that are not finite or in neither float32 nor
                float64.
            OSError: the file cannot be written.

        Example:
            >>> import tempfile
            >>> from torchalu.nn import DiagonalNeuralGPU
            >>> from torchalu.tasks import algorithm
            >>> learned = LearnedAlgorithm(DiagonalNeuralGPU(4, maps=6), algorithm("badd"))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     learned.save(Path(folder) / "mine.safetensors")
            ...     again = LearnedAlgorithm.load(Path(folder) / "mine.safetensors")
            >>> again.run("11+01") == learned.run("11+01")
            True
        """
        head = {"task": describe(self.task), "card": self.card.to_json()}
        write_algorithm(path, self.module, head)

    @classmethod
    def load(cls, path: str | Path, task: AlgorithmicTask | None = None) -> LearnedAlgorithm:
        """Reads what `save` wrote.

        Args:
            path: the file.
            task: the task, if the file is of one of your own and is to be measured: its rows are
                not in the file.

        Raises:
            AlgorithmFileError: the file is cut short, was changed, or is none of these; it is of
                another task or alphabet. A ValueError, whose message names the file and what to
                do.
            OSError: it cannot be read.
        """
        module, head = read_algorithm(path)
        try:
            known = recall(head.get("task"), task)
            return cls(module, known, Card.from_json(head.get("card", "")))
        except (TypeError, ValueError) as error:
            refuse(path, f"does not fit: {error}", "name another file or task")

    def _check_draw(self, length: int, count: int, seed: int) -> None:
        """Refuse numbers by which no strings can be drawn."""
        check_positive_integers(length=length, count=count)
        check_integers_from_zero(seed=seed)
        self._check_memory(length, count)

    def _check_memory(self, length: int, count: int) -> None:
        """Refuse strings that memory does not suffice for, before they are drawn."""
        if isinstance(self.task, StringFileTask):
            return  # its rows are there already
        what = f"length is {length} and count {count}"
        check_strings(self.module, self.task.symbols(length), count, what)

    def _answers(self, texts: list[str]) -> Iterator[str]:
        """The answers to texts that take the same number of symbols."""
        symbols = self.symbols(texts[0])
        device = self.module.gate_weight.device
        needed = unroll_bytes(self.module, 1, symbols)
        check_memory(needed, device, f"text needs {symbols} symbols")
        at_once = max(1, min(_SYMBOLS_AT_ONCE // symbols, free_bytes(device) // (2 * needed)))
        for start in range(0, len(texts), at_once):
            inputs, lengths = self._encoded(texts[start : start + at_once])
            with torch.no_grad():
                logits = self.module(inputs, lengths)
            for row in logits.argmax(-1).tolist():
                yield decode(self.task, row)

    def _encoded(
        self, texts: list[str]
    ) -> tuple[Int64[Tensor, "batch length"], Int64[Tensor, " batch"]]:
        """Texts as symbol numbers, and their lengths, where the module is."""
        batch = encode(self.task, texts, targets=False)
        device = self.module.gate_weight.device
        return batch.inputs.to(device), batch.lengths.to(device)


def _with_later_options(card: Card, module: NeuralGPUBase) -> Card:
    """The card, with the defaults of options that are younger than it."""
    options = signature(type(module)).parameters
    young = {
        name: options[name].default
        for name in module.configuration()
        if name not in card.configuration and options[name].default is not Parameter.empty
    }
    return dataclasses.replace(card, configuration={**card.configuration, **young})
