"""Small studies for the tests of sweeps; in a module that other processes import."""

import hashlib
import os
import resource
import time
from pathlib import Path

import polars as pl
import torch

from torchalu.engine import train
from torchalu.nn import NAU
from torchalu.tasks import SimpleFunction
from torchalu.train import Chunk, Part


class Subtraction:
    """Really trained: an NAU on x0 - x1, a chunk a seed."""

    name = "tests.subtraction"
    keys = ("operation", "seed")
    extent = frozenset({"seeds"})

    def __init__(self, seeds=6, steps=1000):
        self.configuration = {"seeds": seeds, "steps": steps, "stack": ["NAU", [2, 1]]}
        self.seeds, self.steps = seeds, steps

    def chunks(self):
        return [Chunk(f"sub-{seed}", float(self.steps)) for seed in range(self.seeds)]

    def run(self, chunk, scratch, report):
        seed = int(chunk.name.removeprefix("sub-"))
        report(0.0)
        result = train(
            [NAU(2, 1)],
            SimpleFunction("sub", in_features=2, subsets=((0,), (1,))),
            steps=self.steps,
            replicas=[seed],
            learning_rate=0.01,
            evaluate_every=100,
            threads=1,
        )
        row = result.records.sort("validation_loss", "step").head(1)
        outcomes = row.select(
            pl.lit("sub").alias("operation"),
            pl.lit(seed).cast(pl.Int64).alias("seed"),
            (pl.col("extrapolation_loss") < 1e-8).alias("solved"),
            "validation_loss",
            solved_at_step=pl.lit(None, dtype=pl.Int64),
        )
        return Part(result.records, outcomes, result.best_parameters)

    def summarize(self, outcomes):
        table = outcomes.group_by("operation", maintain_order=True)
        return {"subtraction": table.agg(seeds=pl.len(), solved=pl.col("solved").sum())}


class Digests:
    """Arithmetic without meaning, whose time, failures and checkpoints a test can choose."""

    name = "tests.digests"
    keys = ("seed",)
    extent = frozenset({"seeds"})

    def __init__(self, seeds=6, seconds=0.0, fail=(), rounds=20, hang=None):
        self.configuration = {"seeds": seeds, "rounds": rounds}
        self.seeds, self.seconds, self.fail, self.rounds = seeds, seconds, fail, rounds
        self.hang = hang

    def chunks(self):
        return [Chunk(f"seed-{seed}", 1.0 + seed) for seed in range(self.seeds)]

    def run(self, chunk, scratch: Path, report):
        seed = int(chunk.name.removeprefix("seed-"))
        if seed in self.fail:
            raise ValueError("no such number")
        if seed == self.hang:
            time.sleep(3600)
        values = []
        for step in range(self.rounds):
            report(step / self.rounds)
            time.sleep(self.seconds / self.rounds)
            values.append(int(hashlib.sha256(f"{seed},{step}".encode()).hexdigest()[:8], 16))
            (scratch / "round").write_text(str(step))
        records = pl.DataFrame({"seed": seed, "step": range(self.rounds), "value": values})
        return Part(records, pl.DataFrame({"seed": [seed], "value": [sum(values)]}))

    def summarize(self, outcomes):
        return {"digests": outcomes.select(seeds=pl.len(), mean=pl.col("value").mean())}


class Apart(Digests):
    """The same in processes, which leave their numbers in a folder; one can end early."""

    name = "tests.apart"
    interpreted = True

    def __init__(self, seeds=6, *, pids, die=None, odd=None, **options):
        super().__init__(seeds, **options)
        self.pids, self.die, self.odd = Path(pids), die, odd

    def run(self, chunk, scratch, report):
        (self.pids / str(os.getpid())).touch()
        if chunk.name == f"seed-{self.die}":
            os._exit(3)
        if chunk.name == f"seed-{self.odd}":
            raise Unsendable(lambda: None)
        begin = time.process_time()
        while time.process_time() < begin + 0.1:
            pass
        return super().run(chunk, scratch, report)


class Faults(Apart):
    """How many pages the system gives for memory of the size of some that was just freed."""

    def run(self, chunk, scratch, report):
        torch.ones(2**24)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        torch.ones(2**24)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        seed = int(chunk.name.removeprefix("seed-"))
        row = {"seed": seed, "value": faults, "tunables": os.environ["GLIBC_TUNABLES"]}
        return Part(pl.DataFrame(), pl.DataFrame([row]))


class Unsendable(Exception):
    """An error that no other process can be sent."""

    def __reduce__(self):
        raise TypeError("it cannot be sent")

    def __str__(self):
        return "of an odd kind"
