"""Studies of the native trainer, end to end on few steps."""

import json

import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal

from torchalu import sweep
from torchalu.engine import train
from torchalu.experiments import Runs, get
from torchalu.experiments.madsen2020.gates import mean_gate
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.setting import Model, Setting
from torchalu.nn import NAU
from torchalu.tasks import SimpleFunction
from torchalu.train import Stopped
from warp_training import emulate

TINY = {
    "table1": {},
    "table2": {"models": ("NMU", "Linear", "NALU"), "operations": ("mul", "sub")},
    "table6": {"models": ("ReLU", "Gated NAU/NMU"), "operations": ("root", "div")},
    "noise": {"models": ("NAU",), "operations": ("add",)},
    "noise_table1": {},
    "correlated": {"models": ("NAU",), "operations": ("add",)},
    "correlated_table1": {"models": ("NMU",)},
    "figure3": {"models": ("NMU",), "hidden_sizes": (2, 3), "ranges": ("U[1,2]", "U[-2,2]")},
    "figure7": {"hidden_sizes": (2,)},
    "figure8": {
        "models": ("NMU",),
        "input_sizes": (10, 100),
        "overlap_ratios": (0.5, 1.0),
        "subset_ratios": (0.1,),
    },
    "figure9": {"operations": ("mul",)},
    "figure10": {"penalties": (0.0, 1.0)},
    "figure11": {"penalties": (1.0,)},
    "figure12": {"penalties": (1.0,)},
    "single_module": {
        "models": ("NMU", "RealNPU", "least squares (x)"),
        "input_sizes": (2,),
        "ranges": ("U[1,2]",),
    },
}
OUTCOMES = {
    "solved": pl.Boolean,
    "solved_at_step": pl.Int64,
    "sparsity_error": pl.Float64,
    "best_step": pl.Int64,
    "validation_loss": pl.Float64,
    "extrapolation_loss": pl.Float64,
    "steps": pl.Int64,
    "status": pl.String,
}


def nothing(_fraction):
    pass


def carry_out(study, tmp_path):
    return [study.run(chunk, tmp_path, nothing) for chunk in study.chunks()]


@pytest.mark.parametrize("name", TINY)
def test_each_experiment_from_chunks_to_summary(name, tmp_path):
    study = get(f"madsen2020.{name}")(Runs(seeds=2, steps=2000), **TINY[name])
    assert json.loads(json.dumps(study.configuration)) == study.configuration
    parts = carry_out(study, tmp_path)
    outcomes = pl.concat([part.outcomes for part in parts], how="diagonal")
    keys = outcomes.select(study.keys)
    assert keys.is_unique().all()
    assert set(outcomes["seed"]) == {0, 1}
    assert {column: outcomes.schema[column] for column in OUTCOMES} == OUTCOMES
    trained = outcomes.filter(~pl.col("model").str.starts_with("least squares"))
    assert trained.height == 2 * len(study.settings)
    # Gated products of 100 inputs may overflow; such a run ends there.
    assert set(trained.filter(pl.col("model") != "Gated NAU/NMU")["status"]) == {"finished"}
    assert trained.filter(status="finished")["steps"].min() == 2000
    (table,) = study.summarize(outcomes).values()
    assert table["seeds"].unique().to_list() == [2]
    records = pl.concat([part.records for part in parts if part.records.height])
    labels = [key for key in study.keys if key != "seed"]
    assert records.columns[: len(study.keys)] == [*labels, "seed"]
    assert records.select(study.keys).unique().height == trained.height


