"""How much memory is free: what the machine leaves, and the group of the process."""

import torch

from torchalu.evaluate import free_bytes


def test_memory_that_is_free_is_what_the_machine_and_the_group_of_the_process_leave(
    monkeypatch, tmp_path
):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable:   500 kB\n")
    monkeypatch.setattr("torchalu.evaluate.memory._MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr("torchalu.evaluate.memory._CGROUP", tmp_path)
    free = []
    for most, used in (("max", 1), ("400000", 300_000), ("400000", 500_000), ("900000", 1000)):
        (tmp_path / "memory.max").write_text(f"{most}\n")
        (tmp_path / "memory.current").write_text(f"{used}\n")
        free.append(free_bytes(torch.device("cpu")))
    assert free == [512_000, 100_000, 0, 512_000]
