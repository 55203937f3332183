"""Batches: shared stages are done once, failures stay alone, whatever dies is done again."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from distill.common import InputError
from distill.jobs import JobBatch, Sweep, effects, executor as executor_of, table_of, write_summary
from distill.runs import Run, Store
from tests.support.commands import DISTILL, until
from tests.support.small_jobs import Here, contents, small_content, small_sweep

pytestmark = pytest.mark.slow


def made_stages(store: Path) -> dict[str, int]:
    """How often each stage was done, for all runs together."""
    counts: dict[str, int] = {}
    for run in Store(store).runs():
        for step in run.log:
            counts[step["stage"]] = counts.get(step["stage"], 0) + step["made"]
    return counts


def test_many_regressions_fit_trees_once(tmp_path) -> None:
    """12 regressions on two settings of trees: one replay, two fits of trees, however many jobs."""
    sweep = small_sweep(
        tmp_path,
        cases=[{"mode": "quotient", "export.report": False, "export.formats": ["ascii"]}],
        grid={
            "inner_depth": [2, 3],
            "regression": ["squares", "absolute", "sgd"],
            "features": [["combined"], ["numerical", "combined"]],
        },
    )
    batch = JobBatch(sweep, tmp_path / "runs", cache=tmp_path / "cache")
    expected = {
        "data": (12, 1, 0),
        "train": (0, 0, 0),
        "replay": (12, 1, 0),
        "distil": (12, 2, 0),
        "regress": (12, 12, 0),
        "evaluate": (12, 12, 0),
    }
    assert {one.stage: (one.wanted, one.distinct, one.kept) for one in batch.stage_counts()} == expected
    with executor_of("local", 2) as executor:
        batch.run(executor)
    assert [work.state for work in batch.works] == ["done"] * 12
    assert made_stages(tmp_path / "runs") == {
        "data/train": 1,
        "data/test": 1,
        "replay": 1,
        "replay/network": 1,
        "distil": 2,
        "regress": 12,
        "evaluate": 12,
        "export": 12,
    }
    again = JobBatch(sweep, tmp_path / "runs", cache=tmp_path / "cache")
    assert [work.state for work in again.works] == ["done"] * 12
    assert {one.stage: one.kept for one in again.stage_counts()}["distil"] == 2


def test_failures_stay_alone_and_are_explained(tmp_path) -> None:
    base = small_content(tmp_path)
    cases = [
        {"seed": 0},
        {"checkpoint": str(tmp_path / "gone.safetensors")},
        {"checkpoint": str(tmp_path / "blocks.pddl")},
        {"seed": 1, "regression": "squares"},
        {"domain": str(tmp_path / "no.pddl")},
        {"seed": -1},
        {"seed": 2},
    ]
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump({"base": base, "cases": cases}))
    store = tmp_path / "runs"
    batch = JobBatch(Sweep.read(file), store, cache=tmp_path / "cache")
    batch.run(Here())
    told = [(work.state, work.error) for work in batch.works]
    assert [state for state, _ in told] == ["done", "failed", "failed", "failed", "failed", "failed", "done"]
    for number, part in enumerate(
        ["gone.safetensors", "blocks.pddl", "no regression squares", "no.pddl", "from 0 to 4294967295"], 1
    ):
        assert part in told[number][1]
        assert "Traceback" not in told[number][1]
    assert len(list(Store(store).runs())) == 2
    table = table_of(batch.works)
    assert table["state"].to_list() == [state for state, _ in told]
    later = JobBatch(Sweep.read(file), store, cache=tmp_path / "cache")
    assert later.works[3].state == "failed"
    assert later.works[0].state == "done"
    retried = JobBatch(Sweep.read(file), store, cache=tmp_path / "cache", retry=True)
    assert retried.works[3].state == "waiting"


def test_an_unforeseen_error_is_kept_with_its_place(tmp_path, monkeypatch) -> None:
    def broken(*_args, **_options):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("distill.jobs.stages.find_features", broken)
    batch = JobBatch(small_sweep(tmp_path), tmp_path / "runs", cache=tmp_path / "cache")
    batch.run(Here())
    [work] = batch.works
    assert "ZeroDivisionError: nobody thought of this" in work.error
    [status] = Store(tmp_path / "runs").jobs().values()
    assert status.stage == "distil"
    assert "find_features" in status.details


def test_a_store_that_cannot_be_written_is_told_at_once(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    batch = JobBatch(small_sweep(tmp_path), tmp_path / "file/runs", cache=tmp_path / "cache")
    with pytest.raises(InputError, match=r"Cannot write to .*choose another folder"):
        batch.run(Here())


def test_jobs_that_share_stages_stand_apart(tmp_path) -> None:
    sweep = small_sweep(tmp_path, grid={"seed": [0, 1], "max_features": [3, 4, 5]})
    batch = JobBatch(sweep, tmp_path / "runs", cache=tmp_path / "cache")
    seeds = [work.job.config.distillation.seed for work in batch._execution_order()]
    assert seeds == [0, 1, 0, 1, 0, 1]


def test_who_looks_sees_jobs_come_on(tmp_path) -> None:
    seen: set[tuple[str, str]] = set()
    batch = JobBatch(small_sweep(tmp_path, seeds=2), tmp_path / "runs", cache=tmp_path / "cache")
    with executor_of("local", 2) as executor:
        batch.run(
            executor, lambda works: seen.update((work.state, work.stage.split(":")[0]) for work in works)
        )
    assert ("waiting", "") in seen
    assert ("done", "") in seen
    assert any(state == "running" for state, _ in seen)


def test_a_batch_killed_as_a_whole_goes_on(tmp_path) -> None:
    """SIGKILL hits the command and all its workers, at any moment; then one batch is left in peace."""
    sweep = small_sweep(tmp_path / "source", seeds=4)
    peaceful = JobBatch(sweep, tmp_path / "peaceful", cache=tmp_path / "other")
    peaceful.run(Here())
    store = tmp_path / "runs"
    command = [*DISTILL, "batch", str(tmp_path / "source/small.yaml"), "--out", str(store), "--workers", "2"]
    environment = {**os.environ, "DISTILL_CACHE": str(tmp_path / "cache")}
    moments = (
        lambda: Store(store).jobs(),
        lambda: any(job.stage.startswith(("distil", "regress")) for job in Store(store).jobs().values()),
        lambda: any(Store(store).runs()),
        lambda: len(list(Store(store).runs())) > 1,
    )
    for number, moment in enumerate(moments):
        child = subprocess.Popen(
            command,
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda child=child, moment=moment: child.poll() is not None or moment())
        if child.poll() is None:
            # every other time only the command: its workers must notice and end
            os.kill(child.pid, signal.SIGKILL) if number % 2 else os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        until(lambda child=child: not _in_session(child.pid))
        expected = contents(tmp_path / "peaceful")
        for run in Store(store).runs():
            mine = {f"{run.name}/{name}": value for name, value in contents(run.folder).items()}
            assert mine.items() <= expected.items()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = {name: value for name, value in contents(store).items() if not name.startswith("sweeps/")}
    assert runs == contents(tmp_path / "peaceful")


def test_workers_end_when_the_batch_is_killed(tmp_path) -> None:
    small_sweep(tmp_path, seeds=4)
    command = [*DISTILL, "batch", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "runs")]
    environment = {**os.environ, "DISTILL_CACHE": str(tmp_path / "cache")}
    child = subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    until(lambda: _in_session(child.pid) - {child.pid} and list((tmp_path / "runs").glob(".jobs/*.json")))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    until(lambda: not _in_session(child.pid))


def _in_session(session: int) -> set[int]:
    """The living processes of a session."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, own = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(own) == session and state != "Z":
                found.add(int(entry.name))
    return found