def test_a_team_gives_what_each_setting_gives_alone(tmp_path):
    study = get("madsen2020.table2")(
        Runs(seeds=1, first_seed=3, steps=3000),
        models=("NMU", "NALU", "NAC*,NMU"),
        operations=("mul",),
    )
    (part,) = carry_out(study, tmp_path)
    for setting in study.settings:
        model = setting.model
        alone = train(
            model.build(100, 2),
            SimpleFunction("mul"),
            steps=3000,
            replicas=[3],
            seed=0,
            penalty=model.penalty,
            penalty_start=model.penalty_start,
            penalty_end=model.penalty_end,
        )
        together = part.records.filter(model=model.name).drop("model", "operation", "seed")
        assert_frame_equal(together, alone.records.drop("replica"), check_exact=True)
        for name, tensor in alone.best_parameters.items():
            assert torch.equal(part.weights[f"{model.name}|mul|{name}"], tensor[0])


def test_the_size_of_the_team_changes_no_outcome(tmp_path):
    options = {"operations": ("mul", "add"), "models": ("NMU", "ReLU")}
    frames = []
    for team in (1, 3, 8):
        study = get("madsen2020.table2")(Runs(seeds=1, steps=2000, team=team), **options)
        assert len(study.chunks()) == {1: 4, 3: 2, 8: 1}[team]
        outcomes = pl.concat([part.outcomes for part in carry_out(study, tmp_path)])
        frames.append(outcomes.sort(study.keys))
    assert_frame_equal(frames[0], frames[1], check_exact=True)
    assert_frame_equal(frames[0], frames[2], check_exact=True)


def test_all_settings_of_a_seed_come_before_the_next_seed():
    study = get("madsen2020.table6")(Runs(seeds=2, first_seed=7))
    names = [chunk.name for chunk in study.chunks()]
    seeds = [int(name.split("seed")[1]) for name in names]
    assert seeds == sorted(seeds)
    assert set(seeds) == {7, 8}
    assert len(set(names)) == len(names) == 2 * 9


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("table1", {"models": ("NMU", "NMU")}, "models holds 'NMU' twice"),
        ("figure10", {"penalties": (-1.0,)}, r"penalties holds -1\.0; give finite numbers"),
        ("figure12", {"penalties": (float("inf"),)}, "penalties holds inf; give finite numbers"),
        ("noise", {"noise": 0.0}, r"noise is 0\.0; give a positive number, or take table6"),
        ("noise_table1", {"noise": -1.0}, r"noise is -1\.0; .* or take table1, which has no noise"),
        ("figure10", {"penalties": (1.0, 1.0)}, r"settings holds NAU add 1\.0 twice"),
        ("figure2", {"eps": (0.1, 0.1)}, r"eps is \(0\.1, 0\.1\); give each once"),
        ("figure8", {"overlap_ratios": (2.0,)}, r"overlap_ratio is 2\.0; give a number"),
    ],
)
def test_nothing_counts_twice_and_nothing_is_out_of_range(name, options, message):
    with pytest.raises(ValueError, match=message):
        get(f"madsen2020.{name}")(**options)


def test_teams_share_inputs_and_steps():
    study = get("madsen2020.figure8")()
    teams = study._teams()
    assert sum(map(len, teams)) == len(study.settings)
    for team in teams:
        assert len(team) <= 8
        assert len({(s.task.in_features, s.steps) for s in team}) == 1


def test_an_outcome_is_read_off_the_records(tmp_path):
    study = get("madsen2020.single_module")(
        Runs(seeds=1, steps=20_000, settle=None),
        models=("NAU",), operations=("add",), ranges=("U[1,2]",), input_sizes=(2,),
    )  # fmt: skip
    (part,) = carry_out(study, tmp_path)
    row = part.outcomes.row(0, named=True)
    best = part.records.sort("validation_loss", "step").row(0, named=True)
    goal = study.settings[0].goal
    below = part.records.filter(pl.col("extrapolation_loss") < goal)
    assert row["best_step"] == best["step"]
    assert row["extrapolation_loss"] == best["extrapolation_loss"]
    assert row["solved"] == (best["extrapolation_loss"] < goal)
    assert row["solved"]
    assert row["solved_at_step"] == below["step"].min()


