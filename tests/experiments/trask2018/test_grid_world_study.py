"""Figure 5 as a study: chunks, resume, tables from made-up outcomes, films."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from PIL import Image
from scipy import stats

from torchalu import sweep
from torchalu.experiments import get
from torchalu.experiments.seeds import Seeds
from torchalu.experiments.trask2018.grid_agent import UNITS
from torchalu.experiments.trask2018.grid_film import film, strip
from torchalu.experiments.trask2018.grid_summaries import by_instruction, reach, which_to_pick
from torchalu.experiments.trask2018.grid_training import GridTraining
from torchalu.experiments.trask2018.grid_world import grid_world, grid_world_search
from torchalu.experiments.trask2018.published_grid_world import PUBLISHED_REACH
from torchalu.experiments.trask2018.stored import stored_agent
from torchalu.tasks import GridRules
from torchalu.train import RunFolder, Stopped, encode

TINY = GridTraining(
    updates=20, worlds=3, evaluate_every=10, validation_episodes=4, core_size=16, unit_size=4
)
BRIEF = replace(TINY, updates=6, evaluate_every=3)


def study(*models, seeds=1, training=BRIEF):
    return grid_world(Seeds(seeds), models=models, training=training, instructions=(13, 13))


@pytest.mark.parametrize("model", UNITS)
def test_twenty_steps_of_each_agent(model, tmp_path):
    own = study(model, training=TINY)
    part = own.run(own.chunks()[0], tmp_path, lambda done: None)
    assert part.records["step"].to_list() == [10, 20]
    rows = part.outcomes
    assert rows.select("actions", "instruction").unique().height == rows.height == 2
    assert rows["steps"].unique().to_list() == [20]
    assert rows["validation_reward"][0] == part.records["validation_reward"].max()
    assert rows["reward"].is_between(0, rows["optimal_return"]).all()
    assert (rows["on_time"] <= rows["arrived"]).all()
    assert sum(weight.numel() for weight in part.weights.values()) == rows["parameters"][0]


@pytest.mark.usefixtures("every_step_reports")
def test_a_training_that_is_broken_off_goes_on_as_if_it_had_not_been(tmp_path):
    own, chunk, stopped = study("NAC"), study("NAC").chunks()[0], []

    def stop(done):
        stopped.append(done)
        raise Stopped("enough")

    for _ in range(3):
        with pytest.raises(Stopped):
            own.run(chunk, tmp_path / "broken", stop)
    assert 0 < stopped[0] < stopped[1] < stopped[2] < 0.5
    again = own.run(chunk, tmp_path / "broken", lambda done: None)
    whole = own.run(chunk, tmp_path / "whole", lambda done: None)
    assert encode(again) == encode(whole)


def test_a_search_looks_at_validation_episodes_alone(tmp_path):
    search = grid_world_search(
        Seeds(1), models=("LSTM",), learning_rates=(1e-3,), entropies=(0.0, 0.01), training=BRIEF
    )
    assert search.keys == ("model", "learning_rate", "entropy", "seed")
    parts = [search.run(chunk, tmp_path / chunk.name, lambda done: None)
             for chunk in search.chunks()]  # fmt: skip
    outcomes = pl.concat(part.outcomes for part in parts)
    assert "reward" not in outcomes.columns
    assert outcomes["entropy"].to_list() == [0.0, 0.01]
    table = search.summarize(outcomes)["grid_world_search"]
    assert table["validation_mean"].is_sorted(descending=True)


def test_what_settles_the_results_is_in_the_configuration():
    described = json.dumps(study("LSTM").configuration)
    for other in (
        study("NAC"),
        study("LSTM", seeds=2),
        grid_world(Seeds(1), models=("LSTM",), training=BRIEF, instructions=(12, 13)),
    ):
        assert json.dumps(other.configuration) != described


@pytest.mark.usefixtures("meta_device")
def test_a_device_is_described_unless_it_is_the_cpu():
    there = study("LSTM").settings[0].describe()["training"]
    elsewhere = study("LSTM", training=replace(BRIEF, device="meta")).settings[0].describe()
    assert "device" not in there
    assert elsewhere["training"] == there | {"device": "meta"}


def made_up():
    """Three agents: by validation seed 1 is best, by reach seed 2; optimal is 1 everywhere."""
    ends = {("LSTM", 0): 12, ("LSTM", 1): 13, ("LSTM", 2): 15, ("NAC", 0): 18, ("NAU", 0): 20}
    rows = [
        {
            "model": model, "actions": "greedy", "instruction": instruction, "seed": seed,
            "reward": 0.95 if instruction <= end else 0.5, "arrived": 1.0, "on_time": 0.5,
            "arrival_time": float(min(end, instruction)), "optimal_return": 1.0,
            "validation_reward": 0.99 if seed == 1 else 0.9,
        }
        for (model, seed), end in ends.items()
        for instruction in range(5, 21)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_how_far_agents_hold():
    table = {row["model"]: row for row in reach(made_up()).iter_rows(named=True)}
    lstm = table["LSTM"]
    assert [lstm[name] for name in ("seeds", "published", "chosen", "best", "median", "least")] == [
        3, 13, 13, 15, 13, 12,
    ]  # fmt: skip
    interval = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert lstm["reached"] == 2
    assert (lstm["reached_low"], lstm["reached_high"]) == pytest.approx(
        (interval.low, interval.high)
    )
    assert lstm["training_reward"] == pytest.approx(0.95)
    assert (table["NAC"]["published"], table["NAC"]["reached"]) == (19, 0)
    assert table["NAU"]["published"] is None
    assert table["NAU"]["reached"] is None
    assert table["NAU"]["best"] == 20


@pytest.mark.parametrize("least", [13, 20])
def test_nothing_is_said_of_how_far_agents_hold_that_were_not_tested_all_the_way(least):
    """An untrained agent that is told 20 and 21 alone has not reached 19."""
    rows = made_up().filter(pl.col("instruction") >= least).with_columns(reward=0.1)
    table = reach(rows)
    assert table.select("chosen", "best", "median", "least", "reached").null_count().row(0) == (
        3, 3, 3, 3, 3,
    )  # fmt: skip
    (row,) = which_to_pick(rows).rows(named=True)
    assert (row["by"], row["reached"], row["median_lost"]) == ("nothing holds", None, None)


def test_how_far_an_agent_holds_takes_no_test_beyond_the_papers():
    table = reach(made_up().filter(pl.col("instruction").is_between(12, 13)))
    chosen = dict(table.select("model", "chosen").rows())
    assert chosen["LSTM"] == 13
    assert chosen["NAC"] is None


def test_the_agent_that_loses_least_up_to_the_papers_reach_is_picked():
    """The NAC loses 0.05 up to 18 and 0.5 at 19, the NAU 0.05 alone, one LSTM 0.5 from 13 on."""
    (row,) = which_to_pick(made_up()).iter_rows(named=True)
    assert (row["pick"], row["by"], row["seeds"], row["reached"]) == ("NAU", "median", 1, 1)
    assert row["median_lost"] == pytest.approx(0.05)
    assert (row["paper"], row["paper_reached"]) == ("NAC", 0)
    assert row["factor"] == pytest.approx((6 * 0.05 + 0.5) / 7 / 0.05)
    hardly = made_up().with_columns(reward=0.8 * pl.col("reward"))
    assert which_to_pick(hardly)["by"].to_list() == ["nothing holds"]


@pytest.mark.parametrize(("instruction", "reached"), [(14, 13), (12, 11), (7, 20)])
def test_a_dip_from_the_end_of_the_training_on_ends_the_reach(instruction, reached):
    rows = made_up().filter(pl.col("model") == "NAU")
    dip = pl.when(pl.col("instruction") == instruction).then(0.89).otherwise(pl.col("reward"))
    assert reach(rows.with_columns(reward=dip))["chosen"].to_list() == [reached]


def test_rewards_by_instruction_with_students_interval():
    table = by_instruction(made_up())
    row = table.row(by_predicate=(pl.col("model") == "LSTM") & (pl.col("instruction") == 13),
                    named=True)  # fmt: skip
    rewards = [0.5, 0.95, 0.95]
    low, high = stats.t.interval(0.95, 2, np.mean(rewards), stats.sem(rewards))
    assert row["reward_mean"] == pytest.approx(np.mean(rewards))
    assert (row["reward_low"], row["reward_high"]) == pytest.approx((max(low, 0), min(high, 1)))
    assert row["reward_median"] == 0.95
    assert (row["chosen_seed"], row["chosen_reward"], row["best_reward"]) == (1, 0.95, 0.95)
    assert table.filter(pl.col("model") == "NAC")["reward_low"].null_count() == 16


def test_published_instructions_are_beyond_those_of_the_training():
    assert set(PUBLISHED_REACH) <= set(UNITS)
    assert (PUBLISHED_REACH["LSTM"], PUBLISHED_REACH["NAC"]) == (13, 19)
    assert min(PUBLISHED_REACH.values()) > GridRules().instructions[1]


@pytest.mark.parametrize("wrong", [(13, 12), (0, 12), (5, 41)])
def test_instructions_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="instructions is"):
        grid_world(instructions=wrong)


def test_unknown_agents_are_refused():
    with pytest.raises(ValueError, match="did you mean 'NAU'"):
        grid_world(models=("NAK",))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder of two tiny agents, and what came of them."""
    out = tmp_path_factory.mktemp("run")
    own = study("LSTM", "NAC-summing", seeds=2)
    with RunFolder(out, own) as folder:
        outcomes = sweep.complete(folder, sweep.choose_engine("local", 1, None), progress=False)
    return out, own, outcomes


