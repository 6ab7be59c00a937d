"""Outcomes of runs, against a plain loop over the records of each run."""

import math

import numpy as np
import polars as pl
import pytest

from torchalu.engine import train
from torchalu.evaluate import outcomes, threshold
from torchalu.nn import NAU
from torchalu.tasks import SimpleFunction

SCHEMA = {
    "replica": pl.UInt64,
    "step": pl.Int64,
    "validation_loss": pl.Float64,
    "extrapolation_loss": pl.Float64,
    "sparsity_error": pl.Float64,
}
NAN = float("nan")


def frame(*rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def by_hand(rows, limit):
    """The published rule, for the rows of one run in the order of their steps."""
    best = None
    for row in rows:
        loss = row["validation_loss"]
        if not math.isnan(loss) and (best is None or loss < best["validation_loss"]):
            best = row
    ended = math.isfinite(rows[-1]["validation_loss"])
    solved = best is not None and best["extrapolation_loss"] < limit and ended
    first = next((row["step"] for row in rows if row["extrapolation_loss"] < limit), None)
    return {
        "replica": rows[0]["replica"],
        "solved": solved,
        "solved_at_step": first if solved else None,
        "sparsity_error": best and best["sparsity_error"],
        "best_step": best and best["step"],
        "validation_loss": best and best["validation_loss"],
        "extrapolation_loss": best and best["extrapolation_loss"],
        "steps": rows[-1]["step"],
        "status": "finished" if ended else "nan",
    }


def test_random_records():
    generator = np.random.default_rng(0)
    rows = []
    for replica in range(200):
        count = int(generator.integers(1, 12))
        losses = generator.integers(1, 6, (count, 2)).astype(float)  # ties are common
        losses[:, 1] += generator.random(count)
        broken = generator.random() < 0.3
        losses[count - 1 if broken else count :] = NAN
        rows += [
            (replica, 1000 * (k + 1), *pair, generator.random())
            for k, pair in enumerate(losses.tolist())
        ]
    records = frame(*rows)
    shuffled = records.sample(fraction=1.0, shuffle=True, seed=1)
    expected = [
        by_hand(list(group.iter_rows(named=True)), 2.5) for group in records.partition_by("replica")
    ]
    assert len({(row["solved"], row["status"]) for row in expected}) == 3
    assert outcomes(shuffled, 2.5).rows(named=True) == expected


@pytest.mark.parametrize(
    ("rows", "solved", "at", "best"),
    [
        ([(1, 0.5, 0.1), (2, 0.4, 9.0)], False, None, 2),  # was below, but not at the best step
        ([(1, 0.5, 9.0), (2, 0.4, 0.1), (3, 0.4, 9.0)], True, 2, 2),  # the first of two
        ([(1, 0.5, 0.1), (2, 0.4, 9.0), (3, 0.3, 0.1)], True, 1, 3),
        ([(1, 0.5, 0.1), (2, NAN, NAN)], False, None, 1),
        ([(1, NAN, NAN)], False, None, None),
        ([(1, 0.5, NAN)], False, None, 1),
        ([(1, 0.5, None)], False, None, 1),  # a table has no extrapolation range
        ([(1, 0.5, 1.0)], False, None, 1),  # below means below
    ],
)
def test_rule(rows, solved, at, best):
    records = frame(*((0, *row, 0.25) for row in rows))
    row = outcomes(records, 1.0).row(0, named=True)
    assert (row["solved"], row["solved_at_step"], row["best_step"]) == (solved, at, best)
    assert row["status"] == ("nan" if math.isnan(rows[-1][1]) else "finished")


def test_of_a_training_run():
    task = SimpleFunction("sub", in_features=2, subsets=((0,), (1,)))
    result = train(
        [NAU(2, 1)], task, replicas=3, steps=3000, learning_rate=0.01, evaluate_every=500
    )
    row = outcomes(result.records, threshold(task))
    assert row["solved"].all()
    assert row["replica"].to_list() == [0, 1, 2]
    np.testing.assert_array_equal(row["validation_loss"], result.validation_loss)
    assert row["steps"].to_list() == [3000] * 3


def test_other_keys_and_no_rows():
    records = frame((0, 1, 0.1, 0.1, 0.0)).with_columns(model=pl.lit("NMU"), seed=pl.lit(4))
    row = outcomes(records, 1.0, by=("model", "seed"))
    assert row.columns[:3] == ["model", "seed", "solved"]
    assert outcomes(records.clear(), 1.0, by=("model", "seed")).schema == row.schema


def test_arguments():
    records = frame((0, 1, 0.1, 0.1, 0.0))
    with pytest.raises(ValueError, match="no column 'seed'; it has"):
        outcomes(records, 1.0, by=("seed",))
    with pytest.raises(TypeError, match=r"^by is 'replica'; give a list of strings$"):
        outcomes(records, 1.0, by="replica")
    for wrong in (0.0, NAN):
        with pytest.raises(ValueError, match=f"threshold is {wrong}; give a positive"):
            outcomes(records, wrong)


def test_of_two_rows_of_a_step_the_later_one_is_the_last():
    """A run may diverge on the batch after an evaluation; both records have its step."""
    rows = [
        {"replica": replica, "step": 1000 * step, "training_loss": loss, "validation_loss": loss,
         "extrapolation_loss": loss, "sparsity_error": 0.0}
        for replica in range(300)
        for step, loss in ((0, 0.5), (1, 0.1), (1, math.nan))
    ]  # fmt: skip
    records = pl.DataFrame(rows)
    by_model = pl.concat([records.filter(pl.col("replica") % 2 == odd) for odd in (1, 0)])
    ended = outcomes(by_model, threshold=1.0)
    assert set(ended["status"]) == {"nan"}
    assert ended["solved"].sum() == 0