def test_two_batches_at_once_give_the_union(tmp_path) -> None:
    for name, seeds in (("one", [0, 1, 2]), ("other", [1, 2, 3])):
        small_sweep(tmp_path, name, seeds=seeds)
    environment = {**os.environ, "DISTILL_CACHE": str(tmp_path / "cache")}
    children = [
        subprocess.Popen(
            [
                *DISTILL,
                "batch",
                str(tmp_path / f"{name}.yaml"),
                "--out",
                str(tmp_path / "runs"),
                "--workers",
                "2",
            ],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "other")
    ]
    errors = [child.communicate()[1] for child in children]
    assert [child.returncode for child in children] == [0, 0], errors
    runs = list(Store(tmp_path / "runs").runs())
    assert sorted(run.config["distillation"]["seed"] for run in runs) == [0, 1, 2, 3]
    assert all(not run.damaged() for run in runs)
    assert made_stages(tmp_path / "runs")["regress"] == 4, "no job was done twice"
    assert len(list((tmp_path / "runs/sweeps").iterdir())) == 2
    for name in ("one", "other"):
        JobBatch(Sweep.read(tmp_path / f"{name}.yaml"), tmp_path / "apart", cache=tmp_path / "own").run(
            Here()
        )
    mixed = {name: value for name, value in contents(tmp_path / "runs").items() if "sweeps" not in name}
    assert mixed == contents(tmp_path / "apart"), "the same bytes as one after the other"
    entries = [sorted(contents(tmp_path / cache)) for cache in ("cache", "own")]
    assert entries[0] == entries[1]


