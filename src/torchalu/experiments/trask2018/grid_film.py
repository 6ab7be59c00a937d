"""Films of agents in the grid world, and pictures of some of their frames."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8

from torchalu.experiments.trask2018.grid_agent import GridAgent
from torchalu.experiments.trask2018.grid_episodes import play
from torchalu.experiments.trask2018.stored import stored_agent
from torchalu.tasks import GridRules, GridWorlds
from torchalu.train import write_atomic
from torchalu.zoo.film import check_film, pillow, write_frames

_SCALE, _LINE, _MARGIN = 5, 18, 6
_FRAME_MILLISECONDS, _LAST_MILLISECONDS = 400, 2500
_INK, _PAPER = (20, 20, 20), (255, 255, 255)


@torch.no_grad()
def frames(
    agent: GridAgent, rules: GridRules, agent_cell: int, target_cell: int, instruction: int
) -> list[Any]:
    """The frames of an episode, as the agent plays it without noise.

    Args:
        agent: who acts.
        rules: of the world.
        agent_cell: where it starts; cells are numbered row by row.
        target_cell: where it should go.
        instruction: T.

    Returns:
        Pillow images, one a time; below the world stand the time, T, and at the end the reward.

    Raises:
        ValueError: as `GridWorlds.place`.
        ImportError: Pillow is missing.
    """
    worlds = GridWorlds(1, rules)
    worlds.place(0, agent_cell, target_cell, instruction)
    seen: list[tuple[UInt8[np.ndarray, "pixels pixels 3"], int]] = []
    episodes = play(
        agent, worlds, watch=lambda: seen.append((worlds.view().images[0], int(worlds.times[0])))
    )
    texts = [f"t = {time}   T = {instruction}" for _, time in seen]
    end = "on the target" if episodes.arrived[0] else "timed out"
    texts[-1] += f"   {end}: {episodes.rewards[0]:.2f}"
    return [_frame(image, text) for (image, _), text in zip(seen, texts, strict=True)]


def film(
    run: str | Path,
    path: str | Path,
    *,
    model: str = "NAC-summing",
    instruction: int = 19,
    start: tuple[int, int] = (0, 24),
) -> None:
    """Write a film of an episode as an animated GIF, a frame a time.

    Args:
        run: folder of a run of `trask2018.grid_world`.
        path: the file, which ends in .gif; an existing one is replaced.
        model: the agent's name; of its seeds the one that validates best.
        instruction: T.
        start: the cells of agent and target.

    Raises:
        ValueError: another ending, no such agent, or a start that is not on the grid.
        OSError: the file cannot be written.
        ImportError: Pillow is missing.

    Example:
        >>> film("runs/none", "episode.gif")
        Traceback (most recent call last):
        ...
        ValueError: 'runs/none' is no run folder of `torchalu run trask2018.grid_world`; ...
    """
    check_film(path)
    stored = stored_agent(run, model)
    write_frames(
        path,
        frames(stored.agent, stored.training.rules(), *start, instruction),
        _FRAME_MILLISECONDS,
        _LAST_MILLISECONDS,
    )


def strip(
    run: str | Path,
    path: str | Path,
    *,
    model: str = "NAC-summing",
    instruction: int = 19,
    start: tuple[int, int] = (0, 24),
    count: int = 6,
) -> None:
    """Write some frames of the same film side by side, as a PNG.

    Args:
        run: as in `film`, as are model, instruction and start.
        path: the file; an existing one is replaced.
        model: the agent's name.
        instruction: T.
        start: the cells of agent and target.
        count: how many frames, the first and the last among them.

    Raises:
        ValueError: no such agent, a start that is not on the grid, or fewer than two frames.
        OSError: the file cannot be written.
        ImportError: Pillow is missing.
    """
    if count < 2:
        raise ValueError(f"count is {count}; give 2 or more")
    image, _, _ = pillow()
    stored = stored_agent(run, model)
    every = frames(stored.agent, stored.training.rules(), *start, instruction)
    places = np.unique(np.linspace(0, len(every) - 1, count).round().astype(int)).tolist()
    width, height = every[0].size
    page = image.new("RGB", (width * len(places), height), _PAPER)
    for column, place in enumerate(places):
        page.paste(every[place], (width * column, 0))
    buffer = io.BytesIO()
    page.save(buffer, format="PNG")
    write_atomic(path, buffer.getvalue())


def _frame(picture: UInt8[np.ndarray, "pixels pixels 3"], text: str) -> Any:
    """A picture of the world, enlarged, with a line of text below."""
    image, draw, font = pillow()
    world = image.fromarray(picture.repeat(_SCALE, 0).repeat(_SCALE, 1))
    size = world.width + 2 * _MARGIN, world.height + 2 * _MARGIN + _LINE
    page = image.new("RGB", size, _PAPER)
    page.paste(world, (_MARGIN, _MARGIN))
    middle = world.height + _MARGIN + _LINE // 2 + _MARGIN // 2
    draw.Draw(page).text((_MARGIN, middle), text, fill=_INK, font=font, anchor="lm")
    return page
