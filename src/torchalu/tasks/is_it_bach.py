"""Excerpts of Bach's chorales, half of them corrupted: which are genuine?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float, Int64

from torchalu.arguments import check_positive_integers
from torchalu.tasks.chorales import VOICES, Chorale

if TYPE_CHECKING:
    from torch import Tensor

ChoralePart = Literal["train", "validation", "test"]

_SHARES = 0.8, 0.9  # where the groups that train end, and those that validate
_BATCHES, _PAIRS = 0, 1  # streams of random numbers


class ExcerptBatch(NamedTuple):
    """Excerpts, and whether they are Bach's.

    Attributes:
        features: for each step and voice, 1 at the voice's pitch and 0 elsewhere.
        targets: 1 for a genuine excerpt, 0 for a corrupted one.
    """

    features: Float[Tensor, "batch features"]
    targets: Float[Tensor, "batch 1"]


class IsItBach:
    r"""Excerpts in four parts, half genuine, half with some notes replaced.

    An excerpt is what the four voices sound on `steps` beats in a row; it begins on a beat, and
    no voice rests. A corrupted one is a genuine one in which each note is replaced with
    probability `rate`, and one note in any case. The new pitch is drawn from what that voice
    sings in the training chorales, other than the present pitch, by how often it does.

    Chorales that share two measures, in whatever key, are in the same part, so that nobody is
    tested on what was to be learned. The parts are the same for each seed.

    Args:
        chorales: what `load_chorales` gives; all of them, of which the part is taken.
        part: "train" (80 % of the groups of chorales), "validation" or "test" (10 % each).
        steps: beats in an excerpt.
        resolution: sixteenths in a beat: 4 for quarter notes.
        rate: the probability that a note is replaced, in (0, 1].
        seed: settles batches and corruptions.

    Shape:
        - features: (batch, steps * 4 * pitches), pitches being those of all excerpts.

    Raises:
        ValueError: an unknown part, a number that is not positive, a rate out of bounds, or
            chorales without an excerpt in the part.

    Source:
        Lowe et al. 2022, section 4.2. The main text says that negative examples are stochastically
        corrupted excerpts; how, how long an excerpt is and how it is put into features stands in
        appendix A.13, which was not at hand. Ours are the choices above.

    Example:
        >>> voices = np.tile(np.array([[60, 55, 52, 48], [62, 57, 50, 47]], np.int16), (8, 1))
        >>> chorales = [Chorale(str(i), i, voices) for i in range(10)]
        >>> task = IsItBach(chorales, "train", steps=2, resolution=1)
        >>> len(task), task.in_features
        (120, 128)
        >>> batch = task.batch(0, batch_size=4)
        >>> batch.targets.flatten()
        tensor([1., 0., 1., 0.])
        >>> batch.features.sum(1)
        tensor([8., 8., 8., 8.])
    """

    def __init__(
        self,
        chorales: Sequence[Chorale],
        part: ChoralePart = "train",
        steps: int = 8,
        resolution: int = 4,
        rate: float = 0.1,
        seed: int = 0,
    ) -> None:
        if part not in get_args(ChoralePart):
            raise ValueError(f"part is {part!r}; choose from {', '.join(get_args(ChoralePart))}")
        check_positive_integers(steps=steps, resolution=resolution)
        if not 0 < rate <= 1:
            raise ValueError(f"rate is {rate}; give a probability greater than 0, 1 at most")
        self.part: ChoralePart = part
        self.steps, self.rate, self.seed = steps, rate, seed
        parts = _parts(chorales)
        found = {name: _excerpts(parts[name], steps, resolution) for name in parts}
        for name in ("train", part):
            if not len(found[name]):
                raise ValueError(
                    f"chorales has {len(chorales)} chorales, of which the part {name!r} holds no "
                    f"excerpt of {steps} steps; give more chorales or ask for fewer steps"
                )
        sounding = np.concatenate(list(found.values()))
        self.lowest, self.pitches = int(sounding.min()), int(np.ptp(sounding)) + 1
        self.excerpts: Int64[np.ndarray, "excerpts steps 4"] = found[part] - self.lowest
        sung = (found["train"] - self.lowest).reshape(-1, len(VOICES)).T
        self._counts = np.stack([np.bincount(one, minlength=self.pitches) for one in sung])
        alone = np.count_nonzero(self._counts, axis=1) < 2
        if alone.any():
            raise ValueError(
                f"chorales has training excerpts whose {VOICES[int(alone.argmax())].lower()} sings "
                "one pitch, which nothing can replace; give more chorales"
            )

    @property
    def in_features(self) -> int:
        """How many features an excerpt has."""
        return self.steps * len(VOICES) * self.pitches

    def __len__(self) -> int:
        return len(self.excerpts)

    def batch(self, step: int, batch_size: int = 64) -> ExcerptBatch:
        """The batch of a training step, genuine and corrupted excerpts in turn.

        Excerpts are drawn afresh, and so are their corruptions; they follow from the seed and the
        number of the step alone.

        Args:
            step: the number of the step, from 0.
            batch_size: excerpts in a batch.

        Raises:
            ValueError: `batch_size` is not positive.
        """
        check_positive_integers(batch_size=batch_size)
        random = np.random.default_rng([self.seed, _BATCHES, step])
        chosen = self.excerpts[random.integers(len(self), size=batch_size)]
        chosen[1::2] = self.corrupt(chosen[1::2], random)
        return self._features(chosen, np.arange(batch_size) % 2 == 0)

    def pairs(self) -> ExcerptBatch:
        """Each excerpt of the part once genuine and then once corrupted, always the same way."""
        random = np.random.default_rng([self.seed, _PAIRS])
        both = np.stack((self.excerpts, self.corrupt(self.excerpts, random)), 1)
        both = both.reshape(-1, self.steps, len(VOICES))
        return self._features(both, np.arange(len(both)) % 2 == 0)

    def corrupt(
        self, excerpts: Int64[np.ndarray, "excerpts steps 4"], random: np.random.Generator
    ) -> Int64[np.ndarray, "excerpts steps 4"]:
        """Excerpts with some notes replaced.

        Args:
            excerpts: pitches, less the lowest one; they stay as they are.
            random: where the random numbers come from.
        """
        replaced = random.random(excerpts.shape) < self.rate
        flat = replaced.reshape(len(excerpts), -1)
        some = random.integers(flat.shape[1], size=len(flat))
        untouched = ~flat.any(1)
        flat[untouched, some[untouched]] = True
        voices = np.broadcast_to(np.arange(len(VOICES)), excerpts.shape)
        corrupted = excerpts.copy()
        corrupted[replaced] = self._other(excerpts[replaced], voices[replaced], random)
        return corrupted

    def _other(
        self,
        pitches: Int64[np.ndarray, " notes"],
        voices: Int64[np.ndarray, " notes"],
        random: np.random.Generator,
    ) -> Int64[np.ndarray, " notes"]:
        """A pitch of the same voice for each note, by its count, and not the note's own."""
        ends = self._counts.cumsum(1)
        own = self._counts[voices, pitches]
        drawn = random.integers(ends[voices, -1] - own)
        drawn += np.where(drawn >= ends[voices, pitches] - own, own, 0)
        return (drawn[:, None] >= ends[voices]).sum(1)

    def _features(
        self, excerpts: Int64[np.ndarray, "batch steps 4"], genuine: Bool[np.ndarray, " batch"]
    ) -> ExcerptBatch:
        """Excerpts as features and targets."""
        import torch

        features = torch.zeros(*excerpts.shape, self.pitches)
        features.scatter_(-1, torch.from_numpy(excerpts).unsqueeze(-1), 1.0)
        return ExcerptBatch(
            features.flatten(1), torch.from_numpy(genuine.astype(np.float32)).unsqueeze(1)
        )


def _parts(chorales: Sequence[Chorale]) -> dict[ChoralePart, list[Chorale]]:
    """The chorales of each part, by their group, the same at any time."""
    groups = np.unique([chorale.group for chorale in chorales])
    order = np.random.default_rng(0).permutation(groups)
    ends = [round(share * len(order)) for share in _SHARES]
    held = dict(zip(get_args(ChoralePart), np.split(order, ends), strict=True))
    return {part: [one for one in chorales if one.group in held[part]] for part in held}


def _excerpts(
    chorales: Sequence[Chorale], steps: int, resolution: int
) -> Int64[np.ndarray, "excerpts steps 4"]:
    """All that some chorales hold; minus signs, which tell held notes, are dropped."""
    found = [np.empty((0, steps, len(VOICES)), np.int64)]
    for chorale in chorales:
        beats = abs(chorale.voices[::resolution].astype(np.int64))
        if len(beats) >= steps:
            windows = np.lib.stride_tricks.sliding_window_view(beats, steps, axis=0)
            windows = windows.transpose(0, 2, 1)
            found.append(windows[(windows > 0).all((1, 2))])
    return np.concatenate(found)
