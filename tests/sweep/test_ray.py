"""A sweep over a Ray cluster gives the records of a sweep on one machine."""

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from studies import Digests, Subtraction
from torchalu import sweep
from torchalu.train import RunFolder

TESTS = str(Path(__file__).parents[1])


@pytest.fixture
def ray(monkeypatch):
    """Ray, whose workers find the studies of the tests."""
    monkeypatch.setenv("PYTHONPATH", TESTS)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("ray", reason="the extra `ray` is not installed")
        yield module
        module.shutdown()


def parts(folder):
    """The bytes of all parts, by name."""
    files = (folder / "parts").iterdir()
    return {path.name: path.read_bytes() for path in files if path.suffix != ".json"}


def test_without_ray(tmp_path):
    program = (
        "import sys; sys.modules['ray'] = None\n"
        "from torchalu import sweep; from studies import Digests\n"
        "try: sweep.run(Digests(), sys.argv[1], engine='ray')\n"
        "except ImportError as error: print(error)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": TESTS},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip().endswith("install the extra: pip install 'torchalu[ray]'")
    assert not (tmp_path / "run").exists()


def test_one_node(tmp_path, ray):
    study = Subtraction(4)
    outcomes = sweep.run(study, tmp_path / "ray", engine="ray", workers=2)
    assert outcomes.equals(sweep.run(study, tmp_path / "local"))
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")
    assert not ray.is_initialized()
    with RunFolder(tmp_path / "ray", study) as folder:
        assert folder.core_hours > 0


@pytest.mark.long
def test_a_chunk_fails(tmp_path, ray):
    with pytest.raises(ValueError, match="no such number") as caught:
        sweep.run(Digests(6, fail=(2,)), tmp_path, engine="ray", workers=1)
    assert caught.value.__notes__ == ["(in chunk 'seed-2' of tests.digests)"]
    with RunFolder(tmp_path, Digests(6)) as folder:
        assert folder.done == ["seed-0", "seed-1"]


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "127.0.0.1:99999999"])
def test_no_cluster_at_the_address(tmp_path, ray, address):
    with pytest.raises(ConnectionError, match=f"address is '{address}', and no Ray cluster"):
        sweep.run(Digests(), tmp_path, engine="ray", address=address)


@pytest.mark.long
def test_a_node_is_lost(tmp_path, ray):
    from ray.cluster_utils import Cluster

    study = Digests(24, seconds=1.0)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    lost, _ = [cluster.add_node(num_cpus=2) for _ in range(2)]
    cluster.wait_for_nodes()
    seen = []

    def lose():
        while len(list((tmp_path / "ray" / "parts").glob("*.json"))) < 6:
            time.sleep(0.05)
        cluster.remove_node(lost, allow_graceful=False)
        seen.append(len(list((tmp_path / "ray" / "parts").glob("*.json"))))

    thread = threading.Thread(target=lose)
    thread.start()
    try:
        outcomes = sweep.run(study, tmp_path / "ray", engine="ray", address=cluster.address)
        thread.join()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert seen[0] < 24
    assert outcomes.equals(sweep.run(Digests(24), tmp_path / "local"))
    assert parts(tmp_path / "ray") == parts(tmp_path / "local")
