"""Stability and ablations: what is planned, what is the same function, and what is said of the network."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from distill.common import InputError
from distill.distillation import Distillation
from distill.explanations import Provenance, StateFeature, ValueFunction
from distill.jobs import (
    JobBatch,
    RunConfig,
    Stability,
    ablations_of,
    do_job,
    plan_ablations,
    plan_stability,
    stability_of,
    write_stability,
)
from distill.jobs.ablations import INGREDIENTS
from distill.jobs.fresh_networks import fresh_networks
from distill.jobs.stability import Member
from distill.logic import parse, weighted
from distill.runs import Run, distinct_functions
from tests.support.small_jobs import small_config, small_content

pytestmark = pytest.mark.slow

QUICK = {"checkpoint": None, "network": {"layers": 2, "size": 4}, "training": {"epochs": 1, "batches": 2}}


def trained(folder: Path) -> RunConfig:
    """A small config that trains its network."""
    content = {**small_content(folder), **QUICK}
    content["validation"] = content["train"]
    del content["checkpoint"]
    return RunConfig.from_mapping(content, Path(), lambda *keys: "a test")


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A report on two networks, and the folder of its runs."""
    folder = tmp_path_factory.mktemp("stability")
    store = folder / "runs"
    plan = plan_stability({"blocks": trained(folder)}, 2, 1)
    for job in plan.jobs:
        do_job(job.config, store, cache=folder / "cache")
    works = JobBatch(plan, store, cache=folder / "cache").works
    return stability_of(works, store), works, store


def test_every_network_and_seed_is_planned_once(tmp_path):
    plan = plan_stability({"blocks": trained(tmp_path)}, 3, 2, first=7)
    assert len(plan.jobs) == 3 * 2 * 2 + 2 * 2
    # two pools and two controls with two seeds each
    assert len({job.config.distillation for job in plan.jobs}) == 8
    assert {job.config.training.seed for job in plan.jobs} == {7, 8, 9}
    controls = [job for job in plan.jobs if job.config.distillation.control != "none"]
    assert {job.config.training.seed for job in controls} == {7}
    assert not [
        job
        for job in plan_stability({"blocks": trained(tmp_path)}, 3, 2, controls=False).jobs
        if job.config.distillation.control != "none"
    ]


def test_what_trains_no_network_is_refused(tmp_path):
    with pytest.raises(InputError, match="instead of a checkpoint"):
        fresh_networks(small_config(tmp_path), 2)
    with pytest.raises(InputError, match="at least 1 network"):
        fresh_networks(trained(tmp_path), 0)
    with pytest.raises(InputError, match="at least 1 seed"):
        plan_stability({"blocks": trained(tmp_path)}, 1, 0)


def test_a_report_counts_what_the_runs_say(reported):
    [found], works, store = reported
    assert len(found.members) == 6
    for member in found.members:
        run = Run.load(store / member.run)
        errors = [run.metrics["splits"][name]["max_error"] for name in ("train", "test")]
        assert member.exact == (errors == [0, 0])
        table = run.predictions()
        test = table[(table["split"] == "test") & (table["v_star"] >= 0)]
        assert member.network_mae == pytest.approx((test["network"] - test["v_star"]).abs().mean())
    assert found.exact()[1] == found.exact("ridt+polish")[1] == 2
    assert found.exact(control="untrained")[1] == found.exact(control="permuted")[1] == 1
    assert sum(len(one.runs) for one in found.functions["ridt+polish"]) == 2
    errors = [row["network_mae"] for row in found.networks]
    assert errors == sorted(errors)
    place = write_stability([found], works, store)
    assert len((place / "runs.csv").read_text().splitlines()) == 7
    assert "<svg" in (place / "stability.svg").read_text()
    assert write_stability([found], works, store) == place


def test_jobs_that_are_not_done_are_told(reported):
    _, works, store = reported
    waiting = [replace(works[0], state="waiting"), *works[1:]]
    [found] = stability_of(waiting, store)
    assert len(found.members) == 5
    assert found.missing == (f"{works[0].name}: waiting",)


def rewritten(run: Run, place: Path, text: str) -> Run:
    """A copy of a run with another value function."""
    folder = place / f"run{len(list(place.iterdir()))}"
    shutil.copytree(run.folder, folder)
    value = parse(text)
    pool = tuple(StateFeature(number, "numerical", Provenance(1)) for _, number in weighted(value))
    ValueFunction(value, pool).save(folder / "model.json")
    return Run.load(folder)