def test_a_run_that_is_solved_and_settled_ends_early(tmp_path):
    study = get("madsen2020.single_module")(
        Runs(seeds=1, steps=100_000, settle=5000),
        models=("NAU",), operations=("add",), ranges=("U[1,2]",), input_sizes=(2,),
    )  # fmt: skip
    (part,) = carry_out(study, tmp_path)
    row = part.outcomes.row(0, named=True)
    assert (row["status"], row["solved"]) == ("stopped", True)
    assert 70_000 <= row["steps"] < 100_000  # the ramp of the penalty ends at 70,000


def test_a_chunk_stops_when_it_is_told_to(tmp_path):
    study = get("madsen2020.table2")(Runs(seeds=1), models=("NMU",), operations=("mul",))
    fractions = []

    def stop(fraction):
        fractions.append(fraction)
        if len(fractions) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        study.run(study.chunks()[0], tmp_path, stop)
    assert 0 <= fractions[-1] < 0.5


def test_figures_show_the_default_in_each_panel():
    study = get("madsen2020.figure3")(
        models=("NMU",), hidden_sizes=(2, 3), ranges=("U[1,2]", "U[0,1]")
    )
    row = {"solved": True, "solved_at_step": 1000, "sparsity_error": 0.1, "best_step": 1000}
    row |= {"validation_loss": 0.1, "extrapolation_loss": 0.1, "steps": 1000, "status": "finished"}
    labels = [setting.labels for setting in study.settings]
    rows = [{**label, "seed": seed, **row} for label in labels for seed in range(3)]
    (table,) = study.summarize(pl.DataFrame(rows)).values()
    shown = table.select("varied", "hidden_size", "interpolation_range").rows()
    assert shown == [
        ("hidden_size", 2, "U[1,2]"),
        ("hidden_size", 3, "U[1,2]"),
        ("interpolation_range", 2, "U[0,1]"),
        ("interpolation_range", 2, "U[1,2]"),
    ]


def test_published_counts_stand_beside_ours():
    study = get("madsen2020.table2")(models=("NMU",))
    row = {"solved": True, "solved_at_step": 1000, "sparsity_error": 0.1, "best_step": 1000}
    row |= {"validation_loss": 0.1, "extrapolation_loss": 0.1, "steps": 1000, "status": "finished"}
    rows = [{"model": "NMU", "operation": o, "seed": 0, **row} for o in ("mul", "sub", "add")]
    table = study.summarize(pl.DataFrame(rows))["table2"]
    columns = ["model", "operation", "seeds", "solved", "published_solved"]
    assert table.select(columns).rows() == [
        ("NMU", "add", 1, 1, 0),
        ("NMU", "mul", 1, 1, 98),
        ("NMU", "sub", 1, 1, 56),
    ]


@pytest.mark.parametrize("name", ["figure2", "figure3", "figure9", "single_module"])
def test_a_sweep_gives_what_the_chunks_give(name, tmp_path):
    options = (
        {"points": 3} if name == "figure2" else {"runs": Runs(seeds=2, steps=1000), **TINY[name]}
    )
    study = get(f"madsen2020.{name}")(**options)
    outcomes = sweep.run(study, tmp_path / "run", workers=2)
    direct = pl.concat([part.outcomes for part in carry_out(study, tmp_path)])
    assert_frame_equal(outcomes, direct, check_exact=True)
    assert study.summarize(outcomes)


def test_the_mean_gate_is_that_of_the_last_layer(tmp_path):
    study = get("madsen2020.figure9")(Runs(seeds=1, steps=1000))
    (part,) = carry_out(study, tmp_path)
    assert part.outcomes["gate"].is_between(0, 1).all()
    setting = study.settings[0]
    stack = torch.nn.Sequential(*setting.model.build(100, 2))
    with torch.no_grad():
        stack[0].weight.zero_()
        stack[0].weight[:, 0] = 1.0
        stack[1].gate_weight.copy_(torch.tensor([[1.0, 0.0]]))
    # The gate sees one number of U[1, 2]: the mean of 1 / (1 + exp(-x)) there in closed form.
    expected = torch.nn.functional.softplus(torch.tensor([2.0, 1.0], dtype=torch.float64))
    assert mean_gate(setting, 0, stack)["gate"] == pytest.approx(
        (expected[0] - expected[1]).item(), abs=2e-3
    )


