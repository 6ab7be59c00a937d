"""The cache of embeddings: what it holds, and what it does when it was broken off or damaged."""

import pytest
import torch

from torchalu.experiments.lowe2022 import embeddings as module
from torchalu.experiments.lowe2022.embeddings import embedding_folder, embeddings
from torchalu.tasks import DataError

IMAGES = torch.randint(
    256, (7, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
)
EXPECTED = IMAGES.double().mean((2, 3)) * 2


class Means:
    """Twice the mean of each color, and a count of the pictures that were asked for."""

    def __init__(self, factor=2.0, stop=99):
        self.factor, self.stop, self.pictures = torch.tensor(factor), stop, 0

    def embed(self, images):
        if self.pictures + len(images) > self.stop:
            raise KeyboardInterrupt
        self.pictures += len(images)
        return images.float().mean((2, 3)) * self.factor

    def state_dict(self):
        return {"factor": self.factor}


def test_embeddings_are_computed_once(tmp_path):
    encoder, seen = Means(), []
    for _ in range(2):
        found = embeddings(IMAGES, encoder, tmp_path, 3, lambda *done: seen.append(done))
        torch.testing.assert_close(found, EXPECTED.float())
    assert encoder.pictures == 7
    assert all(total == 7 for _, total in seen)
    for dones in ([done for done, _ in call] for call in (seen[:3], seen[3:])):
        assert dones == sorted(set(dones))
        assert dones[-1] == 7
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "000000-000003.safetensors",
        "000003-000006.safetensors",
        "000006-000007.safetensors",
    ]


def test_batches_do_not_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 2)
    torch.testing.assert_close(embeddings(IMAGES, Means(), tmp_path), EXPECTED.float())


def test_a_run_that_was_broken_off_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        embeddings(IMAGES, Means(stop=5), tmp_path, chunk=3)
    (folder,) = tmp_path.iterdir()
    ranges = [path.stem.split("-") for path in folder.iterdir()]
    written = sum(int(end) - int(first) for first, end in ranges)
    assert 3 <= written <= 4
    encoder = Means()
    torch.testing.assert_close(embeddings(IMAGES, encoder, tmp_path, chunk=3), EXPECTED.float())
    assert encoder.pictures == 7 - written


def test_what_another_computes_meanwhile_is_not_computed_again(tmp_path):
    inner, outer = Means(), Means()

    class Interrupted(Means):
        """While it is at its first chunk, another call computes all there is."""

        def embed(self, images):
            if not inner.pictures:
                embeddings(IMAGES, inner, tmp_path, chunk=3)
            return outer.embed(images)

    Interrupted.__name__ = "Means"
    found = embeddings(IMAGES, Interrupted(), tmp_path, chunk=3)
    torch.testing.assert_close(found, EXPECTED.float())
    assert inner.pictures == 7
    assert outer.pictures <= 3


def test_other_pictures_weights_and_encoders_have_folders_of_their_own(tmp_path):
    class Others(Means):
        pass

    changed = IMAGES.clone()
    changed[6, 2, 7, 7] += 1
    folders = {
        embedding_folder(IMAGES, Means(), tmp_path),
        embedding_folder(changed, Means(), tmp_path),
        embedding_folder(IMAGES.transpose(2, 3), Means(), tmp_path),
        embedding_folder(IMAGES.reshape(7, 3, 4, 16), Means(), tmp_path),
        embedding_folder(IMAGES, Means(factor=3.0), tmp_path),
        embedding_folder(IMAGES, Others(), tmp_path),
    }
    assert len(folders) == 6
    assert embedding_folder(IMAGES.clone(), Means(stop=1), tmp_path) in folders


def test_the_cache_is_the_platform_s_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert embedding_folder(IMAGES, Means()).parent == tmp_path / "torchalu" / "embeddings"


@pytest.mark.parametrize("damage", ["cut", "text", "rows", "name", "nan"])
def test_a_damaged_file_is_named_and_nothing_is_made_up(tmp_path, damage):
    embeddings(IMAGES, Means(), tmp_path, chunk=3)
    path = next(tmp_path.rglob("000003*"))
    tensor = torch.zeros(3, 3)
    path.write_bytes({
        "cut": path.read_bytes()[:-1],
        "text": b"text",
        "rows": module.save({"embeddings": tensor[:2]}),
        "name": module.save({"others": tensor}),
        "nan": module.save({"embeddings": tensor / 0}),
    }[damage])  # fmt: skip
    with pytest.raises(DataError, match=r"000003-000006\.safetensors' .*; remove it"):
        embeddings(IMAGES, Means(), tmp_path, chunk=3)


@pytest.mark.parametrize(("images", "chunk"), [(IMAGES, 0), (IMAGES[:0], 3)])
def test_nothing_to_embed(tmp_path, images, chunk):
    with pytest.raises(ValueError, match="give at least one of each"):
        embeddings(images, Means(), tmp_path, chunk)