def test_a_run_gives_its_tables_and_the_agent_that_validates_best(run):
    out, own, outcomes = run
    tables = own.summarize(outcomes)
    assert tables["grid_world"].height == 2 * 2
    assert tables["grid_world_reach"]["seeds"].to_list() == [2] * 4
    stored = stored_agent(out, "LSTM")
    best = outcomes.filter(model="LSTM").sort("validation_reward", "seed", descending=[True, False])
    assert stored.seed == best["seed"][0]
    assert stored.training == BRIEF


def test_a_film_has_a_frame_a_time(run, tmp_path):
    out, _, _ = run
    film(out, tmp_path / "film.gif", instruction=20, start=(0, 24))
    strip(out, tmp_path / "strip.png", instruction=20, start=(0, 24), count=3)
    with Image.open(tmp_path / "film.gif") as picture, Image.open(tmp_path / "strip.png") as page:
        frames = picture.n_frames
        assert 9 <= frames <= 41
        assert page.size == (3 * picture.width, picture.height)
        first = np.asarray(picture.convert("RGB"))
    inside = first[6 + 5 * 6, 6 + 5 * 6].astype(int), first[6 + 5 * 50, 6 + 5 * 50].astype(int)
    assert abs(inside[0] - (160, 160, 160)).max() < 12
    assert abs(inside[1] - (220, 30, 30)).max() < 12