def test_only_what_the_paper_never_solved_gives_up(tmp_path):
    """Three times the same hopeless sum for a product: known as unsolved, as solved, not at all."""
    task = SimpleFunction("mul", in_features=2, subsets=((0,), (1,)), evaluation_rows=64)
    settings = [
        Setting(
            Model(name, lambda n, _: [NAU(n, 1)], learning_rate=0.01), task, 12000, {"model": name}
        )
        for name in ("never", "sometimes", "unknown")
    ]
    published = pl.DataFrame({"model": ["never", "sometimes"], "published_solved": [0, 1]})
    steps = {}
    for give_up in (None, 3000):
        study = NativeStudy("x.y", settings, Runs(seeds=1, give_up=give_up), published)
        (chunk,) = study.chunks()
        outcomes = study.run(chunk, tmp_path, lambda _: None).outcomes
        steps[give_up] = dict(outcomes.select("model", "steps").iter_rows())
        assert not outcomes["solved"].any()
    assert steps[None] == dict.fromkeys(("never", "sometimes", "unknown"), 12000)
    assert steps[3000]["never"] < 12000
    assert steps[3000]["sometimes"] == steps[3000]["unknown"] == 12000


def test_noise_is_judged_in_units_of_itself(tmp_path):
    study = get("madsen2020.noise")(
        Runs(seeds=2, steps=3000), noise=0.02, models=("Linear", "NAU"), operations=("add",)
    )
    outcomes = pl.concat([part.outcomes for part in carry_out(study, tmp_path)])
    # Of the inputs, U[2, 6], the target has 26 once and 12 twice: its variance, its mean squared.
    square = (26 + 12 * 4) * 16 / 12 + (50 * 4) ** 2
    error = (outcomes["extrapolation_loss"] / square).sqrt() / 0.02
    assert outcomes["error_to_noise"].to_list() == pytest.approx(error.to_list(), rel=1e-6)
    assert outcomes["solved"].to_list() == (error < 1).to_list()
    (table,) = study.summarize(outcomes).values()
    median = outcomes.group_by("model").agg(pl.col("error_to_noise").median()).sort("model")
    assert table["error_to_noise_median"].to_list() == median["error_to_noise"].to_list()


def test_all_seeds_at_once_on_a_gpu(tmp_path, monkeypatch):
    emulate(monkeypatch)
    settings = {"models": ("NMU", "Linear"), "operations": ("add",)}
    one_by_one = get("madsen2020.table2")(Runs(seeds=2, steps=20), **settings)
    at_once = get("madsen2020.table2")(Runs(seeds=2, steps=20, device="cuda"), **settings)
    assert [chunk.name for chunk in at_once.chunks()] == ["team0-seeds0-1"]
    assert at_once.configuration["device"] == "cuda"
    assert "device" not in one_by_one.configuration
    (part,) = carry_out(at_once, tmp_path)
    parts = carry_out(one_by_one, tmp_path)
    for name in ("outcomes", "records"):
        keys = [*at_once.keys, "step"][: 4 if name == "records" else 3]
        expected = pl.concat([getattr(each, name) for each in parts]).sort(keys)
        assert_frame_equal(getattr(part, name).sort(keys), expected, rel_tol=1e-4, abs_tol=1e-5)
    for seed in range(2):
        expected = parts[seed].weights["NMU|add|0.weight"]
        torch.testing.assert_close(
            part.weights[f"NMU|add|{seed}|0.weight"], expected, rtol=1e-5, atol=1e-5
        )
