"""Films: frames, sizes, shades, and the file that holds them."""

import numpy as np
import pytest
import torch
from PIL import Image

from torchalu.zoo.film import check_film, check_film_size, frames, shades, write_film


@pytest.fixture
def states():
    """A mental image of five positions, two columns and three maps, and what becomes of it."""
    generator = torch.Generator().manual_seed(0)
    return [2 * torch.rand(5, 2, 3, generator=generator) - 1 for _ in range(6)]


def cells(frame, rows, positions):
    """The middle pixel of each cell, found by the frame's black border."""
    page = np.asarray(frame)
    left, top = 55, 8
    assert (page[top, left:] == 0).sum() == page.shape[1] - left - 8
    width = (np.flatnonzero(page[top] == 0)[-1] - left - 1) // positions
    height = next(h for h in range(2, 17) if (page[top + 1 + h * rows, left:-8] == 0).all())
    assert page[top + 1 + height * rows, left] == 0
    body = page[top + 1 : top + 1 + height * rows, left + 1 : left + 1 + width * positions]
    blocks = body.reshape(rows, height, positions, width)
    assert (blocks == blocks[:, :1, :, :1]).all()
    return blocks[:, 0, :, 0]


def test_minus_one_is_white_and_one_is_black():
    state = torch.tensor([-1.0, 1.0, 0.0, -9.0, 9.0, 0.5]).reshape(1, 1, 6)
    assert shades(state).flatten().tolist() == [255, 0, 128, 255, 0, 64]


def test_rows_are_the_maps_of_one_column_after_the_other(states):
    gray = shades(states[0])
    assert gray.shape == (6, 5)
    for position in range(5):
        for column in range(2):
            for number in range(3):
                value = float(states[0][position, column, number])
                assert abs(gray[3 * column + number, position] - 127.5 * (1 - value)) <= 0.5


def test_nan_is_refused():
    with pytest.raises(ValueError, match="holds NaN"):
        shades(torch.full((1, 1, 3), torch.nan))


def test_a_frame_a_state_with_its_cells(states):
    made = list(frames(states, "11+01", "001", 5))
    assert len(made) == 6
    for frame, state in zip(made, states, strict=True):
        assert frame.mode == "L"
        np.testing.assert_array_equal(cells(frame, 6, 5), shades(state))


def test_input_answer_and_step_are_written_below(states):
    def below(text, answer, step):
        return np.asarray(list(frames(states[:1] * (step + 1), text, answer, 5))[step])[-44:]

    plain = below("11+01", "001", 0)
    for other in (below("11+00", "001", 0), below("11+01", "000", 0), below("11+01", "001", 1)):
        assert (plain != other).any()
    np.testing.assert_array_equal(plain, below("11+01", "001", 0))


@pytest.mark.parametrize(("rows", "positions"), [(6, 1), (96, 41), (96, 200), (300, 3)])
def test_sizes(rows, positions):
    (frame,) = frames([torch.zeros(positions, 1, rows)], "1" * positions, "0", 1)
    np.testing.assert_array_equal(cells(frame, rows, positions), 128)


def test_the_file_holds_the_frames_exactly(states, tmp_path):
    path = tmp_path / "film.gif"
    write_film(path, states, "11+01", "001", steps=5)
    with Image.open(path) as film:
        assert film.format == "GIF"
        assert film.n_frames == 6
        for number, frame in enumerate(frames(states, "11+01", "001", 5)):
            film.seek(number)
            np.testing.assert_array_equal(np.asarray(film.convert("L")), np.asarray(frame))
            assert film.info["duration"] == (2000 if number == 5 else 120)


def test_a_state_that_stays_has_a_frame_for_each_step(tmp_path):
    path = tmp_path / "film.gif"
    write_film(path, [torch.zeros(3, 1, 3)] * 4, "101", "101", steps=3)
    with Image.open(path) as film:
        assert film.n_frames == 4


def test_a_film_that_nothing_would_show_is_refused_before_it_is_made(tmp_path):
    with pytest.raises(ValueError, match="does not end in"):
        check_film(tmp_path / "film.mp4")
    with pytest.raises(ValueError, match="does not exist; make it first"):
        check_film(tmp_path / "none" / "film.gif")
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(ValueError, match=r"folder.gif' is a folder; name a file in it"):
        check_film(tmp_path / "folder.gif")


@pytest.mark.parametrize("rows", [3, 96, 1000])
def test_the_limit_that_is_named_holds(rows):
    with pytest.raises(ValueError, match="pixels; allowed") as caught:
        check_film_size(rows, 10_000, 10_000)
    most = int(str(caught.value).split("at most ")[1].split()[0])
    check_film_size(rows, most, most)
    with pytest.raises(ValueError, match=f"at most {most} positions"):
        check_film_size(rows, most + 1, most + 1)