def test_functions_are_the_same_if_their_terms_count_the_same(reported, tmp_path):
    [found], _, store = reported
    run = Run.load(store / found.members[0].run)
    texts = [
        "2*#(clear & clear_G) + #holding",
        "#(holding & ~ontable) + 2*#(clear_G & clear)",  # what is held is on no table
        "3*#(clear & clear_G) + #holding",
        "#(clear & clear_G) + #(clear & clear_G & top) + #holding",
    ]
    functions = distinct_functions([rewritten(run, tmp_path, text) for text in texts])
    assert [one.runs for one in functions] == [("run0", "run1", "run3"), ("run2",)]
    assert functions[0].value == parse(texts[0])
    assert functions[0].unlike == ""
    assert functions[1].unlike == "3 * #(clear & clear_G) instead of 2 * #(clear & clear_G)"
    assert not functions[1].equal


def test_other_terms_with_the_same_sum_are_another_function_of_equal_value(reported, tmp_path):
    [found], _, store = reported
    run = Run.load(store / found.members[0].run)
    texts = ["#top", "#top + 1", "#clear + #~clear"]
    first, second, third = distinct_functions([rewritten(run, tmp_path, text) for text in texts])
    assert [one.runs for one in (first, second, third)] == [("run0",), ("run1",), ("run2",)]
    assert (first.equal, second.equal, third.equal) == (True, False, True)
    assert third.unlike == "1 * #clear, 1 * #~clear instead of 1 * #top"


def member(exact: bool, control: str = "none") -> Member:
    return Member("run", 100, 0, "ridt", control, 0.1, exact, 0.0, 0.0, 0.0, 1, 1)


@pytest.mark.parametrize(
    ("network", "untrained", "permuted", "said"),
    [
        ([1, 1], [0, 0], [0, 0], "The network is needed: 2 of 2"),
        ([1, 1], [1, 1], [1, 1], "Nothing is claimed for the network"),
        ([1, 1], [0, 0], [1, 1], "Nothing is claimed for the network: 2 of 2"),
        ([1, 1], [1, 0], [0, 0], "The network helps: 2 of 2"),
        ([0, 0], [0, 0], [0, 0], "nothing is claimed"),
        ([1, 1], [], [], "controls were not run"),
        ([], [], [], "No run is done"),
    ],
)
def test_the_controls_say_what_the_network_contributed(network, untrained, permuted, said):
    members = [
        *(member(bool(one)) for one in network),
        *(member(bool(one), "untrained") for one in untrained),
        *(member(bool(one), "permuted") for one in permuted),
    ]
    assert said in Stability("a test", tuple(members), {}).contribution


def test_ablations_leave_out_one_ingredient_each(tmp_path):
    config = trained(tmp_path).with_settings({"rounds": 1})
    whole, *others = plan_ablations({"blocks": config}, 1, 1).jobs
    assert whole.config.distillation == config.distillation
    assert len({job.config.distillation for job in others}) == len(INGREDIENTS) - 1
    for job in others:
        assert job.config.training == whole.config.training
        changed = INGREDIENTS[job.settings["without"]]
        before, after = whole.config.distillation.to_mapping(), job.config.distillation.to_mapping()
        assert {name for name in before if before[name] != after[name]} <= set(changed)
    with pytest.raises(InputError, match="did you mean closures"):
        plan_ablations({"blocks": trained(tmp_path)}, 1, 1, only=["closure"])


def test_a_table_of_ablations_counts_exact_runs(tmp_path):
    plan = plan_ablations({"blocks": trained(tmp_path)}, 1, 1, only=["closures"])
    run = do_job(plan.jobs[0].config, tmp_path / "runs", cache=tmp_path / "cache")
    whole, without = ablations_of(JobBatch(plan, tmp_path / "runs", cache=tmp_path / "cache").works)
    assert (whole.without, whole.runs, whole.planned) == ("nothing", 1, 1)
    assert whole.exact_train == (run.metrics["splits"]["train"]["max_error"] == 0)
    assert whole.size == run.metrics["formula_size"]
    assert (without.without, without.runs) == ("closures", 0)


def test_an_empty_list_does_not_rename_runs():
    assert "without" not in Distillation().of_stage("distil")
    assert Distillation(without=("closures",)).of_stage("distil")["without"] == ["closures"]
    assert Distillation.from_mapping(Distillation().to_mapping(), "a test") == Distillation()