def test_the_setting_that_matters_is_found(tmp_path) -> None:
    sweep = small_sweep(tmp_path, grid={"inner_depth": [1, 4], "chain_size": [19, 20]}, seeds=2)
    batch = JobBatch(sweep, tmp_path / "runs", cache=tmp_path / "cache")
    for number, work in enumerate(batch.works):
        depth = work.job.settings["distillation.inner_depth"]
        error = 0.5 if depth == 1 else 0.01 * number
        work.state = "done"
        work.metrics = {"splits": {"test": {"mae": error, "max_error": 1.0}}, "formula_size": 10}
    table = table_of(batch.works)
    first, *rest = effects(table, sweep.varied)
    assert (first.setting, first.measure, first.best) == ("distillation.inner_depth", "test_mae", "4")
    assert first.matters
    assert first.share > 0.9
    assert not any(one.matters for one in rest)
    place = write_summary("small", batch.works, sweep.varied, tmp_path / "runs")
    assert {file.name for file in place.iterdir()} == {
        "summary.csv",
        "summary.parquet",
        "summary.svg",
        "effects.json",
    }
    assert len((place / "summary.csv").read_text().splitlines()) == 9


def test_a_case_may_leave_out_what_another_sets(tmp_path) -> None:
    cases = [{"inner_depth": 1}, {"chain_size": 19}, {"chain_size": 20}]
    batch = JobBatch(small_sweep(tmp_path, cases=cases, seeds=2), tmp_path / "runs", cache=tmp_path / "cache")
    for number, work in enumerate(batch.works):
        error = 0.0 if work.job.settings.get("distillation.inner_depth") is None else 1.0 + number
        work.state = "done"
        work.metrics = {"splits": {"test": {"mae": error}}, "formula_size": 10}
    [first] = (
        one
        for one in effects(table_of(batch.works), ["distillation.inner_depth"])
        if one.measure == "test_mae"
    )
    assert first.best == "as in the base"
    assert first.share > 0.8
    write_summary(
        "cases", batch.works, ["distillation.inner_depth", "distillation.chain_size"], tmp_path / "runs"
    )


def test_runs_of_a_batch_can_be_read(tmp_path) -> None:
    batch = JobBatch(small_sweep(tmp_path), tmp_path / "runs", cache=tmp_path / "cache")
    batch.run(Here())
    [work] = batch.works
    assert Run.load(tmp_path / "runs" / work.name).metrics == work.metrics
