"""Units whose weights two processes share (FSDP2), against one process that has them whole."""

import json
import os
import subprocess
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from torchalu import nn
from torchalu.export import snap

INPUT = torch.linspace(-1, 2, 12).reshape(3, 4)


def make_model():
    generator = torch.Generator().manual_seed(0)
    options = {"generator": generator, "dtype": torch.float64}
    return torch.nn.Sequential(
        nn.NAU(4, 4, **options), nn.NALU(4, 4, **options), nn.NMU(4, 2, **options)
    )


def train(model):
    """Penalties of three steps, the weights after them, and what snapping them says."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    penalties = []
    for _ in range(3):
        loss = model(INPUT.double()).square().mean()
        penalties.append(nn.penalty(model))
        (loss + 0.5 * penalties[-1]).backward()
        optimizer.step()
        optimizer.zero_grad()
    state = model.state_dict().items()
    whole = {k: (v.full_tensor() if hasattr(v, "full_tensor") else v).tolist() for k, v in state}
    report = json.loads(snap(model).to_json())
    return {"penalties": [p.item() for p in penalties], "weights": whole, "snapped": report}


def run_rank(rank, rendezvous, result):
    dist.init_process_group(
        "gloo",
        init_method=f"file://{rendezvous}",
        rank=rank,
        world_size=2,
        timeout=timedelta(seconds=120),
    )
    mesh = init_device_mesh("cpu", (2,))
    model = make_model()
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    outcome = train(model)
    broken = make_model()
    with torch.no_grad():
        broken[0].weight[-1, -1] = torch.nan  # in the rows of the second process
    fully_shard(broken, mesh=mesh)
    try:
        snap(broken)
    except ValueError as error:
        outcome["refused"] = str(error)
    with open(result, "w", encoding="utf-8") as file:
        json.dump(outcome, file)
    dist.barrier()
    os._exit(0)  # without what torch's threads do at the end, which now and then is an abort


def test_training_penalty_and_snapping_are_those_of_one_process(tmp_path):
    results = [tmp_path / f"{rank}.json" for rank in range(2)]
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__, str(rank), str(tmp_path / "rendezvous"), str(result)],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, result in enumerate(results)
    ]
    try:
        errors = [process.communicate(timeout=180)[1] for process in ranks]
    finally:
        for process in ranks:
            process.kill()
    assert [process.returncode for process in ranks] == [0, 0], errors
    expected = train(make_model())
    for result in results:
        got = json.loads(result.read_text("utf-8"))
        torch.testing.assert_close(got["penalties"], expected["penalties"])
        for name, values in expected["weights"].items():
            torch.testing.assert_close(got["weights"][name], values)
        for entry, want in zip(
            got["snapped"]["entries"], expected["snapped"]["entries"], strict=True
        ):
            assert (entry["name"], entry["count"]) == (want["name"], want["count"])
            assert entry["moved"] == want["moved"]
            torch.testing.assert_close(entry["largest_move"], want["largest_move"])
            torch.testing.assert_close(entry["mean_move"], want["mean_move"])
        assert got["refused"].startswith("0.weight has 1 of 16 elements that are NaN")


if __name__ == "__main__":
    run_rank(int(sys.argv[1]), *sys.argv[2:])