def test_films_that_cannot_be_made_are_refused(run, tmp_path):
    out, _, _ = run
    with pytest.raises(ValueError, match=r"does not end in \.gif"):
        film(out, tmp_path / "film.mp4")
    with pytest.raises(ValueError, match="holds no 'NAU'"):
        film(out, tmp_path / "film.gif", model="NAU")
    with pytest.raises(ValueError, match="agent is 3 and target 3"):
        film(out, tmp_path / "film.gif", start=(3, 3))
    with pytest.raises(ValueError, match="count is 1"):
        strip(out, tmp_path / "strip.png", count=1)
    with pytest.raises(ValueError, match="no run folder"):
        stored_agent(tmp_path, "LSTM")


def test_both_experiments_are_registered():
    assert get("trask2018.grid_world") is grid_world
    assert get("trask2018.grid_world_search") is grid_world_search


@pytest.mark.long
def test_an_agent_learns_to_be_on_time(tmp_path):
    training = GridTraining(updates=1500, worlds=32, core_size=128)
    own = grid_world(Seeds(1), models=("NAC-summing",), training=training, instructions=(5, 16))
    part = own.run(own.chunks()[0], tmp_path, lambda done: None)
    greedy = part.outcomes.filter(actions="greedy")
    assert greedy.filter(pl.col("instruction") <= 12)["reward"].mean() > 0.85
    assert part.outcomes["validation_reward"][0] > 0.85
